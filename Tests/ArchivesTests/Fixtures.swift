import FerryArchives
import Foundation
import TestKit
import Testing

/// A tar archive written field by field from POSIX's description of `ustar`, as odd as a test wants it.
struct TinyTar {
    /// One entry.
    struct Entry {
        var name: [UInt8]
        var type: Character = "0"
        var mode = 0o644
        var link: [UInt8] = []
        var content: [UInt8] = []
        /// What the header claims, where it lies.
        var claimedSize: Int?
    }

    var entries: [Entry] = []

    mutating func file(_ name: String, _ content: [UInt8] = [], mode: Int = 0o644, claims: Int? = nil) {
        entries.append(Entry(name: Array(name.utf8), mode: mode, content: content, claimedSize: claims))
    }

    mutating func entry(_ name: String, _ type: Character, link: String = "") {
        entries.append(Entry(name: Array(name.utf8), type: type, mode: 0o755, link: Array(link.utf8)))
    }

    var bytes: [UInt8] {
        var tar: [UInt8] = []
        for entry in entries {
            var header = [UInt8](repeating: 0, count: 512)
            func put(_ place: Int, _ text: some Sequence<UInt8>) {
                for (index, byte) in text.enumerated() { header[place + index] = byte }
            }
            func octal(_ number: Int, _ digits: Int) -> [UInt8] {
                let text = String(number, radix: 8)
                return Array((String(repeating: "0", count: digits - text.count) + text).utf8)
            }
            put(0, entry.name)
            put(100, octal(entry.mode, 7))
            put(108, octal(0, 7))
            put(116, octal(0, 7))
            put(124, octal(entry.claimedSize ?? entry.content.count, 11))
            put(136, octal(0, 11))
            put(148, [UInt8](repeating: 0x20, count: 8))
            put(156, [entry.type.asciiValue ?? 0x30])
            put(157, entry.link)
            put(257, Array("ustar\u{0}00".utf8))
            put(148, octal(header.reduce(0) { $0 + Int($1) }, 6) + [0, 0x20])
            tar += header + entry.content
            tar += [UInt8](repeating: 0, count: (512 - entry.content.count % 512) % 512)
        }
        return tar + [UInt8](repeating: 0, count: 1024)
    }
}

/// A package written as deb(5) has it.
enum TinyDeb {
    static let control = "Package: com.example.tweak\nVersion: 1.2-3\nArchitecture: iphoneos-arm\nName: Täst\n"

    static func ar(_ members: [(String, [UInt8])]) -> [UInt8] {
        var bytes = Array("!<arch>\n".utf8)
        for (name, content) in members {
            func field(_ text: String, _ width: Int) -> [UInt8] {
                Array((text + String(repeating: " ", count: width - text.utf8.count)).utf8)
            }
            bytes += field(name, 16) + field("0", 12) + field("0", 6) + field("0", 6) + field("100644", 8)
            bytes += field(String(content.count), 10) + [0x60, 0x0A] + content
            if !content.count.isMultiple(of: 2) { bytes.append(0x0A) }
        }
        return bytes
    }

    static func bytes(control: String = control, _ fill: (inout TinyTar) -> Void) -> [UInt8] {
        var described = TinyTar()
        described.entry("./", "5")
        described.file("./control", Array(control.utf8))
        var data = TinyTar()
        fill(&data)
        return ar([
            ("debian-binary", Array("2.0\n".utf8)), ("control.tar", described.bytes), ("data.tar", data.bytes),
        ])
    }
}

/// A dynamic library that loads `dylibs`.
func library(_ dylibs: [String] = [], name: String? = nil, cpuSubtype: UInt32 = 0) -> [UInt8] {
    TinyMachO {
        $0.fileType = 6
        $0.installName = name
        $0.dylibs = dylibs
        $0.headerPad = 512
        $0.cpuSubtype = cpuSubtype
    }.bytes
}

extension [PackedFile] {
    /// Paths, with links' targets and the modes of those that may be run.
    var summary: [String] {
        map { file in
            file.path + (file.target.map { " -> " + $0 } ?? "")
                + (file.bytes != nil && file.mode & 0o100 != 0 ? "*" : "")
        }
    }
}
