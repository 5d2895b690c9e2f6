import FerryDownload
import Foundation
import TestKit
import Testing

@Suite(.timeLimit(.minutes(10))) struct `A partial file with a name of its caller's` {
    private let file = ServedFile(sample)

    private func cut() async throws -> World {
        let world = try World(retries: 0) { [file] request in
            file.answer(request).with { if request.number == 0 { $0.cutAfter = 100_000 } }
        }
        #expect(try await world.run { $0.partialName = "job-1a" }.error?.code == .connection)
        return world
    }

    @Test func `is gone on with under that name`() async throws {
        let world = try await cut()
        #expect(try world.partial() == world.folder.path("state/job-1a.part"))
        #expect(PartialFiles.names(in: world.folder.path("state")) == ["job-1a"])
        #expect(try await world.run { $0.partialName = "job-1a" }.file != nil)
        #expect(world.ranges == [0, 100_000])
        #expect(try world.state() == [])
    }

    @Test func `is removed by it with all that belongs to it, and nothing else`() async throws {
        let world = try await cut()
        try world.folder.write([1], to: "state/job-1.part")
        PartialFiles.remove("job-1a", in: world.folder.path("state"))
        #expect(try world.state() == ["state/job-1.part"])
        PartialFiles.remove("job-2", in: world.folder.path("state"))
        PartialFiles.remove("job-2", in: world.folder.path("nowhere"))
        #expect(try world.state() == ["state/job-1.part"])
    }

    @Test func `stays while a download writes it`() async throws {
        let world = try World { [file] in file.answer($0).with { $0.pauseAfter = 1000 } }
        let downloader = try Downloader(world.configuration)
        let download = await downloader.start(world.request { $0.partialName = "job-1a" })
        for await event in download.events {
            if case .progress(let completed, _) = event, completed > 0 { break }
        }
        PartialFiles.remove("job-1a", in: world.folder.path("state"))
        #expect(FileManager.default.fileExists(atPath: world.folder.path("state/job-1a.part")))
        await downloader.close()
    }

    @Test(arguments: ["", "a/b", "..", "a.b", "ä", String(repeating: "a", count: 101)])
    func `must be called by letters, digits and dashes`(name: String) async throws {
        let world = try World { [file] in file.answer($0) }
        #expect(try await world.run { $0.partialName = name }.error?.code == .badRequest)
        #expect(world.server.exchanges.isEmpty)
    }
}
