import Dispatch
import FerryBytes
import Foundation
import TestKit
import Testing

@testable import FerryDownload

@Suite(.timeLimit(.minutes(10))) struct `Downloads that wait for their turn` {
    /// Requests of several paths, of which each answer waits until the test lets it go on.
    private func world(_ gate: DispatchSemaphore) throws -> World {
        try World { request in
            ServedFile(sample).answer(request).with { response in
                response.pauseAfter = 10_000
                response.waiting = { gate.wait() }
            }
        }
    }

    private func start(
        _ name: String,
        _ world: World,
        _ downloader: Downloader,
        priority: Int = 0
    ) async -> Download {
        let request = DownloadRequest(
            url: world.server.url("/" + name),
            destination: world.folder.path(name),
            priority: priority
        )
        return await downloader.start(request)
    }

    @Test func `begin by priority, and among equals in their order`() async throws {
        let gate = DispatchSemaphore(value: 0)
        var world = try world(gate)
        world.configuration.parallelDownloads = 1
        let downloader = try Downloader(world.configuration)
        let first = await start("first", world, downloader)
        await first.waitForBytes(10_000)
        var others: [Download] = []
        for (name, priority) in [("a", 0), ("b", 5), ("c", 0), ("d", 5), ("e", -1)] {
            others.append(await start(name, world, downloader, priority: priority))
        }
        for _ in 0..<6 { gate.signal() }
        for download in [first] + others { #expect(try await download.file.sha256 == sha256(sample)) }
        #expect(world.server.exchanges.map(\.request.path) == ["/first", "/b", "/d", "/a", "/c", "/e"])
        await downloader.close()
    }

    @Test func `get it when one is held, and can be held and cancelled before it comes`() async throws {
        let gate = DispatchSemaphore(value: 0)
        var world = try world(gate)
        world.configuration.parallelDownloads = 1
        let downloader = try Downloader(world.configuration)
        let first = await start("first", world, downloader)
        await first.waitForBytes(10_000)
        let cancelled = await start("cancelled", world, downloader)
        let held = await start("held", world, downloader)
        let second = await start("second", world, downloader)
        await downloader.cancel(cancelled.id)
        #expect(await Told(cancelled).error?.code == .cancelled)
        await downloader.hold(held.id)
        await held.wait { $0 == .held(reason: nil) }
        await downloader.hold(first.id)
        await second.waitForBytes(10_000)
        #expect(world.server.exchanges.map(\.request.path) == ["/first", "/second"])
        for _ in 0..<3 { gate.signal() }
        #expect(try await second.file.sha256 == sha256(sample))
        await downloader.releaseAll()
        for download in [first, held] { #expect(try await download.file.sha256 == sha256(sample)) }
        await downloader.close()
    }

    @Test func `end with the downloader`() async throws {
        let gate = DispatchSemaphore(value: 0)
        var world = try world(gate)
        world.configuration.parallelDownloads = 1
        let downloader = try Downloader(world.configuration)
        let first = await start("first", world, downloader)
        let second = await start("second", world, downloader)
        await first.waitForBytes(10_000)
        await downloader.close()
        gate.signal()
        #expect(await Told(first).error?.code == .cancelled)
        #expect(await Told(second).error?.code == .cancelled)
    }
}

@Suite struct `A limit of bytes a second` {
    @Test(arguments: [1, 1000, 2_000_000] as [Int64])
    func `is kept over time, and saves up no more than a tenth of a second`(rate: Int64) {
        var bucket = TokenBucket(bytesPerSecond: rate)
        var taken = 0
        var now = Duration.seconds(5)
        // Idle for long: that is no reason to hurry.
        let isOpen = bucket.isOpen(at: now)
        #expect(isOpen)
        now += .seconds(100)
        let end = now + .seconds(20)
        let piece = max(1, Int(rate / 50))
        while now < end {
            while bucket.isOpen(at: now) {
                bucket.spend(piece, at: now)
                taken += piece
            }
            let wait = bucket.wait(at: now)
            #expect(wait > .zero)
            now += wait
        }
        let expected = Double(rate) * 20
        #expect(Double(taken) <= expected + Double(rate) / 10 + Double(2 * piece))
        #expect(Double(taken) >= expected * 0.9 - Double(piece))
    }

    @Test func `counts for all downloads and for each`() {
        let all = Throttle(bytesPerSecond: 1000)
        let one = Throttle(bytesPerSecond: 100, within: all)
        let other = Throttle(bytesPerSecond: nil, within: all)
        #expect(one.bytesPerSecond == 100 && other.bytesPerSecond == 1000)
        #expect(one.isOpen(at: .zero) && other.isOpen(at: .zero))
        one.spend(200, at: .zero)
        #expect(!one.isOpen(at: .zero) && !other.isOpen(at: .zero))
        #expect(other.isOpen(at: .milliseconds(250)))
        #expect(!one.isOpen(at: .milliseconds(250)))
        #expect(one.isOpen(at: .milliseconds(2050)))
        #expect(Throttle(bytesPerSecond: nil).isOpen(at: .zero))
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Old partial files` {
    /// A state folder with partial files of these ages in days, 100,000 bytes each.
    private func folder(_ ages: [String: Double]) throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for (name, days) in ages {
            try folder.write([UInt8](repeating: 7, count: 100_000), to: name + ".part")
            try folder.write(Array("{}".utf8), to: name + ".part.json")
            try FileManager.default.setAttributes(
                [.modificationDate: Date(timeIntervalSinceNow: -days * 86_400)],
                ofItemAtPath: folder.path(name + ".part")
            )
        }
        return folder
    }

    private func left(_ folder: TemporaryFolder) throws -> [String] {
        try folder.contents().filter { $0.hasSuffix(".part") }.map { String($0.dropLast(5)) }.sorted()
    }

    @Test func `are removed by age, with their records, when a downloader starts`() async throws {
        let folder = try folder(["old": 31, "older": 400, "new": 29])
        try folder.write([1], to: "other")
        let downloader = try Downloader(World.configuration(folder.path))
        #expect(try folder.contents().sorted() == ["new.part", "new.part.json", "other"])
        await downloader.close()
    }

    @Test func `are removed by size, the oldest first`() async throws {
        let folder = try folder(["a": 3, "b": 1, "c": 2, "d": 4])
        var configuration = World.configuration(folder.path)
        configuration.partialBytesLimit = 250_000
        let downloader = try Downloader(configuration)
        #expect(try left(folder) == ["b", "c"])
        await downloader.close()
    }

    @Test func `are never removed while somebody has them`() async throws {
        let folder = try folder(["old": 400, "used": 500])
        let descriptor = open(folder.path("used.part"), O_RDWR)
        #expect(flock(descriptor, LOCK_EX) == 0)
        var configuration = World.configuration(folder.path)
        configuration.partialBytesLimit = 0
        let downloader = try Downloader(configuration)
        #expect(try left(folder) == ["used"])
        close(descriptor)
        await downloader.close()
        let next = try Downloader(configuration)
        #expect(try left(folder) == [])
        await next.close()
    }

    @Test func `that are no files, or lead elsewhere, are left`() async throws {
        let folder = try folder([:])
        try folder.write([1], to: "precious")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("link.part"),
            withDestinationPath: folder.path("precious")
        )
        try FileManager.default.createDirectory(
            atPath: folder.path("folder.part"),
            withIntermediateDirectories: false
        )
        var configuration = World.configuration(folder.path)
        configuration.partialAgeLimit = .seconds(-10)
        configuration.partialBytesLimit = 0
        let downloader = try Downloader(configuration)
        #expect(try folder.contents().sorted() == ["folder.part", "link.part", "precious"])
        await downloader.close()
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A login from a netrc file` {
    @Test func `is given to its host`() async throws {
        var world = try World { [file = ServedFile(sample)] in file.answer($0) }
        try world.folder.write(Array("machine 127.0.0.1 login me password secret\n".utf8), to: "netrc")
        world.configuration.netrcFile = world.folder.path("netrc")
        #expect(try await world.run().file != nil)
        #expect(world.server.exchanges.first?.request.headers["authorization"] == "Basic bWU6c2VjcmV0")
    }
}
