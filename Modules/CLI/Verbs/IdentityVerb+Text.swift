import FerryBytes
import FoundationEssentials

extension IdentityVerb {
    /// The identity's facts, then its chain, its profiles and what to beware of.
    static func text(_ report: Report, styled: Bool) -> String {
        let style = Marks(styled)
        var lines = [report.name.printable]
        lines += factLines(facts(of: report, style))
        if let problem = report.chainProblem {
            lines += ["", "\(style.bad) The chain is not whole: \(problem.message.printable)"]
            if let remedy = problem.remedy { lines.append("  " + remedy.printable) }
        }
        if !report.profiles.isEmpty || !report.unreadableProfiles.isEmpty {
            lines += ["", "Profiles"]
            for profile in report.profiles {
                let place = "\(profile.name.printable), \(profile.path.printable)"
                lines.append("  \(profile.matches ? style.good : style.bad) \(place)")
                lines += profile.reasons.map { "      " + $0.printable }
            }
            for problem in report.unreadableProfiles {
                lines.append("  \(style.bad) \(problem.message.printable)")
            }
        }
        if !report.warnings.isEmpty {
            lines += ["", "Warnings"] + report.warnings.map { "  \(style.warning) " + $0.printable }
        }
        return lines.joined(separator: "\n")
    }

    private static func facts(of report: Report, _ style: Marks) -> [(String, String?)] {
        let leaf = report.certificate
        var key = report.key.kind
        switch report.key.place {
        case "token": key += ", in a token"
        case "file": key += ", belongs to the certificate"
        default: key += "; the private key is not here, so this cannot sign"
        }
        var facts: [(String, String?)] = [
            ("kind", report.kind.map { $0 + (report.mark == nil ? " by its name, without Apple's mark" : "") }),
            ("team", report.team?.printable),
            ("subject", leaf.subject.printable),
            ("serial", leaf.serial),
            ("SHA-1", leaf.sha1),
            ("SHA-256", leaf.sha256),
            ("key", key),
            ("valid", validity(leaf, style)),
            ("revoked", leaf.revocation.map { revocation($0, style) }),
        ]
        if let encryption = report.encryption {
            let parts = [
                "key " + (encryption.key ?? "not encrypted"),
                "certificates " + (encryption.certificates ?? "not encrypted"),
                encryption.digest.map { "password checked by \($0)" },
            ]
            facts.append(("encryption", parts.compactMap { $0 }.joined(separator: ", ")))
        }
        for (index, link) in report.chain.enumerated() {
            var text = "\((link.commonName ?? link.subject).printable), \(link.key), \(validity(link, style))"
            if let word = link.revocation { text += ", revoked: " + revocation(word, style) }
            facts.append((index == 0 ? "chain" : "", text))
        }
        if report.chain.isEmpty, report.chainProblem == nil {
            facts.append(("chain", "none, as it issued itself"))
        }
        return facts
    }

    private static func validity(_ link: Report.Link, _ style: Marks) -> String {
        let days = "\(dayText(link.notBefore)) to \(dayText(link.notAfter))"
        if link.isValid { return "\(days), \(lastingText(link.daysLeft))" }
        let what = link.daysLeft < 0 ? lastingText(link.daysLeft) : "not yet valid"
        return "\(days), \(style.bad) \(what)"
    }

    private static func revocation(_ word: Report.Revocation, _ style: Marks) -> String {
        switch word.status {
        case "good":
            return "\(style.good) no, as of \(word.since.map(dayText) ?? "")"
        case "revoked":
            let why = word.reason.map { ", \($0)" } ?? ""
            return "\(style.bad) yes, since \(word.since.map(dayText) ?? "")\(why). \(word.remedy ?? "")"
        case "unknown": return "\(style.bad) its authority does not know it"
        case "failed":
            return "\(style.bad) not found out: \((word.reason ?? "").printable)" + (word.remedy.map { " " + $0 } ?? "")
        default: return "it names nobody to ask"
        }
    }
}
