import FerryBytes
import FerryPropertyList
import FerrySigning

extension Inspect {
    /// `--plan`: what signing would change.
    static func plan(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let isUnsigned = ["--adhoc", "--unsign", "--only-modify"].contains { arguments.flag($0) }
        let hasIdentity =
            arguments.isGiven("--p12") || (arguments.isGiven("--certificate") && arguments.isGiven("--key"))
        guard isUnsigned || hasIdentity && arguments.isGiven("--profile") else {
            throw UsageError(
                .missingOption,
                hasIdentity ? "--profile is missing." : "--p12 or --certificate with --key is missing.",
                advice: "A plan needs what signing needs.",
                verb: "inspect"
            )
        }
        let request = SigningRequest(
            input: arguments.required("IN"),
            output: "",
            options: try await invocation.signingOptions()
        )
        let preview = try await invocation.signer().preview(request)
        try invocation.show(preview, text: text(preview))
        return .done
    }

    /// A table for each bundle, then files and warnings.
    static func text(_ preview: SigningPreview) -> String {
        var lines = ["\(preview.path): what signing changes"]
        for bundle in preview.bundles {
            lines += ["", bundle.path + (bundle.isDropped ? ": left out" : bundle.isNew ? ": new" : "")]
            if !bundle.isDropped { lines += table(rows(of: bundle)) }
        }
        let files = [
            ("Added", preview.addedFiles), ("Changed", preview.changedFiles), ("Removed", preview.removedFiles),
            ("Load commands changed", preview.changedCode), ("Warnings", preview.warnings),
        ]
        for (heading, names) in files where !names.isEmpty {
            lines += ["", heading] + names.map { "  " + $0 }
        }
        return lines.map(\.printable).joined(separator: "\n")
    }

    private static func rows(of bundle: SigningPreview.Bundle) -> [[String]] {
        var rows: [[String]] = []
        if let identifier = bundle.identifier {
            rows.append(["id", bundle.oldIdentifier ?? "–", identifier])
        }
        if let profile = bundle.profile { rows.append(["profile", "", profile]) }
        for change in bundle.infoPlist where change.key != "CFBundleIdentifier" {
            rows.append([change.key, value(change.old), value(change.new)])
        }
        for (key, value) in bundle.entitlements ?? [:] { rows.append(["entitlement " + key, "", self.value(value)]) }
        for (key, reason) in bundle.droppedEntitlements.sorted(by: { $0.key < $1.key }) {
            rows.append(["without " + key, "", reason])
        }
        return rows + bundle.warnings.map { ["note", "", $0] }
    }

    private static func value(_ value: PropertyList?) -> String {
        guard let value else { return "–" }
        let text = value.string ?? (try? jsonText(value)) ?? ""
        let longest = 60
        return text.count > longest ? text.prefix(longest) + "…" : text
    }

    /// Columns as wide as their widest cell; an old value is parted from a new one by an arrow.
    private static func table(_ rows: [[String]]) -> [String] {
        let names = rows.map { $0[0].count }.max() ?? 0
        let olds = rows.map { $0[1].count }.max() ?? 0
        return rows.map { row in
            let name = row[0] + String(repeating: " ", count: names - row[0].count)
            let old = row[1] + String(repeating: " ", count: olds - row[1].count)
            let arrow = row[1].isEmpty ? "  " : "→ "
            return "  " + name + "  " + (olds == 0 ? row[2] : old + " " + arrow + row[2])
        }
    }
}
