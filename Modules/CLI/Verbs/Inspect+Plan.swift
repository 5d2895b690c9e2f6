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
            if !bundle.isDropped { lines += changeTable(rows(of: bundle)) }
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
            rows.append([change.key, changeText(change.old), changeText(change.new)])
        }
        for (key, value) in bundle.entitlements ?? [:] { rows.append(["entitlement " + key, "", changeText(value)]) }
        for (key, reason) in bundle.droppedEntitlements.sorted(by: { $0.key < $1.key }) {
            rows.append(["without " + key, "", reason])
        }
        return rows + bundle.warnings.map { ["note", "", $0] }
    }
}
