extension StringProtocol {
    /// Whether the text begins with `prefix`, byte by byte.
    ///
    /// `hasPrefix` goes by letters: to it `/` followed by a combining accent does not begin with `/`.
    package func beginsExactly(with prefix: some StringProtocol) -> Bool {
        utf8.starts(with: prefix.utf8)
    }

    /// The parts of a path between its slashes, without empty ones; told apart byte by byte, as a file system does it.
    package var pathParts: [String] {
        utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The text without its first bytes, as many as `prefix` has.
    package func dropping(_ prefix: some StringProtocol) -> String {
        String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }
}
