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

extension BenchAPNs {
    /// What `--json` prints.
    struct Report: Encodable {
        let requests: Int
        let streams: Int
        let goawayEvery: Int?
        let runs: Int
        let cores: Int
        let rows: [Row]
        /// Rate of `sendAll` over that of h2load; left out where that was not measured.
        let ratio: Double?
        /// Pushes that no run got an answer for, or that the service did not see.
        let lost: Int
        /// Pushes that the service took more than once.
        let duplicates: Int
    }

    /// Medians of what several runs of one kind cost.
    struct Row: Encodable {
        let name: String
        /// Requests a second.
        let rate: Double
        let rateMinimum: Double
        let rateMaximum: Double
        /// Processor time of the connection's thread for each request, in µs; left out for others' programs.
        let threadMicroseconds: Double?
        /// Processor time of the whole process for each request, in µs.
        let processMicroseconds: Double
        /// Connections of one run.
        let connections: Int?
        /// Pushes of one run that were sent again.
        let resent: Int?
    }

    /// What one run cost.
    struct Sample {
        var wall: Double
        var process: Double
        var thread: Double?
        var connections: Int?
        var resent: Int?
        var lost = 0
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let goawayEvery = arguments.number("--goaway-every")
        if let folder = arguments.value("--serve") {
            try StandInProcess.serve(folder, goawayEvery: goawayEvery)
            return .done
        }
        let requests = arguments.number("--requests") ?? 1
        let streams = arguments.number("--streams") ?? 1
        let runs = arguments.number("--runs") ?? 1
        let service = try StandInProcess(goawayEvery: goawayEvery)
        let key = try service.key()
        let rival = goawayEvery == nil ? H2Load(service, key) : nil
        var samples: [String: [Sample]] = [:]
        var lost = 0
        var sent = 0
        // In turn, so that a machine that slows down slows all of them; the first turn only warms up.
        for turn in 0...runs {
            try Task.checkCancellation()
            var costs = [("sendAll", try await sendAll(service, key, requests, streams))]
            costs.append(("send", try await send(service, key, requests, streams)))
            sent += 2 * requests
            lost += costs.reduce(0) { $0 + $1.1.lost }
            if let rival, let cost = try rival.run(requests: requests, streams: streams) {
                costs.append(("h2load", cost))
            }
            for (name, cost) in costs where turn > 0 { samples[name, default: []].append(cost) }
        }
        let seen = try service.end()
        if goawayEvery != nil { lost = max(lost, sent - seen.ids) }
        let rows = ["sendAll", "send", "h2load"].compactMap { name in
            samples[name].map { Row(name, $0, requests: requests) }
        }
        let h2load = rows.first { $0.name == "h2load" }
        let report = Report(
            requests: requests,
            streams: streams,
            goawayEvery: goawayEvery,
            runs: runs,
            cores: invocation.coreCount,
            rows: rows,
            ratio: h2load.map { rows[0].rate / $0.rate },
            lost: lost,
            duplicates: goawayEvery == nil ? 0 : seen.delivered - seen.ids
        )
        try invocation.show(report, text: text(report))
        return lost == 0 ? .done : .failed
    }

    private static func sendAll(
        _ service: StandInProcess,
        _ key: ProviderKey,
        _ requests: Int,
        _ streams: Int
    ) async throws -> Sample {
        // Made before: h2load has its headers ready, too.
        let made = BenchPushes()
        let pushes = try (1...requests).map { number in try made.push(number) }
        return try await measured(service, key) { client in
            let begun = Tally()
            let delivered = Tally()
            await client.sendAll(
                inFlight: streams,
                next: {
                    let number = begun.add()
                    return number <= requests ? pushes[number - 1] : nil
                }
            ) { _, outcome in
                if case .success(let response) = outcome, response.isDelivered { delivered.add() }
            }
            return requests - delivered.count
        }
    }

    private static func send(
        _ service: StandInProcess,
        _ key: ProviderKey,
        _ requests: Int,
        _ streams: Int
    ) async throws -> Sample {
        let pushes = BenchPushes()
        return try await measured(service, key) { client in
            let begun = Tally()
            let delivered = Tally()
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<streams {
                    group.addTask {
                        while case let number = begun.add(), number <= requests, let push = try? pushes.push(number) {
                            if let response = try? await client.send(push), response.isDelivered { delivered.add() }
                        }
                    }
                }
            }
            return requests - delivered.count
        }
    }

    /// Runs `body` with a client of its own; it gives how many pushes were lost.
    private static func measured(
        _ service: StandInProcess,
        _ key: ProviderKey,
        _ body: (APNsClient) async -> Int
    ) async throws -> Sample {
        let client = try APNsClient(service.configuration(), key: key)
        let clock = ContinuousClock()
        let start = (clock.now, ProcessUsage.processorSeconds())
        let lost = await body(client)
        let wall = start.0.duration(to: clock.now).inSeconds
        let process = ProcessUsage.processorSeconds() - start.1
        let diagnostics = await client.diagnostics
        await client.close()
        return Sample(
            wall: wall,
            process: process,
            thread: diagnostics.processorTime.inSeconds,
            connections: diagnostics.connections,
            resent: diagnostics.resent,
            lost: lost
        )
    }

    /// A table: a row for each way to send.
    static func text(_ report: Report) -> String {
        let header = ["", "requests/s", "least", "most", "µs thread", "µs process", "connections", "resent"]
        let lines = report.rows.map { row in
            [
                row.name, "\(Int(row.rate))", "\(Int(row.rateMinimum))", "\(Int(row.rateMaximum))",
                row.threadMicroseconds.map { BenchTable.decimals($0, 2) } ?? "",
                BenchTable.decimals(row.processMicroseconds, 2),
                row.connections.map { "\($0)" } ?? "", row.resent.map { "\($0)" } ?? "",
            ]
        }
        let table = [header] + lines
        let widths = header.indices.map { column in table.map { $0[column].count }.max() ?? 0 }
        var title = "\(report.requests) requests, \(report.streams) streams"
        if let every = report.goawayEvery { title += ", GOAWAY every \(every)" }
        title += ": median of \(report.runs) on \(report.cores) cores"
        let body = table.map { cells in
            zip(cells, widths).enumerated().map { index, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return index == 0 ? cell.0 + space : space + cell.0
            }.joined(separator: "  ")
        }
        var end = "lost: \(report.lost)"
        if report.goawayEvery != nil { end += "   taken twice: \(report.duplicates)" }
        if let ratio = report.ratio { end += "   sendAll / h2load: \(BenchTable.decimals(ratio, 2))" }
        if report.goawayEvery == nil, report.ratio == nil {
            end += "   h2load is not installed (apt-get install nghttp2-client)"
        }
        return ([title, ""] + body + ["", end]).joined(separator: "\n")
    }
}

extension BenchAPNs.Row {
    init(_ name: String, _ samples: [BenchAPNs.Sample], requests: Int) {
        let count = Double(requests)
        let rates = samples.map { count / max($0.wall, 1e-9) }
        self.name = name
        rate = rates.median
        rateMinimum = rates.min() ?? 0
        rateMaximum = rates.max() ?? 0
        let threads = samples.compactMap { $0.thread.map { $0 / count * 1e6 } }
        threadMicroseconds = threads.isEmpty ? nil : threads.median
        processMicroseconds = samples.map { $0.process / count * 1e6 }.median
        connections = samples.last?.connections
        resent = samples.last?.resent
    }
}

/// The pushes of one run: one body to a thousand tokens, each push with an id of its own.
private struct BenchPushes: Sendable {
    private let tokens: [String]

    init() {
        tokens = (0..<1000).map { number in
            let digits = String(number, radix: 16)
            return String(repeating: "0", count: 64 - digits.count) + digits
        }
    }

    func push(_ number: Int) throws(APNsError) -> PushRequest {
        try PushRequest(
            token: tokens[number % tokens.count],
            topic: StandInCredentials.bundleID + ".push-type.liveactivity",
            priority: .five,
            payload: H2Load.body,
            expiration: 0
        )
    }
}

/// A number that many tasks count up.
private final class Tally: Sendable {
    private let state = Guarded(0)

    var count: Int { state.withLock { $0 } }

    @discardableResult
    func add() -> Int {
        state.withLock { number in
            number += 1
            return number
        }
    }
}
