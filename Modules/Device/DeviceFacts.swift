public import FerryAppBundle

/// What is known of a device.
public struct DeviceFacts: Sendable, Hashable {
    /// How a device is reached.
    public enum Connection: String, Sendable, Hashable, CaseIterable {
        /// By cable.
        case usb
        /// By the network.
        case network
    }

    /// Its UDID.
    public var identifier: String
    /// How it is reached.
    public var connection: Connection
    /// Whether it and this computer trust each other.
    public var isPaired: Bool
    /// What its owner calls it; `nil` where it does not say.
    public var name: String?
    /// `ProductType`: `iPhone14,5`.
    public var model: String?
    /// `DeviceClass`: `iPhone`, `iPad`, `AppleTV`, `Watch`, `RealityDevice`.
    public var deviceClass: String?
    /// `ProductVersion`: `17.5.1`.
    public var system: String?
    /// `BuildVersion`: `21F90`.
    public var build: String?
    /// `CPUArchitecture`: `arm64e`.
    public var architecture: String?
    /// How full its battery is, in percent; `nil` where it does not say.
    public var batteryPercent: Int?
    /// Whether the battery is being charged; `nil` where it does not say.
    public var isCharging: Bool?

    /// A device of which no more than this is known.
    public init(identifier: String, connection: Connection = .usb, isPaired: Bool = true) {
        self.identifier = identifier
        self.connection = connection
        self.isPaired = isPaired
    }

    /// What to call it: its name, else its UDID.
    public var title: String { name ?? identifier }

    /// Its system's version; `nil` where it says none, or what is no version.
    public var systemVersion: SystemVersion? { system.flatMap { SystemVersion($0) } }

    /// The system that its class runs; `nil` for a class that is not known.
    public var platform: Platform? {
        switch deviceClass {
        case "iPhone", "iPad", "iPod": .iOS
        case "AppleTV": .tvOS
        case "Watch": .watchOS
        case "RealityDevice": .visionOS
        default: nil
        }
    }

    /// Its numbers in `UIDeviceFamily`; empty where they are not known.
    public var families: [Int64] {
        switch deviceClass {
        case "iPhone", "iPod": [1]
        // An iPad runs iPhone apps, too.
        case "iPad": [2, 1]
        case "AppleTV": [3]
        case "Watch": [4]
        case "RealityDevice": [7, 2, 1]
        default: []
        }
    }
}
