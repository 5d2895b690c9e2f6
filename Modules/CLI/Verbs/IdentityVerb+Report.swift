import FerryAppBundle
import FerryBytes
import FerryCertificates
import FerryCodeSignature
import FoundationEssentials

extension IdentityVerb {
    /// What `--json` prints.
    struct Report: Encodable {
        struct Key: Encodable {
            /// `RSA 2048`, `EC P-256`.
            let kind: String
            /// Where it is: `file` or `token`; left out where the certificate alone was looked at.
            let place: String?
        }

        struct Encryption: Encodable {
            let certificates: String?
            let key: String?
            let digest: String?
        }

        /// One certificate, as all of them are told.
        struct Link: Encodable {
            let commonName: String?
            let subject: String
            let serial: String
            let sha1: String
            let sha256: String
            let notBefore: Date
            let notAfter: Date
            let daysLeft: Int
            let isValid: Bool
            let key: String
            /// The authority's word; left out without `--online`, and for a root.
            let revocation: Revocation?
        }

        struct Revocation: Encodable {
            /// `good`, `revoked`, `unknown`, `failed`, or `notAskable`.
            let status: String
            let since: Date?
            let until: Date?
            let reason: String?
            let remedy: String?
        }

        struct Problem: Encodable {
            let code: String
            let message: String
            let remedy: String?
        }

        struct Profile: Encodable {
            let path: String
            let name: String
            let matches: Bool
            let reasons: [String]
        }

        let path: String
        let name: String
        let team: String?
        let kind: String?
        let mark: String?
        let issuer: String
        let certificate: Link
        let key: Key
        let encryption: Encryption?
        let chain: [Link]
        let chainProblem: Problem?
        let profiles: [Profile]
        let unreadableProfiles: [ProfileFiles.Problem]
        let warnings: [String]
        let isUsable: Bool

        init(
            _ subject: Subject,
            _ outcome: IssuerSearch.Outcome,
            _ findings: [RevocationCheck.Finding],
            _ files: ProfileFiles,
            now: Int64
        ) {
            let leaf = subject.leaf
            path = subject.path
            name = leaf.commonName ?? leaf.subject
            team = leaf.organizationalUnit
            kind = leaf.kindName
            mark = leaf.kind?.objectIdentifier
            issuer = leaf.issuer
            key = Key(kind: leaf.keyKind, place: subject.pair.map { $0.isInToken ? "token" : "file" })
            let protection = subject.pair?.protection
            encryption = protection.map { Encryption(certificates: $0.certificates, key: $0.key, digest: $0.digest) }
            let links = ([leaf] + outcome.chain.issuers).enumerated().map { index, certificate in
                Link(certificate, index < findings.count ? findings[index] : nil, now)
            }
            certificate = links[0]
            chain = Array(links.dropFirst())
            chainProblem = outcome.shortfall.map {
                Problem(code: $0.code.rawValue, message: $0.message, remedy: $0.remedy)
            }
            profiles = files.profiles.map { path, profile in
                let problems = profile.problems(forSigner: leaf.der, team: leaf.organizationalUnit, at: Double(now))
                return Profile(
                    path: path,
                    name: profile.name,
                    matches: problems.isEmpty,
                    reasons: problems.map { Self.reason($0, of: profile) }
                )
            }
            unreadableProfiles = files.problems
            warnings = Self.warnings(leaf, protection)
            isUsable =
                chainProblem == nil && files.problems.isEmpty && links.allSatisfy(\.isValid)
                && links.allSatisfy { link in
                    link.revocation.map { $0.status == "good" || $0.status == "notAskable" } ?? true
                }
        }

        /// The reason without the name of the profile, which stands before it anyway.
        private static func reason(_ problem: AppBundleError, of profile: ProvisioningProfile) -> String {
            let prefix = "the profile “\(profile.name.isEmpty ? profile.uuid : profile.name)”: "
            return problem.message.hasPrefix(prefix) ? String(problem.message.dropFirst(prefix.count)) : problem.message
        }

        private static func warnings(_ leaf: Certificate, _ protection: PKCS12Protection?) -> [String] {
            var warnings = (protection?.warnings ?? []).map { text in
                "The file: \(text). Export it again with AES-256."
            }
            guard let kind = leaf.kind else {
                warnings.append("The certificate has no mark of Apple's, so no device takes what it signs.")
                return warnings
            }
            if !kind.signsApps {
                warnings.append("The certificate is for \(kind.names[0]), not for apps of iPhones and their kin.")
            }
            if leaf.organizationalUnit == nil {
                warnings.append("The certificate names no team (OU).")
            }
            return warnings
        }
    }
}

extension IdentityVerb.Report.Link {
    init(_ certificate: Certificate, _ finding: RevocationCheck.Finding?, _ now: Int64) {
        self.init(
            commonName: certificate.commonName,
            subject: certificate.subject,
            serial: certificate.serialNumber.hex.uppercased(),
            sha1: certificate.fingerprint(.sha1).hex,
            sha256: certificate.fingerprint(.sha256).hex,
            notBefore: Date(timeIntervalSince1970: Double(certificate.notBefore)),
            notAfter: Date(timeIntervalSince1970: Double(certificate.notAfter)),
            daysLeft: wholeDays(until: certificate.notAfter, now),
            isValid: certificate.isValid(at: now),
            key: certificate.keyKind,
            revocation: finding.map { IdentityVerb.Report.Revocation($0) }
        )
    }
}

extension IdentityVerb.Report.Revocation {
    init(_ finding: RevocationCheck.Finding) {
        func date(_ seconds: Int64) -> Date { Date(timeIntervalSince1970: Double(seconds)) }
        switch finding {
        case .status(.good(let since, let until)):
            self.init(status: "good", since: date(since), until: until.map(date), reason: nil, remedy: nil)
        case .status(.revoked(let at, let reason)):
            self.init(
                status: "revoked",
                since: date(at),
                until: nil,
                reason: reason,
                remedy: "Nothing that it signs is installed any more. Make a new certificate on developer.apple.com."
            )
        case .status(.unknown):
            self.init(status: "unknown", since: nil, until: nil, reason: nil, remedy: nil)
        case .failure(let error):
            self.init(status: "failed", since: nil, until: nil, reason: error.message, remedy: error.remedy)
        case .notAskable:
            self.init(status: "notAskable", since: nil, until: nil, reason: nil, remedy: nil)
        }
    }
}
