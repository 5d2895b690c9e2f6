import Dispatch
import FerryDownload
import Foundation
import TestKit
import Testing

/// A disk of its own in memory, for tests that fill it or may not write to it; gone with its last reference.
final class TinyDisk: Sendable {
    /// What a test says when it skips.
    static let absent: Comment = "mounting a disk in memory needs root"
    static let isPossible = (try? TinyDisk("size=1m")) != nil

    let folder: TemporaryFolder

    init(_ options: String) throws {
        folder = try TemporaryFolder()
        guard mount("ferry-test", folder.path, "tmpfs", 0, options) == 0 else { throw POSIXError(.EPERM) }
    }

    func makeReadOnly() throws {
        guard mount("", folder.path, "", UInt(MS_REMOUNT | MS_RDONLY), nil) == 0 else { throw POSIXError(.EPERM) }
    }

    deinit {
        umount2(folder.path, Int32(MNT_DETACH))
    }
}

@Suite(.timeLimit(.minutes(10))) struct `The disk of a download` {
    private let file = ServedFile(sample)

    @Test func `must have room for the whole file, or nothing is fetched`() async throws {
        var world = try World { _ in
            HTTPServer.Response(200, [("ETag", "\"a\"")]).with { $0.claimedLength = 1 << 60 }
        }
        world.configuration.lengthLimit = .max
        world.configuration.holdsOnFullDisk = false
        let error = try await world.run().error
        #expect(error?.code == .diskFull)
        #expect(error?.message.contains("the file needs \(1 << 60) more bytes, but only ") == true)
    }

    @Test func `holds a download that it has no room for, which may be cancelled`() async throws {
        var world = try World { _ in
            HTTPServer.Response(200, [("ETag", "\"a\"")]).with { $0.claimedLength = 1 << 60 }
        }
        world.configuration.lengthLimit = .max
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request())
        await download.wait { event in
            if case .held(let reason?) = event {
                reason.contains("the file needs \(1 << 60) more bytes")
            } else {
                false
            }
        }
        // Released by hand, it tries at once, and is held again.
        await downloader.release(download.id)
        await download.wait { $0 == .released }
        await download.wait { if case .held(reason: .some) = $0 { true } else { false } }
        await downloader.cancel(download.id)
        #expect(await Told(download).error?.code == .cancelled)
        #expect(world.server.exchanges.count == 2)
        await downloader.close()
    }

    @Test(.enabled(if: TinyDisk.isPossible, TinyDisk.absent), arguments: [1, 4])
    func `may fill up, and the download goes on by itself once there is room`(connections: Int) async throws {
        let disk = try TinyDisk(connections == 1 ? "size=256k" : "size=512k")
        let clock = ManualClock()
        let filler = disk.folder.path("filler")
        let gate = DispatchSemaphore(value: 0)
        // By one connection chunked: nobody knows the length, so only writing shows that there is no room. By several,
        // with its length: there is room when it begins, and then somebody else takes it.
        var world = try World(connections: connections) { [file] request in
            if connections > 1, request.number == 1 {
                try? Data(count: 300_000).write(to: URL(fileURLWithPath: filler))
                gate.signal()
            }
            return file.answer(request).with { answer in
                answer.isChunked = connections == 1
                guard connections > 1, request.number == 0 else { return }
                answer.pauseAfter = 50_000
                answer.waiting = { gate.wait() }
            }
        }
        world.configuration.stateFolder = disk.folder.path
        world.configuration.clock = clock
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request { $0.sha256 = sha256(sample) })
        await download.wait { event in
            guard case .held(let reason?) = event else { return false }
            // Found by who writes, or by who looks first: by several connections whichever is faster.
            return reason.contains("No space left on device")
                || (connections > 1 && reason.contains("are free on its disk"))
        }
        let asked = world.server.exchanges.count
        // Looks once while the disk is still full, then again.
        for number in 1...2 {
            await clock.sleeps(number)
            if number == 2 { #expect(mount("", disk.folder.path, "", UInt(MS_REMOUNT), "size=1m") == 0) }
            #expect(clock.requested.last == .seconds(10))
            clock.advance(by: .seconds(10))
        }
        await download.wait { $0 == .released }
        #expect(try await download.file.sha256 == sha256(sample))
        #expect(world.server.exchanges.count > asked)
        #expect(try world.folder.read("file.ipa") == sample)
        await downloader.close()
    }

    @Test(.enabled(if: TinyDisk.isPossible, TinyDisk.absent))
    func `may fill up, and what has arrived is kept for another process`() async throws {
        let disk = try TinyDisk("size=256k")
        var world = try World { [file] request in
            file.answer(request).with { $0.isChunked = true }
        }
        world.configuration.stateFolder = disk.folder.path
        world.configuration.holdsOnFullDisk = false
        let error = try await world.run().error
        #expect(error?.code == .diskFull)
        #expect(error?.remedy?.contains("it goes on where it stopped") == true)
        let name = try #require(try disk.folder.contents().first { $0.hasSuffix(".part") })
        let kept = try disk.folder.read(name).count
        #expect(kept > 100_000 && kept < 262_144)

        #expect(mount("", disk.folder.path, "", UInt(MS_REMOUNT), "size=1m") == 0)
        #expect(try await world.run().file?.sha256 == sha256(sample))
        #expect(world.ranges == [0, kept])
    }

    @Test(.enabled(if: TinyDisk.isPossible, TinyDisk.absent))
    func `may be another one than the destination's`() async throws {
        let disk = try TinyDisk("size=1m")
        var world = try World { [file] in file.answer($0) }
        world.configuration.stateFolder = disk.folder.path
        #expect(try await world.run().file?.path == world.destination)
        #expect(try world.folder.contents() == ["file.ipa"])
        #expect(try world.folder.read("file.ipa") == sample)
        #expect(try disk.folder.contents() == [])
    }

    @Test(.enabled(if: TinyDisk.isPossible, TinyDisk.absent))
    func `must not be read-only`() async throws {
        let disk = try TinyDisk("size=1m")
        try disk.makeReadOnly()
        var world = try World { [file] in file.answer($0) }
        var error = try await world.run { $0.destination = disk.folder.path("x") }.error
        #expect(error?.code == .file)
        #expect(error?.message == "\(disk.folder.path): cannot write into: Read-only file system.")
        #expect(world.server.exchanges.isEmpty)

        world.configuration.stateFolder = disk.folder.path("state")
        error = #expect(throws: DownloadError.self) { try Downloader(world.configuration) }
        #expect(error?.message == "\(disk.folder.path("state")): cannot create: Read-only file system.")
        world.configuration.stateFolder = disk.folder.path
        error = try await world.run().error
        #expect(error?.code == .file)
    }

    @Test func `must have the destination's folder`() async throws {
        let world = try World { [file] in file.answer($0) }
        try world.folder.write([], to: "plain")
        for destination in ["no/x", "plain/x", "state", "x/"] {
            let error = try await world.run {
                $0.destination = world.folder.path(destination) + (destination == "x/" ? "/" : "")
            }
            .error
            #expect(error?.code == .file, "\(destination)")
        }
        #expect(world.server.exchanges.isEmpty)
    }
}

@Suite(.timeLimit(.minutes(10))) struct `A local file` {
    private func run(
        _ world: World,
        _ name: String,
        _ change: (inout DownloadRequest) -> Void = { _ in }
    ) async throws -> Told {
        try await world.run { request in
            request.url = world.folder.path(name)
            change(&request)
        }
    }

    private func world() throws -> World {
        let world = try World { _ in HTTPServer.Response(500) }
        try world.folder.write(sample, to: "local.ipa")
        return world
    }

    @Test(arguments: ["", "file://"]) func `is used where it lies`(scheme: String) async throws {
        let world = try world()
        let path = world.folder.path("local.ipa")
        let told = try await world.run { $0.url = scheme + path }
        #expect(told.file == DownloadedFile(path: path, length: 300_000, sha256: sha256(sample), isOriginal: true))
        #expect(told.events.first == .started(totalBytes: 300_000, resumedFrom: 0))
        #expect(try world.folder.contents() == ["local.ipa", "state"])
    }

    @Test func `is copied where that is asked for`() async throws {
        let world = try world()
        let told = try await run(world, "local.ipa") { request in
            request.copiesLocalFile = true
            request.sha256 = sha256(sample)
        }
        #expect(
            told.file
                == DownloadedFile(path: world.destination, length: 300_000, sha256: sha256(sample), isOriginal: false)
        )
        #expect(try world.folder.read("file.ipa") == sample)
        #expect(try world.folder.contents() == ["file.ipa", "local.ipa", "state"])
    }

    @Test(arguments: [false, true]) func `is checked, and stays`(copies: Bool) async throws {
        let world = try world()
        let short = try await run(world, "local.ipa") { request in
            request.expectedLength = 1
            request.copiesLocalFile = copies
        }
        #expect(short.error?.code == .lengthMismatch)
        let wrong = try await run(world, "local.ipa") { request in
            request.sha256 = sha256([])
            request.copiesLocalFile = copies
        }
        #expect(wrong.error?.code == .checksumMismatch)
        #expect(try world.folder.contents() == ["local.ipa", "state"])
    }

    @Test func `must be there, and be a file`() async throws {
        let world = try world()
        let missing = try await run(world, "missing.ipa")
        #expect(missing.error?.code == .notFound)
        #expect(missing.error?.message == "\(world.folder.path("missing.ipa")): there is no such file.")
        let folder = try await run(world, "state")
        #expect(folder.error?.code == .file)
        #expect(folder.error?.message == "\(world.folder.path("state")) is a folder.")
    }

    @Test func `waits when it is held from the start`() async throws {
        let world = try world()
        let downloader = try Downloader(world.configuration)
        var request = world.request { $0.startsHeld = true }
        request.url = world.folder.path("local.ipa")
        let download = await downloader.start(request)
        await download.wait { $0 == .held(reason: nil) }
        await downloader.release(download.id)
        #expect(try await download.file.isOriginal)
        await downloader.close()
    }
}
