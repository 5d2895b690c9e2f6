/// A folder of an app that is a unit of its own: the app, an extension, a framework, …
public struct Bundle: Sendable, Hashable {
    /// What a bundle is, by the end of its name.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        case app
        case appExtension = "appex"
        case framework
        case xpcService = "xpc"
        case test = "xctest"
        /// `.bundle`: as a rule resources, seldom code.
        case resource = "bundle"

        /// The kind of a folder; `nil` for one that is no bundle.
        init?(folderName name: some StringProtocol) {
            guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return nil }
            let ending = name[name.index(after: dot)...].lowercased()
            // What extensions of the first watch apps were called.
            self.init(rawValue: ending == "watchkitextension" ? Self.appExtension.rawValue : ending)
        }

        /// Whether it is installed under an identifier and a profile of its own: an app or an extension.
        public var hasProfile: Bool { self == .app || self == .appExtension }
    }

    /// Where it lies in the archive: `Payload/A.app/PlugIns/W.appex`.
    public let path: String
    /// What it is.
    public let kind: Kind
    /// Its Info.plist; without keys where it has none that can be read.
    public let info: InfoPlist
    /// Whether there is an Info.plist that can be read.
    public let hasInfoPlist: Bool
    /// Where the executable lies that its Info.plist names; `nil` where none is named, or not by a plain name.
    public let executable: String?
    /// Whether ``executable`` is there, as a regular file.
    public let executableExists: Bool
    /// The nearest app or extension around it; `nil` for the app itself.
    public let container: String?
    /// The bundles in it that lie in no other bundle of it, by path.
    public let children: [Bundle]

    /// Its bundle identifier.
    public var identifier: String? { info.identifier }

    /// Whether it is signed as code: its Info.plist names an executable that is there.
    public var isCode: Bool { executable != nil && executableExists }

    /// The last part of its path.
    public var name: String { String(path[...].lastName) }

    /// Where its Info.plist lies, or would.
    public var infoPlistPath: String { path + "/Info.plist" }

    /// Where its profile lies, or would.
    public var profilePath: String { path + "/embedded.mobileprovision" }

    /// Itself and all bundles in it, each before those inside it.
    public func all() -> [Bundle] {
        [self] + children.flatMap { $0.all() }
    }

    /// The bundles that are signed as code, each after all those inside it: the order in which to sign.
    public func deepestFirst() -> [Bundle] {
        children.flatMap { $0.deepestFirst() } + (isCode ? [self] : [])
    }
}
