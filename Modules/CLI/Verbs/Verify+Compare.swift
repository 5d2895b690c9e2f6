import FerryBytes
import FerryPropertyList
import FerrySigning

extension Verify {
    /// `--compare`: what is other.
    static func compare(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        if let option = ["--device", "--os", "--platform"].first(where: { arguments.isGiven($0) }) {
            throw UsageError(
                .conflictingOptions,
                "\(option) asks for a check, and --compare checks nothing.",
                advice: "Leave one of the two out.",
                verb: "verify"
            )
        }
        let comparison = try await invocation.verifier()
            .compare(arguments.required("--compare"), with: arguments.required("IN"))
        try invocation.show(comparison, text: text(comparison))
        return .done
    }

    /// A table for each bundle and each file of code, then files and warnings.
    static func text(_ comparison: ArchiveComparison) -> String {
        guard !comparison.isSame else { return "\(comparison.after): the same as \(comparison.before)".printable }
        var lines = ["\(comparison.after): what is other than in \(comparison.before)"]
        for bundle in comparison.bundles {
            lines += ["", bundle.path + (bundle.isDropped ? ": left out" : bundle.isNew ? ": new" : "")]
            if !bundle.isDropped { lines += changeTable(rows(of: bundle)) }
        }
        if !comparison.code.isEmpty { lines += ["", "Code"] }
        for image in comparison.code {
            let place = "\(image.path) (\(image.architecture))"
            lines.append("  " + place + (image.isDropped ? ": left out" : image.isNew ? ": new" : ""))
            lines += changeTable(image.changes.flatMap(rows)).map { "  " + $0 }
        }
        let files = [
            ("Added", comparison.addedFiles), ("Changed", comparison.changedFiles),
            ("Removed", comparison.removedFiles),
        ]
        for (heading, files) in files where !files.isEmpty {
            lines += ["", heading] + changeTable(files.map(row))
        }
        if !comparison.warnings.isEmpty { lines += ["", "Warnings"] + comparison.warnings.map { "  " + $0 } }
        return lines.map(\.printable).joined(separator: "\n")
    }

    private static func rows(of bundle: ArchiveComparison.Bundle) -> [[String]] {
        var rows: [[String]] = []
        if bundle.isNew {
            if let identifier = bundle.identifier { rows.append(["id", "", identifier]) }
        } else if bundle.oldIdentifier != bundle.identifier {
            rows.append(["id", bundle.oldIdentifier ?? "–", bundle.identifier ?? "–"])
        }
        rows += bundle.infoPlist.filter { $0.key != "CFBundleIdentifier" }.flatMap { Self.rows($0) }
        rows += bundle.entitlements.flatMap { Self.rows($0, "entitlement ") }
        guard let name = bundle.profile.first(where: { $0.key == "name" }), name.old == nil || name.new == nil else {
            return rows + bundle.profile.flatMap { Self.rows($0, "profile ") }
        }
        return rows + [["profile", changeText(name.old), changeText(name.new)]]
    }

    /// One row; of two lists one for what was taken out and one for what was put in.
    private static func rows(_ change: ArchiveComparison.Change) -> [[String]] { rows(change, "") }

    private static func rows(_ change: ArchiveComparison.Change, _ prefix: String) -> [[String]] {
        // Of a path of keys, as people write them.
        let name = prefix + change.key.replacing("\\.", with: ".")
        let whole = [[name, changeText(change.old), changeText(change.new)]]
        guard let old = change.old?.array, let new = change.new?.array else { return whole }
        let (out, put) = (old.filter { !new.contains($0) }, new.filter { !old.contains($0) })
        // Only their order is other.
        if out.isEmpty, put.isEmpty { return whole }
        return out.map { [name, changeText($0), "–"] } + put.map { [name, "–", changeText($0)] }
    }

    /// The sizes as a change; of a file that came or went its only one.
    private static func row(_ file: ArchiveComparison.File) -> [String] {
        let (old, new) = (file.oldSize.map { sizeText($0) }, file.size.map { sizeText($0) })
        guard let old, let new else { return [file.path, "", old ?? new ?? ""] }
        return [file.path, old, new]
    }
}
