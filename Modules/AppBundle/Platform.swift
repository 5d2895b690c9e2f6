/// A system of Apple's that apps are built for.
public enum Platform: String, Sendable, Hashable, CaseIterable {
    case iOS
    case tvOS
    case watchOS
    case visionOS
    case macOS

    /// From a name in `CFBundleSupportedPlatforms` or `DTPlatformName`, in whatever case, device or simulator.
    public init?(infoPlistName name: String) {
        switch name.lowercased() {
        case "iphoneos", "iphonesimulator": self = .iOS
        case "appletvos", "appletvsimulator": self = .tvOS
        case "watchos", "watchsimulator": self = .watchOS
        case "xros", "xrsimulator": self = .visionOS
        case "macosx": self = .macOS
        default: return nil
        }
    }

    /// The names in a profile's `Platform`, one of which must be there; a watch app travels with an iOS profile.
    var profileNames: [String] {
        switch self {
        case .iOS: ["iOS"]
        case .tvOS: ["tvOS"]
        case .watchOS: ["watchOS", "iOS"]
        case .visionOS: ["visionOS", "xrOS"]
        case .macOS: ["macOS", "OSX"]
        }
    }
}
