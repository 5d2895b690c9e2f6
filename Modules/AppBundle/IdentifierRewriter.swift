/// Puts an app's new identifiers and its new team's prefix where the old ones stand in an entitlement's text.
struct IdentifierRewriter {
    /// Old bundle identifiers and what each becomes.
    let renames: [String: String]
    /// What stood before the dot of application identifiers: the old team, the old prefix.
    let oldPrefixes: [String]
    /// What stands there afterwards; `nil` keeps each old one.
    let newPrefix: String?

    /// Words before an identifier that stay: `group.com.example`.
    private static let kinds = ["group.", "iCloud.", "merchant.", "pass."]

    /// The text under the new names; unchanged where no old one begins it, up to a dot or the end.
    func rewritten(_ text: String) -> String {
        for prefix in oldPrefixes {
            if let rest = Self.rest(of: text, after: prefix + ".") {
                return (newPrefix ?? prefix) + "." + identifier(rest)
            }
        }
        for kind in Self.kinds {
            if let rest = Self.rest(of: text, after: kind) { return kind + identifier(rest) }
        }
        return identifier(text)
    }

    /// Of all old identifiers that begin the text, the longest counts.
    private func identifier(_ text: String) -> String {
        if let exact = renames[text] { return exact }
        var best: (old: String, new: String)?
        for (old, new) in renames where BundleIdentifier.isBelow(text, old) {
            if best.map({ $0.old.utf8.count < old.utf8.count }) ?? true { best = (old, new) }
        }
        return best.flatMap { BundleIdentifier.replacing($0.old, by: $0.new, in: text) } ?? text
    }

    private static func rest(of text: String, after prefix: String) -> String? {
        text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : nil
    }
}
