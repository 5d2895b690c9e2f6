import FerryAppBundle
import FerryBytes
import FerryPropertyList

/// Says which files an app's icon needs, and makes its Info.plist name them.
///
/// `CFBundleIcons` (phone) and `CFBundleIcons~ipad` list names without ending: `AppIcon60x60` stands for
/// `AppIcon60x60@2x.png`, 120 pixels wide, and `@3x`; `AppIcon76x76` for `AppIcon76x76@2x~ipad.png`. `CFBundleIconName` names
/// a picture in `Assets.car` that would be shown instead: it goes.
struct IconEditor {
    private(set) var info: InfoPlist
    /// The files at the top of the app.
    private let names: Set<EntryName>
    private var sides: [EntryName: Int] = [:]

    private static let primary = "CFBundlePrimaryIcon"
    private static let list = "CFBundleIconFiles"
    private static let phone = (key: "CFBundleIcons", name: "AppIcon60x60", points: 60.0)
    private static let pad = (key: "CFBundleIcons~ipad", name: "AppIcon76x76", points: 76.0)
    /// No icon of an app has more pixels a side.
    private static let mostPixels = 1024.0

    init(info: InfoPlist, names: Set<EntryName>) {
        self.info = info
        self.names = names
    }

    /// The files to write, with the pixels of a side of each.
    mutating func files() -> [EntryName: Int] {
        let families = info.dictionary["UIDeviceFamily"]?.array?.compactMap(\.integer) ?? [1]
        let legacy = legacyNames()
        let isForPad = families.contains(2)
        var phone = declared(Self.phone.key) + legacy
        if phone.isEmpty { phone = [Self.phone.name] }
        var pad = declared(Self.pad.key)
        if pad.isEmpty, isForPad { pad = phone.filter { points($0) != nil } + [Self.pad.name] }
        declare(phone, under: Self.phone.key)
        if !pad.isEmpty { declare(pad, under: Self.pad.key) }

        for name in Self.unique(phone) {
            let points = points(name) ?? Self.phone.points
            for scale in [2, 3] { want("\(name)@\(scale)x.png", points * Double(scale)) }
            replaceExisting(name, points)
        }
        for name in Self.unique(pad) {
            let points = points(name) ?? Self.pad.points
            if !phone.contains(name) { want("\(name)@2x~ipad.png", points * 2) }
            replaceExisting(name, points)
        }
        return sides
    }

    private func declared(_ key: String) -> [String] {
        (info.dictionary[path: key, Self.primary, Self.list]?.strings ?? []).map(Self.stem).filter(Self.isPlain)
    }

    /// Names as apps for the first systems gave them.
    private func legacyNames() -> [String] {
        let list = info.dictionary["CFBundleIconFiles"]?.strings ?? []
        let single = [info.dictionary["CFBundleIconFile"]?.string].compactMap(\.self)
        return (list + single).map(Self.stem).filter(Self.isPlain)
    }

    private mutating func declare(_ names: [String], under key: String) {
        info.dictionary[path: key, Self.primary, Self.list] = .array(Self.unique(names).map { .string($0) })
        info.dictionary[path: key, Self.primary, "CFBundleIconName"] = nil
        if info.dictionary["CFBundleIconName"] != nil { info.dictionary["CFBundleIconName"] = nil }
    }

    private mutating func want(_ name: String, _ pixels: Double) {
        sides[EntryName(name)] = Int(min(Self.mostPixels, max(1, pixels.rounded())))
    }

    private mutating func replaceExisting(_ name: String, _ points: Double) {
        for (suffix, scale) in [("", 1.0), ("@2x", 2), ("@3x", 3)] {
            for device in ["", "~ipad", "~iphone"] where names.contains(EntryName(name + suffix + device + ".png")) {
                want(name + suffix + device + ".png", points * scale)
            }
        }
    }

    /// The points of a side that a name tells: `AppIcon83.5x83.5`, `Icon-60`.
    private func points(_ name: String) -> Double? {
        let digits = name.utf8.reversed().prefix { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }.reversed()
        guard let number = Double(String(decoding: digits, as: UTF8.self)), number >= 10, number <= 512 else {
            return nil
        }
        return number
    }

    private static func stem(_ name: String) -> String {
        var stem = name[...]
        for ending in [".png", "~ipad", "~iphone", "@2x", "@3x"] where stem.hasSuffix(ending) {
            stem = stem.dropLast(ending.count)
        }
        return String(stem)
    }

    private static func isPlain(_ name: String) -> Bool {
        !name.isEmpty && !name.utf8.contains(UInt8(ascii: "/")) && name.utf8.count < 200
    }

    private static func unique(_ names: [String]) -> [String] {
        var seen: Set<String> = []
        return names.filter { seen.insert($0).inserted }
    }
}

extension InfoPlist {
    /// Takes addresses away, and types of addresses that are left without any.
    mutating func removeURLSchemes(_ schemes: SigningRecipe.Selection) {
        let key = "CFBundleURLTypes"
        guard case .some(let names) = schemes else {
            dictionary[key] = nil
            return
        }
        let gone = Set(names.map { $0.lowercased() })
        guard let types = dictionary[key]?.array else { return }
        let left = types.compactMap { type -> PropertyList? in
            guard var type = type.dictionary, let own = type["CFBundleURLSchemes"]?.array else { return type }
            let stay = own.filter { !gone.contains($0.string?.lowercased() ?? "") }
            guard stay.count < own.count else { return .dictionary(type) }
            type["CFBundleURLSchemes"] = .array(stay)
            return stay.isEmpty ? nil : .dictionary(type)
        }
        dictionary[key] = left.isEmpty ? nil : .array(left)
    }
}
