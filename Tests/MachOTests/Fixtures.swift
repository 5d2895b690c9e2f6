import FerryMachO
import Foundation
import TestKit
import Testing

extension TinyMachO {
    /// An image with every load command that is read.
    static func rich(is64Bit: Bool) -> TinyMachO {
        TinyMachO {
            $0.is64Bit = is64Bit
            $0.fileType = 6
            $0.cpuType = is64Bit ? 0x0100_000C : 12
            $0.cpuSubtype = is64Bit ? 0 : 9
            $0.uuid = Array(1...16)
            $0.installName = "@rpath/a.dylib"
            $0.dylibs = ["/usr/lib/libSystem.B.dylib", "@rpath/ü.dylib"]
            $0.cryptID = 1
            $0.signatureRoom = 512
        }
    }
}

extension [UInt8] {
    /// The bytes of the file at a path.
    init(contentsOf path: String) throws {
        self.init(try Data(contentsOf: URL(fileURLWithPath: path)))
    }
}

/// Lays out room for a signature and makes the edits, as a signer would.
func laidOut(_ bytes: [UInt8], needed: Int) throws -> (bytes: [UInt8], layout: SignatureLayout) {
    let image = try MachOImage(bytes[...])
    let layout = try image.signatureLayout(in: bytes[...], needed: needed)
    var output = Array(bytes[..<layout.contentEnd])
    for edit in layout.edits {
        output.replaceSubrange(edit.offset..<edit.offset + edit.bytes.count, with: edit.bytes)
    }
    output += [UInt8](repeating: 0, count: layout.imageSize - output.count)
    return (output, layout)
}
