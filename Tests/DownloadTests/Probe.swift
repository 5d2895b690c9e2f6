import Foundation

/// A download in a process of its own, which can be killed. Its calls block, so use it on a thread of its own.
final class Probe {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var unread = Data()

    init(url: String, file: String, state: String, pauseLimitMilliseconds: Int, connections: Int = 1) throws {
        // SwiftPM builds it into the folder that the tests themselves run from.
        let folder = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
        process.executableURL = folder.appendingPathComponent("ferry-download-probe")
        process.arguments = [url, file, state, String(pauseLimitMilliseconds), String(connections)]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    /// Gives it a line on standard input.
    func say(_ line: String) throws {
        try input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
    }

    /// Reads lines, an event each, until one fits.
    func wait(for isIt: (String) -> Bool) throws {
        var last = "nothing"
        while let line = readLine() {
            if isIt(line) { return }
            last = line
        }
        throw Ended(last: last)
    }

    /// Reads until so many bytes are there.
    func waitForBytes(_ count: Int) throws {
        try wait { line in
            line.hasPrefix("progress ") && Int(line.dropFirst("progress ".count)).map { $0 >= count } == true
        }
    }

    /// SIGKILL, then waits until it is gone.
    func kill() {
        _ = Glibc.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    /// It ended before what was waited for.
    struct Ended: Error {
        let last: String
    }

    private func readLine() -> String? {
        while true {
            if let end = unread.firstIndex(of: UInt8(ascii: "\n")) {
                defer { unread.removeSubrange(...end) }
                return String(decoding: unread[..<end], as: UTF8.self)
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return nil }
            unread += data
        }
    }
}
