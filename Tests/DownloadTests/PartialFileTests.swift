import FerryBytes
import Foundation
import TestKit
import Testing

@testable import FerryDownload

@Suite(.timeLimit(.minutes(10))) struct `A partial file` {
    private let file = ServedFile(sample)

    /// A world where the first request brought 100,000 bytes to a process that has ended.
    private func cut() async throws -> World {
        let world = try World(retries: 0) { [file] request in
            file.answer(request).with { if request.number == 0 { $0.cutAfter = 100_000 } }
        }
        #expect(try await world.run().error?.code == .connection)
        return world
    }

    private func record(_ world: World) throws -> PartialRecord {
        try #require(try PartialRecord.read(world.partial() + ".json"))
    }

    @Test func `is gone on with by the next process`() async throws {
        let world = try await cut()
        #expect(try record(world).ranges == [0..<100_000])
        let told = try await world.run { $0.sha256 = sha256(sample) }
        #expect(told.facts.first == .started(totalBytes: 300_000, resumedFrom: 100_000))
        #expect(world.ranges == [0, 100_000])
        #expect(try world.folder.read("file.ipa") == sample)
        #expect(try world.state() == [])
    }

    @Test func `counts as it is within one run of the machine, and as it was recorded after another`() async throws {
        for (bootID, first) in [(PartialRecord.thisBoot, 100_000), ("another", 60_000)] {
            let world = try await cut()
            var record = try record(world)
            record.ranges = [0..<60_000]
            record.bootID = bootID
            try record.write(to: world.partial() + ".json", durably: false)
            #expect(try await world.run().file?.sha256 == sha256(sample))
            #expect(world.ranges == [0, first])
        }
    }

    @Test func `that is whole needs no request`() async throws {
        let world = try await cut()
        try Data(sample).write(to: URL(fileURLWithPath: world.partial()))
        #expect(try await world.run().file?.sha256 == sha256(sample))
        #expect(world.ranges == [0])
    }

    @Test(arguments: [
        "", "{", "[]", "{\"form\":1}", "{\"form\":2}", "{\"form\":3}", String(repeating: " ", count: 100_000),
    ])
    func `with a damaged record is of no use`(text: String) async throws {
        let world = try await cut()
        try Data(text.utf8).write(to: URL(fileURLWithPath: world.partial() + ".json"))
        #expect(try await world.run().restarts == ["The record of the partial file is damaged."])
        #expect(world.ranges == [0, 0])
        #expect(try world.folder.read("file.ipa") == sample)
    }

    @Test(
        arguments: [
            { $0.form = 4 }, { $0.url = .init(url: $0.url.text + "x") }, { $0.destination += "x" },
            { $0.ranges = [-1..<5] },
            { $0.ranges = [0..<5, 5..<9] },
            { $0.version.totalBytes = -1 }, { $0.version.totalBytes = 99_999 }, { $0.version.etag = nil },
        ] as [@Sendable (inout PartialRecord) -> Void]
    )
    func `with a record that does not fit is of no use`(change: @Sendable (inout PartialRecord) -> Void) async throws {
        let world = try await cut()
        var record = try record(world)
        change(&record)
        try record.write(to: world.partial() + ".json", durably: false)
        #expect(try await world.run().restarts.count == 1)
        #expect(world.ranges == [0, 0])
        #expect(try world.folder.read("file.ipa") == sample)
    }

    /// A world whose server gives 100,000 bytes at first; what comes after is asked with another query where one is given.
    private func askedTwice(name: String?, _ first: String, _ second: String) async throws -> (World, String) {
        let world = try World(retries: 0) { [file] request in
            file.answer(request).with { if request.number == 0 { $0.cutAfter = 100_000 } }
        }
        let ask = { (query: String) in
            try await world.run { request in
                request.url = world.server.url("/file?" + query)
                request.partialName = name
            }
        }
        #expect(try await ask(first).error?.code == .connection)
        let text = try String(
            decoding: world.folder.read(world.state().first { $0.hasSuffix(".json") } ?? ""),
            as: UTF8.self
        )
        #expect(try await ask(second).file?.sha256 == sha256(sample))
        return (world, text)
    }

    @Test func `has a record without what a query says, and is known again by it all the same`() async throws {
        // printf '?token=hush' | sha256sum
        let hash = "450c722e2badbe1470c26acf89bcd104b75ff17c642639d5d9cbe5394138252a"
        let (world, text) = try await askedTwice(name: nil, "token=hush", "token=hush")
        #expect(!text.contains("hush"))
        #expect(text.contains("/file?sha256:" + hash))
        #expect(world.ranges == [0, 100_000])
    }

    @Test func `is gone on with under another query where it has a name, and else is another file`() async throws {
        let (named, _) = try await askedTwice(name: "job-1", "signature=a", "signature=b")
        #expect(named.ranges == [0, 100_000])
        #expect(named.server.exchanges.map(\.request.path) == ["/file?signature=a", "/file?signature=b"])
        let (other, _) = try await askedTwice(name: nil, "signature=a", "signature=b")
        #expect(other.ranges == [0, 0])
    }

    @Test(arguments: [false, true]) func `under a name of another address is of no use`(isOtherQuery: Bool) throws {
        let mark = PartialRecord.Mark(url: "https://example.org/a?b=1")
        for (url, exactly, anyhow) in [
            ("https://example.org/a?b=1", true, true), ("https://example.org/a?b=2", false, true),
            ("https://example.org/a", false, true), ("https://example.org/ab?b=1", false, false),
            ("https://example.com/a?b=1", false, false),
        ] {
            let other = PartialRecord.Mark(url: url)
            #expect(mark.isSame(as: other, withAnyQuery: isOtherQuery) == (isOtherQuery ? anyhow : exactly), "\(url)")
        }
    }

    @Test func `of an earlier form, whose query was written out, is gone on with`() async throws {
        let (world, _) = try await askedTwice(name: "job-2", "token=hush", "token=hush")
        #expect(world.ranges == [0, 100_000])
        let url = world.server.url("/file?token=hush")
        let old = """
            {"bootID":"b","destination":"/x","form":2,"isHeld":false,"isSpread":false,"ranges":[],"url":"\(url)","version":{}}
            """
        try world.folder.write(Array(old.utf8), to: "old")
        #expect(try PartialRecord.read(world.folder.path("old"))?.url == PartialRecord.Mark(url: url))
    }

    @Test func `has a record that is refused when it is cut anywhere`() throws {
        let folder = try TemporaryFolder()
        let record = PartialRecord(url: "https://example.org/", destination: "/x", bootID: "b")
        try record.write(to: folder.path("record"), durably: true)
        #expect(try PartialRecord.read(folder.path("record")) == record)
        let bytes = try folder.read("record")
        for length in bytes.indices {
            try folder.write(bytes[..<length], to: "record")
            #expect(throws: (any Error).self) { try PartialRecord.read(folder.path("record")) }
        }
    }

    @Test func `without a record is of no use`() async throws {
        let world = try await cut()
        try FileManager.default.removeItem(atPath: world.partial() + ".json")
        #expect(try await world.run().restarts == ["The partial file has no record."])
        #expect(try world.folder.read("file.ipa") == sample)
    }

    @Test func `of another length than is expected is of no use`() async throws {
        let world = try await cut()
        let told = try await world.run { $0.expectedLength = 5 }
        #expect(told.restarts == ["The partial file is of 300000 bytes, but 5 are expected."])
        #expect(told.error?.code == .lengthMismatch)
    }

    @Test func `whose bytes were changed is found out by its checksum`() async throws {
        let world = try await cut()
        let handle = try #require(FileHandle(forUpdatingAtPath: world.partial()))
        try handle.write(contentsOf: Data([sample[0] ^ 1]))
        try handle.close()
        #expect(try await world.run { $0.sha256 = sha256(sample) }.error?.code == .checksumMismatch)
        #expect(try world.state() == [])
        #expect(try await world.run { $0.sha256 = sha256(sample) }.file != nil)
    }

    @Test func `is each destination's own, even for the same name`() async throws {
        let world = try World { [file] in file.answer($0) }
        try FileManager.default.createDirectory(atPath: world.folder.path("a"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: world.folder.path("b"), withIntermediateDirectories: true)
        let downloader = try Downloader(world.configuration)
        let one = await downloader.start(world.request { $0.destination = world.folder.path("a/x.ipa") })
        let two = await downloader.start(world.request { $0.destination = world.folder.path("b/x.ipa") })
        #expect(try await one.file.path == world.folder.path("a/x.ipa"))
        #expect(try await two.file.path == world.folder.path("b/x.ipa"))
        await downloader.close()
        #expect(PartialFile.name(url: "u", destination: "a") != PartialFile.name(url: "u", destination: "b"))
    }

    @Test func `is not shared with another process`() async throws {
        let world = try await cut()
        let locker = Process()
        // flock(1) of util-linux: it has the lock as long as the command runs, which reads our pipe.
        locker.executableURL = URL(fileURLWithPath: try #require(Tool("flock")).path)
        locker.arguments = [try world.partial(), "sh", "-c", "echo locked; cat"]
        let (input, output) = (Pipe(), Pipe())
        locker.standardInput = input
        locker.standardOutput = output
        try locker.run()
        #expect(output.fileHandleForReading.readData(ofLength: 7) == Data("locked\n".utf8))

        let error = try await world.run().error
        #expect(error?.code == .partialBusy)
        #expect(error?.message == "\(try world.partial()): another download is writing this file.")
        try input.fileHandleForWriting.close()
        locker.waitUntilExit()
        #expect(try await world.run().file != nil)
    }

    @Test func `is not shared within a process`() async throws {
        let world = try World { [file] in file.answer($0).with { $0.pauseAfter = 100_000 } }
        let downloader = try Downloader(world.configuration)
        let one = await downloader.start(world.request())
        await one.waitForBytes(100_000)
        #expect(await Told(downloader.start(world.request())).error?.code == .partialBusy)
        await downloader.close()
    }

    @Test func `replaces a file at the destination as a whole`() async throws {
        let world = try World { [file] request in
            file.answer(request).with { if request.number == 0 { $0.pauseAfter = 100_000 } }
        }
        try world.folder.write([1, 2, 3], to: "file.ipa")
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request())
        await download.waitForBytes(100_000)
        #expect(try world.folder.read("file.ipa") == [1, 2, 3])
        await downloader.cancel(download.id)
        _ = await Told(download)
        #expect(try await downloader.start(world.request()).file.length == 300_000)
        #expect(try world.folder.read("file.ipa") == sample)
        await downloader.close()
    }
}
