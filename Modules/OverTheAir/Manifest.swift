import FerryPropertyList

/// What a phone is told of an app: where its archive and its icons are.
///
/// Source: Apple, “Distribute proprietary in-house apps to Apple devices”: one item, whose assets are
/// `software-package`, `display-image` (57 pixels) and `full-size-image` (512 pixels), all by https.
enum Manifest {
    /// The list in XML; `base` is the address of the link's page, which ends in a slash.
    static func xml(_ link: AirLink, base: String) -> [UInt8] {
        func asset(_ kind: String, _ file: String, needsShine: Bool? = nil) -> PropertyList {
            var asset: PropertyList.Dictionary = ["kind": .string(kind), "url": .string(base + file)]
            if let needsShine { asset["needs-shine"] = .boolean(needsShine) }
            return .dictionary(asset)
        }
        let assets: [PropertyList] = [
            asset("software-package", "app.ipa"),
            asset("display-image", "icon57.png", needsShine: false),
            asset("full-size-image", "icon512.png", needsShine: false),
        ]
        let metadata: PropertyList.Dictionary = [
            "bundle-identifier": .string(link.identifier),
            "bundle-version": .string(link.version ?? "1.0"),
            "kind": .string("software"),
            "title": .string(link.title),
        ]
        let item: PropertyList.Dictionary = ["assets": .array(assets), "metadata": .dictionary(metadata)]
        return PropertyList.dictionary(["items": .array([.dictionary(item)])]).encoded(as: .xml)
    }

    /// What Safari opens to install.
    static func installAddress(base: String) -> String {
        "itms-services://?action=download-manifest&url=" + (base + "manifest.plist").escaped
    }
}

extension String {
    /// RFC 3986 §2.3: all but unreserved characters as `%` and two digits.
    var escaped: String {
        var text = ""
        for byte in utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "~"):
                text.unicodeScalars.append(Unicode.Scalar(byte))
            default: text += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
            }
        }
        return text
    }

    /// For text and attributes of HTML and SVG.
    var html: String {
        var text = ""
        for character in unicodeScalars {
            switch character {
            case "&": text += "&amp;"
            case "<": text += "&lt;"
            case ">": text += "&gt;"
            case "\"": text += "&quot;"
            case "'": text += "&#39;"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
