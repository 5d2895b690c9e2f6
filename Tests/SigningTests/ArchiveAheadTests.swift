import FerryBytes
import FerryZip
import Foundation
import TestKit
import Testing

@testable import FerrySigning

/// Its signatures are the same each time.
private let rsa = Result { try Hands.options("rsa") }

@Suite(.enabled(if: Hands.usable, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `An archive that is read while it arrives` {
    /// A file that grows, and who reads it.
    private struct Arrival {
        let desk: Desk
        let whole: [UInt8]
        let ahead: ArchiveAhead
        let options: SigningOptions
        private let descriptor: FileHandle

        init(_ bytes: [UInt8]) throws {
            desk = try Desk(bytes)
            whole = bytes
            options = try rsa.get()
            ahead = Hands.signer.readAhead(options)
            try desk.folder.write([], to: "growing.ipa")
            descriptor = try #require(FileHandle(forWritingAtPath: desk.folder.path("growing.ipa")))
        }

        var path: String { desk.folder.path("growing.ipa") }

        /// Lets bytes arrive up to `front`.
        func grow(_ from: Int, _ front: Int) throws {
            try descriptor.seek(toOffset: UInt64(from))
            descriptor.write(Data(whole[from..<front]))
            ahead.advance(path: path, front: Int64(front))
        }

        /// What was read of the archive that arrived, by the names of the entries.
        func known() async throws -> Set<String> {
            let source = try FileSource(path: path)
            let directory = try ZipDirectory(source)
            let survey = await ahead.survey(of: source, directory)
            return Set(survey.files.keys.map { directory.entries[$0].name })
        }

        /// Signs what arrived, and the same archive alone.
        func outputs() async throws -> (ahead: [UInt8], alone: [UInt8]) {
            var request = SigningRequest(input: path, output: desk.folder.path("out/ahead.ipa"), options: options)
            request.ahead = ahead
            _ = try await Hands.signer.sign(request).archive
            try await desk.sign(options)
            let outputs = (
                try WholeFile.read(request.output, limit: 1 << 30), try WholeFile.read(desk.output, limit: 1 << 30)
            )
            #expect(try await desk.faults() == [])
            return outputs
        }
    }

    private static let app = Archive.sample { archive in
        archive["Payload/A.app/Frameworks/F.framework/A"] =
            TinyMachO {
                $0.fileType = 6
                $0.seed = 9
                $0.textSize = 0x180000
                $0.signatureRoom = 0x10000
            }.bytes
        archive["Payload/A.app/x.dylib"] =
            TinyMachO {
                $0.fileType = 6
                $0.seed = 4
                $0.textSize = 0x60000
                $0.signatureRoom = 0x8000
            }.bytes
        archive["Payload/A.app/big.bin"] = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        archive["Payload/A.app/empty"] = []
    }

    /// Python packs as Xcode does where it cannot go back: sizes come behind the data.
    private static func described(_ archive: Archive) throws -> [UInt8] {
        let folder = try TemporaryFolder()
        try folder.write(archive.bytes(), to: "in.zip")
        let script = """
            import sys, zipfile, io
            class Pipe(io.RawIOBase):
                def __init__(self, f): self.f = f
                def writable(self): return True
                def write(self, b): return self.f.write(b)
            source = zipfile.ZipFile(sys.argv[1])
            with open(sys.argv[2], "wb") as f, zipfile.ZipFile(Pipe(f), "w", zipfile.ZIP_DEFLATED) as out:
                for i in source.infolist():
                    j = zipfile.ZipInfo(i.filename, i.date_time)
                    j.external_attr, j.create_system, j.compress_type = i.external_attr, 3, zipfile.ZIP_DEFLATED
                    out.writestr(j, source.read(i))
            """
        let result = try Tool(path: "/usr/bin/python3").run(
            ["-c", script, folder.path("in.zip"), folder.path("out.zip")]
        )
        try #require(result.status == 0, "\(result.errors)")
        return try folder.read("out.zip")
    }

    enum Form: CaseIterable {
        case sized, described
    }

    private static func bytes(_ form: Form) throws -> [UInt8] {
        form == .sized ? try app.bytes() : try described(app)
    }

    @Test(arguments: Form.allCases, [1, 2, 3] as [UInt64])
    func `is known when its last byte has come, and signed as any other`(form: Form, seed: UInt64) async throws {
        var random = SeededGenerator(seed: seed)
        let arrival = try Arrival(try Self.bytes(form))
        var front = 0
        while front < arrival.whole.count {
            let next = min(arrival.whole.count, front + Int.random(in: 1...150_000, using: &random))
            try arrival.grow(front, next)
            front = next
            if Bool.random(using: &random) { await Task.yield() }
        }
        let names = try await arrival.known()
        let wanted = Self.app.entries.map(\.name).filter { !$0.hasSuffix("/") }
        // What of code is packed in one block, and what has no room for a signature, waits for the plan.
        let roomy = ["Payload/A.app/x.dylib", "Payload/A.app/Frameworks/F.framework/A"]
        let isCode = { (name: String) in name.hasSuffix("/A") || name.hasSuffix(".dylib") }
        #expect(wanted.filter { (!isCode($0) || roomy.contains($0)) && !names.contains($0) } == [], "seed \(seed)")
        let (ahead, alone) = try await arrival.outputs()
        #expect(ahead == alone, "seed \(seed)")
    }

    @Test func `is read in the end where nothing was said before`() async throws {
        let arrival = try Arrival(try Self.bytes(.sized))
        try arrival.grow(0, arrival.whole.count)
        let (ahead, alone) = try await arrival.outputs()
        #expect(ahead == alone)
    }

    @Test func `is another one where it began anew`() async throws {
        let other = Archive.sample { $0["Payload/A.app/a.txt"] = Array("other other other".utf8) }
        var bytes = try other.bytes()
        bytes.removeLast(bytes.count / 3)
        let arrival = try Arrival(try Self.bytes(.sized))
        try arrival.desk.folder.write(bytes, to: "growing.ipa")
        arrival.ahead.advance(path: arrival.path, front: Int64(bytes.count))
        for _ in 0..<20 { await Task.yield() }
        arrival.ahead.restart()
        try arrival.desk.folder.write(arrival.whole, to: "growing.ipa")
        arrival.ahead.advance(path: arrival.path, front: Int64(arrival.whole.count))
        let (ahead, alone) = try await arrival.outputs()
        #expect(ahead == alone)
    }

    @Test func `is not taken for another file that came in its place`() async throws {
        let other = try Archive.sample { $0["Payload/A.app/a.txt"] = Array("hello hello jello".utf8) }.bytes()
        let arrival = try Arrival(try Archive.sample().bytes())
        try arrival.grow(0, arrival.whole.count)
        _ = try await arrival.known()
        let path = arrival.desk.folder.path("elsewhere.ipa")
        try arrival.desk.folder.write(other, to: "elsewhere.ipa")
        let source = try FileSource(path: path)
        #expect(await arrival.ahead.survey(of: source, try ZipDirectory(source)).files.isEmpty)
    }

    enum Trick: CaseIterable {
        /// The header's own sizes are not those of the directory.
        case staleSizes
        /// The entry's bytes are damaged.
        case damaged
        /// Something lies before the first entry.
        case garbage
        /// A name that the directory does not have.
        case otherName
    }

    /// Whatever the headers say, the result is that of the archive alone, or the same refusal.
    @Test(arguments: Trick.allCases) func `does no harm where its headers lie`(trick: Trick) async throws {
        var bytes = try Self.bytes(.sized)
        let entry = try #require(try ZipDirectory(MemorySource(bytes)).entry(named: "Payload/A.app/big.bin"))
        switch trick {
        case .staleSizes: bytes[entry.localHeaderOffset + 18] ^= 1
        case .damaged: bytes[entry.dataOffset + entry.compressedSize / 2] ^= 1
        case .garbage: bytes[0] ^= 1
        case .otherName: bytes[entry.localHeaderOffset + 30 + 10] ^= 1
        }
        let arrival = try Arrival(bytes)
        try arrival.grow(0, bytes.count)
        var request = SigningRequest(
            input: arrival.path,
            output: arrival.desk.folder.path("out/ahead.ipa"),
            options: arrival.options
        )
        request.inputName = "in.ipa"
        request.ahead = arrival.ahead
        let signing = Hands.signer.sign(request)
        let ahead = await #expect(throws: SignError.self) { _ = try await signing.archive }
        request.input = arrival.desk.input
        request.ahead = nil
        let plain = Hands.signer.sign(request)
        let alone = await #expect(throws: SignError.self) { _ = try await plain.archive }
        #expect(ahead?.reasons == alone?.reasons)
        #expect(ahead?.code == alone?.code)
    }
}
