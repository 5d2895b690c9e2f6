public import FerryPropertyList

/// A bundle's Info.plist, which keeps its form and every key that nobody changed.
public struct InfoPlist: Sendable, Hashable {
    /// Every key and value; to be changed at will.
    public var dictionary: PropertyList.Dictionary
    /// The form that it came in and goes out in.
    public let format: PropertyList.Format

    private let originalBytes: [UInt8]
    private let original: PropertyList.Dictionary

    /// Reads the bytes of an Info.plist; `path` is for the message of what is thrown.
    public init(bytes: [UInt8], path: String = "Info.plist") throws(AppBundleError) {
        let value: PropertyList
        do {
            (value, format) = try PropertyList.parse(bytes)
        } catch {
            throw AppBundleError.infoPlist(path, error)
        }
        guard case .dictionary(let dictionary) = value else {
            throw AppBundleError(
                .infoPlistUnreadable,
                path,
                "the Info.plist holds \(value.kindName), not a dictionary.",
                remedy: "Get the app again."
            )
        }
        self.dictionary = dictionary
        original = dictionary
        originalBytes = bytes
    }

    /// An Info.plist without keys, for a bundle that has none.
    init() {
        dictionary = [:]
        original = [:]
        originalBytes = []
        format = .binary
    }

    /// Whether a key was changed since it was read.
    public var isChanged: Bool { dictionary != original }

    /// The bytes to write: those that were read while nothing is changed.
    public func encoded() -> [UInt8] {
        isChanged ? PropertyList.dictionary(dictionary).encoded(as: format) : originalBytes
    }
}

extension InfoPlist {
    /// `CFBundleIdentifier`.
    public var identifier: String? {
        get { dictionary["CFBundleIdentifier"]?.string }
        set { dictionary["CFBundleIdentifier"] = newValue.map { .string($0) } }
    }

    /// `CFBundleExecutable`, as it stands there: it may be no name at all.
    public var executable: String? { dictionary["CFBundleExecutable"]?.string }

    /// The name below the icon: `CFBundleDisplayName`, else `CFBundleName`. Setting it sets the first.
    public var displayName: String? {
        get { dictionary["CFBundleDisplayName"]?.string ?? dictionary["CFBundleName"]?.string }
        set { dictionary["CFBundleDisplayName"] = newValue.map { .string($0) } }
    }

    /// The version that people see: `CFBundleShortVersionString`.
    public var version: String? {
        get { dictionary["CFBundleShortVersionString"]?.string }
        set { dictionary["CFBundleShortVersionString"] = newValue.map { .string($0) } }
    }

    /// The version of the build: `CFBundleVersion`.
    public var build: String? {
        get { dictionary["CFBundleVersion"]?.string }
        set { dictionary["CFBundleVersion"] = newValue.map { .string($0) } }
    }

    /// `MinimumOSVersion`.
    public var minimumOS: String? {
        get { dictionary["MinimumOSVersion"]?.string }
        set { dictionary["MinimumOSVersion"] = newValue.map { .string($0) } }
    }

    /// `CFBundleSupportedPlatforms`: `iPhoneOS`, `WatchOS`, …; empty where there is none.
    public var supportedPlatforms: [String] {
        dictionary["CFBundleSupportedPlatforms"]?.array?.compactMap(\.string) ?? []
    }

    /// The system that it is built for; `nil` where the Info.plist does not say.
    public var platform: Platform? {
        (supportedPlatforms + [dictionary["DTPlatformName"]?.string].compactMap(\.self)).lazy
            .compactMap { Platform(infoPlistName: $0) }.first
    }

    /// Whether it is built for the simulator alone, which no device runs.
    public var isSimulatorOnly: Bool {
        !supportedPlatforms.isEmpty && supportedPlatforms.allSatisfy { $0.lowercased().hasSuffix("simulator") }
    }

    /// What the extension extends: `com.apple.widgetkit-extension`; `nil` for what is no extension.
    public var extensionPoint: String? {
        (dictionary[path: "NSExtension", "NSExtensionPointIdentifier"]
            ?? dictionary[path: "EXAppExtensionAttributes", "EXExtensionPointIdentifier"])?.string
    }

    /// Whether it is an app for the watch.
    public var isWatchApp: Bool {
        extensionPoint == nil
            && (dictionary["WKWatchKitApp"]?.bool == true || dictionary["WKApplication"]?.bool == true
                || companionIdentifier != nil || platform == .watchOS)
    }

    /// `WKCompanionAppBundleIdentifier`: the phone app that a watch app belongs to.
    public var companionIdentifier: String? {
        get { dictionary["WKCompanionAppBundleIdentifier"]?.string }
        set { dictionary["WKCompanionAppBundleIdentifier"] = newValue.map { .string($0) } }
    }

    /// `NSExtension.NSExtensionAttributes.WKAppBundleIdentifier`: the watch app that a watch extension belongs to.
    public var watchAppIdentifier: String? {
        get { dictionary[path: "NSExtension", "NSExtensionAttributes", "WKAppBundleIdentifier"]?.string }
        set {
            dictionary[path: "NSExtension", "NSExtensionAttributes", "WKAppBundleIdentifier"] =
                newValue.map { .string($0) }
        }
    }

    /// `NSExtension.NSExtensionFileProviderDocumentGroup`: the app group that a file provider keeps its files in.
    public var fileProviderGroup: String? {
        get { dictionary[path: "NSExtension", "NSExtensionFileProviderDocumentGroup"]?.string }
        set {
            dictionary[path: "NSExtension", "NSExtensionFileProviderDocumentGroup"] = newValue.map { .string($0) }
        }
    }

    /// `NSSupportsLiveActivities`.
    public var supportsLiveActivities: Bool { dictionary["NSSupportsLiveActivities"]?.bool == true }
}
