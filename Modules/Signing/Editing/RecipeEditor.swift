import FerryAppBundle
import FerryBytes
import FerryPropertyList
import FerryZip

/// Makes an overlay of a recipe: what it asks for, on the bundles for which people expect it.
struct RecipeEditor {
    let opened: OpenedArchive
    let recipe: SigningRecipe
    /// Scales the icon's picture.
    let iconImage: (@Sendable (_ side: Int) throws -> [UInt8])?
    private(set) var overlay = Overlay()
    private(set) var reasons: [SignError.Reason] = []
    private(set) var warnings: [String] = []
    /// The Info.plists that may change, by bundle's path.
    private var infos: [String: InfoPlist] = [:]
    private let bundles: [Bundle]
    private let byPath: [String: Bundle]

    init(
        _ recipe: SigningRecipe,
        on opened: OpenedArchive,
        iconImage: (@Sendable (_ side: Int) throws -> [UInt8])?
    ) {
        self.recipe = recipe
        self.opened = opened
        self.iconImage = iconImage
        bundles = opened.tree.bundles
        byPath = Dictionary(bundles.map { ($0.path, $0) }) { one, _ in one }
        guard !recipe.changesNothing || iconImage != nil else { return }
        dropBundles()
        removeLeftovers()
        changeFiles()
        editInfoPlists()
        makeSettings()
        if let name = recipe.displayName { localize(name) }
        if recipe.icon != nil || iconImage != nil { changeIcon() }
        for (path, info) in infos where info.isChanged {
            overlay.replace(path + "/Info.plist", with: info.encoded())
        }
    }

    private var root: Bundle { opened.tree.root }

    mutating func refuse(_ message: String, remedy: String? = nil) {
        reasons.append(SignError.Reason(message, remedy: remedy))
    }

    // MARK: Bundles

    /// Whether a bundle is an app for the watch, or lies in one.
    private func isOnWatch(_ bundle: Bundle) -> Bool {
        if bundle.kind == .app, bundle.path != root.path, bundle.info.isWatchApp { return true }
        return bundle.container.flatMap { byPath[$0] }.map(isOnWatch) ?? false
    }

    private func isAppClip(_ bundle: Bundle) -> Bool {
        guard bundle.kind == .app, bundle.path != root.path else { return false }
        return bundle.path.beginsExactly(with: root.path + "/AppClips/") || bundle.info.dictionary["NSAppClip"] != nil
    }

    /// The extensions of the app itself.
    private var extensions: [Bundle] {
        bundles.filter { $0.kind == .appExtension && $0.container == root.path }
    }

    private func matches(_ bundle: Bundle, _ name: String) -> Bool {
        bundle.identifier == name || bundle.name.utf8.elementsEqual(name.utf8)
    }

    private mutating func dropBundles() {
        let droppable = bundles.filter { $0.kind.hasProfile && $0.path != root.path }
        var dropped: [Bundle] = []
        switch recipe.droppedExtensions {
        case .all?: dropped += extensions
        case .some(let names)?:
            for name in names {
                let found = droppable.filter { matches($0, name) }
                if found.isEmpty { refuseUnknown(name, among: droppable) }
                dropped += found
            }
        case nil: break
        }
        if let kept = recipe.keptExtensions {
            for name in kept {
                let found = extensions.filter { matches($0, name) }
                if found.isEmpty { refuseUnknown(name, among: extensions) }
                for bundle in found where dropped.contains(bundle) {
                    refuse("\(bundle.path): it is to be kept and to be dropped.", remedy: "Ask for one of the two.")
                }
            }
            dropped += extensions.filter { bundle in !kept.contains { matches(bundle, $0) } }
        }
        if recipe.dropsWatchApps == true {
            dropped += droppable.filter { $0.kind == .app && isOnWatch($0) }
            for folder in foldersAtTop(where: { $0.beginsExactly(with: "WatchKitSupport") }) { overlay.remove(folder) }
        }
        if recipe.dropsAppClips == true { dropped += droppable.filter(isAppClip) }
        for bundle in dropped where !overlay.removes(bundle.path) { overlay.remove(bundle.path) }
    }

    private mutating func refuseUnknown(_ name: String, among bundles: [Bundle]) {
        let known = bundles.compactMap(\.identifier)
        refuse(
            "\(root.path): there is no extension or inner app “\(name.printable)” in it.",
            remedy: known.isEmpty ? "It has none." : "It has \(known.joined(separator: ", "))."
        )
    }

    private func foldersAtTop(where isMeant: (String) -> Bool) -> [String] {
        var found: Set<String> = []
        for entry in opened.directory.entries {
            if let first = entry.name.pathParts.first, isMeant(first) { found.insert(first) }
        }
        return found.sorted()
    }

    // MARK: Files

    private mutating func removeLeftovers() {
        var found: Set<String> = []
        for entry in opened.directory.entries {
            let parts = entry.name.pathParts
            if recipe.removesStoreFiles == true {
                if let place = parts.firstIndex(of: "SC_Info"), parts.first == "Payload", place >= 2 {
                    found.insert(parts[...place].joined(separator: "/"))
                } else if parts.count == 1, ["iTunesMetadata.plist", "iTunesArtwork"].contains(parts[0]) {
                    found.insert(parts[0])
                } else if parts.first == "META-INF" {
                    found.insert(parts[0])
                }
            }
            if recipe.removesPlaceholders == true,
                let place = parts.firstIndex(where: { $0.beginsExactly(with: "com.apple.WatchPlaceholder") }),
                place >= 2
            {
                found.insert(parts[...place].joined(separator: "/"))
            }
        }
        for path in found.sorted() where !overlay.removes(path) { overlay.remove(path) }
    }

    private mutating func changeFiles() {
        for path in recipe.removedFiles {
            let full = root.path + "/" + (path.utf8.last == UInt8(ascii: "/") ? String(path.dropLast()) : path)
            if path.pathParts.contains("..") || path.pathParts.isEmpty {
                refuse(
                    "\(full.printable): nothing can be removed there.",
                    remedy: "Give a path below the app's folder."
                )
            } else if !overlay.removed.contains(EntryName(full)) {
                overlay.remove(full)
            }
        }
        for file in recipe.addedFiles {
            do throws(FileFailure) {
                for item in try DiskTree.read(file.source) {
                    let path = item.path.isEmpty ? file.path : file.path + "/" + item.path
                    overlay.add(root.path + "/" + path, item.content, permissions: item.permissions)
                }
            } catch {
                reasons.append(SignError.Reason(error))
            }
        }
    }

    // MARK: Info.plists

    /// The apps and extensions that stay.
    private var edited: [Bundle] {
        bundles.filter { $0.kind.hasProfile && $0.hasInfoPlist && !overlay.removes($0.path) }
    }

    private mutating func change(_ bundle: Bundle, _ body: (inout InfoPlist) throws -> Void) rethrows {
        var info = infos[bundle.path] ?? bundle.info
        try body(&info)
        infos[bundle.path] = info
    }

    private mutating func editInfoPlists() {
        check(recipe.displayName, "name", isMeant: Self.isName)
        check(recipe.version, "version", isMeant: Self.isName)
        check(recipe.build, "build", isMeant: Self.isName)
        check(recipe.minimumOS, "minimum OS", isMeant: { SystemVersion($0) != nil })
        let recipe = recipe
        for bundle in edited {
            let (isApp, isOnPhone) = (bundle.path == root.path, !isOnWatch(bundle))
            change(bundle) { info in
                // An extension must have its host's version, on the watch as on the phone.
                if let version = recipe.version { info.version = version }
                if let build = recipe.build { info.build = build }
                if recipe.removesSupportedDevices == true { info.dictionary["UISupportedDevices"] = nil }
                guard isOnPhone else { return }
                if let minimum = recipe.minimumOS { info.minimumOS = minimum }
                if let devices = recipe.devices {
                    info.dictionary["UIDeviceFamily"] = .array(devices.map { .integer($0.rawValue) })
                    for suffix in ["~ipad", "~iphone"] { info.dictionary["UIDeviceFamily" + suffix] = nil }
                }
                if isApp { RecipeEditor.editApp(&info, by: recipe) }
            }
        }
    }

    private static func editApp(_ info: inout InfoPlist, by recipe: SigningRecipe) {
        if let name = recipe.displayName {
            info.displayName = name
            for suffix in ["~ipad", "~iphone"] where info.dictionary["CFBundleDisplayName" + suffix] != nil {
                info.dictionary["CFBundleDisplayName" + suffix] = .string(name)
            }
        }
        if let schemes = recipe.removedURLSchemes { info.removeURLSchemes(schemes) }
        let flags: [(Bool?, [String])] = [
            (recipe.fileSharing, ["UIFileSharingEnabled"]),
            (recipe.documentBrowser, ["UISupportsDocumentBrowser"]),
            (recipe.fullScreen, ["UIRequiresFullScreen"]),
            (recipe.proMotion, ["CADisableMinimumFrameDurationOnPhone"]),
            (recipe.gameMode, ["GCSupportsGameMode", "LSSupportsGameMode"]),
        ]
        for (wish, keys) in flags {
            guard let wish else { continue }
            for key in keys { info.dictionary[key] = .boolean(wish) }
        }
        switch recipe.appearance {
        case .light?: info.dictionary["UIUserInterfaceStyle"] = "Light"
        case .dark?: info.dictionary["UIUserInterfaceStyle"] = "Dark"
        case .automatic?: info.dictionary["UIUserInterfaceStyle"] = "Automatic"
        case nil: break
        }
    }

    private mutating func check(_ text: String?, _ what: String, isMeant: (String) -> Bool) {
        guard let text, !isMeant(text) else { return }
        refuse(
            "\(root.path): “\(text.printable)” cannot be its \(what).",
            remedy: "Give one like an app of the store has."
        )
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 1000
            && !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
    }

    // MARK: Single keys

    private mutating func makeSettings() {
        for key in recipe.unsets {
            for bundle in bundles(for: key) where isFree(key, of: bundle) {
                var list = PropertyList.dictionary((infos[bundle.path] ?? bundle.info).dictionary)
                guard list.remove(at: key.path) else {
                    warnings.append("\(bundle.infoPlistPath): there is no \(key.path.description.printable) to unset")
                    continue
                }
                change(bundle) { $0.dictionary = list.dictionary ?? [:] }
            }
        }
        for setting in recipe.settings {
            for bundle in bundles(for: setting.key) where isFree(setting.key, of: bundle) {
                var list = PropertyList.dictionary((infos[bundle.path] ?? bundle.info).dictionary)
                do throws(AppBundleError) {
                    let value =
                        switch setting.value {
                        case .exact(let value): value
                        case .typed(let text): try PropertyList(typed: text, replacing: list[at: setting.key.path])
                        }
                    try list.set(value, at: setting.key.path)
                    change(bundle) { $0.dictionary = list.dictionary ?? [:] }
                } catch {
                    reasons.append(SignError.Reason(error, at: bundle.infoPlistPath))
                }
            }
        }
    }

    private mutating func bundles(for key: SigningRecipe.Key) -> [Bundle] {
        guard let name = key.bundle else { return [root].filter(\.hasInfoPlist) }
        if name == "*" { return edited }
        let found = self.bundles.filter { $0.hasInfoPlist && matches($0, name) }
        let live = found.filter { !overlay.removes($0.path) }
        if live.isEmpty {
            refuse(
                "\(key.description.printable): there is no bundle “\(name.printable)” "
                    + (found.isEmpty ? "in the app." : "any more: it is dropped."),
                remedy: "The app has \(edited.compactMap(\.identifier).joined(separator: ", "))."
            )
        }
        return live
    }

    /// Whether a key may be changed: some have an option of their own that does more.
    private mutating func isFree(_ key: SigningRecipe.Key, of bundle: Bundle) -> Bool {
        let remedy: String
        switch key.path.parts[0] {
        case "CFBundleIdentifier": remedy = "Use --bundle-id, which changes all that must go with it."
        case "CFBundleExecutable": remedy = "Leave it; the executable's name says nothing to people."
        default: return true
        }
        refuse("\(bundle.infoPlistPath): \(key.path) cannot be changed by itself.", remedy: remedy)
        return false
    }

    // MARK: Languages

    /// Puts the name into every language of the app.
    private mutating func localize(_ name: String) {
        let key = "CFBundleDisplayName"
        let inflater = Inflater()
        for entry in opened.directory.entries where entry.name.beginsExactly(with: root.path + "/") {
            guard !entry.isDirectory, !overlay.removes(entry.name) else { continue }
            let parts = entry.name.dropping(root.path + "/").pathParts
            let isStrings = parts.count == 2 && parts[0].hasSuffix(".lproj") && parts[1] == "InfoPlist.strings"
            guard isStrings || parts == ["InfoPlist.loctable"] else { continue }
            guard !overlay.additions.contains(where: { $0.name == EntryName(entry.name) }) else { continue }
            do {
                guard !entry.isSymbolicLink else { throw FileFailure("read", entry.name, errorNumber: 40) }
                let bytes = try OpenedArchive.small(entry.name, ArchiveFile(entry), opened.source, inflater)
                if isStrings {
                    let file = try StringsFile(bytes: bytes)
                    if file[key] != name { overlay.replace(entry.name, with: file.setting(key, to: name)) }
                } else if let changed = try Self.localize(table: bytes, key, name) {
                    overlay.replace(entry.name, with: changed)
                }
            } catch {
                let reason = SignError.Reason(error)
                warnings.append(
                    "\(entry.name): the name in it stays as it was, for it cannot be read. \(reason.message)"
                )
            }
        }
    }

    /// A table of all languages: a dictionary of texts for each.
    private static func localize(table bytes: [UInt8], _ key: String, _ name: String) throws -> [UInt8]? {
        let (value, format) = try PropertyList.parse(bytes)
        guard var table = value.dictionary else { return nil }
        for (language, texts) in table where language != "LocProvenance" {
            guard var texts = texts.dictionary else { continue }
            texts[key] = .string(name)
            table[language] = .dictionary(texts)
        }
        let changed = PropertyList.dictionary(table)
        return changed == value ? nil : changed.encoded(as: format)
    }

    // MARK: Icon

    private mutating func changeIcon() {
        guard let iconImage else {
            refuse(
                "\(recipe.icon ?? ""): the icon is not changed, for nobody scales its picture.",
                remedy: "Give the options an iconImage."
            )
            return
        }
        guard root.hasInfoPlist else { return }
        let app = root.path + "/"
        let names = opened.directory.entries.lazy.filter { $0.name.beginsExactly(with: app) }
            .map { $0.name.dropping(app) }.filter { !$0.utf8.contains(UInt8(ascii: "/")) }
        var editor = IconEditor(info: infos[root.path] ?? root.info, names: Set(names.map(EntryName.init)))
        let files = editor.files()
        infos[root.path] = editor.info
        var made: [Int: [UInt8]] = [:]
        do {
            for side in Set(files.values).sorted() { made[side] = try iconImage(side) }
        } catch {
            reasons.append(SignError.Reason(error))
            return
        }
        for (name, side) in files.sorted(by: { $0.key < $1.key }) {
            if let bytes = made[side] { overlay.add(root.path + "/" + name.text, .file(bytes)) }
        }
    }
}
