import Foundation
import Testing

/// A download in a process of its own, which can be killed.
final class Probe: Sendable {
    /// What it prints: an event a line. For one reader.
    let lines: AsyncStream<String>
    private let process: Process
    private let input: FileHandle

    init(url: String, file: String, state: String, pauseLimitMilliseconds: Int) throws {
        // SwiftPM builds it into the folder that the tests themselves run from.
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        process = Process()
        process.executableURL = folder.appendingPathComponent("ferry-download-probe")
        process.arguments = [url, file, state, String(pauseLimitMilliseconds)]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        self.input = input.fileHandleForWriting
        let (lines, continuation) = AsyncStream<String>.makeStream()
        self.lines = lines
        try process.run()
        Thread.detachNewThread {
            var rest = ""
            while true {
                let data = output.fileHandleForReading.availableData
                guard !data.isEmpty else { break }
                rest += String(decoding: data, as: UTF8.self)
                while let end = rest.firstIndex(of: "\n") {
                    continuation.yield(String(rest[..<end]))
                    rest = String(rest[rest.index(after: end)...])
                }
            }
            continuation.finish()
        }
    }

    /// Gives it a line on standard input.
    func say(_ line: String) throws {
        try input.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Reads lines until one fits.
    func wait(for isIt: (String) -> Bool) async throws {
        for await line in lines where isIt(line) { return }
        throw POSIXError(.EPIPE)
    }

    /// Reads until so many bytes are there.
    func waitForBytes(_ count: Int) async throws {
        try await wait { line in
            line.hasPrefix("progress ") && Int(line.dropFirst("progress ".count)).map { $0 >= count } == true
        }
    }

    /// SIGKILL, then waits until it is gone.
    func kill() {
        _ = Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
