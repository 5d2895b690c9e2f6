/// What was asked for, in a form that may lie on a disk: secrets are named by reference or left out.
public struct RecordedRequest: Sendable, Hashable, Codable {
    /// Where the archive is: a path or a URL, see ``RecordedSource``; with ``list``, which app of that is meant.
    public var source: RecordedSource
    /// The published list that the app is taken from; `nil` where ``source`` is the archive itself.
    public var list: RecordedSource?
    /// Where the app goes, as `InstallTarget.name` has it.
    public var target: String
    /// How else it was asked for, so that it can be asked for again: options and their values, in the words of who asked.
    ///
    /// Passwords and keys are not in here, only the paths of their files.
    public var options: [String: [String]]

    /// Takes these as they are.
    public init(
        source: RecordedSource,
        list: RecordedSource? = nil,
        target: String,
        options: [String: [String]] = [:]
    ) {
        self.source = source
        self.list = list
        self.target = target
        self.options = options
    }
}

/// A source without what only its user may know.
public struct RecordedSource: Sendable, Hashable, Codable {
    /// The path or URL, without a name and password, and without a query that looks like a credential.
    public let text: String
    /// Whether something was left out: then whoever goes on has to give the URL again.
    public let isShortened: Bool

    /// Leaves out of `source` what must not lie on a disk.
    public init(_ source: String) {
        guard let (scheme, rest) = Self.split(source), scheme.lowercased() != "file" else {
            text = source
            isShortened = false
            return
        }
        let end = rest.utf8.firstIndex { [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")].contains($0) }
        let authority = rest[..<(end ?? rest.endIndex)]
        var shortened = scheme + "://"
        // RFC 3986 §3.2.1: everything up to the last @ is about who asks.
        if let at = authority.utf8.lastIndex(of: UInt8(ascii: "@")) {
            shortened += authority[authority.utf8.index(after: at)...]
        } else {
            shortened += authority
        }
        let path = end.map { rest[$0...] } ?? ""
        let parts = path.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)[0]
            .split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        shortened += parts[0]
        if parts.count == 2, !Self.isCredential(query: parts[1]) { shortened += "?" + parts[1] }
        // A fragment never reaches a server, so nothing is missing without it.
        let whole = source.prefix { $0 != "#" }
        text = shortened
        isShortened = shortened != whole
    }

    /// Whether `url` is what this source was before something was left out.
    public func isPart(of url: String) -> Bool {
        RecordedSource(url).text == text
    }

    /// Names in a query under which servers take signatures, tokens and passwords.
    static let credentialWords = [
        "auth", "code", "credential", "hmac", "jwt", "key", "pass", "policy", "pwd", "secret", "session", "sig",
        "token",
        "ticket", "user",
    ]
    /// The longest value in a query that is taken for no token.
    static let longestPlainValue = 24

    private static func isCredential(query: Substring) -> Bool {
        query.split(separator: "&").contains { pair in
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].lowercased()
            return credentialWords.contains { name.contains($0) } || (parts.last ?? "").utf8.count > longestPlainValue
        }
    }

    private static func split(_ source: String) -> (scheme: String, rest: Substring)? {
        guard let colon = source.utf8.firstIndex(of: UInt8(ascii: ":")) else { return nil }
        let scheme = source[..<colon]
        let rest = source[source.utf8.index(after: colon)...]
        guard rest.hasPrefix("//"), scheme.first?.isLetter == true,
            scheme.utf8.allSatisfy({ UInt8(ascii: "+") <= $0 && $0 != UInt8(ascii: "/") })
        else { return nil }
        return (String(scheme), rest.dropFirst(2))
    }
}
