/// A place that apps are installed to: a folder, a device, a page that a phone opens.
///
/// ``Installer`` calls ``install(_:tell:)`` for at most ``maximumInstalls`` archives at a time. It returns once the app stands, and throws
/// otherwise; then what was there before must be there still. It ends soon when its task is cancelled.
public protocol InstallTarget: Sendable {
    /// What to call the target, as on the command line: `folder:/srv/apps`.
    var name: String { get }
    /// How many installs may be under way at once; 1 unless the target says otherwise.
    var maximumInstalls: Int { get }

    /// Installs the signed archive at `path`; may call `tell` from any thread, until it returns.
    func install(
        _ path: String,
        tell: @escaping @Sendable (InstallEvent) -> Void
    ) async throws(InstallError) -> InstalledApp
}

extension InstallTarget {
    /// One after the other.
    public var maximumInstalls: Int { 1 }
}

/// What happens while an app is installed.
public enum InstallEvent: Sendable, Hashable {
    /// So many of all bytes are where they belong.
    case progress(completed: Int, total: Int)
    /// So many percent of what comes after the bytes.
    case percent(Int)
    /// A step without a measure, in a target's own words: `VerifyingApplication`.
    case step(String)
}

/// An app that stands at its target.
public struct InstalledApp: Sendable, Hashable {
    /// Its bundle identifier.
    public let identifier: String
    /// Where it is, for people: a path, a device's name.
    public let location: String
    /// Whether it took the place of an older one.
    public let isUpdate: Bool
    /// Whether all that is known is that the app was handed over to whoever installs it.
    public let isOnlyDelivered: Bool

    /// Says what was installed where.
    public init(identifier: String, location: String, isUpdate: Bool, isOnlyDelivered: Bool = false) {
        self.identifier = identifier
        self.location = location
        self.isUpdate = isUpdate
        self.isOnlyDelivered = isOnlyDelivered
    }
}
