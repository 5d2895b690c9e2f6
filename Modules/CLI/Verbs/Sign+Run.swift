import FerryActivity
import FerryBytes
import FerryPipeline
import FerrySigning
import FerryTerminalReporter

extension Sign {
    /// What `--json` prints.
    struct Report: Encodable {
        struct Bundle: Encodable {
            let path: String
            let oldIdentifier: String?
            let identifier: String
            let profile: String?
            let droppedEntitlements: [String: String]
        }

        let output: String
        let bytes: Int
        let identifier: String
        let bundles: [Bundle]
        let signedFiles: Int
        let warnings: [String]

        init(_ signed: SignedArchive) {
            output = signed.path
            bytes = signed.byteCount
            identifier = signed.identifier
            bundles = signed.bundles.map { bundle in
                Bundle(
                    path: bundle.path,
                    oldIdentifier: bundle.oldIdentifier,
                    identifier: bundle.identifier,
                    profile: bundle.profile,
                    droppedEntitlements: bundle.droppedEntitlements
                )
            }
            signedFiles = signed.signedFileCount
            warnings = signed.warnings
        }
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        if invocation.signsMany { return try await runMany(invocation) }
        let input = invocation.arguments.required("IN")
        let request = SigningRequest(
            input: input,
            output: invocation.arguments.required("--output"),
            options: try await invocation.signingOptions()
        )
        let signing = invocation.signer(cache: invocation.archiveCache).sign(request)
        try await Session.run(invocation, onCommand: { if $0 == .cancelAll { signing.cancel() } }) { session in
            let signed = try await sign(signing, input, session, invocation)
            try invocation.show(Report(signed), text: text(signed), in: session)
        }
        return .done
    }

    private static func sign(
        _ signing: Signing,
        _ input: String,
        _ session: Session,
        _ invocation: Invocation
    ) async throws -> SignedArchive {
        let id: InstallID = "sign"
        await session.center.send(.added(id, title: input))
        await session.center.send(.stage(id, .signing))
        do {
            let signed = try await session.center.follow(signing, of: id)
            await session.center.send(.finished(id, .installed(location: signed.path)))
            return signed
        } catch {
            await session.center.send(.finished(id, InstallPipeline.outcome(of: error, in: .signing)))
            throw session.told(error, invocation)
        }
    }

    /// What was done, for people.
    static func text(_ signed: SignedArchive) -> String {
        let what =
            signed.signedFileCount > 0
            ? "Signed \(signed.signedFileCount) files as \(signed.identifier)"
            : "Wrote \(signed.identifier) and signed nothing"
        var lines = ["\(what): \(signed.path), \(sizeText(signed.byteCount))."]
        for bundle in signed.bundles {
            if let old = bundle.oldIdentifier, old != bundle.identifier {
                lines.append("  \(old) → \(bundle.identifier)")
            }
            for (key, reason) in bundle.droppedEntitlements.sorted(by: { $0.key < $1.key }) {
                lines.append("  \(bundle.identifier): without \(key) (\(reason))")
            }
        }
        return lines.map(\.printable).joined(separator: "\n")
    }
}
