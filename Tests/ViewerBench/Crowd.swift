import FerryBytes
import Foundation

/// Viewers, on one thread: each a connection whose events are counted as they come.
final class Crowd {
    private struct Viewer {
        let descriptor: Int32
        var text: [UInt8] = []
        /// The number of the last event with an id.
        var last: Int?
        var facts = 0
        var finished = 0
        var isOver = false
        var fault: String?
    }

    private let installs: Int
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var viewers: [Viewer] = []
    private var sleepers: [Int32] = []
    private var bytes = 0

    init(viewers: Int, installs: Int, sleepers: Int) throws {
        self.installs = installs
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = limit.rlim_max
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe")
        process.arguments = ["--serve", "\(installs)"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        let port = UInt16(Self.line(output)) ?? 0
        // First, so that the server is at the end of its patience with them when the others read.
        for _ in 0..<sleepers { self.sleepers.append(try Self.connect(port, receiving: 4_096)) }
        for _ in 0..<viewers { self.viewers.append(Viewer(descriptor: try Self.connect(port))) }
    }

    /// Reads until the server is done; gives whether every viewer got everything.
    func watch() async throws -> Bool {
        // All of them have the state before anything happens.
        try read { $0.last != nil }
        try input.fileHandleForWriting.write(contentsOf: Data("\n".utf8))
        try read { [installs] in $0.finished == installs }
        let numbers = Self.line(output).split(separator: " ").compactMap { Double($0) }
        try read(until: \.isOver)
        process.waitUntilExit()
        for descriptor in sleepers { close(descriptor) }
        var isGood = numbers.count == 6
        for (index, viewer) in viewers.enumerated() where viewer.fault != nil || viewer.facts != viewers[0].facts {
            print("viewer \(index): \(viewer.fault ?? "\(viewer.facts) facts")")
            isGood = false
        }
        guard numbers.count == 6 else { return false }
        print("viewers            \(viewers.count), all of whom read \(viewers[0].facts) facts in order: \(isGood)")
        print("sleepers           \(sleepers.count), who read nothing")
        print("installs           \(installs)")
        print("time               \(Self.rounded(numbers[0])) s")
        print("CPU of the server  \(Self.rounded(numbers[1])) s, \(Self.rounded(numbers[1] / numbers[0])) of a core")
        print(
            "resident           \(Int(numbers[2])) KB before, \(Int(numbers[3])) KB after, \(Int(numbers[4])) KB at most"
        )
        print("sent               \(bytes / 1_000_000) MB")
        return isGood
    }

    private static func rounded(_ number: Double) -> String { "\((number * 100).rounded() / 100)" }

    private func read(until isDone: (Viewer) -> Bool) throws {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            var waits: [pollfd] = []
            var indices: [Int] = []
            for (index, viewer) in viewers.enumerated() where !viewer.isOver && viewer.fault == nil {
                waits.append(pollfd(fd: viewer.descriptor, events: Int16(POLLIN), revents: 0))
                indices.append(index)
            }
            if viewers.allSatisfy({ $0.isOver || $0.fault != nil || isDone($0) }) { return }
            guard poll(&waits, nfds_t(waits.count), 60_000) > 0 else {
                for index in indices where !isDone(viewers[index]) {
                    viewers[index].fault = "nothing came for a minute"
                }
                return
            }
            for (wait, index) in zip(waits, indices) where wait.revents != 0 {
                let count = recv(wait.fd, &buffer, buffer.count, 0)
                if count <= 0 {
                    viewers[index].isOver = true
                    close(wait.fd)
                } else {
                    bytes += count
                    take(buffer[..<count], index)
                }
            }
        }
    }

    /// Counts what is in the lines that these bytes end.
    private func take(_ bytes: ArraySlice<UInt8>, _ index: Int) {
        viewers[index].text += bytes
        guard let end = viewers[index].text.lastIndex(of: UInt8(ascii: "\n")) else { return }
        let lines = viewers[index].text[...end].split(separator: UInt8(ascii: "\n"))
        let name = Array("id: ".utf8), data = Array("data: {\"schema\"".utf8),
            finished = Array("\"kind\":\"finished\"".utf8)
        for line in lines {
            if line.starts(with: name) {
                let number = Int(String(decoding: line, as: UTF8.self).split(separator: "-").last ?? "")
                if let last = viewers[index].last, number != last + 1 {
                    viewers[index].fault = "\(number ?? -1) after \(last)"
                }
                viewers[index].last = number
            } else if line.starts(with: data) {
                viewers[index].facts += 1
                if line.prefix(120).contains(finished) { viewers[index].finished += 1 }
            }
        }
        viewers[index].text.removeSubrange(...end)
    }

    /// - Parameter receiving: how much the system keeps for it, where that is not left to the system.
    private static func connect(_ port: UInt16, receiving: Int32? = nil) throws -> Int32 {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        if var size = receiving {
            setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, socklen_t(MemoryLayout<Int32>.size))
        }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
        let head =
            "GET /api/v1/events HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: Bearer \(Main.token.revealed)\r\n\r\n"
        _ = Array(head.utf8).withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        return descriptor
    }

    private static func line(_ pipe: Pipe) -> String {
        var text = ""
        while let byte = try? pipe.fileHandleForReading.read(upToCount: 1)?.first, byte != UInt8(ascii: "\n") {
            text.unicodeScalars.append(Unicode.Scalar(byte))
        }
        return text
    }
}

extension ArraySlice<UInt8> {
    fileprivate func contains(_ other: [UInt8]) -> Bool {
        guard count >= other.count else { return false }
        return (startIndex...(endIndex - other.count)).contains { self[$0...].starts(with: other) }
    }
}
