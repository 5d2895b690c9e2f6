import FerryBytes
import Foundation
import StandInDevice
import TestKit
import Testing

@Suite(.enabled(if: Tool("python3") != nil, "python3 is not installed"), .timeLimit(.minutes(5)))
struct `A large archive` {
    /// FERRY_LARGE=1 takes a gigabyte.
    private static let megabytes = ProcessInfo.processInfo.environment["FERRY_LARGE"] == "1" ? 1000 : 100

    /// In a process of its own, whose memory nothing else is in.
    private func probe(_ phone: Phone, _ path: String) async throws -> Tool.Result {
        let program = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appendingPathComponent("ferry-device-probe").path
        return try await onThread { try Tool(path: program).run([path, phone.identifier]) }
    }

    @Test func `is sent in pieces, and never in memory as a whole`() async throws {
        let phone = try Harbour.phone()
        defer { phone.disconnect() }
        let folder = try TemporaryFolder()
        let path = try folder.write(phone.harbour.archive(for: phone.identifier), to: "Large.ipa")
        let script = """
            import sys, zipfile
            with zipfile.ZipFile(sys.argv[1], 'a') as archive, archive.open('Payload/Harbour.app/large.bin', 'w') as file:
                for _ in range(int(sys.argv[2])): file.write(bytes(1000000))
            """
        let python = try #require(Tool("python3"))
        let made = try await onThread { try python.run(["-c", script, path, "\(Self.megabytes)"]) }
        try #require(made.status == 0, "\(made.errors)")
        let result = try await probe(phone, path)
        #expect(result.text.contains("installed com.example.harbour on Anna's iPhone"), "\(result.text)")
        let lines = result.text.split(separator: "\n")
        let peak = try #require(lines.last?.split(separator: " ").dropFirst().first.flatMap { Int($0) })
        print("\(Self.megabytes) MB: a peak of \(peak) kB")
        #expect(peak < 40_000)
        // Before and after; whoever started us may have left us one.
        let sockets = lines.first { $0.hasPrefix("sockets ") }?.split(separator: " ") ?? []
        #expect(sockets.count == 3 && sockets[1] == sockets[2], "\(result.text)")
        #expect(phone.leftovers == [])
    }
}
