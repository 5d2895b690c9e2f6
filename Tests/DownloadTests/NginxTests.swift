import Foundation
import TestKit
import Testing

@testable import FerryDownload

@Suite(.timeLimit(.minutes(10)), .enabled(if: Nginx.isInstalled, Comment(rawValue: Nginx.absent)))
struct `A download from nginx` {
    @Test func `trusts the certificates that it is told to, and leaves https for nothing`() async throws {
        let nginx = try Nginx()
        try nginx.folder.write(sample, to: "files/file")
        let folder = try TemporaryFolder()
        var configuration = World.configuration(folder.path("state"))
        configuration.retries = 0

        func fetch(_ path: String) async throws -> Told {
            let downloader = try Downloader(configuration)
            let url = "https://127.0.0.1:\(nginx.securePort)/\(path)"
            let told = await Told(
                downloader.start(DownloadRequest(url: url, destination: folder.path("file")))
            )
            await downloader.close()
            return told
        }
        #expect(try await fetch("file").error?.code == .certificate)
        configuration.caFile = nginx.folder.path("certificate.pem")
        #expect(try await fetch("file").file?.sha256 == sha256(sample))
        #expect(try await fetch("up").file?.sha256 == sha256(sample))
        let error = try await fetch("down").error
        #expect(error?.code == .redirect)
        #expect(error?.message.contains("redirects from https to http (http://127.0.0.1:\(nginx.port)/file)") == true)
    }

    @Test func `that is held lets others on the same connection go on`() async throws {
        // nginx offers HTTP/2, so both downloads share one connection. The one that is held is slow enough to be caught.
        let nginx = try Nginx()
        var generator = SeededGenerator(seed: 2)
        try writeSample(to: nginx.folder.path("files/file"), length: 20_000_000, &generator)
        let folder = try TemporaryFolder()
        var configuration = World.configuration(folder.path("state"))
        configuration.caFile = nginx.folder.path("certificate.pem")
        configuration.retries = 0
        let downloader = try Downloader(configuration)
        let server = "https://127.0.0.1:\(nginx.securePort)"
        let held = await downloader.start(
            DownloadRequest(url: server + "/slow/file", destination: folder.path("held"))
        )
        await held.waitForBytes(1)
        await downloader.hold(held.id)
        var heldBytes: Int64 = 0
        await held.wait { event in
            if case .progress(let completed, _) = event { heldBytes = completed }
            return event == .held(reason: nil)
        }
        let other = await downloader.start(DownloadRequest(url: server + "/file", destination: folder.path("other")))
        #expect(try await other.file.sha256 == sha256(try nginx.folder.read("files/file")))
        await downloader.release(held.id)
        await held.wait { $0 == .released }
        await held.waitForBytes(heldBytes + 600_000)
        await downloader.close()
    }

    /// 200 MB, cut 20 times at random places, held and released in between, in a process that is killed twice.
    ///
    /// Counted between client and nginx: a cut loses nothing that was passed on, so the next request begins at exactly
    /// the byte where the last answer ended. At a kill, and when a long hold gives up its connection, what was on its
    /// way is lost; there the next request begins at exactly the length that the partial file has. So no byte that was
    /// on disk is fetched twice, and but for kills and holds, none that was sent.
    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func `fetches no byte twice that it has`(seed: UInt64) async throws {
        let length = 200_000_000
        let cuts = 20
        var generator = SeededGenerator(seed: seed)
        let nginx = try Nginx(rate: "100m")
        try writeSample(to: nginx.folder.path("files/file"), length: length, &generator)
        let places = (0..<cuts).map { _ in Int.random(in: 1...(length / (cuts + 5)), using: &generator) }
        let proxy = try CuttingProxy(to: nginx.port) { $0 < places.count ? places[$0] : nil }
        let folder = try TemporaryFolder()
        let interruptions = (0..<5).map { _ in Int.random(in: 1...length / 2, using: &generator) }.sorted()
        let marks = try await onThread { try interrupt(proxy, folder, at: interruptions, length: length) }

        // A connection that was killed before its answer has nothing to count.
        let passages = proxy.passages.enumerated().filter { $0.element.status != 0 }
        #expect(passages.count { $0.element.wasCut } == cuts, "seed \(seed)")
        #expect(
            passages.map(\.element.status) == [200] + Array(repeating: 206, count: passages.count - 1),
            "seed \(seed)"
        )
        for (last, next) in zip(passages, passages.dropFirst()) {
            let end = last.element.firstByte + last.element.bodyBytes
            if let mark = marks.last(where: { last.offset < $0.passages && $0.passages <= next.offset }) {
                #expect(next.element.firstByte == mark.length, "seed \(seed), passage \(next.offset)")
                #expect((last.element.firstByte...end).contains(mark.length), "seed \(seed), passage \(next.offset)")
            } else {
                #expect(next.element.firstByte == end, "seed \(seed), passage \(next.offset)")
            }
        }
        // nginx itself has seen the same requests.
        #expect(
            Set(try nginx.loggedRanges()).isSuperset(of: passages.dropLast().map(\.element.firstByte)),
            "seed \(seed)"
        )
        let compared = try #require(Tool("cmp")).run([nginx.folder.path("files/file"), folder.path("file")])
        #expect(compared.status == 0, "seed \(seed): \(compared.text)")
        #expect(try folder.contents() == ["file", "state"])
    }

    /// 30 MB by four connections, in a process that is killed at random places: what its record says is on the disk is
    /// there each time, and the file is right in the end.
    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func `by several connections keeps a record that is true at every instant`(seed: UInt64) async throws {
        let length = 30_000_000
        var generator = SeededGenerator(seed: seed)
        let nginx = try Nginx(rate: "2m")
        try writeSample(to: nginx.folder.path("files/file"), length: length, &generator)
        let served = try nginx.folder.read("files/file")
        let folder = try TemporaryFolder()
        let places = (0..<5).map { _ in Int.random(in: 1...length, using: &generator) }.sorted()
        let killed = try await onThread {
            var certain: [Int64] = []
            for place in places + [length + 1] {
                let probe = try Probe(
                    url: "http://127.0.0.1:\(nginx.port)/file",
                    file: folder.path("file"),
                    state: folder.path("state"),
                    pauseLimitMilliseconds: 30,
                    connections: 4
                )
                guard place <= length else {
                    try probe.wait { $0 == "finished \(length)" }
                    break
                }
                try probe.waitForBytes(place)
                probe.kill()
                guard let name = try folder.contents().first(where: { $0.hasSuffix(".part") }),
                    let record = try PartialRecord.read(folder.path(name + ".json"))
                else { continue }
                let part = try folder.read(name)
                certain.append(record.ranges.reduce(0) { $0 + Int64($1.count) })
                for range in record.ranges {
                    let range = Int(range.lowerBound)..<Int(range.upperBound)
                    #expect(part[range] == served[range], "seed \(seed)")
                }
            }
            return certain
        }
        #expect(killed == killed.sorted(), "seed \(seed)")
        #expect(try folder.read("file") == served, "seed \(seed)")
        #expect(try folder.contents() == ["file", "state"])
    }

    @Test(arguments: [1, 4, 16], [false, true])
    func `comes whole by one connection or several, over HTTP/1.1 and HTTP/2`(
        connections: Int,
        isSecure: Bool
    ) async throws {
        let nginx = try Nginx()
        var generator = SeededGenerator(seed: 3)
        try writeSample(to: nginx.folder.path("files/file"), length: 40_000_000, &generator)
        let folder = try TemporaryFolder()
        var configuration = World.configuration(folder.path("state"))
        configuration.caFile = nginx.folder.path("certificate.pem")
        configuration.connections = .fixed(connections)
        configuration.retries = 0
        let downloader = try Downloader(configuration)
        let server = isSecure ? "https://127.0.0.1:\(nginx.securePort)" : "http://127.0.0.1:\(nginx.port)"
        let download = await downloader.start(
            DownloadRequest(url: server + "/file", destination: folder.path("file"))
        )
        let told = await Told(download)
        await downloader.close()
        #expect(told.file?.length == 40_000_000)
        #expect(told.restarts.isEmpty && told.retries == 0)
        let compared = try #require(Tool("cmp")).run([nginx.folder.path("files/file"), folder.path("file")])
        #expect(compared.status == 0)
        #expect(try folder.contents() == ["file", "state"])
    }

    @Test(arguments: [1, 4]) func `is refused a certificate that nobody vouches for`(connections: Int) async throws {
        let nginx = try Nginx()
        try nginx.folder.write(sample, to: "files/file")
        let folder = try TemporaryFolder()
        var configuration = World.configuration(folder.path("state"))
        configuration.connections = .fixed(connections)
        let downloader = try Downloader(configuration)
        for path in ["file", "down"] {
            let told = await Told(
                downloader.start(
                    DownloadRequest(
                        url: "https://127.0.0.1:\(nginx.securePort)/\(path)",
                        destination: folder.path("file")
                    )
                )
            )
            #expect(told.error?.code == .certificate)
            #expect(told.retries == 0)
        }
        await downloader.close()
    }

    @Test func `starts over when the file is replaced while several connections bring it`() async throws {
        let nginx = try Nginx(rate: "2m")
        var generator = SeededGenerator(seed: 4)
        // Long enough that much is still to be asked for when it is replaced, on a busy machine too.
        try nginx.folder.write(generator.bytes(30_000_000), to: "files/file")
        let new = generator.bytes(3_000_001)
        let folder = try TemporaryFolder()
        var configuration = World.configuration(folder.path("state"))
        configuration.connections = .fixed(4)
        let downloader = try Downloader(configuration)
        let download = await downloader.start(
            DownloadRequest(url: "http://127.0.0.1:\(nginx.port)/file", destination: folder.path("file"))
        )
        await download.waitForBytes(3_000_000)
        // Beside, then in its place: nginx goes on sending the old one to whoever asked before.
        try nginx.folder.write(new, to: "files/new")
        #expect(rename(nginx.folder.path("files/new"), nginx.folder.path("files/file")) == 0)
        let told = await Told(download)
        await downloader.close()
        #expect(told.restarts == ["The file on the server has changed."])
        #expect(told.file?.sha256 == sha256(new))
    }

    /// Far, slow, and dropped now and then: what a connection of its own is for.
    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func `comes over a far line that drops connections`(seed: UInt64) async throws {
        let nginx = try Nginx()
        var generator = SeededGenerator(seed: seed)
        try writeSample(to: nginx.folder.path("files/file"), length: 20_000_000, &generator)
        var line = DelayingProxy.Line()
        line.roundTrip = .milliseconds(20)
        line.dropEvery = 3_000_000
        line.seed = seed
        let proxy = try DelayingProxy(to: nginx.port, line)
        let folder = try TemporaryFolder()
        var configuration = World.configuration(folder.path("state"))
        configuration.connections = .adaptive(limit: 8)
        configuration.retries = 20
        let downloader = try Downloader(configuration)
        let download = await downloader.start(
            DownloadRequest(url: "http://127.0.0.1:\(proxy.port)/file", destination: folder.path("file"))
        )
        let told = await Told(download)
        await downloader.close()
        #expect(told.file?.length == 20_000_000, "seed \(seed): \(told.facts)")
        #expect(told.restarts.isEmpty, "seed \(seed)")
        #expect(proxy.connections > 1, "seed \(seed)")
        let compared = try #require(Tool("cmp")).run([nginx.folder.path("files/file"), folder.path("file")])
        #expect(compared.status == 0, "seed \(seed)")
    }

    /// Holds and kills downloads of `folder`'s file at these five places, then lets it end.
    ///
    /// Gives, for each interruption, how many connections there were and how long the partial file was.
    private func interrupt(
        _ proxy: CuttingProxy,
        _ folder: TemporaryFolder,
        at places: [Int],
        length: Int
    ) throws -> [(passages: Int, length: Int)] {
        var marks: [(passages: Int, length: Int)] = []
        func mark() throws {
            // No connection is open, nor was one for a while that the proxy may not have seen yet.
            var quiet = 0
            while quiet < 20 {
                quiet = proxy.passages.allSatisfy(\.isOver) ? quiet + 1 : 0
                usleep(2000)
            }
            let name = try #require(try folder.contents().first { $0.hasSuffix(".part") })
            let size = try FileManager.default.attributesOfItem(atPath: folder.path(name))[.size] as? Int
            marks.append((proxy.passages.count, try #require(size)))
        }
        for process in 0..<3 {
            let probe = try Probe(
                url: "http://127.0.0.1:\(proxy.port)/file",
                file: folder.path("file"),
                state: folder.path("state"),
                pauseLimitMilliseconds: 30
            )
            try probe.waitForBytes(places[process * 2])
            try probe.say("hold")
            try probe.wait { $0 == "held" }
            try mark()
            try probe.say("release")
            if process < 2 {
                try probe.waitForBytes(places[process * 2 + 1])
                probe.kill()
                try mark()
            } else {
                try probe.wait { $0 == "finished \(length)" }
            }
        }
        return marks
    }

    /// A random megabyte again and again, each time with its number in front: no two places are alike.
    private func writeSample(to path: String, length: Int, _ generator: inout SeededGenerator) throws {
        let block = Data(generator.bytes(1_000_000 - 8))
        #expect(FileManager.default.createFile(atPath: path, contents: nil))
        let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
        for number in 0..<UInt64(length / 1_000_000) {
            try handle.write(contentsOf: withUnsafeBytes(of: number) { Data($0) } + block)
        }
        try handle.close()
    }
}
