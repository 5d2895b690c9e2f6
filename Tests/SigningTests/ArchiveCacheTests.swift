import FerryBytes
import FerryCodeSignature
import FerryZip
import Foundation
import TestKit
import Testing

@testable import FerrySigning

/// Its signatures are the same each time.
private let rsa = Result { try Hands.options("rsa") }

/// An app whose code is large enough that its blocks are looked for from the end.
private func largeSample(minimumOS: UInt32 = 15 << 16, signatureRoom: Int = 0x10000) -> Archive {
    .sample { archive in
        archive["Payload/A.app/Frameworks/F.framework/A"] =
            TinyMachO {
                $0.fileType = 6
                $0.seed = 9
                $0.minimumOS = minimumOS
                $0.textSize = 0x180000
                $0.signatureRoom = signatureRoom
            }.bytes
        archive["Payload/A.app/big.bin"] = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    }
}

@Suite(.enabled(if: Hands.usable)) struct `An archive that was signed before` {
    private struct Shelf {
        let desk: Desk
        let cache: ArchiveCache
        let signer: Signer

        init(_ archive: Archive, limit: Int = ArchiveCache.standardLimit, settling: Int64 = 0) throws {
            desk = try Desk(archive)
            cache = ArchiveCache(folder: desk.folder.path("cache"), limit: limit, settling: settling)
            signer = Signer(threadCount: 2, cache: cache, now: { Hands.now })
        }

        /// Whether all that a signature would read is known.
        func knows(_ path: String, sha256: [UInt8]? = nil) async throws -> Bool {
            let workers = Workers(count: 2)
            var request = SigningRequest(input: path, output: desk.output, options: try rsa.get())
            request.inputSHA256 = sha256
            // Of the same length as the others: the room for a new signature goes by it.
            request.options.bundleIdentifier = "com.example.zzz"
            let plan = try await SigningPlan.make(request, now: Hands.now, cache: cache, workers: workers)
            let sealed = try await Sealer(plan: plan, workers: workers, time: Hands.now) { _, _ in }.run()
            return plan.look?.isKnown == true && sealed.learnt == nil
        }

        func sign(_ path: String? = nil, id: String, to output: String? = nil) async throws -> [UInt8] {
            var options = try rsa.get()
            options.bundleIdentifier = id
            let request = SigningRequest(input: path ?? desk.input, output: output ?? desk.output, options: options)
            _ = try await signer.sign(request).archive
            return try WholeFile.read(request.output, limit: 1 << 30)
        }

        /// The same without a cache.
        func signAlone(id: String) async throws -> [UInt8] {
            var options = try rsa.get()
            options.bundleIdentifier = id
            let output = desk.folder.path("out/alone.ipa")
            let request = SigningRequest(input: desk.input, output: output, options: options)
            _ = try await Hands.signer.sign(request).archive
            return try WholeFile.read(output, limit: 1 << 30)
        }

        var files: [String] {
            get throws {
                try FileManager.default.contentsOfDirectory(atPath: cache.folder).sorted().map {
                    cache.folder + "/" + $0
                }
            }
        }
    }

    /// Under iOS 11 there are two code directories; without room for the signature the header changes.
    @Test(arguments: [(15 << 16, 0x10000), (9 << 16, 0x10000), (15 << 16, 0)] as [(UInt32, Int)])
    func `is signed byte by byte as one that was not`(minimumOS: UInt32, room: Int) async throws {
        let shelf = try Shelf(largeSample(minimumOS: minimumOS, signatureRoom: room))
        _ = try await shelf.sign(id: "com.example.aaa")
        #expect(try await shelf.knows(shelf.desk.input))
        let known = try await shelf.sign(id: "com.example.bbb")
        let alone = try await shelf.signAlone(id: "com.example.bbb")
        #expect(known == alone)
        #expect(try await shelf.desk.faults() == [])
        #expect(try shelf.files.count == 1)
    }

    @Test func `is known by its SHA-256 where it lies elsewhere, once that was worth making`() async throws {
        let shelf = try Shelf(largeSample())
        _ = try await shelf.sign(id: "com.example.aaa")
        var copies: [String] = []
        for name in ["b.ipa", "c.ipa", "d.ipa"] {
            copies.append(shelf.desk.folder.path(name))
            try FileManager.default.copyItem(atPath: shelf.desk.input, toPath: copies[copies.count - 1])
        }
        #expect(try await !shelf.knows(copies[0]))
        _ = try await shelf.sign(copies[0], id: "com.example.bbb")
        #expect(try await shelf.knows(copies[1]))
        let known = try await shelf.sign(copies[2], id: "com.example.ccc")
        #expect(try await shelf.signAlone(id: "com.example.ccc") == known)
        #expect(try await shelf.desk.faults() == [])
    }

    @Test func `is not known by times that the next change would not move`() async throws {
        let shelf = try Shelf(.sample(), settling: 3600)
        _ = try await shelf.sign(id: "com.example.aaa")
        #expect(try !FileManager.default.fileExists(atPath: shelf.cache.folder) || shelf.files.isEmpty)
        // A download has made its digest: that will do.
        let digest = HashAlgorithm.sha256.digest(try WholeFile.read(shelf.desk.input, limit: 1 << 30))
        var request = SigningRequest(input: shelf.desk.input, output: shelf.desk.output, options: try rsa.get())
        request.inputSHA256 = digest
        request.options.bundleIdentifier = "com.example.aaa"
        _ = try await shelf.signer.sign(request).archive
        #expect(try await shelf.knows(shelf.desk.input, sha256: digest))
        request.inputSHA256 = digest.reversed()
        #expect(try await !shelf.knows(shelf.desk.input, sha256: request.inputSHA256))
    }

    @Test func `is another one when a byte of it changed, and nothing else`() async throws {
        let shelf = try Shelf(largeSample())
        _ = try await shelf.sign(id: "com.example.aaa")
        // Of a stored copy of the same length: the directory stays, but for the CRC, which is put right again.
        var bytes = try WholeFile.read(shelf.desk.input, limit: 1 << 30)
        let entry = try #require(try ZipDirectory(MemorySource(bytes)).entry(named: "Payload/A.app/A"))
        bytes[entry.dataOffset + entry.compressedSize / 2] ^= 1
        try shelf.desk.folder.write(bytes, to: "in.ipa")
        await #expect(throws: SignError.self) { _ = try await shelf.sign(id: "com.example.aaa") }
    }

    @Test func `is read anew where what is kept of it is damaged`() async throws {
        let shelf = try Shelf(.sample())
        let good = try await shelf.sign(id: "com.example.aaa")
        let path = try #require(try shelf.files.first)
        let kept = try WholeFile.read(path, limit: 1 << 30)
        var random = SeededGenerator(seed: 3)
        for turn in 0..<24 {
            var bad = kept
            if turn.isMultiple(of: 2) {
                bad[Int.random(in: 0..<bad.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            } else {
                bad.removeLast(Int.random(in: 1...bad.count, using: &random))
            }
            try Data(bad).write(to: URL(fileURLWithPath: path))
            #expect(try await shelf.sign(id: "com.example.aaa") == good, "turn \(turn), seed 3")
            #expect(try await shelf.knows(shelf.desk.input), "turn \(turn), seed 3")
        }
    }

    enum Lie: CaseIterable {
        case resources, slots, crc, digests
    }

    /// Whoever may write to the folder, or a fault of ours: whole files that say what is not so.
    @Test(arguments: Lie.allCases) func `is signed right though what is kept of it is a lie`(lie: Lie) async throws {
        let shelf = try Shelf(largeSample())
        let good = try await shelf.sign(id: "com.example.aaa")
        let path = try #require(try shelf.files.first)
        let directory = try ZipDirectory(FileSource(path: shelf.desk.input))
        var saved = try #require(SavedSurvey(try WholeFile.read(path, limit: 1 << 30), of: directory))
        for (index, file) in saved.survey.files {
            switch (file, lie) {
            case (.resource(var digests), .resources):
                digests.sha256[7] ^= 1
                saved.survey.files[index] = .resource(digests)
            case (.code(let code), .slots):
                var slots = code.slots
                slots[.sha256]?[32 + 3] ^= 1
                saved.survey.files[index] = .code(code.with(slots: slots))
            case (.code(let code), .digests):
                saved.survey.files[index] = .code(code.with(beforeSeam: code.beforeSeam.map { _ in RunningDigests() }))
            case (.code(let code), .crc):
                var bytes = code.splice.saved
                bytes[9 * 8 + 4] ^= 1
                let splice = try #require(DeflateSplice(saved: bytes[...], entry: directory.entries[index]))
                saved.survey.files[index] = .code(code.with(splice: splice))
            default: continue
            }
        }
        try Data(saved.encoded).write(to: URL(fileURLWithPath: path))
        #expect(try await shelf.sign(id: "com.example.aaa") == good)
        #expect(try await shelf.desk.faults() == [])
    }

    @Test func `makes room for others where there is too much`() async throws {
        let shelf = try Shelf(.sample(), limit: 1)
        _ = try await shelf.sign(id: "com.example.aaa")
        #expect(try shelf.files == [])
        let other = ArchiveCache(folder: shelf.cache.folder, settling: 0)
        _ = try await Signer(threadCount: 1, cache: other, now: { Hands.now })
            .sign(SigningRequest(input: shelf.desk.input, output: shelf.desk.output, options: try rsa.get()))
            .archive
        #expect(other.usage.count == 1)
        #expect(other.usage.bytes > 300)
        #expect(other.clear().count == 1)
        #expect(other.usage.count == 0)
    }

    @Test func `is signed by many at once`() async throws {
        let shelf = try Shelf(largeSample())
        let outputs = try await withThrowingTaskGroup(of: (String, [UInt8]).self) { group in
            for index in 0..<12 {
                let id = "com.example.nn\(index % 3)"
                let output = shelf.desk.folder.path("out/\(index).ipa")
                // Of each pair one is a process of its own, as far as the folder can tell.
                let signer =
                    index.isMultiple(of: 2) ? shelf.signer : Signer(threadCount: 1, cache: shelf.cache) { Hands.now }
                group.addTask {
                    var options = try rsa.get()
                    options.bundleIdentifier = id
                    _ = try await signer.sign(SigningRequest(input: shelf.desk.input, output: output, options: options))
                        .archive
                    return (id, try WholeFile.read(output, limit: 1 << 30))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        for id in Set(outputs.map(\.0)) {
            let alone = try await shelf.signAlone(id: id)
            #expect(outputs.filter { $0.0 == id }.allSatisfy { $0.1 == alone })
        }
        #expect(try shelf.files.count == 1)
    }
}

extension CodeSurvey {
    fileprivate func with(
        slots: [HashAlgorithm: [UInt8]]? = nil,
        splice: DeflateSplice? = nil,
        beforeSeam: RunningDigests?? = nil
    ) -> CodeSurvey {
        CodeSurvey(
            header: header,
            oldSignature: oldSignature,
            contentEnd: contentEnd,
            codeLimit: codeLimit,
            pageSize: pageSize,
            slots: slots ?? self.slots,
            splice: splice ?? self.splice,
            beforeSeam: beforeSeam ?? self.beforeSeam
        )
    }
}
