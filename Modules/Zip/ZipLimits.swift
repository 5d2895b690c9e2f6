/// How much an archive from outside may ask for.
public struct ZipLimits: Sendable, Hashable {
    /// How many entries there may be.
    public var entryCount = 1_000_000
    /// How many bytes a name may have; no system that apps run on takes longer paths.
    public var nameLength = 4096
    /// How many bytes the central directory may have.
    public var directoryBytes = 512 << 20
    /// How many bytes one entry may unpack to.
    public var entryBytes = 16 << 30
    /// How many bytes all entries together may unpack to.
    public var totalBytes = 64 << 30
    /// How many times its packed size an entry may unpack to, once that is above ``ratioFreeBytes``.
    ///
    /// Deflate reaches 1032:1; what claims more is a lie.
    public var compressionRatio = 1100
    /// Up to this unpacked size the ratio does not matter.
    public var ratioFreeBytes = 1 << 20
    /// How many bytes the target of a symbolic link may have.
    public var linkTargetBytes = 4096

    /// The limits above, to be changed one by one.
    public init() {}

    /// What suits every app that was ever published.
    public static let standard = ZipLimits()
}
