import FerryPropertyList

/// A device that is not there: what it says of itself, and what goes wrong with it.
public struct StandInPhone: Sendable {
    /// Its UDID.
    public var identifier: String
    /// `DeviceName`.
    public var name: String
    /// `ProductType`.
    public var model = "iPhone14,5"
    /// `DeviceClass`.
    public var deviceClass = "iPhone"
    /// `ProductVersion`.
    public var system = "17.5.1"
    /// `CPUArchitecture`.
    public var architecture = "arm64e"
    /// `BatteryCurrentCapacity`.
    public var batteryPercent: Int64 = 84
    /// Whether it is in the network, at this address of the loopback interface; `nil` is by cable.
    public var networkAddress: [UInt8]?
    /// What goes wrong.
    public var faults = StandInFaults()
    /// The apps that are there.
    public var apps: [StandInApp] = []

    /// A phone without faults.
    public init(identifier: String, name: String) {
        self.identifier = identifier
        self.name = name
    }

    var values: PropertyList.Dictionary {
        [
            "DeviceName": .string(name), "ProductType": .string(model), "DeviceClass": .string(deviceClass),
            "ProductVersion": .string(system), "BuildVersion": "21F90", "CPUArchitecture": .string(architecture),
            "UniqueDeviceID": .string(identifier), "WiFiAddress": "aa:bb:cc:dd:ee:ff",
        ]
    }
}

/// An app on a device that is not there.
public struct StandInApp: Sendable, Equatable {
    /// `CFBundleIdentifier`.
    public var identifier: String
    /// `CFBundleDisplayName`.
    public var name: String
    /// `CFBundleShortVersionString`.
    public var version: String
    /// What its application identifier begins with.
    public var prefix: String
    /// `ApplicationType`.
    public var kind = "User"

    /// An app that somebody installed.
    public init(identifier: String, name: String, version: String, prefix: String) {
        self.identifier = identifier
        self.name = name
        self.version = version
        self.prefix = prefix
    }

    var dictionary: PropertyList.Dictionary {
        [
            "CFBundleIdentifier": .string(identifier), "CFBundleDisplayName": .string(name),
            "CFBundleName": .string(name), "CFBundleShortVersionString": .string(version),
            "CFBundleVersion": .string(version), "ApplicationType": .string(kind),
            "Entitlements": ["application-identifier": .string(prefix + "." + identifier)],
        ]
    }
}

/// What goes wrong with a device, if anything does.
public struct StandInFaults: Sendable {
    /// How a device answers a computer that it does not know.
    public enum Stranger: String, Sendable {
        /// It asks, and somebody says yes at once.
        case trusted
        /// It asks, and nobody answers.
        case pending = "PairingDialogResponsePending"
        /// It asks, and somebody says no.
        case denied = "UserDeniedPairing"
        /// It is locked, and cannot ask.
        case locked = "PasswordProtected"
        /// It pairs by cable alone.
        case cableOnly = "PairingProhibitedOverThisConnection"
    }

    /// What an install ends with.
    public struct Answer: Sendable {
        /// `Error`.
        public var name: String
        /// `ErrorDescription`.
        public var description: String?
        /// `ErrorDetail`.
        public var detail: Int64?

        /// An error of that name.
        public init(_ name: String, description: String? = nil, detail: Int64? = nil) {
            self.name = name
            self.description = description
            self.detail = detail
        }
    }

    /// Whether this computer is a stranger to it, and how it takes that; `nil` for one that it knows.
    public var stranger: Stranger?
    /// What a session is refused with: `InvalidHostID`, `PasswordProtected`; `nil` for nothing.
    public var sessionError: String?
    /// Whether nothing is encrypted, as on old systems.
    public var isPlain = false
    /// Whether its sessions cannot be encrypted: it ends the connection instead.
    public var breaksSessionTLS = false
    /// Whether the connections to its services cannot be encrypted: it ends them instead.
    public var breaksServiceTLS = false
    /// The service that it does not start.
    public var missingService: String?
    /// It is full after so many bytes of a file.
    public var fullAfterBytes: Int?
    /// Every piece of a file is taken, and only half of it kept.
    public var keepsHalf = false
    /// AFC answers this number to the making of a folder.
    public var folderStatus: UInt64?
    /// It does not show what is in a folder.
    public var hidesFolders = false
    /// All connections end after so many bytes of a file.
    public var endsAfterBytes: Int?
    /// Nothing is answered after so many bytes of a file.
    public var stallsAfterBytes: Int?
    /// All connections end after this status.
    public var endsAfterStatus: String?
    /// Nothing comes after this status.
    public var stallsAfterStatus: String?
    /// Whether a device whose connections ended is gone for good.
    public var vanishes = false
    /// An install ends with this, after `VerifyingApplication`.
    public var answer: Answer?
    /// Whether statuses come without their percents.
    public var omitsPercents = false
    /// Whether it does not know how to look an app up.
    public var knowsNoLookup = false
    /// Whether the service for apps answers with what is no property list.
    public var talksNonsense = false

    /// None.
    public init() {}
}
