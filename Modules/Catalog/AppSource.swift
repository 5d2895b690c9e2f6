public import FerryAppBundle
import FerryBytes
public import FerryPropertyList

/// A published list of apps, in the form that AltStore began and other stores read too.
///
/// What a list does not say is `nil` or empty. News and what stores keep in `userInfo` are not read.
public struct AppSource: Sendable, Hashable {
    /// What it calls itself.
    public var name: String?
    /// What tells it from others, in reverse notation.
    public var identifier: String?
    /// Where it says that it is published.
    public var sourceURL: String?
    /// A short sentence about it.
    public var subtitle: String?
    /// A long text about it.
    public var about: String?
    /// The address of its picture.
    public var iconURL: String?
    /// The address of a wide picture.
    public var headerURL: String?
    /// The address of its page.
    public var website: String?
    /// Its colour, as a rule six hexadecimal digits after a `#`.
    public var tintColor: String?
    /// The identifiers of the apps that it wants seen first.
    public var featuredApps: [String] = []
    /// Its apps, in its order. Entries with the same identifier and name are one; the same identifier under several names
    /// is several apps, as lists of variants have it.
    public var apps: [App] = []
    /// What was wrong with it, in its order.
    public var problems: [Problem] = []
    /// How many problems are not in ``problems``, for they are too many.
    public var furtherProblemCount = 0

    /// A source without apps.
    public init() {}
}

extension AppSource {
    /// An app in a source.
    public struct App: Sendable, Hashable {
        /// Its name; the identifier where the source gives none.
        public var name: String
        /// Its bundle identifier.
        public var identifier: String
        /// Who made it.
        public var developer: String?
        /// A short sentence about it.
        public var subtitle: String?
        /// A long text about it.
        public var about: String?
        /// The address of its icon.
        public var iconURL: String?
        /// Its colour.
        public var tintColor: String?
        /// What kind of app it is: `games`, `utilities`.
        public var category: String?
        /// Whether it is a test version.
        public var isBeta = false
        /// Its number in Apple's marketplace programme.
        public var marketplaceID: String?
        /// Its pictures.
        public var screenshots: [Screenshot] = []
        /// The entitlements that the source says it has.
        public var entitlements: [String] = []
        /// Why it asks for what is private, by key: `NSCameraUsageDescription`.
        public var privacy: [String: String] = [:]
        /// Its versions, the newest first; at least one.
        public var versions: [Version]

        /// An app.
        public init(name: String, identifier: String, versions: [Version]) {
            self.name = name
            self.identifier = identifier
            self.versions = versions
        }
    }

    /// A version of an app.
    public struct Version: Sendable, Hashable {
        /// What people call it: `CFBundleShortVersionString`.
        public var version: String
        /// Its build: `CFBundleVersion`.
        public var build: String?
        /// When it was published; the zone is UTC where the source says none.
        public var date: PropertyListDate?
        /// What is new.
        public var releaseNotes: String?
        /// Where its archive is: an http or https URL.
        public var downloadURL: String
        /// How many bytes its archive has.
        public var byteCount: Int64?
        /// The SHA-256 of its archive, 32 bytes.
        public var sha256: [UInt8]?
        /// The oldest system that runs it.
        public var minimumOS: SystemVersion?
        /// The newest system that runs it.
        public var maximumOS: SystemVersion?

        /// A version.
        public init(version: String, downloadURL: String) {
            self.version = version
            self.downloadURL = downloadURL
        }
    }

    /// A picture of an app.
    public struct Screenshot: Sendable, Hashable {
        /// Its address.
        public var url: String
        /// The kind of device that it shows: `iphone`, `ipad`; `nil` where the source does not say.
        public var device: String?
        /// Its width in points or pixels, as the source says it.
        public var width: Int?
        /// Its height in points or pixels, as the source says it.
        public var height: Int?
    }

    /// Something wrong with a source, which cost an entry or a field of it and no more.
    public struct Problem: Sendable, Hashable, CustomStringConvertible {
        /// What it cost.
        public enum Loss: String, Sendable {
            /// The app is left out.
            case app
            /// The version is left out.
            case version
            /// The field is as though it were not there.
            case field
        }

        /// Which entry: `apps[3] “Harbour” (com.example.harbour)`; empty for the source itself.
        public let entry: String
        /// Which field of it: `versions[1].size`; empty for the whole entry.
        public let field: String
        /// Why, without a full stop.
        public let reason: String
        /// What it cost.
        public let loss: Loss

        /// A problem, in words that stay on their line whatever the source has put into them.
        init(entry: String, field: String, reason: String, loss: Loss) {
            self.entry = entry.printable
            self.field = field.printable
            self.reason = reason.printable
            self.loss = loss
        }

        /// One line: where, why, and what it cost.
        public var description: String {
            let place = [entry, field].filter { !$0.isEmpty }.joined(separator: ", ")
            let cost =
                switch loss {
                case .app: "the app is left out"
                case .version: "the version is left out"
                case .field: "the field is left out"
                }
            return "\(place.isEmpty ? "the source" : place): \(reason); \(cost)."
        }
    }
}
