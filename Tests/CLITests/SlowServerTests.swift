import Foundation
import TestKit
import Testing

@testable import ferry

private let curl = Tool("curl")

/// Bytes that do not repeat, so that a piece from the wrong place is seen.
private func content(_ count: Int) -> [UInt8] {
    var generator = SeededGenerator(seed: 7)
    return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
}

@Suite(.enabled(if: curl != nil, "curl is not installed"), .timeLimit(.minutes(10))) struct `A slow server` {
    let bytes = content(100_000)
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
    }

    private func fetch(_ arguments: String...) throws -> Tool.Result {
        try #require(curl).run(["--silent", "--show-error", "--noproxy", "*"] + arguments)
    }

    private func server(rate: Int? = nil) throws -> SlowServer {
        try SlowServer(bytes: bytes, name: "Lantern 2.ipa", bytesPerSecond: rate)
    }

    @Test func `gives out the whole file under a name with a space`() throws {
        let server = try server()
        #expect(server.url.hasPrefix("http://127.0.0.1:"))
        #expect(server.url.hasSuffix("/Lantern%202.ipa"))
        let result = try fetch("--fail", server.url)
        #expect(result.status == 0)
        #expect(result.output == bytes)
    }

    @Test func `gives out a file of no bytes`() throws {
        let server = try SlowServer(bytes: [], name: "empty", bytesPerSecond: 1)
        let result = try fetch("--fail", "--write-out", "%{http_code} %{size_download}", server.url)
        #expect(result.status == 0)
        #expect(result.text == "200 0")
    }

    @Test(
        arguments: [
            ("0-99", 0..<100),
            ("99990-", 99_990..<100_000),
            ("-7", 99_993..<100_000),
            ("99999-99999999999999999999", 99_999..<100_000),
            ("-200000", 0..<100_000),
        ]
    )
    func `gives out a part`(range: String, part: Range<Int>) throws {
        let server = try server()
        let result = try fetch("--fail", "--range", range, "--dump-header", folder.path("head"), server.url)
        let head = String(decoding: try folder.read("head"), as: UTF8.self)
        #expect(result.output == Array(bytes[part]))
        #expect(head.hasPrefix("HTTP/1.1 206 "))
        #expect(head.contains("\r\nContent-Range: bytes \(part.lowerBound)-\(part.upperBound - 1)/100000\r\n"))
        #expect(head.contains("\r\nContent-Length: \(part.count)\r\n"))
    }

    @Test(arguments: ["100000-", "-0", "99999999999999999999-"])
    func `refuses a part that is not there`(range: String) throws {
        let server = try server()
        let result = try fetch("--include", "--header", "Range: bytes=\(range)", server.url)
        #expect(result.text.hasPrefix("HTTP/1.1 416 "))
        #expect(result.text.contains("\r\nContent-Range: bytes */100000\r\n"))
        #expect(result.text.hasSuffix("\r\n\r\n"))
    }

    @Test(arguments: ["bytes=5-4", "bytes=-", "bytes=1", "bytes=a-b", "bytes=+1-2", "lines=1-2", "bytes=0-1,4-5"])
    func `passes over a range that it does not know`(range: String) throws {
        let server = try server()
        let result = try fetch("--header", "Range: \(range)", "--write-out", "%{stderr}%{http_code}", server.url)
        #expect(result.errors == "200")
        #expect(result.output == bytes)
    }

    @Test func `lets a broken download go on`() throws {
        let server = try server()
        try folder.write(bytes[..<60_000], to: "file")
        let result = try fetch(
            "--fail",
            "-C",
            "-",
            "-o",
            folder.path("file"),
            "--write-out",
            "%{http_code} %{size_download}",
            server.url
        )
        #expect(result.text == "206 40000")
        #expect(try folder.read("file") == bytes)
    }

    @Test func `sends a part only of the file that If-Range means`() throws {
        let server = try server()
        let head = try fetch("--head", "--fail", server.url).text
        let line = try #require(head.split(separator: "\r\n").first { $0.hasPrefix("ETag: ") })
        let tag = String(line.dropFirst("ETag: ".count))
        #expect(tag.hasPrefix("\"") && tag.hasSuffix("\"") && tag.count > 2)
        for (condition, count) in [
            (tag, 10), ("\"another\"", 100_000), ("W/" + tag, 100_000), ("Sat, 29 Oct 1994 19:43:31 GMT", 100_000),
        ] {
            let result = try fetch("--range", "0-9", "--header", "If-Range: \(condition)", server.url)
            #expect(result.output.count == count, "\(condition)")
        }
    }

    @Test func `has the same tag for the same bytes, and another for others`() {
        let tags = [[1, 2], [1, 2], [1, 3], []].map { ServedBytes(bytes: $0, path: "/").tag }
        #expect(tags[0] == tags[1])
        #expect(Set(tags).count == 3)
    }

    @Test func `answers HEAD with the size and nothing more`() throws {
        let server = try server(rate: 1)
        let head = try fetch("--head", "--fail", server.url).text
        #expect(head.hasPrefix("HTTP/1.1 200 OK\r\n"))
        for field in ["Content-Length: 100000", "Accept-Ranges: bytes", "Connection: close"] {
            #expect(head.contains("\r\n\(field)\r\n"), "\(field)")
        }
    }

    @Test(arguments: [("GET", "/another", 404), ("GET", "/", 404), ("POST", "", 405), ("DELETE", "", 405)])
    func `refuses what it has not`(method: String, path: String, status: Int) throws {
        let server = try server()
        let url = path.isEmpty ? server.url : server.url.replacingOccurrences(of: "/Lantern%202.ipa", with: path)
        let result = try fetch("--request", method, "--write-out", "%{http_code}", url)
        #expect(result.text == "\(status)")
    }

    @Test(arguments: ["hello\r\n\r\n", "GET /\r\n\r\n", String(repeating: "a", count: 20_000)])
    func `refuses what is no request`(text: String) throws {
        let server = try server()
        let port = try #require(URL(string: server.url)?.port)
        let result = try #require(curl).run(
            ["--silent", "--noproxy", "*", "--max-time", "20", "telnet://127.0.0.1:\(port)"],
            input: Array(text.utf8)
        )
        #expect(result.text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
    }

    @Test(arguments: [50_000, 400_000])
    func `is no faster than it was told to be`(rate: Int) throws {
        let server = try server(rate: rate)
        let clock = ContinuousClock()
        let began = clock.now
        let result = try fetch("--fail", server.url)
        let took = clock.now - began
        #expect(result.output == bytes)
        #expect(took >= .seconds(Double(bytes.count) / Double(rate)))
    }

    @Test func `sends a slow file in many small pieces`() {
        #expect(PacedSlices(bytesPerSecond: 5_000_000).count == 100_000)
        #expect(PacedSlices(bytesPerSecond: 5_000_000).duration == .milliseconds(20))
        #expect(PacedSlices(bytesPerSecond: 10).count == 1)
        #expect(PacedSlices(bytesPerSecond: 10).duration == .milliseconds(100))
        #expect(PacedSlices(bytesPerSecond: 0).duration == .seconds(1))
    }

    @Test func `serves more clients than it has connections`() async throws {
        let server = try server(rate: 1_000_000)
        let url = server.url
        try await withThrowingTaskGroup(of: [UInt8].self) { group in
            for _ in 0..<SlowServer.connectionLimit * 2 {
                group.addTask { try fetch("--fail", url).output }
            }
            for try await output in group { #expect(output == bytes) }
        }
    }

    @Test func `ends what it was sending when it stops`() throws {
        let server = try server(rate: 1000)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try #require(curl).path)
        process.arguments = ["--silent", "--no-buffer", "--noproxy", "*", server.url]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        // Some of the body is here: it is being sent, and would take 100 seconds.
        let first = output.fileHandleForReading.availableData
        #expect(!first.isEmpty)
        server.stop()
        let rest = output.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(first.count + rest.count < bytes.count)
        // 18: "Partial file. Only a part of the file was transferred." (curl's manual)
        #expect(process.terminationStatus == 18)
        // 7: "Failed to connect to host."
        #expect(try fetch(server.url).status == 7)
    }
}
