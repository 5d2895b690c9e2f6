extension StringProtocol {
    /// Whether the text begins with `prefix`, byte by byte.
    ///
    /// `hasPrefix` goes by letters: to it `/` followed by a combining accent does not begin with `/`.
    package func beginsExactly(with prefix: some StringProtocol) -> Bool {
        utf8.starts(with: prefix.utf8)
    }

    /// The text without its first bytes, as many as `prefix` has.
    package func dropping(_ prefix: some StringProtocol) -> String {
        String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }
}
