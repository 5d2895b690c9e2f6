import FerryBytes
import FerryIcons
import FerryPropertyList
import FerrySigning

extension Inspect {
    static func run(_ invocation: Invocation) async throws -> ExitCode {
        if invocation.arguments.flag("--plan") { return try await plan(invocation) }
        if let option = [Option].signing.first(where: { invocation.arguments.isGiven($0.name) }) {
            throw UsageError(
                .conflictingOptions,
                "\(option.name) says how to sign, and nothing is signed.",
                advice: "Give --plan to see what signing would do.",
                verb: "inspect"
            )
        }
        let input = invocation.arguments.required("IN")
        let inspection = try await invocation.signer().inspect(input)
        if let path = invocation.arguments.value("--icon-to") {
            try WholeFile.write(icon(of: input), to: path, permissions: 0o644)
        }
        try invocation.show(inspection, text: text(inspection))
        return .done
    }

    /// The app's icon as a plain PNG: of the files that may be it the first that can be read.
    private static func icon(of archive: String) throws -> [UInt8] {
        var faults: [String] = []
        for icon in try ArchiveIcon.candidates(in: archive) {
            do throws(IconError) {
                // Its pixels are read too, so that no file is written that others refuse.
                _ = try Picture(png: icon.png)
                return try Icon.png(from: icon.png)
            } catch {
                faults.append("\(icon.path): \(error.message)")
            }
        }
        throw NoIcon(archive: archive, faults: faults)
    }

    /// There is no icon to write.
    private struct NoIcon: ExplainedError {
        let archive: String
        let faults: [String]

        var message: String {
            guard !faults.isEmpty else { return "\(archive): the app has no icon as a file of its own." }
            return "\(archive): the app's icon cannot be read. " + faults.joined(separator: " ")
        }

        var remedy: String? {
            faults.isEmpty
                ? "Leave out --icon; its icons may be in Assets.car, which is not read." : "Leave out --icon."
        }
    }

    /// The bundles, each with its facts below it, then loose code and warnings.
    static func text(_ inspection: ArchiveInspection) -> String {
        var lines = [
            "\(inspection.path): \(sizeText(inspection.byteCount)), \(inspection.entryCount) entries, "
                + "\(sizeText(inspection.unpackedByteCount)) unpacked"
        ]
        let code = Dictionary(inspection.code.map { ($0.path, $0.images) }, uniquingKeysWith: { one, _ in one })
        for bundle in inspection.bundles {
            lines += ["", bundle.path]
            lines += facts(of: bundle, images: bundle.executable.flatMap { code[$0] } ?? []).map { name, value in
                "  " + name + String(repeating: " ", count: max(1, 14 - name.count)) + value
            }
        }
        let executables = Set(inspection.bundles.compactMap(\.executable))
        let loose = inspection.code.filter { !executables.contains($0.path) }
        if !loose.isEmpty {
            lines += ["", "Loose code"]
            lines += loose.map { "  \($0.path): " + $0.images.map(text).joined(separator: "; ") }
        }
        if !inspection.warnings.isEmpty {
            lines += ["", "Warnings"] + inspection.warnings.map { "  " + $0 }
        }
        return lines.map(\.printable).joined(separator: "\n")
    }

    private static func facts(
        of bundle: ArchiveInspection.Bundle,
        images: [ArchiveInspection.Image]
    ) -> [(String, String)] {
        var facts: [(String, String?)] = [
            ("id", bundle.identifier),
            ("name", bundle.name),
            ("version", bundle.version.map { version in version + (bundle.build.map { " (\($0))" } ?? "") }),
            ("minimum OS", bundle.minimumOS),
            ("extension of", bundle.extensionPoint),
            ("code", images.isEmpty ? nil : images.map(text).joined(separator: "; ")),
            (
                "profile",
                bundle.profile.map { profile in
                    "\(profile.name), \(profile.kind), \(profile.applicationIdentifier)"
                        + (profile.expires.map { ", until \($0.prefix(10))" } ?? "")
                }
            ),
        ]
        for (key, value) in bundle.entitlements?.sorted() ?? [:] {
            facts.append(("entitlement", "\(key) = \((try? jsonText(value)) ?? "")"))
        }
        return facts.compactMap { name, value in value.map { (name, $0) } }
    }

    private static func text(_ image: ArchiveInspection.Image) -> String {
        var parts = [image.architecture + (image.minimumOS.map { " from \($0)" } ?? "")]
        if image.isEncrypted {
            parts.append("encrypted")
        }
        if let signature = image.signature {
            let signer = signature.signer ?? (signature.isAdHoc ? "nobody (ad hoc)" : "unknown")
            parts.append("signed by \(signer) with \(signature.hashes.joined(separator: " and "))")
        } else {
            parts.append("unsigned")
        }
        return parts.joined(separator: ", ")
    }
}
