/// Names one install for as long as it is shown.
///
/// The text is the caller's: a number, a bundle id, a UUID. It is written as a plain string when encoded.
public struct InstallID: RawRepresentable, Hashable, Sendable, Codable {
    /// The name itself.
    public let rawValue: String

    /// Takes the name as it is.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// Takes the name as it is.
    public init(_ rawValue: String) {
        self.rawValue = rawValue
    }
}

extension InstallID: CustomStringConvertible, ExpressibleByStringLiteral {
    /// The name itself.
    public var description: String { rawValue }

    /// Takes the name from the source.
    public init(stringLiteral value: String) {
        self.init(value)
    }
}
