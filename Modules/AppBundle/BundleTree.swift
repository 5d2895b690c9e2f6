/// What an archive holds: the one app in `Payload`, and every bundle in it at any depth.
///
/// Made from the list of the archive's entries; of files only the Info.plists are read. Making it throws only where there
/// is nothing to work on; all else that is wrong is gathered, so that people hear it at once.
public struct BundleTree: Sendable {
    /// The most bundles in one app.
    public static let maximumBundleCount = 5000
    /// The most bundles inside one another.
    public static let maximumBundleDepth = 16

    /// The app.
    public let root: Bundle
    /// Entries in `Payload` that are no part of the app, which is where installing stumbles over them: to be left out.
    public let strays: [String]
    /// What a signer should hear, though it may go on.
    public let warnings: [BundleWarning]

    private let faults: [AppBundleError]

    /// Finds the app and its bundles; `readInfoPlist` gives the bytes of the file at a path of the list.
    public init(
        paths: [BundlePath],
        readInfoPlist: (String) throws -> [UInt8]
    ) throws(AppBundleError) {
        var listing = ArchiveListing(paths)
        let app = try listing.app()
        var builder = BundleBuilder(listing: listing, app: app)
        root = try builder.build(readInfoPlist)
        strays = listing.strays.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        warnings = builder.warnings
        faults = listing.faults + builder.faults
    }

    /// Everything for which the app cannot be signed, whatever profile or identifier is chosen.
    public func problems() -> [AppBundleError] { faults }

    /// The app and all bundles in it, each before those inside it.
    public var bundles: [Bundle] { root.all() }

    /// The bundle at a path.
    public func bundle(at path: String) -> Bundle? {
        bundles.first { $0.path == path }
    }
}
