import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO

/// What a device asks of an app before it looks at its signature: its system, its processor, its Info.plists.
struct DeviceRules {
    let tree: BundleTree
    let code: [ArchiveVerifier.CodeFile]
    let device: TargetDevice
    /// By path.
    private let bundles: [EntryName: Bundle]

    init(tree: BundleTree, code: [ArchiveVerifier.CodeFile], device: TargetDevice) {
        self.tree = tree
        self.code = code
        self.device = device
        bundles = Dictionary(tree.bundles.map { (EntryName($0.path), $0) }) { one, _ in one }
    }

    /// Checks all bundles, then all code.
    func faults() -> [Fault] {
        platformFaults() + systemFaults() + identifierFaults() + extensionFaults() + architectureFaults()
            + code.flatMap { platformFaults($0) + minimumFaults($0) }
    }

    // MARK: Bundles

    private func platformFaults() -> [Fault] {
        let root = tree.root
        if root.info.isSimulatorOnly {
            return [
                Fault(
                    .wrongPlatform,
                    at: root.path,
                    "Its Info.plist says that it is built for the simulator (CFBundleSupportedPlatforms: "
                        + root.info.supportedPlatforms.joined(separator: ", ") + ").",
                    remedy: "Get the app built for devices."
                )
            ]
        }
        guard let wanted = device.platform, let own = root.info.platform, wanted != own,
            // These two run iPhone apps.
            !(own == .iOS && (wanted == .visionOS || wanted == .macOS))
        else { return [] }
        return [
            Fault(
                .wrongPlatform,
                at: root.path,
                "The app is for \(own.rawValue), and the device runs \(wanted.rawValue).",
                remedy: "Get the app built for \(wanted.rawValue)."
            )
        ]
    }

    private func systemFaults() -> [Fault] {
        guard let system = device.system else { return [] }
        let platform = device.platform ?? tree.root.info.platform
        return tree.bundles.filter(\.kind.hasProfile).compactMap { bundle in
            // What travels along to a watch has its own numbers.
            guard bundle.info.platform ?? tree.root.info.platform == platform,
                let text = bundle.info.minimumOS, let minimum = SystemVersion(text), system < minimum
            else { return nil }
            let isApp = bundle.path == tree.root.path
            return Fault(
                .systemTooOld,
                at: bundle.path,
                "It needs \(minimum), and the device has \(system)" + (isApp ? "." : ": the device will not run it."),
                remedy: "Update the device, or take an older version of the app.",
                isWarning: !isApp
            )
        }
    }

    private func identifierFaults() -> [Fault] {
        var owners: [String: String] = [:]
        return tree.bundles.filter(\.kind.hasProfile).compactMap { bundle in
            guard let identifier = bundle.identifier,
                let other = owners.updateValue(bundle.path, forKey: identifier)
            else { return nil }
            return Fault(
                .duplicateIdentifier,
                at: bundle.path,
                "It has the identifier \(identifier), as has \(other).",
                remedy: "Leave one of the two out."
            )
        }
    }

    private func extensionFaults() -> [Fault] {
        tree.bundles.filter { $0.kind == .appExtension && $0.hasInfoPlist && $0.info.extensionPoint == nil }.map {
            Fault(
                .extensionPointMissing,
                at: $0.path,
                "Its Info.plist does not say what it extends: it has neither NSExtension.NSExtensionPointIdentifier nor "
                    + "EXAppExtensionAttributes.EXExtensionPointIdentifier.",
                remedy: "Leave the extension out, or get it built anew."
            )
        }
    }

    // MARK: Code

    /// `cputype` of arm64, arm64e too.
    private static let arm64: UInt32 = 0x0100_000C

    private func architectureFaults() -> [Fault] {
        code.compactMap { file in
            let images = file.images.map(\.image)
            // Watches have processors of their own.
            guard let owner = owner(of: file.path), owner.platform != .watchOS, owner.platform != .macOS,
                !images.contains(where: { $0.cpuType == Self.arm64 })
            else { return nil }
            let isExecutable = owner.bundle.executable == file.path && owner.bundle.kind.hasProfile
            return Fault(
                .architecture,
                at: file.path,
                "It has code for \(images.map(\.architecture).joined(separator: ", ")) alone, and devices run arm64.",
                remedy: images.allSatisfy { $0.architecture.hasPrefix("arm") }
                    ? "Get a newer version of the app; iOS 11 and later run no 32-bit code."
                    : "Get the app built for devices; this code is for a simulator.",
                isWarning: !isExecutable
            )
        }
    }

    private func platformFaults(_ file: ArchiveVerifier.CodeFile) -> [Fault] {
        let wanted = owner(of: file.path)?.platform
        /// Without a word in the Info.plist all that is wrong is what no device runs.
        func fits(_ number: UInt32) -> Bool {
            guard let own = Platform(buildPlatform: number) else { return false }
            return wanted == nil || own == wanted
        }
        let images = file.images.compactMap { image in image.image.platform.map { (image.image, $0) } }
        guard let (image, number) = images.first(where: { !fits($0.1) }) else { return [] }
        // A device takes the image that it can run, and leaves the others.
        let isSpare = images.contains { fits($0.1) }
        return [
            Fault(
                .wrongPlatform,
                at: file.path + (file.images.count > 1 ? " (\(image.architecture))" : ""),
                "The code is built for \(Platform.buildPlatformName(number)), not for \(wanted?.rawValue ?? "a device").",
                remedy: isSpare ? "It is not needed on a device." : "Get it built for devices, or leave it out.",
                isWarning: isSpare
            )
        ]
    }

    private func minimumFaults(_ file: ArchiveVerifier.CodeFile) -> [Fault] {
        guard let owner = owner(of: file.path), let text = owner.app.info.minimumOS,
            let promised = SystemVersion(text)
        else { return [] }
        for image in file.images.map(\.image) {
            guard let number = image.platform, Platform(buildPlatform: number) == owner.platform ?? .iOS,
                let minimum = image.minimumOS.map({ SystemVersion(packed: $0) }), promised < minimum
            else { continue }
            return [
                Fault(
                    .codeMinimumOS,
                    at: file.path,
                    "The code is built for \(minimum) and later, and \(owner.app.path) is installed from \(promised) on.",
                    remedy: "On systems between the two it may end at launch. Raise MinimumOSVersion to \(minimum).",
                    isWarning: true
                )
            ]
        }
        return []
    }

    /// The nearest bundle around a file, the nearest app or extension, and the system that it is for.
    private func owner(of path: String) -> (bundle: Bundle, app: Bundle, platform: Platform?)? {
        // The nearest first.
        let around = path.foldersAbove.compactMap { bundles[EntryName($0)] }
        guard let bundle = around.first, let app = around.first(where: \.kind.hasProfile) else { return nil }
        let platforms = around.lazy.filter(\.kind.hasProfile).compactMap { bundle in
            // Older watch apps do not name their system.
            bundle.info.platform ?? (bundle.info.isWatchApp ? .watchOS : nil)
        }
        return (bundle, app, platforms.first)
    }
}
