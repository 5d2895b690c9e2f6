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

    /// From `LC_BUILD_VERSION.platform`; `nil` for a simulator, Mac Catalyst, and what runs no apps.
    public init?(buildPlatform number: UInt32) {
        switch number {
        case 1: self = .macOS
        case 2: self = .iOS
        case 3: self = .tvOS
        case 4: self = .watchOS
        case 11: self = .visionOS
        default: return nil
        }
    }

    /// What to call `LC_BUILD_VERSION.platform`, simulators included. Source: `<mach-o/loader.h>`, `PLATFORM_…`.
    public static func buildPlatformName(_ number: UInt32) -> String {
        switch number {
        case 6: "Mac Catalyst"
        case 7: "iOS simulator"
        case 8: "tvOS simulator"
        case 9: "watchOS simulator"
        case 10: "DriverKit"
        case 12: "visionOS simulator"
        default: Platform(buildPlatform: number)?.rawValue ?? "platform \(number)"
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
