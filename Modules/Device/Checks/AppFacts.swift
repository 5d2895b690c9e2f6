public import FerryAppBundle
import FerryBytes
import FerryPropertyList
import FerryZip

/// What a device wants to know of an app before it takes it.
public struct AppFacts: Sendable, Hashable {
    /// A profile in the app, and which bundle it is for.
    public struct Profile: Sendable, Hashable {
        /// The bundle's path.
        public var path: String
        /// The profile.
        public var profile: ProvisioningProfile

        /// The profile of the bundle at `path`.
        public init(path: String, profile: ProvisioningProfile) {
            self.path = path
            self.profile = profile
        }
    }

    /// Its bundle identifier.
    public var identifier: String
    /// What people call it.
    public var name: String
    /// Its version, `nil` where it says none.
    public var version: String?
    /// `MinimumOSVersion`.
    public var minimumOS: String?
    /// `UIDeviceFamily`; empty where it names none.
    public var families: [Int64] = []
    /// The system that it is built for; `nil` where it does not say.
    public var platform: Platform?
    /// What its executable has code for: `arm64`; empty where that could not be read.
    public var architectures: [String] = []
    /// The profiles of the app and its extensions.
    public var profiles: [Profile] = []

    /// An app of that identifier, of which no more is known.
    public init(identifier: String, name: String? = nil) {
        self.identifier = identifier
        self.name = name ?? identifier
    }
}

/// An archive that is about to be sent.
struct AppArchive {
    /// The largest Info.plist, profile, or file of the App Store that is read.
    static let maximumFileBytes = 16 << 20
    /// As much of an executable as tells what it has code for.
    static let maximumHeaderBytes = 4096

    let source: FileSource
    let facts: AppFacts
    /// `SC_Info/NAME.sinf` of the app, and `iTunesMetadata.plist`, where the archive has them.
    let clientOptions: PropertyList.Dictionary

    /// Opens the archive at `path`; reads only what is small.
    init(path: String) throws {
        source = try FileSource(path: path)
        let source = source
        let directory = try ZipDirectory(source)
        let inflater = Inflater()
        func contents(_ path: String) throws -> [UInt8]? {
            guard let entry = directory.entry(named: path) else { return nil }
            guard entry.uncompressedSize <= Self.maximumFileBytes else {
                throw DeviceError(.archive, "\(path) is too large: \(entry.uncompressedSize) bytes.")
            }
            return try inflater.contents(of: entry, in: source)
        }
        let tree = try BundleTree(
            paths: directory.entries.map {
                BundlePath(path: $0.name, isDirectory: $0.isDirectory, isSymbolicLink: $0.isSymbolicLink)
            },
            readInfoPlist: { try contents($0) ?? [] }
        )
        let root = tree.root
        guard let identifier = root.identifier else {
            throw DeviceError(.archive, "\(root.path): the app has no bundle identifier.")
        }
        var facts = AppFacts(identifier: identifier, name: root.info.displayName)
        facts.version = root.info.version
        facts.minimumOS = root.info.minimumOS
        facts.families = root.info.dictionary["UIDeviceFamily"]?.array?.compactMap(\.integer) ?? []
        facts.platform = root.info.platform
        if let path = root.executable, let entry = directory.entry(named: path) {
            let header = try inflater.prefix(of: entry, count: Self.maximumHeaderBytes, in: source)
            facts.architectures = codeArchitectures(header)
        }
        // What travels to a watch has the watch in its profile.
        for bundle in tree.bundles where bundle.kind.hasProfile && !bundle.info.isWatchApp {
            guard !bundle.path.contains("/Watch/") else { continue }
            let path = bundle.path + "/embedded.mobileprovision"
            guard let bytes = try contents(path) else { continue }
            facts.profiles.append(.init(path: bundle.path, profile: try ProvisioningProfile(bytes: bytes, path: path)))
        }
        self.facts = facts
        var options: PropertyList.Dictionary = ["CFBundleIdentifier": .string(identifier)]
        if let executable = root.info.executable,
            let sinf = try contents(root.path + "/SC_Info/" + executable + ".sinf")
        {
            options["ApplicationSINF"] = .data(sinf)
        }
        if let metadata = try contents("iTunesMetadata.plist") { options["iTunesMetadata"] = .data(metadata) }
        clientOptions = options
    }
}

/// What a Mach-O file has code for, by the header alone: of each image, or of the only one; empty for what is no Mach-O.
///
/// Source: `<mach-o/fat.h>` (big-endian), `<mach-o/loader.h>`.
func codeArchitectures(_ header: [UInt8]) -> [String] {
    func number(_ offset: Int, isBig: Bool) -> UInt32? {
        guard offset >= 0, header.count >= 4, offset <= header.count - 4 else { return nil }
        let bytes = header[offset..<(offset + 4)]
        let big = bytes.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        return isBig ? big : big.byteSwapped
    }
    func name(_ type: UInt32) -> String {
        switch type {
        case 0x0100_000C: "arm64"
        case 0x0200_000C: "arm64_32"
        case 12: "armv7"
        case 0x0100_0007: "x86_64"
        case 7: "i386"
        default: "processor \(type)"
        }
    }
    guard let magic = number(0, isBig: true) else { return [] }
    switch magic {
    case 0xCAFE_BABE, 0xCAFE_BABF:
        // fat_arch has 20 bytes, fat_arch_64 has 32.
        let size = magic == 0xCAFE_BABE ? 20 : 32
        let count = min(Int(number(4, isBig: true) ?? 0), (header.count - 8) / size)
        return (0..<max(0, count)).compactMap { number(8 + $0 * size, isBig: true).map(name) }
    case 0xCEFA_EDFE, 0xCFFA_EDFE: return number(4, isBig: false).map { [name($0)] } ?? []
    default: return []
    }
}
