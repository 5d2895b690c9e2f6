import FerryAPNs
import FerryBytes
import FerryStandInAPNs

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The push service of the benchmark in a process of its own, so that its work is not counted as ours.
///
/// It is this program again, told to serve: it writes its keys into a folder and its port to standard output, serves until
/// standard input ends, and then writes what it saw.
final class StandInProcess {
    /// What it saw: pushes taken, and how many different ones where it counts them.
    struct Seen {
        var delivered: Int
        var ids: Int
    }

    let port: UInt16
    private let folder: BenchFolder
    private let process: pid_t
    private let toChild: Int32
    private let fromChild: Int32
    private var isOver = false

    /// Starts it.
    init(goawayEvery: Int?) throws {
        folder = try BenchFolder()
        let arguments =
            ["bench", "apns", "--serve", folder.path("")] + (goawayEvery.map { ["--goaway-every", String($0)] } ?? [])
        (process, toChild, fromChild) = try Self.spawn(arguments)
        guard let line = Self.line(fromChild), let port = UInt16(line) else {
            close(toChild)
            close(fromChild)
            while waitpid(process, nil, 0) < 0, errno == EINTR {}
            throw FileFailure("start", "the stand-in for APNs", errorNumber: ECHILD)
        }
        self.port = port
    }

    deinit {
        if !isOver { _ = try? end() }
    }

    /// A file in its folder.
    func path(_ name: String) -> String { folder.path(name) }

    /// The key that it knows.
    func key() throws -> ProviderKey {
        try ProviderKey(
            p8: try WholeFile.read(path("key.p8"), limit: 1 << 16),
            keyID: StandInCredentials.keyID,
            teamID: StandInCredentials.teamID
        )
    }

    /// How to reach it.
    func configuration() -> APNsConfiguration {
        var configuration = APNsConfiguration(.custom(host: "localhost", port: port))
        configuration.caFile = path("ca.pem")
        configuration.requestTimeout = .seconds(60)
        return configuration
    }

    /// Ends it and gives what it saw.
    func end() throws -> Seen {
        isOver = true
        close(toChild)
        let numbers = (Self.line(fromChild) ?? "").split(separator: " ").compactMap { Int($0) }
        close(fromChild)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard numbers.count == 2 else {
            throw FileFailure("read", "what the stand-in for APNs saw", errorNumber: EPIPE)
        }
        return Seen(delivered: numbers[0], ids: numbers[1])
    }

    /// Is the service, until standard input ends.
    static func serve(_ folder: String, goawayEvery: Int?) throws {
        var script = StandInScript()
        script.goawayEvery = goawayEvery
        // Every run signs a token of its own.
        script.tokenUpdateLimit = .max
        let server = try StandInAPNs(script, record: goawayEvery == nil ? .count : .ids)
        try WholeFile.write(server.credentials.certificate, to: folder + "/ca.pem")
        try WholeFile.write(server.credentials.providerKey, to: folder + "/key.p8")
        say("\(server.port)\n")
        var byte: UInt8 = 0
        while true {
            let count = read(STDIN_FILENO, &byte, 1)
            if count == 0 || (count < 0 && errno != EINTR) { break }
        }
        let ledger = server.ledger
        say("\(ledger.delivered) \(ledger.ids.count)\n")
    }

    private static func say(_ text: String) {
        _ = write(STDOUT_FILENO, text, text.utf8.count)
    }

    /// A line without its end; `nil` where there is none.
    private static func line(_ descriptor: Int32) -> String? {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while bytes.count < 200 {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count == 1 else { return nil }
            if byte == UInt8(ascii: "\n") { return String(decoding: bytes, as: UTF8.self) }
            bytes.append(byte)
        }
        return nil
    }

    private static func spawn(_ arguments: [String]) throws(FileFailure) -> (pid_t, Int32, Int32) {
        var input: [Int32] = [-1, -1]
        var output: [Int32] = [-1, -1]
        guard pipe(&input) == 0, pipe(&output) == 0 else { throw FileFailure("open", "a pipe", errorNumber: errno) }
        for descriptor in input + output { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        #if os(Linux)
        let program = "/proc/self/exe"
        #else
        let program = CommandLine.arguments[0]
        #endif
        defer {
            close(input[0])
            close(output[1])
        }
        do {
            let process = try ChildProcess.spawn(program, ["ferry"] + arguments, input: input[0], output: output[1])
            return (process, input[1], output[0])
        } catch {
            close(input[1])
            close(output[0])
            throw error
        }
    }
}
