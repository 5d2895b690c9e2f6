import FerryBytes
import Synchronization
import TestKit
import Testing

@testable import FerryHTTP

@Suite(.timeLimit(.minutes(5)), .enabled(if: TestServer.hasTools, "\(TestServer.absent)"))
struct `A file` {
    private let folder: TemporaryFolder
    private let bytes: [UInt8]
    private let source: FileSource

    init() throws {
        folder = try TemporaryFolder()
        var random = SeededGenerator(seed: 7)
        bytes = (0..<3_000_001).map { _ in UInt8.random(in: 0...255, using: &random) }
        source = try FileSource(path: try folder.write(bytes, to: "file"))
    }

    @Test(arguments: [false, true], [false, true])
    func `comes whole and in parts, byte by byte`(secure: Bool, watched: Bool) async throws {
        let ignore: @Sendable (Range<Int>) -> Void = { _ in }
        let file = FileBody(source, sent: watched ? ignore : nil)
        let server = try TestServer(secure: secure) { _ in .now(.file(file, type: "application/octet-stream")) }
        #expect(try await server.curl("/").output == bytes)
        for range in [0..<1, 5..<10, 1_000_000..<2_500_000, 2_999_990..<3_000_001] {
            let part = try await server.curl("/", ["-r", "\(range.lowerBound)-\(range.upperBound - 1)"])
            #expect(part.output == Array(bytes[range]))
        }
        #expect(try await server.curl("/", ["-r", "-100"]).output == bytes.suffix(100))
        let head = try await server.curl("/", ["-I"]).text
        #expect(head.contains("Content-Length: 3000001") && head.contains("Accept-Ranges: bytes"))
        let late = try await server.curl("/", ["-i", "-r", "3000001-"]).text
        #expect(late.hasPrefix("HTTP/1.1 416") && late.contains("Content-Range: bytes */3000001"))
        #expect(try await server.status("/", ["-r", "0-1,5-6"]) == "200")
    }

    @Test func `goes on where an earlier try ended, if it is still the same`() async throws {
        let source = source
        let server = try TestServer { _ in .now(.file(FileBody(source), type: "application/octet-stream")) }
        let half = try server.folder.write(bytes.prefix(1_000_000), to: "half")
        try await server.curl("/", ["-C", "-", "-o", half])
        #expect(try server.folder.read("half") == bytes)
        let tag = "\"\(FileBody(source).tag)\""
        #expect(try await server.status("/", ["-H", "If-None-Match: \(tag)"]) == "304")
        #expect(try await server.status("/", ["-H", "Range: bytes=1-", "-H", "If-Range: \(tag)"]) == "206")
        #expect(try await server.status("/", ["-H", "Range: bytes=1-", "-H", "If-Range: \"a\""]) == "200")
    }

    @Test(arguments: [false, true])
    func `tells how much of it was sent`(secure: Bool) async throws {
        let source = source
        let told = SentRanges()
        let server = try TestServer(secure: secure) { _ in
            .now(.file(FileBody(source) { told.add($0) }, type: "application/octet-stream"))
        }
        try await server.curl("/", ["-r", "1000-2000999"])
        await told.whole(1000..<2_001_000)
        try await server.curl("/", ["-I"])
        #expect(told.ranges.reduce(0) { $0 + $1.count } == 2_000_000)
        #expect(zip(told.ranges, told.ranges.dropFirst()).allSatisfy { $0.upperBound == $1.lowerBound })
    }

    @Test func `that is empty comes empty`() async throws {
        let empty = try FileSource(path: try folder.write([], to: "empty"))
        let server = try TestServer { _ in .now(.file(FileBody(empty), type: "text/plain")) }
        let answer = try await server.curl("/", ["-i"]).text
        #expect(answer.hasPrefix("HTTP/1.1 200") && answer.contains("Content-Length: 0"))
    }

    @Test func `that becomes shorter is seen to be cut short`() async throws {
        let path = try folder.write(bytes, to: "shrinking")
        let source = try FileSource(path: path)
        try Tool("truncate")?.run(["-s", "1000000", path])
        let server = try TestServer { _ in
            .now(.file(FileBody(source, sent: { _ in }), type: "application/octet-stream"))
        }
        // CURLE_PARTIAL_FILE
        #expect(try await server.curl("/", ["-o", "/dev/null"]).status == 18)
    }
}

/// What a file told of itself.
private final class SentRanges: Sendable {
    private let told = Mutex<[Range<Int>]>([])
    private let sign = Sign()

    var ranges: [Range<Int>] { told.withLock { $0 } }

    func add(_ range: Range<Int>) {
        let isWhole = told.withLock { told in
            told.append(range)
            return told.reduce(0) { $0 + $1.count } >= 2_000_000
        }
        if isWhole { sign.give() }
    }

    func whole(_ range: Range<Int>) async { await sign.wait() }
}
