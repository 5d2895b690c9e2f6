import FerryBytes
import FerrySample
import TestKit
import Testing

@testable import FerryMachO

/// What `llvm-objdump --macho --private-headers` says of one image.
private struct Headers {
    /// The fields of each load command, by name.
    var commands: [[String: String]] = []
    var magic = ""
    var fileType = ""

    static func of(_ bytes: [UInt8]) throws -> [Headers] {
        let folder = try TemporaryFolder()
        try folder.write(bytes, to: "file")
        let objdump = try #require(AppleTools.objdump)
        let shown = try objdump.run(["--macho", "--private-headers", "--arch=all", folder.path("file")])
        try #require(shown.status == 0, "\(shown.errors)")
        var all: [Headers] = []
        var isInSection = false
        for line in shown.text.split(separator: "\n") {
            let words = line.split(separator: " ", maxSplits: 1).map { $0.trimmingPrefix { $0 == " " } }
            if line.trimmingPrefix(while: { $0 == " " }).hasPrefix("MH_MAGIC") {
                let columns = line.split(separator: " ")
                all.append(Headers(magic: String(columns[0]), fileType: String(columns[4])))
            } else if line.hasPrefix("Load command") {
                all[all.count - 1].commands.append([:])
                isInSection = false
            } else if line == "Section" {
                isInSection = true
            } else if words.count == 2, !isInSection, all.last?.commands.isEmpty == false {
                let (image, command) = (all.count - 1, all[all.count - 1].commands.count - 1)
                // A build tool's version comes after the command's own fields.
                if all[image].commands[command][String(words[0])] == nil {
                    all[image].commands[command][String(words[0])] = String(words[1])
                }
            }
        }
        return all
    }

    func commands(_ names: String...) -> [[String: String]] {
        commands.filter { names.contains($0["cmd"] ?? "") }
    }
}

private func number(_ text: String?) throws -> Int {
    let text = try #require(text)
    return try #require(text.hasPrefix("0x") ? Int(text.dropFirst(2), radix: 16) : Int(text))
}

private func expectAgreement(_ image: MachOImage, _ headers: Headers) throws {
    #expect(image.is64Bit == (headers.magic == "MH_MAGIC_64"))
    #expect(image.fileType.map { "\($0)".uppercased() } == headers.fileType)
    #expect(image.loadCommands.map(\.size) == (try headers.commands.map { try number($0["cmdsize"]) }))
    let segments = headers.commands("LC_SEGMENT", "LC_SEGMENT_64")
    #expect(image.segments.map(\.name) == segments.map { $0["segname"] ?? "" })
    #expect(image.segments.map(\.fileOffset) == (try segments.map { try number($0["fileoff"]) }))
    #expect(image.segments.map(\.fileSize) == (try segments.map { try number($0["filesize"]) }))
    #expect(image.segments.map { Int($0.memorySize) } == (try segments.map { try number($0["vmsize"]) }))
    #expect(image.segments.map { Int($0.memoryAddress) } == (try segments.map { try number($0["vmaddr"]) }))
    let signature = headers.commands("LC_CODE_SIGNATURE").first
    #expect(image.codeSignature?.offset == (try signature.map { try number($0["dataoff"]) }))
    #expect(image.codeSignature?.size == (try signature.map { try number($0["datasize"]) }))
    let libraries = headers.commands("LC_LOAD_DYLIB", "LC_LOAD_WEAK_DYLIB", "LC_REEXPORT_DYLIB")
    #expect(image.dylibs.map(\.name) == libraries.map { String($0["name"]?.prefix { $0 != " " } ?? "") })
    let own = headers.commands("LC_ID_DYLIB").first?["name"]
    #expect(image.installName == own.map { String($0.prefix { $0 != " " }) })
    let uuid = headers.commands("LC_UUID").first?["uuid"]?.filter { $0 != "-" }.lowercased()
    #expect(image.uuid?.hex == uuid)
    let build = headers.commands("LC_BUILD_VERSION").first?["minos"]
    let old = headers.commands("LC_VERSION_MIN_IPHONEOS").first?["version"]
    let minimum = image.minimumOS.map { "\($0 >> 16).\($0 >> 8 & 0xFF)" }
    #expect(minimum == build ?? old)
    #expect(image.platform == (build != nil || old != nil ? 2 : nil))
    let encryption = headers.commands("LC_ENCRYPTION_INFO", "LC_ENCRYPTION_INFO_64").first?["cryptid"]
    #expect(image.isEncrypted == (encryption.map { $0 != "0" } ?? false))
}

@Suite(.enabled(if: AppleTools.exist, "\(AppleTools.absent)"))
struct `A Mach-O file's headers` {
    @Test(arguments: [
        ["-e", "_main"], ["-dylib", "-install_name", "@rpath/x.dylib"], ["-bundle"],
        ["-e", "_main", "-headerpad", "0x1000"],
    ])
    func `are read as llvm-objdump reads what lld linked`(options: [String]) throws {
        let bytes = try AppleTools.link(options)
        let image = try #require(try MachOFile(bytes).slices.first?.image)
        try expectAgreement(image, try #require(try Headers.of(bytes).first))
    }

    @Test(
        .enabled(if: SharedFolder.exists, "\(SharedFolder.absent)"),
        arguments: ["isign-isignTestApp.fat", "isign-isignTestApp.thin", "zsign-demo1.dylib"]
    )
    func `are read as llvm-objdump reads real files, or refused as there`(name: String) throws {
        let bytes = try [UInt8](contentsOf: SharedFolder.corpus(name))
        let folder = try TemporaryFolder()
        try folder.write(bytes, to: "file")
        let objdump = try #require(AppleTools.objdump)
        guard try objdump.run(["--macho", "--private-headers", "--arch=all", folder.path("file")]).status == 0 else {
            // One of them ends eight bytes before its __LINKEDIT does.
            #expect(name == "isign-isignTestApp.fat")
            let error = #expect(throws: MachOError.self) { try MachOFile(bytes) }
            #expect(error?.message.hasPrefix("slice 1 of 2: segment __LINKEDIT claims 22768 bytes") == true)
            return
        }
        let images = try MachOFile(bytes).slices.map(\.image)
        let headers = try Headers.of(bytes)
        try #require(images.count == headers.count)
        for (image, headers) in zip(images, headers) { try expectAgreement(image, headers) }
    }

    @Test(arguments: SampleMachO.Kind.allCases, [true, false])
    func `are read as llvm-objdump reads a sample's`(kind: SampleMachO.Kind, isOld: Bool) throws {
        var sample = SampleMachO(kind: kind)
        sample.signatureRoom = 4096
        sample.usesOldVersionCommand = isOld
        sample.libraries = ["@rpath/a.dylib", "@rpath/b.dylib"]
        let bytes = sample.bytes()
        try expectAgreement(try MachOImage(bytes[...]), try #require(try Headers.of(bytes).first))
    }

    @Test(arguments: [true, false])
    func `are read as llvm-objdump reads what was written by hand`(is64Bit: Bool) throws {
        let bytes = TinyMachO.rich(is64Bit: is64Bit).bytes
        let image = try MachOImage(bytes[...])
        try expectAgreement(image, try #require(try Headers.of(bytes).first))
        #expect(image.isEncrypted)
        #expect(image.dylibs.count == 2)
    }

    @Test(arguments: [true, false])
    func `stay right when a signature is laid out`(is64Bit: Bool) throws {
        for room in [nil, 16, 0x3000] {
            var tiny = TinyMachO.rich(is64Bit: is64Bit)
            tiny.signatureRoom = room
            let signed = try laidOut(tiny.bytes, needed: 0x2000)
            let image = try MachOImage(signed.bytes[...])
            try expectAgreement(image, try #require(try Headers.of(signed.bytes).first))
            #expect(image.codeSignature?.offset == signed.layout.codeLimit)
            #expect(image.codeSignature?.end == signed.bytes.count)
        }
    }
}

@Suite struct `A Mach-O that is cut or changed` {
    @Test(arguments: [true, false])
    func `is an error at every length and never a trap`(is64Bit: Bool) throws {
        let bytes = TinyMachO.rich(is64Bit: is64Bit).bytes
        // Past the header every length fails for the same reason: __LINKEDIT ends too late.
        let header = try MachOImage(bytes[...]).commandsEnd
        for length in Array(0..<header + 8) + stride(from: header + 8, to: bytes.count, by: 97) + [bytes.count - 1] {
            #expect(throws: MachOError.self, "\(length)") { try MachOFile(bytes[..<length]) }
        }
        let fat = TinyMachO.fat([bytes, bytes], alignment: 12)
        for length in Array(0..<64) + stride(from: 64, to: fat.count, by: 331) + [fat.count - 1] {
            #expect(throws: MachOError.self, "\(length)") { try MachOFile(fat[..<length]) }
        }
    }

    @Test(arguments: [true, false])
    func `never traps, whichever byte of the header is another`(is64Bit: Bool) throws {
        let bytes = TinyMachO.rich(is64Bit: is64Bit).bytes
        let header = try MachOImage(bytes[...]).commandsEnd
        for index in 0..<header {
            for mask: UInt8 in [0x01, 0x80, 0xFF] {
                var changed = bytes
                changed[index] ^= mask
                exercise(changed)
            }
        }
    }

    @Test(arguments: [false, true])
    func `never traps, whichever byte of the universal header is another`(wide: Bool) throws {
        let bytes = TinyMachO().bytes
        let fat = TinyMachO.fat([bytes, TinyMachO.rich(is64Bit: false).bytes], alignment: 12, wide: wide)
        for index in 0..<(8 + 2 * (wide ? 32 : 20)) {
            for mask: UInt8 in [0x01, 0x10, 0x80, 0xFF] {
                var changed = fat
                changed[index] ^= mask
                exercise(changed)
            }
        }
    }

    private func exercise(_ bytes: [UInt8]) {
        _ = try? MachOImage.headerSize(bytes[..<32])
        guard let file = try? MachOFile(bytes) else { return }
        for slice in file.slices {
            let range = slice.offset..<slice.offset + slice.image.count
            _ = slice.image.signatureObstacle(in: bytes[range].prefix(2048))
            _ = slice.image.expectedCodeLimit
            guard let layout = try? slice.image.signatureLayout(in: bytes[range], needed: 5000) else { continue }
            #expect(layout.codeLimit >= layout.contentEnd)
            #expect(layout.signatureSize >= 5000)
            #expect(layout.contentEnd <= slice.image.count)
            #expect(layout.contentEnd >= max(slice.image.commandsEnd, layout.changedPrefix))
            #expect(layout.edits.allSatisfy { $0.offset + $0.bytes.count <= slice.image.count })
        }
        if file.isFat { _ = try? file.fatLayout(sizes: file.slices.map { $0.image.count + 4096 }) }
    }

    @Test func `is told apart from what is no Mach-O`() throws {
        for (bytes, code) in [
            (Array("#!/bin/sh\nexit 0\n and so on, for more than a header".utf8), MachOError.Code.notMachO),
            ([0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52] + [UInt8](repeating: 0, count: 99), .notMachO),
            ([0xFE, 0xED, 0xFA, 0xCF] + [UInt8](repeating: 0, count: 99), .unsupported),
            ([], .notMachO),
        ] {
            let error = #expect(throws: MachOError.self) { try MachOFile(bytes) }
            #expect(error?.code == code)
            #expect(MachOFile.claims(bytes) == (code == .unsupported))
        }
        #expect(MachOFile.claims(TinyMachO().bytes))
        #expect(MachOFile.claims(TinyMachO.fat([TinyMachO().bytes])))
        #expect(!MachOFile.claims(TinyMachO().bytes.prefix(7)))
    }
}

@Suite struct `The start of a Mach-O` {
    @Test(arguments: [true, false])
    func `says as much as the whole`(is64Bit: Bool) throws {
        let bytes = TinyMachO.rich(is64Bit: is64Bit).bytes
        let size = try MachOImage.headerSize(bytes[..<32])
        let whole = try MachOImage(bytes[...])
        let start = try MachOImage(bytes[..<size], count: bytes.count)
        #expect(size == whole.commandsEnd)
        #expect(start.count == bytes.count)
        #expect(start.loadCommands == whole.loadCommands)
        #expect(start.segments == whole.segments)
        #expect(start.codeSignature == whole.codeSignature)
        #expect(start.dylibs.map(\.name) == whole.dylibs.map(\.name))
        #expect(start.uuid == whole.uuid)
        #expect(start.installName == whole.installName)
        #expect(start.isEncrypted == whole.isEncrypted)
        #expect(start.minimumOS == whole.minimumOS)
        #expect(start.headerRoom == whole.headerRoom)
        #expect(throws: MachOError.self) { try MachOImage(bytes[..<(size - 1)], count: bytes.count) }
        #expect(throws: MachOError.self) { try MachOImage.headerSize(bytes[..<23]) }
    }
}
