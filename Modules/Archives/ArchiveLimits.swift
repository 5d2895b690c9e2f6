/// How much a package or a folder from outside may ask for. All of it is held in memory.
public struct ArchiveLimits: Sendable, Hashable {
    /// How many bytes the packed file may have.
    public var packedBytes = 512 << 20
    /// How many files, folders and links there may be.
    public var entryCount = 20_000
    /// How many bytes one file may have.
    public var fileBytes = 256 << 20
    /// How many bytes all files together may have.
    public var totalBytes = 512 << 20
    /// How many bytes a package's control file may have.
    public var controlBytes = 1 << 20
    /// How many bytes a path, or a link's target, may have.
    public var pathBytes = 1024
    /// How many folders may lie in one another.
    public var depth = 32

    /// The limits above, to be changed one by one.
    public init() {}

    /// What suits every tweak that was ever published.
    public static let standard = ArchiveLimits()
}
