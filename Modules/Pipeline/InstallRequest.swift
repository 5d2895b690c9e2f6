import FerryActivity
public import FerryCatalog
public import FerryDownload
public import FerryRecord
public import FerrySigning

/// An app that somebody wants installed.
public struct InstallRequest: Sendable {
    /// Where its archive is: a URL, or the path of a file.
    public var source: String
    /// Other addresses of the same archive: see ``DownloadRequest/mirrors``.
    public var mirrors: [String] = []
    /// What is sent along when the archive is fetched: see ``DownloadRequest/headers``. Never written down.
    public var headers: [DownloadHeader] = []
    /// What to call it until its own name is known; `nil` takes the last part of ``source``.
    public var title: String?
    /// What the archive's SHA-256 must be, 32 bytes; `nil` for anything.
    public var sha256: [UInt8]?
    /// What a source says of the archive, which it is compared with before anything else is done with it; `nil` compares
    /// nothing.
    public var published: PublishedArchive?
    /// With what to sign it; `nil` installs it as it is.
    public var signing: SigningOptions?
    /// Where the signed archive is kept; `nil` throws it away once the app is installed.
    public var signedArchive: String?
    /// What is written down for another process to go on with; `nil` writes the source and the target alone.
    ///
    /// Without a record it means nothing. Secrets do not belong in here.
    public var recorded: RecordedRequest?
    /// Stands for all that ``signing`` says: where two are the same, so is what they make of one archive.
    ///
    /// A signature that an earlier process finished is used only if it was made under the same one; `nil` signs again.
    public var signingFingerprint: String?

    /// Asks for the app at `source`.
    public init(source: String, signing: SigningOptions?) {
        self.source = source
        self.signing = signing
    }
}

/// What came of an install.
public struct InstallResult: Sendable {
    /// The archive as it was signed; `nil` where it was installed as it is, or was signed by an earlier process.
    public let signed: SignedArchive?
    /// The app's bundle identifier.
    public let identifier: String
    /// Where the app is, for people.
    public let location: String
    /// Whether it took the place of an older one.
    public let isUpdate: Bool
    /// Whether all that is known is that the app was handed over to whoever installs it.
    public let isOnlyDelivered: Bool

    /// How the install ended.
    var outcome: Outcome {
        isOnlyDelivered ? .delivered(location: location) : .installed(location: location)
    }
}
