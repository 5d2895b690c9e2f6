public import FerryAppBundle

/// The device that an app is to be installed on, as far as it is known.
public struct TargetDevice: Sendable, Hashable {
    /// Its UDID, which every profile must list; `nil` for any device.
    public var identifier: String?
    /// What it runs; `nil` for what the app is built for.
    public var platform: Platform?
    /// Its system's version; `nil` for any.
    public var system: SystemVersion?

    /// A device of which this much is known.
    public init(identifier: String? = nil, platform: Platform? = nil, system: SystemVersion? = nil) {
        self.identifier = identifier
        self.platform = platform
        self.system = system
    }
}
