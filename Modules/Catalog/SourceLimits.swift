/// How much a source from outside may ask for.
///
/// The largest of those in use have some 20 MB and 10,000 apps.
public struct SourceLimits: Sendable, Hashable {
    /// The longest file in bytes; a longer one is refused.
    public var maximumBytes = 64 << 20
    /// The most objects and arrays inside one another.
    public var maximumDepth = 32
    /// The most values and keys in the file.
    public var maximumValues = 4_000_000
    /// The most apps; what follows them is left out, and told.
    public var maximumApps = 50_000
    /// The most versions of all apps together; what follows them is left out, and told.
    public var maximumVersions = 200_000
    /// The longest name, identifier, version or address in bytes of UTF-8.
    public var maximumNameBytes = 4096
    /// The longest description in bytes of UTF-8; a longer one is left out, and told.
    public var maximumTextBytes = 256 << 10
    /// The most entries of a small list: screenshots, permissions, featured apps; the others are left out.
    public var maximumListCount = 1000
    /// The most problems that are kept; more are counted.
    public var maximumProblems = 1000

    /// The standard limits.
    public init() {}
}
