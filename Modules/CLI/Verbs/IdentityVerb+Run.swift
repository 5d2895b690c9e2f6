import FerryAppBundle
import FerryBytes
import FerryCertificates
import FerryCodeSignature
import FerryWeb
import FoundationEssentials

extension IdentityVerb {
    static func run(_ invocation: Invocation) async throws -> ExitCode {
        guard !(invocation.arguments.flag("--online") && invocation.arguments.flag("--offline")) else {
            throw UsageError(
                .conflictingOptions,
                "--online and --offline exclude each other.",
                advice: "Give one of them.",
                verb: verb.name
            )
        }
        let subject = try await subject(of: invocation)
        let outcome = try await invocation.chain(of: subject.leaf, with: subject.others)
        let now = Date()
        var findings: [RevocationCheck.Finding] = []
        if invocation.arguments.flag("--online") {
            let check = RevocationCheck(
                fetch: invocation.webFetch(),
                now: { Int64(Date().timeIntervalSince1970) }
            )
            findings = try await check.findings(about: outcome.chain)
        }
        let profiles = try ProfileFiles(invocation.arguments.values("--profile"))
        let report = Report(
            subject,
            outcome,
            findings,
            profiles,
            now: Int64(now.timeIntervalSince1970)
        )
        try invocation.show(report, text: text(report, styled: invocation.console.output.hasStyle))
        return report.isUsable ? .done : .failed
    }

    /// What was named: a certificate, as a rule with its key.
    struct Subject {
        let path: String
        let leaf: Certificate
        let others: [Certificate]
        let pair: KeyPair?
    }

    private static func subject(of invocation: Invocation) async throws -> Subject {
        let arguments = invocation.arguments
        let named = ["FILE", "--p12", "--certificate"].filter { arguments.isGiven($0) }
        guard let name = named.first, let path = arguments.value(name) else {
            throw UsageError(.missingArgument, "FILE is missing: the identity to show.", verb: verb.name)
        }
        guard named.count == 1 else {
            throw UsageError(
                .conflictingOptions,
                "\(listed(named, "and")) exclude each other.",
                advice: "Give one of them.",
                verb: verb.name
            )
        }
        if let key = arguments.value("--key") {
            guard name != "--p12" else {
                throw UsageError(
                    .conflictingOptions,
                    "--p12 and --key exclude each other.",
                    advice: "A .p12 holds its key.",
                    verb: verb.name
                )
            }
            return Subject(path, try await invocation.keyPair(certificate: path, key: key))
        }
        if TokenURI.isMeant(by: path) {
            return Subject(path, try await invocation.keyPair(certificate: path, key: path))
        }
        let bytes = try InputFile.bytes(path)
        if name == "--p12" || (name == "FILE" && !PEMText.isIn(bytes) && !isCertificate(bytes)) {
            return Subject(path, try await invocation.keyPair(pkcs12: bytes, path))
        }
        if PEMText.holdsKey(bytes) {
            return Subject(path, try await invocation.keyPair(certificate: path, key: path))
        }
        let all = try invocation.inside(path) { () throws(CodeSignatureError) in try Certificate.all(inPEM: bytes) }
        // Of a file with a chain in it the one is meant that issued none of the others.
        let leaf = all.first { one in !all.contains { $0 != one && $0.isIssued(by: one) } } ?? all[0]
        return Subject(path: path, leaf: leaf, others: all.filter { $0 != leaf }, pair: nil)
    }

    private static func isCertificate(_ bytes: [UInt8]) -> Bool {
        (try? Certificate.all(inPEM: bytes)) != nil
    }
}

extension IdentityVerb.Subject {
    init(_ path: String, _ pair: KeyPair) {
        self.init(path: path, leaf: pair.leaf, others: pair.others, pair: pair)
    }
}
