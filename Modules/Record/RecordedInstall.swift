public import FerryActivity

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An install as the record has it: all that another process needs to go on with it.
public struct RecordedInstall: Sendable, Hashable {
    /// Its name.
    public let id: InstallID
    /// What was asked for; no secrets.
    public var request: RecordedRequest
    /// What people call it.
    public var title: String
    /// The app's bundle id; `nil` until it is known.
    public var bundleID: String?
    /// The app's version; `nil` until it is known.
    public var version: String?
    /// Where it is; `.finished` once it has an ``outcome``.
    public var stage = Stage.waiting
    /// How far the stage is, as it was written last; `nil` while nothing is known.
    public var progress: StageProgress?
    /// Whether somebody holds it.
    public var isHeld = false
    /// Whether somebody wants it to end, which its process may not have noticed yet.
    public var isCancelled = false
    /// Which process runs it now; `nil` for none.
    public var process: Int32?
    /// How often a process began it or went on with it.
    public var starts = 0
    /// The finished download; `nil` until it is.
    public var download: RecordedFile?
    /// The finished signature; `nil` until it is.
    public var signature: RecordedSignature?
    /// How it ended; `nil` until then.
    public var outcome: Outcome?
    /// When it was added.
    public var addedAt: Date
    /// When something about it was written last, progress aside.
    public var changedAt: Date
    /// When it ended; `nil` until then.
    public var finishedAt: Date?

    /// A new one, which waits.
    public init(id: InstallID, request: RecordedRequest, title: String, addedAt: Date) {
        self.id = id
        self.request = request
        self.title = title
        self.addedAt = addedAt
        changedAt = addedAt
    }
}

/// A file that is whole and checked, by what it can be known again.
public struct RecordedFile: Sendable, Hashable {
    /// Where it is.
    public var path: String
    /// Its length.
    public var byteCount: Int64
    /// Its SHA-256, 32 bytes.
    public var sha256: [UInt8]
    /// Whether it is somebody else's file, which must stay.
    public var isOriginal: Bool

    /// Takes these as they are.
    public init(path: String, byteCount: Int64, sha256: [UInt8], isOriginal: Bool = false) {
        self.path = path
        self.byteCount = byteCount
        self.sha256 = sha256
        self.isOriginal = isOriginal
    }
}

/// A signed archive, and what it was made from: it counts only so long as that is the same.
public struct RecordedSignature: Sendable, Hashable {
    /// The archive.
    public var file: RecordedFile
    /// The SHA-256 of the archive that was signed.
    public var inputSHA256: [UInt8]
    /// Stands for the identity, the profiles and the changes: see `InstallRequest.signingFingerprint`.
    public var fingerprint: String

    /// Takes these as they are.
    public init(file: RecordedFile, inputSHA256: [UInt8], fingerprint: String) {
        self.file = file
        self.inputSHA256 = inputSHA256
        self.fingerprint = fingerprint
    }
}
