package import FerryPropertyList

/// An app for demonstrations and tests: `Harbour`, with extensions, libraries and resources of all sorts.
///
/// The same parameters give the same bytes. Nothing is on disk: ``files()`` lists what the archive has, and ``archive(level:)``
/// packs it.
package struct SampleApp: Sendable {
    /// What may be left out.
    package enum Part: String, Sendable, Hashable, CaseIterable {
        /// `PlugIns/HarbourWidget.appex`.
        case widget
        /// `PlugIns/HarbourShare.appex`.
        case share
        /// `Frameworks/Tide.framework`.
        case framework
        /// `Frameworks/libLantern.dylib`.
        case looseLibrary
        /// Charts, sounds and files with names in several scripts.
        case resources
        /// The `lproj` folders.
        case localizations
        /// `AppIcon60x60@2x.png` and `@3x`.
        case icons
        /// `Charts/newest.json`, a symbolic link.
        case link
    }

    /// The Mach-O files, by what they are.
    package enum Binary: String, Sendable, Hashable, CaseIterable {
        case main
        case widget
        case share
        case framework
        case looseLibrary
    }

    /// One entry of the archive.
    package struct File: Sendable, Hashable {
        /// What an entry holds.
        package enum Content: Sendable, Hashable {
            /// A regular file's bytes.
            case file([UInt8])
            /// A symbolic link's target.
            case link(String)
            /// Nothing: a folder.
            case folder
        }

        /// From the top of the archive: `Payload/Harbour.app/Info.plist`; without a slash at the end.
        package var path: String
        /// What it holds.
        package var content: Content
        /// The permissions, without the kind of file: `0o644`.
        package var mode: UInt16

        /// A regular file.
        package init(_ path: String, _ bytes: [UInt8], mode: UInt16 = 0o644) {
            self.path = path
            content = .file(bytes)
            self.mode = mode
        }

        /// A symbolic link.
        package init(_ path: String, linkTo target: String) {
            self.path = path
            content = .link(target)
            mode = 0o777
        }

        /// A folder.
        package init(folder path: String) {
            self.path = path
            content = .folder
            mode = 0o755
        }

        /// A regular file's bytes; `nil` for all else.
        package var bytes: [UInt8]? {
            guard case .file(let bytes) = content else { return nil }
            return bytes
        }
    }

    /// The app's identifier; its extensions' are this and `.widget` or `.share`, its framework's this and `.tide`.
    package var bundleIdentifier = "com.example.harbour"
    /// `CFBundleDisplayName`.
    package var displayName = "Harbour"
    /// `CFBundleShortVersionString`.
    package var version = "1.2"
    /// `CFBundleVersion`.
    package var build = "7"
    /// `MinimumOSVersion`, and what the Mach-O files say.
    package var minimumOS = "15.0"
    /// `NSSupportsLiveActivities`.
    package var supportsLiveActivities = true
    /// How large all files are together, more or less, before they are packed.
    package var approximateBytes = 3 << 20
    /// What is in it.
    package var parts = Set(Part.allCases)
    /// Whether the Mach-O files have room for a signature, as an app that was signed before.
    package var hasSignatureRoom = true
    /// What content and UUIDs are made from.
    package var seed: UInt64 = 1
    /// Entries added, in place of those of the same path; the folders above them come by themselves.
    package var extraFiles: [File] = []
    /// Changes the app's `Info.plist` before it is written.
    package var changeInfo: @Sendable (inout PropertyList.Dictionary) -> Void = { _ in }
    /// Changes a Mach-O before it is written: one image, as the app would have it; more make a fat file.
    package var changeBinary: @Sendable (Binary, inout [SampleMachO]) -> Void = { _, _ in }

    /// The whole app, of about 3 MB.
    package init() {}

    /// Where the app lies in the archive.
    package static let path = "Payload/Harbour.app"

    /// Where a Mach-O lies in the archive.
    package static func path(of binary: Binary) -> String {
        switch binary {
        case .main: path + "/Harbour"
        case .widget: path + "/PlugIns/HarbourWidget.appex/HarbourWidget"
        case .share: path + "/PlugIns/HarbourShare.appex/HarbourShare"
        case .framework: path + "/Frameworks/Tide.framework/Tide"
        case .looseLibrary: path + "/Frameworks/libLantern.dylib"
        }
    }

    /// Everything in the archive: each folder before what is in it, then by name as bytes go.
    package func files() -> [File] {
        let app = Self.path
        var all = [
            File(app + "/Info.plist", appInfo),
            File(app + "/PkgInfo", Array("APPL????".utf8)),
            binary(.main),
        ]
        if parts.contains(.widget) {
            let point = "com.apple.widgetkit-extension"
            all += extensionFiles(.widget, "HarbourWidget", identifier: ".widget", point: point)
        }
        if parts.contains(.share) {
            let point = "com.apple.share-services"
            all += extensionFiles(.share, "HarbourShare", identifier: ".share", point: point)
        }
        if parts.contains(.framework) {
            all += [File(app + "/Frameworks/Tide.framework/Info.plist", frameworkInfo), binary(.framework)]
        }
        if parts.contains(.looseLibrary) {
            all.append(binary(.looseLibrary))
        }
        if parts.contains(.icons) {
            all += [
                File(app + "/AppIcon60x60@2x.png", SampleIcon.at2x),
                File(app + "/AppIcon60x60@3x.png", SampleIcon.at3x),
            ]
        }
        if parts.contains(.localizations) {
            all += localizations
        }
        if parts.contains(.resources) {
            all += resources
        }
        if parts.contains(.link) {
            let target = parts.contains(.resources) ? "chart-000.json" : "../PkgInfo"
            all.append(File(app + "/Charts/newest.json", linkTo: target))
        }
        let extra = Set(extraFiles.map(\.path))
        return withFolders(all.filter { !extra.contains($0.path) } + extraFiles)
    }

    private func withFolders(_ files: [File]) -> [File] {
        var folders: Set<String> = []
        for file in files {
            var path = file.path[...]
            while let slash = path.lastIndex(of: "/") {
                path = path[..<slash]
                guard folders.insert(String(path)).inserted else { break }
            }
        }
        let listed = Set(files.map(\.path))
        let missing = folders.filter { !listed.contains($0) }.map { File(folder: $0) }
        return (files + missing).sorted { $0.path.utf8.lexicographicallyPrecedes($1.path.utf8) }
    }
}
