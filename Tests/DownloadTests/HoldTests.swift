import Dispatch
import FerryDownload
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `Holding a download` {
    private let file = ServedFile(sample)

    @Test func `for a moment keeps the connection`() async throws {
        let gate = DispatchSemaphore(value: 0)
        var world = try World { [file] in
            file.answer($0).with { response in
                response.pauseAfter = 100_000
                response.waiting = { gate.wait() }
            }
        }
        world.configuration.clock = ManualClock()
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request())
        await download.waitForBytes(100_000)
        await downloader.hold(download.id)
        await download.wait { $0 == .held(reason: nil) }
        gate.signal()
        await downloader.release(download.id)
        let told = await Told(download)
        #expect(told.facts.first == .released)
        #expect(told.file?.sha256 == sha256(sample))
        #expect(world.ranges == [0])
        await downloader.close()
    }

    @Test func `for long gives up the connection and goes on by range`() async throws {
        let clock = ManualClock()
        var world = try World { [file] request in
            file.answer(request).with { if request.number == 0 { $0.pauseAfter = 100_000 } }
        }
        world.configuration.clock = clock
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request())
        await download.waitForBytes(100_000)
        await downloader.hold(download.id)
        await clock.sleeps(1)
        #expect(clock.requested == [.seconds(20)])
        clock.advance(by: .seconds(20))
        // The server's thread ends when the connection does.
        while world.server.exchanges.first?.isOver != true { try await Task.sleep(for: .milliseconds(1)) }
        await downloader.release(download.id)
        #expect(try await download.file.sha256 == sha256(sample))
        #expect(world.ranges == [0, 100_000])
        await downloader.close()
    }

    @Test func `from the start asks for nothing until it is released`() async throws {
        let world = try World { [file] in file.answer($0) }
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request { $0.startsHeld = true })
        await download.wait { $0 == .held(reason: nil) }
        #expect(world.server.exchanges.isEmpty)
        await downloader.release(download.id)
        #expect(try await download.file.length == 300_000)
        await downloader.close()
    }

    @Test func `all of them, and releasing all of them`() async throws {
        let gate = DispatchSemaphore(value: 0)
        let world = try World { [file] in
            file.answer($0).with { response in
                response.pauseAfter = 100_000
                response.waiting = { gate.wait() }
            }
        }
        let downloader = try Downloader(world.configuration)
        var downloads: [Download] = []
        for number in 0..<3 {
            downloads.append(
                await downloader.start(
                    DownloadRequest(url: world.server.url(), destination: world.folder.path("\(number)"))
                )
            )
        }
        for download in downloads { await download.waitForBytes(100_000) }
        await downloader.holdAll()
        for download in downloads { await download.wait { $0 == .held(reason: nil) } }
        for _ in downloads { gate.signal() }
        await downloader.releaseAll()
        for download in downloads { #expect(try await download.file.sha256 == sha256(sample)) }
        #expect(world.ranges == [0, 0, 0])
        await downloader.close()
    }

    /// A download that was held with 100,000 bytes of it there, by a downloader that is closed.
    private func heldByAnEarlierProcess() async throws -> World {
        let world = try World { [file] request in
            file.answer(request).with { if request.number == 0 { $0.pauseAfter = 100_000 } }
        }
        let first = try Downloader(world.configuration)
        let download = await first.start(world.request())
        await download.waitForBytes(100_000)
        await first.hold(download.id)
        await download.wait { $0 == .held(reason: nil) }
        await first.close()
        #expect(await Told(download).error?.code == .cancelled)
        return world
    }

    @Test func `survives a restart, and so does what has arrived`() async throws {
        let world = try await heldByAnEarlierProcess()
        let second = try Downloader(world.configuration)
        let again = await second.start(world.request())
        await again.wait { $0 == .held(reason: nil) }
        #expect(world.ranges == [0])
        await second.release(again.id)
        let told = await Told(again)
        #expect(told.facts.prefix(2) == [.released, .started(totalBytes: 300_000, resumedFrom: 100_000)])
        #expect(told.file?.sha256 == sha256(sample))
        #expect(world.ranges == [0, 100_000])
        await second.close()
    }

    /// The orders come before it is its turn, in one go with the request.
    @Test(arguments: [false, true]) func `goes on after a restart where it is released at once`(all: Bool) async throws
    {
        let world = try await heldByAnEarlierProcess()
        let second = try Downloader(world.configuration)
        let again = await second.start(world.request())
        if all { await second.releaseAll() } else { await second.release(again.id) }
        let told = await Told(again)
        #expect(told.file?.sha256 == sha256(sample))
        #expect(world.ranges == [0, 100_000])
        await second.close()
    }
}

@Suite(.timeLimit(.minutes(10))) struct `Cancelling a download` {
    private let file = ServedFile(sample)

    private func world() throws -> World {
        try World { [file] request in
            file.answer(request).with { if request.number == 0 { $0.pauseAfter = 100_000 } }
        }
    }

    @Test(arguments: [true, false]) func `keeps what has arrived, or not`(keeps: Bool) async throws {
        let world = try world()
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request())
        await download.waitForBytes(100_000)
        await downloader.cancel(download.id, keepsPartial: keeps)
        #expect(await Told(download).error == DownloadError(.cancelled, "The download was cancelled."))
        #expect(try world.state().count == (keeps ? 2 : 0))
        // The same downloader can begin anew at once: the lock is gone when the end is told.
        #expect(try await downloader.start(world.request()).file.sha256 == sha256(sample))
        #expect(world.ranges == (keeps ? [0, 100_000] : [0, 0]))
        await downloader.close()
    }

    @Test func `is what cancelling a waiting task does`() async throws {
        let world = try world()
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request())
        let waiting = Task { try await download.file }
        await download.waitForBytes(100_000)
        waiting.cancel()
        let error = await #expect(throws: DownloadError.self) { try await waiting.value }
        #expect(error?.isCancellation == true)
        await downloader.close()
    }

    @Test func `is what closing does, and nothing starts after it`() async throws {
        let world = try world()
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request())
        await download.waitForBytes(100_000)
        await downloader.close()
        #expect(await Told(download).error?.code == .cancelled)
        #expect(await Told(downloader.start(world.request())).error?.code == .cancelled)
        await downloader.close()
        #expect(try world.state().count == 2)
    }

    @Test func `is what losing the downloader does`() async throws {
        let world = try world()
        var downloader: Downloader? = try Downloader(world.configuration)
        let download = try #require(await downloader?.start(world.request()))
        await download.waitForBytes(100_000)
        downloader = nil
        #expect(await Told(download).error?.code == .cancelled)
    }
}
