import FerryMachO
import FerrySample
import Foundation
import TestKit
import Testing

/// A tool of the toolchain, which is beside `swift` or on the path.
private func toolchain(_ name: String) -> Tool? {
    let swift = Tool("swift").map { URL(fileURLWithPath: $0.path).resolvingSymlinksInPath() }
    let folders = ["/opt/swift/usr/bin"] + (swift.map { [$0.deletingLastPathComponent().path] } ?? [])
    for folder in folders where FileManager.default.isExecutableFile(atPath: folder + "/" + name) {
        return Tool(path: folder + "/" + name)
    }
    return Tool(name)
}

private let objdump = toolchain("llvm-objdump")
private let nm = toolchain("llvm-nm")

@Suite struct `A sample Mach-O` {
    static let combinations = SampleMachO.Kind.allCases.flatMap { kind in
        SampleMachO.Architecture.allCases.map { (kind, $0) }
    }

    private func dump(_ bytes: [UInt8], _ arguments: String...) throws -> Tool.Result {
        let folder = try TemporaryFolder()
        return try #require(objdump).run(["--macho"] + arguments + [try folder.write(bytes, to: "image")])
    }

    /// A load command as llvm-objdump prints it, with one space between words.
    private func command(_ name: String, in text: String) throws -> String {
        let parts = text.components(separatedBy: "Load command ")
        let part = try #require(parts.first { $0.contains("cmd \(name)\n") }, "no \(name)")
        return part.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    @Test(.enabled(if: objdump != nil, "llvm-objdump is not there"), arguments: combinations)
    func `is read by llvm-objdump without complaint`(
        kind: SampleMachO.Kind,
        architecture: SampleMachO.Architecture
    ) throws {
        var sample = SampleMachO(kind: kind, seed: 7)
        sample.architecture = architecture
        sample.libraries = ["@rpath/libOther.dylib"]
        sample.signatureRoom = 10_000
        sample.cryptID = 0
        let shown = try dump(sample.bytes(), "--private-headers", "-d")
        #expect(shown.status == 0)
        #expect(shown.errors == "")
        let type =
            switch kind {
            case .executable: "EXECUTE"
            case .dylib: "DYLIB"
            case .bundle: "BUNDLE"
            }
        #expect(shown.text.contains(" \(type) "))
        let (name, answer) = kind == .executable ? ("_main", 0) : ("_sample_answer", 42)
        #expect(shown.text.contains("\(name):"))
        let words = shown.text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        let move = architecture == .armv7 ? "mov r0, #" : "mov w0, #"
        let operand = try #require(words.components(separatedBy: move).dropFirst().first).prefix { $0 != " " }
        let value = operand.hasPrefix("0x") ? Int(operand.dropFirst(2), radix: 16) : Int(operand)
        #expect(value == answer)
        #expect(words.contains(architecture == .armv7 ? "bx lr" : " ret"))
        #expect(try command("LC_BUILD_VERSION", in: shown.text).contains("platform ios sdk 17.0 minos 15.0"))
        #expect(shown.text.contains("name /usr/lib/libSystem.B.dylib"))
        #expect(shown.text.contains("name @rpath/libOther.dylib"))
        #expect(shown.text.contains("path @executable_path/Frameworks"))
        #expect(shown.text.contains("cmd LC_MAIN") == (kind == .executable))
        #expect(shown.text.contains("cmd LC_ID_DYLIB") == (kind == .dylib))
        #expect(shown.text.contains("__PAGEZERO") == (kind == .executable))
    }

    @Test(.enabled(if: nm != nil && objdump != nil, "llvm-nm or llvm-objdump is not there"), arguments: combinations)
    func `has symbols and exports`(kind: SampleMachO.Kind, architecture: SampleMachO.Architecture) throws {
        var sample = SampleMachO(kind: kind)
        sample.architecture = architecture
        sample.exportedFunction = "_tide_height"
        let bytes = sample.bytes()
        let folder = try TemporaryFolder()
        let file = try folder.write(bytes, to: "image")
        let symbols = try #require(nm).run([file])
        #expect(symbols.status == 0, "\(symbols.errors)")
        let expected =
            kind == .executable
            ? ["T __mh_execute_header", "T _main", "s _payload"] : ["T _tide_height", "s _payload"]
        let found = symbols.text.split(separator: "\n").map {
            $0.split(separator: " ").dropFirst().joined(separator: " ")
        }
        #expect(found.sorted() == expected)

        // The trie and the symbol table agree.
        let exports = try dump(bytes, "--exports-trie")
        #expect(exports.status == 0 && exports.errors == "")
        for line in symbols.text.split(separator: "\n") where line.contains(" T ") {
            let words = line.split(separator: " ")
            let match = exports.text.split(separator: "\n").first { $0.hasSuffix(" \(words[2])") }
            let address = match?.split(separator: " ").first?.dropFirst(2)
            #expect(address.flatMap { UInt64($0, radix: 16) } == UInt64(words[0], radix: 16), "\(exports.text)")
        }
    }

    @Test(arguments: combinations, [0, 16, 4096])
    func `leaves as much room in its header as was wanted`(
        combination: (SampleMachO.Kind, SampleMachO.Architecture),
        padding: Int
    ) throws {
        var sample = SampleMachO(kind: combination.0)
        sample.architecture = combination.1
        sample.headerPadding = padding
        let bytes = sample.bytes()
        let slice = try #require(try MachOFile(bytes).slices.first)
        #expect(slice.image.headerRoom == padding)
        #expect(slice.image.codeSignature == nil)
        let linkEdit = try #require(slice.image.linkEdit)
        #expect(linkEdit.fileOffset + linkEdit.fileSize == bytes.count)
        // 16 bytes are what LC_CODE_SIGNATURE takes.
        #expect((slice.image.signatureObstacle(in: bytes[...]) == nil) == (padding >= 16))
    }

    @Test(arguments: [0, 16, 10_000, 10_001])
    func `ends with the room for its signature`(room: Int) throws {
        var sample = SampleMachO()
        sample.signatureRoom = room
        let bytes = sample.bytes()
        let image = try #require(try MachOFile(bytes).slices.first).image
        let region = try #require(image.codeSignature)
        #expect(region.offset.isMultiple(of: 16))
        #expect(region.size.isMultiple(of: 16))
        #expect(region.size - room < 16 && region.size >= room)
        #expect(region.end == bytes.count)
        let linkEdit = try #require(image.linkEdit)
        #expect(linkEdit.fileOffset + linkEdit.fileSize == bytes.count)
        #expect(linkEdit.memorySize.isMultiple(of: 16384))
        #expect(bytes[region.offset...].allSatisfy { $0 == 0 })
    }

    @Test(
        .enabled(if: objdump != nil, "llvm-objdump is not there"),
        arguments: [nil, 0, 1] as [UInt32?],
        [true, false]
    )
    func `says whether it is encrypted`(cryptID: UInt32?, wide: Bool) throws {
        var sample = SampleMachO()
        sample.architecture = wide ? .arm64 : .armv7
        sample.payloadBytes = 100
        sample.cryptID = cryptID
        let bytes = sample.bytes()
        #expect(try MachOFile(bytes).slices.first?.image.isEncrypted == (cryptID == 1))
        let shown = try dump(bytes, "--private-headers")
        #expect(shown.errors == "")
        let name = wide ? "LC_ENCRYPTION_INFO_64" : "LC_ENCRYPTION_INFO"
        guard let cryptID else {
            #expect(!shown.text.contains(name))
            return
        }
        let page = wide ? 16384 : 4096
        #expect(try command(name, in: shown.text).contains("cryptoff \(page) cryptsize \(page) cryptid \(cryptID)"))
    }

    @Test(
        .enabled(if: objdump != nil, "llvm-objdump is not there"),
        arguments: [
            (2, "10.3.1", true, "LC_VERSION_MIN_IPHONEOS", "version 10.3.1 sdk 17.0"),
            (3, "11.0", true, "LC_VERSION_MIN_TVOS", "version 11.0 sdk 17.0"),
            (2, "10.0", false, "LC_BUILD_VERSION", "platform ios sdk 17.0 minos 10.0"),
            (7, "16.4", false, "LC_BUILD_VERSION", "platform iossimulator sdk 17.0 minos 16.4"),
        ] as [(UInt32, String, Bool, String, String)]
    )
    func `tells its platform`(platform: UInt32, minimum: String, old: Bool, name: String, words: String) throws {
        var sample = SampleMachO()
        sample.platform = platform
        sample.minimumOS = minimum
        sample.usesOldVersionCommand = old
        let shown = try dump(sample.bytes(), "--private-headers").text
        #expect(try command(name, in: shown).contains(words))
    }

    @Test(.enabled(if: objdump != nil, "llvm-objdump is not there"))
    func `goes into a fat file`() throws {
        let slices = [SampleMachO.Architecture.armv7, .arm64, .arm64e].map { architecture in
            var sample = SampleMachO()
            sample.architecture = architecture
            return sample.bytes()
        }
        let fat = SampleMachO.fat(slices)
        let shown = try dump(fat, "--universal-headers")
        #expect(shown.errors == "")
        for words in ["nfat_arch 3", "architecture armv7", "architecture arm64\n", "architecture arm64e", "align 2^14"]
        {
            #expect(shown.text.contains(words))
        }
        let read = try MachOFile(fat)
        #expect(read.slices.map(\.image.architecture) == ["armv7", "arm64", "arm64e"])
        for (slice, bytes) in zip(read.slices, slices) {
            #expect(Array(fat[slice.offset..<slice.offset + bytes.count]) == bytes)
        }
    }

    @Test func `is the same for the same seed, and another for another`() throws {
        let uuid = { (bytes: [UInt8]) in try MachOFile(bytes).slices.first?.image.uuid }
        #expect(SampleMachO(seed: 3).bytes() == SampleMachO(seed: 3).bytes())
        #expect(try uuid(SampleMachO(seed: 3).bytes()) != (try uuid(SampleMachO(seed: 4).bytes())))
    }
}
