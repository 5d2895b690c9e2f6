import FerryPropertyList

extension InfoPlist {
    /// The files that may be the app's icon, best first; empty where there is none, as in an app whose icons are only in
    /// `Assets.car`.
    ///
    /// The keys come in the order in which iPhones look: `CFBundleIcons`, then `CFBundleIcons~ipad` (of both the
    /// `CFBundlePrimaryIcon`'s `CFBundleIconFiles`), `CFBundleIconFiles`, `CFBundleIconFile`, and last the name `Icon`,
    /// which the first systems took where no key was. Each name stands for its files with `@2x`, `@3x`, `~iphone` and
    /// `~ipad`, with or without `.png`, in whatever case; of those of one key the one with most pixels comes first, as
    /// far as names tell (`AppIcon60x60@3x` has 180).
    ///
    /// - Parameter files: the bundle's files, by their paths from its top.
    public func iconFiles(among files: some Sequence<String>) -> [String] {
        var byKey: [String: [IconFile]] = [:]
        for path in files {
            guard let file = IconFile(path: path) else { continue }
            byKey[file.stem, default: []].append(file)
        }
        var found: [String] = []
        var seen: Set<String> = []
        for names in iconNames {
            var group: [(file: IconFile, place: Int)] = []
            for (place, name) in names.enumerated() {
                guard let wanted = IconFile(path: name.lowercased().hasSuffix(".png") ? name : name + ".png") else {
                    continue
                }
                let isExact = wanted.scale > 1 || wanted.idiom != nil
                // A name with a scale means that file; without one, all of its scales.
                let files = (byKey[wanted.stem] ?? []).filter { file in
                    !isExact || file.scale == wanted.scale && (wanted.idiom == nil || file.idiom == wanted.idiom)
                }
                group += files.map { ($0, place) }
            }
            group.sort { one, other in
                if one.file.pixels != other.file.pixels { return one.file.pixels > other.file.pixels }
                if one.file.isForPad != other.file.isForPad { return other.file.isForPad }
                // As a rule the list goes from small to large.
                if one.place != other.place { return one.place > other.place }
                return one.file.path.utf8.lexicographicallyPrecedes(other.file.path.utf8)
            }
            found += group.map(\.file.path).filter { seen.insert($0).inserted }
        }
        return found
    }

    /// The names that each key gives, in the order of the keys.
    private var iconNames: [[String]] {
        let primary = ["CFBundleIcons", "CFBundleIcons~ipad"].map { key in
            Self.names(dictionary[path: key, "CFBundlePrimaryIcon", "CFBundleIconFiles"])
                + Self.names(dictionary[path: key, "CFBundlePrimaryIcon"])
        }
        let older = ["CFBundleIconFiles", "CFBundleIconFiles~ipad", "CFBundleIconFile", "CFBundleIconFile~ipad"].map {
            Self.names(dictionary[$0])
        }
        return primary + older + [["Icon"]]
    }

    /// A list of names, or one name; without what is neither.
    private static func names(_ value: PropertyList?) -> [String] {
        let names = value?.array?.compactMap(\.string) ?? value?.string.map { [$0] } ?? []
        return Array(names.prefix(maximumIconNames))
    }

    /// The most names of one key that are looked for; real ones have about twelve.
    private static let maximumIconNames = 100
}

/// A file's name, taken apart as iOS does: `AppIcon60x60@2x~ipad.png`.
private struct IconFile {
    let path: String
    /// Without scale, idiom and ending, in small letters.
    let stem: String
    /// 1, 2 or 3.
    let scale: Int
    /// `iphone` or `ipad`.
    let idiom: String?
    /// Pixels a side, as far as the name tells.
    let pixels: Int

    var isForPad: Bool { idiom == "ipad" }

    /// `nil` for what is no PNG by its name.
    init?(path: String) {
        var name = path.lowercased()[...]
        guard name.hasSuffix(".png") else { return nil }
        name.removeLast(4)
        var idiom: String?
        var scale = 1
        // They come in either order: `@2x~ipad` is right, `~ipad@2x` is met.
        for _ in 0..<2 {
            for known in ["iphone", "ipad"] where name.hasSuffix("~" + known) {
                idiom = known
                name.removeLast(known.count + 1)
            }
            for known in [2, 3] where name.hasSuffix("@\(known)x") {
                scale = known
                name.removeLast(3)
            }
        }
        self.path = path
        self.idiom = idiom
        self.scale = scale
        stem = String(name)
        pixels = Self.points(name) * scale
    }

    /// The number at the end of a name: 60 of `AppIcon60x60`, 83 of `Icon-83.5x83.5`, 72 of `Icon-72`. Where there is none, 57, the
    /// size of the first icons.
    private static func points(_ name: Substring) -> Int {
        var digits: [UInt8] = []
        for byte in name.utf8.reversed() {
            guard byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9") || byte == UInt8(ascii: ".") else { break }
            digits.append(byte)
        }
        let whole = String(decoding: digits.reversed(), as: UTF8.self).split(separator: ".").first
        guard let whole, whole.count <= 4, let points = Int(whole), points > 0 else { return 57 }
        return points
    }
}
