public import FerryAppBundle
public import FerryPropertyList

/// What is to be changed in an app on its way to a signature; what is `nil` or empty stays as it is.
///
/// The same as the JSON of `ferry sign --recipe`, which `docs/recipe.md` describes.
public struct SigningRecipe: Sendable, Hashable {
    /// All of something, or some by name.
    public enum Selection: Sendable, Hashable {
        case all
        case some([String])
    }

    /// When the identifier gets a part of its own.
    public enum UniqueID: String, Sendable, Hashable, CaseIterable {
        /// Where the profile asks for it (`PPQCheck`).
        case auto
        /// Whatever the profile says.
        case always
        case never
    }

    /// Light or dark, or as the device is set.
    public enum Appearance: String, Sendable, Hashable, CaseIterable {
        case light
        case dark
        case automatic
    }

    /// A kind of device, by its number in `UIDeviceFamily`.
    public enum Device: Int64, Sendable, Hashable, CaseIterable {
        case iphone = 1
        case ipad = 2
        case tv = 3
        case watch = 4
        case mac = 6
        case vision = 7

        /// Its name in a recipe.
        public var name: String { "\(self)" }
    }

    /// A key in the Info.plist of one bundle.
    public struct Key: Sendable, Hashable, CustomStringConvertible {
        /// The bundle: its identifier before or its folder's name; `*` for the app and all extensions, `nil` for the app.
        public var bundle: String?
        /// The path of keys.
        public var path: PropertyPath

        /// A key of a bundle.
        public init(bundle: String? = nil, path: PropertyPath) {
            self.bundle = bundle
            self.path = path
        }
    }

    /// A value for a key.
    public struct Setting: Sendable, Hashable {
        /// What the key gets.
        public enum Value: Sendable, Hashable {
            /// Exactly this.
            case exact(PropertyList)
            /// What a typed text stands for (`PropertyList.init(typed:replacing:)`).
            case typed(String)
        }

        /// The key.
        public var key: Key
        /// What it gets.
        public var value: Value

        /// A value for a key.
        public init(key: Key, value: Value) {
            self.key = key
            self.value = value
        }
    }

    /// A file, or a folder with all that is in it, to be put into the app.
    public struct AddedFile: Sendable, Hashable {
        /// Where it goes, below the app's folder: `Frameworks/x.dylib`.
        public var path: String
        /// Where it is now.
        public var source: String

        /// A file or folder on its way.
        public init(path: String, source: String) {
            self.path = path
            self.source = source
        }
    }

    /// Something that is put into the app and loaded by it.
    public struct Injection: Sendable, Hashable {
        /// Whose executable loads it.
        public enum Target: Sendable, Hashable {
            /// The app's.
            case app
            /// The app's and every extension's.
            case all
            /// That of the extension or inner app with this identifier before, or folder's name.
            case bundle(String)
        }

        /// Where it is now: a `.dylib`, `.framework` folder, `.deb` or `.zip`.
        public var source: String
        /// Whose executable loads it.
        public var target: Target
        /// Whether the app starts without it too.
        public var isWeak: Bool

        /// Code on its way.
        public init(_ source: String, into target: Target = .app, isWeak: Bool = false) {
            self.source = source
            self.target = target
            self.isWeak = isWeak
        }
    }

    /// Another path for a library that is loaded.
    public struct LibraryRename: Sendable, Hashable {
        /// The library: its path, or the last part or parts of it.
        public var name: String
        /// The path that it is loaded by afterwards.
        public var path: String

        /// A library and its new path.
        public init(_ name: String, to path: String) {
            self.name = name
            self.path = path
        }
    }

    /// How what is injected is named in load commands.
    public enum InjectionNaming: String, Sendable, Hashable, CaseIterable {
        /// `@rpath/NAME`, with a run path to `Frameworks`.
        case rpath
        /// `@executable_path/Frameworks/NAME`.
        case executablePath = "executable-path"
    }

    /// Entitlements, or the file that holds them.
    public enum Entitlements: Sendable, Hashable {
        case file(String)
        case inline(PropertyList.Dictionary)
    }

    /// The app's new bundle identifier; extensions follow.
    public var bundleIdentifier: String?
    /// Whether the identifier gets a part of its own.
    public var uniqueID: UniqueID?
    /// The name below the icon, in every language.
    public var displayName: String?
    /// The version that people see; of the app and all extensions.
    public var version: String?
    /// The version of the build; of the app and all extensions.
    public var build: String?
    /// The oldest system that installs the app (`MinimumOSVersion`; the code's own is not changed).
    public var minimumOS: String?
    /// The kinds of devices that the app is for.
    public var devices: [Device]?
    /// The PNG that the icon is made from; whoever signs scales it (``SigningOptions/iconImage``).
    public var icon: String?
    /// Addresses that no longer open the app.
    public var removedURLSchemes: Selection?
    /// Whether the list of devices that the App Store made the app for goes.
    public var removesSupportedDevices: Bool?
    /// Whether people see the app's files (`UIFileSharingEnabled`).
    public var fileSharing: Bool?
    /// Whether the app is a browser of documents (`UISupportsDocumentBrowser`).
    public var documentBrowser: Bool?
    /// Whether it is always as large as the screen (`UIRequiresFullScreen`).
    public var fullScreen: Bool?
    /// Whether it may draw 120 times a second on phones (`CADisableMinimumFrameDurationOnPhone`).
    public var proMotion: Bool?
    /// Whether it is a game to the system (`GCSupportsGameMode`, `LSSupportsGameMode`).
    public var gameMode: Bool?
    /// Light or dark.
    public var appearance: Appearance?
    /// Keys that go; before the settings are made.
    public var unsets: [Key] = []
    /// Keys that get a value, in this order.
    public var settings: [Setting] = []
    /// Files and folders that are put into the app.
    public var addedFiles: [AddedFile] = []
    /// Files and folders that go, below the app's folder.
    public var removedFiles: [String] = []
    /// Code that is put into the app and loaded.
    public var injections: [Injection] = []
    /// How that code is named in load commands; `nil` for ``InjectionNaming/rpath``.
    public var injectionNaming: InjectionNaming?
    /// Libraries that the app and its extensions load no longer: paths, or the last part or parts of them.
    public var removedLibraries: [String] = []
    /// Libraries that the app and its extensions load by another path.
    public var renamedLibraries: [LibraryRename] = []
    /// Extensions that go: all of the app's own, or some by identifier or folder's name.
    public var droppedExtensions: Selection?
    /// The only extensions that stay; `nil` for all.
    public var keptExtensions: [String]?
    /// Whether apps for the watch go.
    public var dropsWatchApps: Bool?
    /// Whether app clips go.
    public var dropsAppClips: Bool?
    /// What becomes of extensions whose identifier is not below their host's.
    public var foreignExtensions: ForeignExtensions?
    /// Whether what stands for a watch app goes (`com.apple.WatchPlaceholder`).
    public var removesPlaceholders: Bool?
    /// Whether what the App Store put in goes (`SC_Info`, `iTunesMetadata.plist`, …).
    public var removesStoreFiles: Bool?
    /// Entitlements of bundles, by identifier or folder's name; `app` for the app.
    public var entitlements: [String: Entitlements] = [:]
    /// What all other entitlements come from.
    public var entitlementsMode: EntitlementsMode?

    /// A recipe that changes nothing.
    public init() {}

    /// Whether it leaves what the archive holds as it is; identifiers and entitlements are no matter of it.
    var changesNothing: Bool {
        var rest = self
        rest.bundleIdentifier = nil
        rest.uniqueID = nil
        rest.foreignExtensions = nil
        rest.entitlements = [:]
        rest.entitlementsMode = nil
        return rest == SigningRecipe()
    }

    /// This recipe, with everything that another one says in place of what it says itself.
    ///
    /// Lists are joined; the other's settings come later, and so win.
    public func overridden(by other: SigningRecipe) -> SigningRecipe {
        var joined = self
        func take<Value>(_ field: WritableKeyPath<SigningRecipe, Value?>) {
            joined[keyPath: field] = other[keyPath: field] ?? joined[keyPath: field]
        }
        take(\.bundleIdentifier)
        take(\.uniqueID)
        take(\.displayName)
        take(\.version)
        take(\.build)
        take(\.minimumOS)
        take(\.devices)
        take(\.icon)
        take(\.removedURLSchemes)
        take(\.removesSupportedDevices)
        take(\.fileSharing)
        take(\.documentBrowser)
        take(\.fullScreen)
        take(\.proMotion)
        take(\.gameMode)
        take(\.appearance)
        take(\.injectionNaming)
        take(\.droppedExtensions)
        take(\.keptExtensions)
        take(\.dropsWatchApps)
        take(\.dropsAppClips)
        take(\.foreignExtensions)
        take(\.removesPlaceholders)
        take(\.removesStoreFiles)
        take(\.entitlementsMode)
        // What is set by one and unset by the other is as the other says.
        let later = Set(other.unsets)
        joined.settings.removeAll { later.contains($0.key) }
        joined.unsets += other.unsets
        joined.settings += other.settings
        let paths = Set(other.addedFiles.map(\.path))
        joined.addedFiles.removeAll { paths.contains($0.path) }
        joined.addedFiles += other.addedFiles
        joined.removedFiles += other.removedFiles.filter { !removedFiles.contains($0) }
        joined.injections += other.injections.filter { !injections.contains($0) }
        joined.removedLibraries += other.removedLibraries.filter { !removedLibraries.contains($0) }
        let renamed = Set(other.renamedLibraries.map(\.name))
        joined.renamedLibraries.removeAll { renamed.contains($0.name) }
        joined.renamedLibraries += other.renamedLibraries
        joined.entitlements.merge(other.entitlements) { $1 }
        return joined
    }
}

extension SigningRecipe.Key {
    /// Reads `KEY.PATH`, or `BUNDLE:KEY.PATH`; a colon within a key is written `\:`.
    public init(_ text: String) throws(AppBundleError) {
        var isEscaped = false
        for (place, character) in zip(text.indices, text) {
            if isEscaped {
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == ":" {
                bundle = String(text[..<place])
                path = try PropertyPath(String(text[text.index(after: place)...]))
                return
            }
        }
        bundle = nil
        path = try PropertyPath(text)
    }

    /// The key as it is written.
    public var description: String {
        let keys = path.description.split(separator: ":", omittingEmptySubsequences: false).joined(separator: "\\:")
        return (bundle.map { $0 + ":" } ?? "") + keys
    }
}
