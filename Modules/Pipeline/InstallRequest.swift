public import FerrySigning

/// An app that somebody wants installed.
public struct InstallRequest: Sendable {
    /// Where its archive is: a URL, or the path of a file.
    public var source: String
    /// What to call it until its own name is known; `nil` takes the last part of ``source``.
    public var title: String?
    /// What the archive's SHA-256 must be, 32 bytes; `nil` for anything.
    public var sha256: [UInt8]?
    /// With what to sign it; `nil` installs it as it is.
    public var signing: SigningOptions?
    /// Where the signed archive is kept; `nil` throws it away once the app is installed.
    public var signedArchive: String?

    /// Asks for the app at `source`.
    public init(source: String, signing: SigningOptions?) {
        self.source = source
        self.signing = signing
    }
}

/// What came of an install.
public struct InstallResult: Sendable {
    /// The archive as it was signed; `nil` where it was installed as it is.
    public let signed: SignedArchive?
    /// Where the app is, for people.
    public let location: String
    /// Whether it took the place of an older one.
    public let isUpdate: Bool
}
