/// The rules for bundle identifiers, and how one is put in another's place.
enum BundleIdentifier {
    /// Apple's limit for an App ID's text, in bytes.
    static let maximumByteCount = 255

    /// Why a text cannot be a new bundle identifier; `nil` where it can.
    ///
    /// Source: Apple, `CFBundleIdentifier`: letters, digits, hyphens and periods.
    static func fault(_ text: String) -> String? {
        if text.isEmpty { return "it is empty" }
        if text.utf8.count > maximumByteCount { return "it is longer than \(maximumByteCount) bytes" }
        if let odd = text.unicodeScalars.first(where: { !isLegal($0) }) {
            return "it has \(odd.escaped(asASCII: false) == " " ? "a space" : odd.escaped(asASCII: false))"
                + " in it; only letters, digits, - and . may be"
        }
        if text.split(separator: ".", omittingEmptySubsequences: false).contains("") {
            return "it has an empty part before, between or after its dots"
        }
        return nil
    }

    /// Whether an identifier that an app already has can be signed; underscores are met and work.
    static func isUsable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= maximumByteCount
            && text.unicodeScalars.allSatisfy { isLegal($0) || $0 == "_" }
    }

    /// Whether `text` is `prefix`, or goes on after it with a dot.
    static func isAtOrBelow(_ text: String, _ prefix: String) -> Bool {
        text == prefix || isBelow(text, prefix)
    }

    /// Whether `text` goes on after `prefix` with a dot and something more.
    static func isBelow(_ text: String, _ prefix: String) -> Bool {
        text.hasPrefix(prefix + ".") && text.utf8.count > prefix.utf8.count + 1
    }

    /// `text` with `old` at its beginning made `new`, once, and only up to a dot or the end; `nil` where it is not there.
    static func replacing(_ old: String, by new: String, in text: String) -> String? {
        isAtOrBelow(text, old) ? new + text.dropFirst(old.count) : nil
    }

    private static func isLegal(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", ".": true
        default: false
        }
    }
}
