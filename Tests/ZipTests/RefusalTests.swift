import FerryBytes
import TestKit
import Testing

@testable import FerryZip

/// One change to a sound archive, and what must be said of it.
struct Fault: Sendable, CustomTestStringConvertible {
    let about: String
    let code: ZipError.Code
    /// The whole message.
    let says: String
    let change: @Sendable (inout Surgery) -> Void

    init(
        _ about: String,
        _ code: ZipError.Code,
        _ says: String,
        _ change: @escaping @Sendable (inout Surgery) -> Void
    ) {
        self.about = about
        self.code = code
        self.says = says
        self.change = change
    }

    var testDescription: String { about }
}

private typealias Field = Surgery.Field

private let entryFaults: [Fault] = [
    Fault("central flag: encrypted", .encrypted, "Payload/a.txt: The entry is encrypted.") {
        $0.set16(1, at: $0.central[0] + Field.centralFlags)
    },
    Fault("local flag: encrypted", .encrypted, "Payload/b.bin: The entry is encrypted.") {
        $0.set16(1, at: $0.local[1] + Field.localFlags)
    },
    Fault("strong encryption", .encrypted, "Payload/a.txt: The entry is encrypted.") {
        $0.set16(1 << 6, at: $0.central[0] + Field.centralFlags)
    },
    Fault("patch data", .unsupported, "Payload/a.txt: The entry is a patch to another file.") {
        $0.set16(1 << 5, at: $0.central[0] + Field.centralFlags)
    },
    Fault(
        "bzip2",
        .unsupported,
        "Payload/a.txt: The entry is packed by method 12, not stored or deflated."
    ) { $0.set16(12, at: $0.central[0] + Field.centralMethod) },
    Fault("method differs", .malformed, "Payload/a.txt: The entry is packed in another way in its own header.") {
        $0.set16(0, at: $0.local[0] + Field.localMethod)
    },
    Fault(
        "stored sizes differ",
        .sizeMismatch,
        "Payload/b.bin: The entry is stored, yet has 400 bytes packed and 401 unpacked."
    ) { $0.set32(401, at: $0.central[1] + Field.centralUnpacked) },
    Fault(
        "size lie",
        .limit,
        "Payload/a.txt: The entry is said to unpack from 8 to 3221225472 bytes, more than 1100 times as many."
    ) { $0.set32(3 << 30, at: $0.central[0] + Field.centralUnpacked) },
    Fault(
        "local size differs",
        .malformed,
        "Payload/a.txt: The sizes or the CRC in the entry's own header disagree with the directory."
    ) { $0.set32(6, at: $0.local[0] + Field.localPacked) },
    Fault(
        "local CRC differs",
        .malformed,
        "Payload/b.bin: The sizes or the CRC in the entry's own header disagree with the directory."
    ) { $0.set32(6, at: $0.local[1] + Field.localCRC) },
    Fault("no descriptor", .malformed, "Payload/b.bin: The data descriptor disagrees with the directory.") {
        $0.set16(8, at: $0.local[1] + Field.localFlags)
        $0.set32(0, at: $0.local[1] + Field.localCRC)
    },
    Fault("local name differs", .malformed, "Payload/a.txt: The entry has another name in its own header.") {
        $0.bytes[$0.local[0] + Field.localName] = 0x51
    },
    Fault("no local header", .malformed, "Payload/b.bin: There is no entry at offset 52, where it should begin.") {
        $0.set32(52, at: $0.central[1] + Field.centralOffset)
    },
    Fault(
        "offset past all entries",
        .malformed,
        "Payload/b.bin: The entry is said to begin at offset 99999, past all entries."
    ) { $0.set32(99999, at: $0.central[1] + Field.centralOffset) },
    Fault(
        "entries at one place",
        .overlap,
        "Payload/a.txt: The entry reaches from offset 0 to 51, into Payload/b.bin at 0."
    ) { $0.set32(0, at: $0.central[1] + Field.centralOffset) },
    Fault(
        "entry reaches into the next",
        .overlap,
        "Payload/a.txt: The entry reaches from offset 0 to 53, into Payload/b.bin at 51."
    ) { $0.set32(10, at: $0.central[0] + Field.centralPacked) },
    Fault(
        "entry reaches into the directory",
        .overlap,
        "Payload/b.bin: The entry reaches from offset 51 to 495, into the central directory at 494."
    ) {
        $0.set32(401, at: $0.central[1] + Field.centralPacked)
        $0.set32(401, at: $0.central[1] + Field.centralUnpacked)
    },
    Fault("another disk", .unsupported, "Payload/a.txt: The entry is in another part of a divided archive.") {
        $0.set16(1, at: $0.central[0] + Field.centralDisk)
    },
    Fault("no zip64 field", .malformed, "Payload/a.txt: The entry lacks its zip64 numbers.") {
        $0.set32(.max, at: $0.central[0] + Field.centralUnpacked)
    },
    Fault("device file", .unsupported, "Payload/a.txt: The entry is neither a file, nor a folder, nor a symbolic link.")
    {
        $0.set32(0o020644 << 16, at: $0.central[0] + Field.centralAttributes)
    },
    Fault("folder with bytes", .malformed, "Payload/a.txt: The folder is said to hold 400 bytes itself.") {
        $0.set32(0o040755 << 16, at: $0.central[0] + Field.centralAttributes)
    },
    Fault(
        "damaged bytes, stored",
        .checksum,
        "Payload/b.bin: The entry's bytes have the CRC-32 e1ab5436, but it should be dc162e88."
    ) { $0.bytes[$0.local[1] + 60] ^= 1 },
    Fault("damaged bytes, deflated", .malformed, "Payload/a.txt: The packed bytes are damaged.") {
        $0.bytes[$0.local[0] + 43] = 0xFF
    },
    Fault(
        "too little unpacked",
        .sizeMismatch,
        "Payload/a.txt: The packed bytes end before the 401 bytes that they should unpack to."
    ) {
        $0.set32(401, at: $0.central[0] + Field.centralUnpacked)
        $0.set32(401, at: $0.local[0] + 22)
    },
    Fault(
        "too much unpacked",
        .sizeMismatch,
        "Payload/a.txt: The packed bytes do not end with the 399 bytes that they should unpack to."
    ) {
        $0.set32(399, at: $0.central[0] + Field.centralUnpacked)
        $0.set32(399, at: $0.local[0] + 22)
    },
]

private let nameFaults: [Fault] = [
    ("/ayload/a.txt", .escapingName, "The name is an absolute path."),
    ("C:/load/a.txt", .escapingName, "The name begins with a drive letter."),
    ("c:\\load/a.txt", .escapingName, "The name begins with a drive letter."),
    ("../load/a.txt", .escapingName, "The name climbs out of its folder with “..”."),
    ("Paylo/../.txt", .escapingName, "The name climbs out of its folder with “..”."),
    ("Payload/ab/..", .escapingName, "The name climbs out of its folder with “..”."),
    ("Pay\\..\\/a.txt", .escapingName, "The name climbs out of its folder with “..”."),
    ("Payload//.txt", .badName, "The name has two slashes in a row."),
    ("./yload/a.txt", .badName, "The name has a part that is “.”."),
    ("Payload/abc/.", .badName, "The name has a part that is “.”."),
    ("Payload/\0.txt", .badName, "The name holds a zero byte."),
    (
        "Payload/b.bin", .duplicateName,
        "The archive has this name twice, as entries 1 and 2, so that readers would differ."
    ),
].map { name, code, says in
    let shown = name.replacing("\0", with: "\\u{0}")
    return Fault("name \(shown)", code, shown + ": " + says) { $0.rename(0, Array(name.utf8)) }
}

private let endFaults: [Fault] = [
    Fault("no archive", .notAnArchive, "The file is no zip archive: it has no end record.") {
        $0.bytes = Array("#!/bin/sh\nexit 1\n".utf8)
    },
    Fault("web page", .notAnArchive, "The file is no zip archive but a web page or XML.") {
        $0.bytes = Array("\n <!DOCTYPE html><html><body>404</body></html>".utf8)
    },
    Fault("empty file", .notAnArchive, "The file is empty.") { $0.bytes = [] },
    Fault("cut short", .truncated, "The archive has no end record: only its first 300 bytes are there.") {
        $0.bytes.removeLast($0.bytes.count - 300)
    },
    Fault("cut in the end record", .truncated, "The archive ends within its end record.") { $0.bytes.removeLast() },
    Fault("cut in the comment", .truncated, "The archive's comment should have 3 bytes, but only 0 are there.") {
        $0.set16(3, at: $0.end + Field.endCommentBytes)
    },
    Fault("bytes behind", .malformed, "2 bytes follow the end of the archive.") { $0.bytes += [0, 0] },
    Fault("two ends", .malformed, "There are two end records, so that readers would see different archives.") {
        let end = $0.bytes[$0.end...]
        $0.set16(22, at: $0.end + Field.endCommentBytes)
        $0.bytes += end
    },
    Fault(
        "a mark of the end in the comment",
        .malformed,
        "There are two end records, so that readers would see different archives."
    ) {
        $0.set16(4, at: $0.end + Field.endCommentBytes)
        $0.bytes += [0x50, 0x4B, 5, 6]
    },
    Fault(
        "bytes before",
        .malformed,
        "The central directory is said to take 118 bytes from offset 494, but the end record is at 615: bytes are "
            + "missing, or foreign ones were put before the archive or into it."
    ) { $0.bytes = [1, 2, 3] + $0.bytes },
    Fault("several disks", .unsupported, "The archive is one of several parts.") {
        $0.set16(1, at: $0.end + Field.endDisk)
    },
    Fault("two counts", .malformed, "The end record names two counts of entries: 1 and 2.") {
        $0.set16(1, at: $0.end + Field.endCountHere)
    },
    Fault("count too high", .malformed, "3 entries do not fit into a central directory of 118 bytes.") {
        $0.set16(3, at: $0.end + Field.endCount)
        $0.set16(3, at: $0.end + Field.endCountHere)
    },
    Fault("count too low", .malformed, "The central directory has 59 bytes more than its 1 entries take.") {
        $0.set16(1, at: $0.end + Field.endCount)
        $0.set16(1, at: $0.end + Field.endCountHere)
    },
    Fault("record without mark", .malformed, "The central directory has no record where number 2 should be.") {
        $0.bytes[$0.central[1]] = 0
    },
    Fault("record past the end", .malformed, "Record number 2 of the central directory reaches past its end.") {
        $0.set16(1, at: $0.central[1] + 32)
    },
]

@Suite struct `An archive that contradicts itself` {
    @Test(arguments: entryFaults + nameFaults + endFaults)
    func `is refused with what is wrong`(fault: Fault) throws {
        var archive = try Surgery.sample()
        #expect(failure(archive.read()) == nil)
        fault.change(&archive)
        let error = try #require(failure(archive.read()))
        #expect(error.message == fault.says)
        #expect(error.code == fault.code)
        #expect(error.remedy?.hasSuffix(".") == true)
    }

    @Test(arguments: [
        (
            ["Payload/a", "Payload/a/b"], ZipError.Code.duplicateName,
            "Payload/a: The name is a file's and, for Payload/a/b, a folder's at once."
        ),
        (["Payload/a/b", "Payload/a"], .duplicateName, "Payload/a: The name is a file's and a folder's at once."),
        (
            ["Payload/u\u{308}", "Payload/\u{fc}"], .duplicateName,
            "Payload/\u{fc}: The archive has this name twice, as entries 1 and 2, so that readers would differ."
        ),
    ])
    func `is refused where two entries want one place`(names: [String], code: ZipError.Code, says: String) throws {
        let error = failure(try Surgery.sample(names).read())
        #expect(error?.code == code)
        #expect(error?.message == says)
    }

    @Test func `is refused past each limit`() throws {
        let archive = try Surgery.sample()
        func message(_ change: (inout ZipLimits) -> Void) -> String? {
            var limits = ZipLimits.standard
            change(&limits)
            let error = failure(archive.read(limits: limits))
            return error?.code == .limit ? error?.message : nil
        }
        #expect(message { $0.entryCount = 1 } == "The archive has 2 entries, more than 1.")
        #expect(message { $0.directoryBytes = 117 } == "The central directory has 118 bytes, more than 117.")
        #expect(message { $0.nameLength = 12 } == "Payload/a.txt…: The name has 13 bytes, more than 12.")
        #expect(message { $0.entryBytes = 399 } == "Payload/a.txt: The entry unpacks to 400 bytes, more than 399.")
        #expect(
            message { $0.totalBytes = 799 }
                == "Payload/b.bin: With this entry the archive unpacks to more than 799 bytes."
        )
        #expect(
            message {
                $0.ratioFreeBytes = 0
                $0.compressionRatio = 49
            } == "Payload/a.txt: The entry is said to unpack from 8 to 400 bytes, more than 49 times as many."
        )
        #expect(failure(archive.read()) == nil)
    }

    @Test func `names no control characters as they are`() throws {
        var builder = ZipBuilder()
        builder.addFile("a\u{1B}[2Jb", [1])
        builder.addFile("a\u{1B}[2J\tb", [1])
        var archive = try Surgery(builder)
        archive.set16(1, at: archive.central[1] + Surgery.Field.centralFlags)
        #expect(failure(archive.read())?.message == "a\\u{1b}[2J\\u{9}b: The entry is encrypted.")
    }
}

@Suite struct `The archive reader` {
    @Test func `answers a cut at every length with an error`() throws {
        let whole = try Surgery.sample().bytes
        for count in 0..<whole.count {
            #expect(failure(Surgery.read(Array(whole[..<count]))) != nil, "cut to \(count)")
        }
    }

    @Test func `answers every flipped byte with an error or the same contents`() throws {
        var builder = ZipBuilder()
        builder.addFolder("d")
        builder.addFile("d/a", [UInt8](repeating: 0x61, count: 300))
        builder.addLink("d/l", to: "a")
        for alwaysZip64 in [false, true] {
            var writer = ArchiveWriter(
                sink: MemorySink(source: MemorySource([])),
                source: nil,
                alwaysZip64: alwaysZip64
            )
            try writer.write(builder.items, comment: [1, 2])
            let whole = writer.sink.bytes
            let contents = try Surgery.read(whole).get()
            let known = Set(contents.values)
            for place in whole.indices {
                for mask in [UInt8(0x01), 0x80, 0xFF, 0x20] {
                    var changed = whole
                    changed[place] ^= mask
                    // Flags, dates and attributes may change; contents may not.
                    if case .success(let got) = Surgery.read(changed) {
                        #expect(Set(got.values) == known, "byte \(place) ^ \(mask)")
                    }
                }
            }
        }
    }

    @Test(arguments: [UInt64(1), 2, 3, 4]) func `survives bytes at random`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let whole = try Surgery.sample()
        for _ in 0..<1500 {
            var changed = whole.bytes
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let place = Int.random(in: changed.indices, using: &random)
                let kind = Int.random(in: 0..<4, using: &random)
                changed[place] = [0, 0xFF, 0x7F, UInt8.random(in: 0...255, using: &random)][kind]
                if kind == 1, place + 8 <= changed.count {
                    changed.store(UInt64.max, at: place, .little)
                }
            }
            _ = Surgery.read(changed)
        }
    }
}
