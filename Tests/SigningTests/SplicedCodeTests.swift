import FerryBytes
import FerryCodeSignature
import FerryZip
import TestKit
import Testing

@testable import FerrySigning

@Suite(.enabled(if: Hands.usable, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `Spliced code` {
    private static let workers = Workers(count: 2)

    /// An output, and what the pass over its input knows of it.
    private struct Output {
        let desk: Desk
        let sealed: Sealer.Result

        init(minimumOS: UInt32) async throws {
            desk = try Desk(
                .sample { archive in
                    for (name, type, seed) in [("A", 2, 1), ("x.dylib", 6, 4)] as [(String, UInt32, UInt64)] {
                        archive["Payload/A.app/" + name] =
                            TinyMachO {
                                $0.fileType = type
                                $0.seed = seed
                                $0.minimumOS = minimumOS
                                $0.textSize = 0x60000
                                $0.signatureRoom = 0x8000
                            }.bytes
                    }
                }
            )
            let request = SigningRequest(input: desk.input, output: desk.output, options: try Hands.options())
            let plan = try await SigningPlan.make(request, now: Hands.now, workers: workers)
            sealed = try await Sealer(plan: plan, workers: workers, time: Hands.now) { _, _ in }.run()
            let file = try NewFile(path: desk.output)
            try writeArchive(sealed.items, from: plan.contents.source, to: file.descriptor, path: desk.output)
            try file.commit()
        }

        func report(knowing: Bool) async throws -> ArchiveVerifier.Report {
            try await ArchiveVerifier(
                source: FileSource(path: desk.output),
                name: "out",
                now: Hands.now,
                known: knowing ? sealed.copied : [:],
                spliced: knowing ? sealed.spliced : [:],
                workers: workers
            ).run()
        }
    }

    /// Under iOS 11 there are two code directories.
    @Test(arguments: [15 << 16, 9 << 16] as [UInt32])
    func `is found right by its end alone, as by all of it`(minimumOS: UInt32) async throws {
        let output = try await Output(minimumOS: minimumOS)
        #expect(Set(output.sealed.spliced.keys.map(\.text)) == ["Payload/A.app/A", "Payload/A.app/x.dylib"])
        let (quick, whole) = (try await output.report(knowing: true), try await output.report(knowing: false))
        #expect(quick.faults == [])
        #expect(whole.faults == [])
        let directories = { (report: ArchiveVerifier.Report) in
            report.code.filter { output.sealed.spliced[EntryName($0.path)] != nil }
                .flatMap { $0.images.flatMap(\.report.directories) }
        }
        #expect(directories(quick) == directories(whole))
        #expect(directories(quick).count == (minimumOS < 11 << 16 ? 4 : 2))
    }

    @Test func `is found wrong wherever its end was changed`() async throws {
        let output = try await Output(minimumOS: 15 << 16)
        let good = try output.desk.folder.read("out/out.ipa")
        var random = SeededGenerator(seed: 77)
        var found = 0
        for entry in try ZipDirectory(FileSource(path: output.desk.output)).entries {
            guard let spliced = output.sealed.spliced[EntryName(entry.name)] else { continue }
            #expect(spliced.seam.uncompressedOffset > 0x40000)
            let start = entry.dataOffset + spliced.seam.packedOffset
            // What fills the last byte up means nothing.
            let end = entry.dataOffset + entry.compressedSize - 1
            #expect(start < end)
            let places = [start + 1, end - 1] + (0..<12).map { _ in Int.random(in: start + 1..<end, using: &random) }
            for place in places {
                var bad = good
                bad[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
                try output.desk.folder.write(bad, to: "out/out.ipa")
                let faults = try await output.report(knowing: true).faults
                // Within zeros, another distance leads to the same bytes.
                let isSame = (try? Inflater().contents(of: entry, in: MemorySource(bad))) != nil
                #expect(faults.isEmpty == isSame, "\(entry.name), byte \(place - entry.dataOffset), seed 77")
                found += isSame ? 0 : 1
            }
        }
        #expect(found > 20)
    }

    @Test func `is read whole where everything is to be read`() async throws {
        let output = try await Output(minimumOS: 15 << 16)
        var bytes = try output.desk.folder.read("out/out.ipa")
        let entry = try #require(
            try ZipDirectory(FileSource(path: output.desk.output)).entry(named: "Payload/A.app/A")
        )
        // In what is copied as it lies, which rests on the pass that hashed it.
        bytes[entry.dataOffset + 5000] ^= 4
        try output.desk.folder.write(bytes, to: "out/out.ipa")
        #expect(try await output.report(knowing: true).faults == [])
        #expect(try await output.report(knowing: false).faults != [])
    }
}
