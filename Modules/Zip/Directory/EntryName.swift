import CDeflate

/// The name of an entry: from stored bytes to text, and what is not allowed in it.
enum EntryName {
    /// Decodes a stored name.
    ///
    /// UTF-8 if flag bit 11 says so; else what Info-ZIP's extra field 0x7075 says, if its CRC is that of the stored
    /// name; else UTF-8 if it is valid, as macOS writes it without the flag; else code page 437 (APPNOTE appendix D).
    static func decode(
        _ raw: ArraySlice<UInt8>,
        flags: Int,
        host: Int,
        extra: ArraySlice<UInt8>
    ) throws(ZipError) -> (name: String, hasForeignSeparators: Bool) {
        let name: String
        if flags & Format.Flag.utf8 != 0 {
            guard let text = String(validating: raw, as: UTF8.self) else {
                throw ZipError(
                    .badName,
                    entry: String(decoding: raw, as: UTF8.self),
                    "The name is not the UTF-8 that it is said to be."
                )
            }
            name = text
        } else if let text = unicodePath(of: raw, in: extra) {
            name = text
        } else if let text = String(validating: raw, as: UTF8.self) {
            name = text
        } else {
            name = codePage437(raw)
        }
        // As Info-ZIP and libarchive do: .NET Framework wrote backslashes until 4.6.1. On Unix, `\` is a letter.
        let windows = [Format.Host.fat, Format.Host.ntfs, Format.Host.windows, Format.Host.vfat].contains(host)
        if windows, name.utf8.contains(UInt8(ascii: "\\")), !name.utf8.contains(UInt8(ascii: "/")) {
            let parted = name.utf8.map { $0 == UInt8(ascii: "\\") ? UInt8(ascii: "/") : $0 }
            return (String(decoding: parted, as: UTF8.self), true)
        }
        return (name, false)
    }

    /// Refuses names that lead out of the archive's folder, or that readers would take differently.
    static func check(_ name: String) throws(ZipError) {
        var copy = name
        let found = copy.withUTF8 { Self.fault(in: $0) }
        if let found {
            throw ZipError(found.code, entry: name.isEmpty ? nil : name, found.text)
        }
    }

    private static func fault(in name: UnsafeBufferPointer<UInt8>) -> (code: ZipError.Code, text: String)? {
        let slash = UInt8(ascii: "/")
        let backslash = UInt8(ascii: "\\")
        let dot = UInt8(ascii: ".")
        guard let first = name.first else { return (.badName, "An entry has no name.") }
        if first == slash { return (.escapingName, "The name is an absolute path.") }
        if name.count >= 3, name[1] == UInt8(ascii: ":"), name[2] == slash || name[2] == backslash,
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= first | 0x20
        {
            return (.escapingName, "The name begins with a drive letter.")
        }
        var start = 0
        var startOfEither = 0
        for end in 0...name.count {
            let byte = end < name.count ? name[end] : slash
            if byte == 0 { return (.badName, "The name holds a zero byte.") }
            if byte == slash || byte == backslash {
                if end - startOfEither == 2, name[startOfEither] == dot, name[startOfEither + 1] == dot {
                    return (.escapingName, "The name climbs out of its folder with “..”.")
                }
                startOfEither = end + 1
            }
            if byte == slash {
                if end == start, end < name.count {
                    return (.badName, "The name has two slashes in a row.")
                }
                if end - start == 1, name[start] == dot {
                    return (.badName, "The name has a part that is “.”.")
                }
                start = end + 1
            }
        }
        return nil
    }

    /// The name in the extra field 0x7075: version 1, the CRC-32 of the stored name, then UTF-8.
    private static func unicodePath(of raw: ArraySlice<UInt8>, in extra: ArraySlice<UInt8>) -> String? {
        for block in ExtraBlocks(extra) where block.identifier == Format.Extra.unicodePath && block.content.count > 5 {
            let fields = Fields(block.content)
            guard block.content[block.content.startIndex] == 1 else { continue }
            let crc = raw.withUnsafeBytes { libdeflate_crc32(0, $0.baseAddress, $0.count) }
            guard fields.u32(1) == Int(crc) else { continue }
            return String(validating: block.content.dropFirst(5), as: UTF8.self)
        }
        return nil
    }

    private static func codePage437(_ raw: ArraySlice<UInt8>) -> String {
        var text = ""
        for byte in raw {
            text.unicodeScalars.append(byte < 128 ? Unicode.Scalar(byte) : upperHalf[Int(byte) - 128])
        }
        return text
    }

    /// Code page 437 from 0x80 to 0xFF.
    private static let upperHalf = Array(
        ("ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀"
            + "αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■\u{A0}").unicodeScalars
    )
}
