import FerryActivity
import FerryPipeline
import FerryRecord
import Foundation
import TestKit

/// Starts workers, kills them, gives orders, and looks at the end whether all is as it should be.
struct SoakDriver {
    /// How many workers there are at once.
    private static let crew = 2
    /// Of a thousand chances, how often a worker kills itself at one.
    private static let rate = 12
    /// The longest time in which no install may end.
    private static let patience = Duration.seconds(120)

    let plan: SoakPlan
    let stage: SoakStage

    init(_ plan: SoakPlan) throws {
        self.plan = plan
        stage = SoakStage(
            folder: plan.folder ?? FileManager.default.temporaryDirectory.path + "/ferry-soak-\(plan.seed)-\(getpid())"
        )
    }

    func run() async throws {
        let clock = ContinuousClock()
        let start = clock.now
        say("seed \(plan.seed), \(plan.installs) installs, \(plan.kills) kills, in \(stage.folder)")
        let server = try FaultyServer(try stage.prepare(), seed: plan.seed)
        var random = SeededGenerator(seed: plan.seed)
        let record = try await SQLiteRecord(folder: stage.record) { Date() }
        var total = plan.installs
        try await add(0..<total, port: server.port, record)
        var state = State()

        while state.kills < plan.kills {
            try await Task.sleep(for: .milliseconds(Int.random(in: 5...180, using: &random)))
            try reap(&state)
            if state.isDone {
                // All ended before there were kills enough: on with more.
                try await add(total..<(total + 20), port: server.port, record)
                total += 20
                state.isDone = false
            }
            while state.workers.count < Self.crew {
                state.workers.append(try spawn(total, port: server.port, seed: random.next(), rate: Self.rate))
            }
            switch Int.random(in: 0..<100, using: &random) {
            case ..<45: try kill(&state, &random)
            case ..<65: try await give(.hold, record, &state, &random)
            case ..<85: try await give(.release, record, &state, &random)
            case ..<88: try await give(.cancel, record, &state, &random)
            default: break
            }
        }
        let killed = start.duration(to: clock.now)

        server.behave()
        for worker in state.workers { end(worker) }
        _ = try await record.order(.release, record.installs(all: false).map(\.id))
        // One more, which tidies up what the last of the killed left; and those that were killed before they were added.
        let known = Set(try await record.installs(all: true).compactMap(\.number))
        try await add(0...total, except: known, port: server.port, record)
        try await finish(total + 1, port: server.port, record, &random)

        let ended = start.duration(to: clock.now)
        let check = SoakCheck(stage: stage, total: total + 1, cancelled: state.cancelled)
        let problems = try await check.run(record)
        await record.close()
        say("\(state.kills) kills (\(strikes())), \(state.orders) orders, \(server.requestCount) requests")
        say("\(total + 1) installs, \(state.cancelled.count) of them to be cancelled; \(check.counts)")
        say("\(killed) with kills, \(ended) until all had ended")
        guard problems.isEmpty else {
            for problem in problems.prefix(30) { say("WRONG: \(problem)") }
            throw SoakFailure("\(problems.count) things are wrong; seed \(plan.seed), see \(stage.folder)")
        }
        if plan.folder == nil { try FileManager.default.removeItem(atPath: stage.folder) }
        say("all is well")
    }

    private struct State {
        var workers: [Process] = []
        var kills = 0
        var orders = 0
        var cancelled: Set<InstallID> = []
        var isDone = false
    }

    /// Two in three of these numbers, which no process runs; the rest are the workers' to add. With `except`, all others.
    private func add(
        _ numbers: some Sequence<Int>,
        except: Set<Int>? = nil,
        port: Int,
        _ record: SQLiteRecord
    ) async throws {
        let hands = try stage.hands()
        for number in numbers where except.map({ !$0.contains(number) }) ?? (number % 3 != 2) {
            guard let request = stage.request(number, port: port, hands).recorded else { continue }
            let id = InstallID.random()
            try await record.add(id, request, title: "\(number)")
            try await record.letGo(id)
        }
    }

    private func spawn(_ total: Int, port: Int, seed: UInt64, rate: Int) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        process.arguments = ["worker", stage.folder, "\(port)", "\(total)", "\(seed)", "\(rate)"]
        process.standardInput = FileHandle.nullDevice
        try process.run()
        return process
    }

    private func reap(_ state: inout State) throws {
        for worker in state.workers where !worker.isRunning {
            switch (worker.terminationReason, worker.terminationStatus) {
            case (.exit, 0): state.isDone = true
            case (.uncaughtSignal, SIGKILL): state.kills += 1
            case (let reason, let status): throw SoakFailure("a worker ended by itself: \(reason) \(status)")
            }
        }
        state.workers.removeAll { !$0.isRunning }
    }

    private func kill(_ state: inout State, _ random: inout SeededGenerator) throws {
        guard let worker = state.workers.randomElement(using: &random) else { return }
        end(worker)
    }

    private func end(_ worker: Process) {
        Glibc.kill(worker.processIdentifier, SIGKILL)
        while worker.isRunning { usleep(500) }
    }

    private func give(
        _ order: InstallOrder,
        _ record: SQLiteRecord,
        _ state: inout State,
        _ random: inout SeededGenerator
    ) async throws {
        let installs = try await record.installs(all: false)
        let wanted = installs.filter { order == .release ? $0.isHeld : !$0.isHeld }
        // Held ones are let go several at once, lest all are held in the end.
        let chosen = wanted.shuffled(using: &random).prefix(order == .release ? 10 : 2)
        state.orders += chosen.count
        let standings = try await record.order(order, chosen.map(\.id))
        guard order == .cancel else { return }
        for install in chosen {
            state.cancelled.insert(install.id)
            if standings[install.id]?.isFinished == true { stage.files.remove(install.id) }
        }
    }

    private func finish(
        _ total: Int,
        port: Int,
        _ record: SQLiteRecord,
        _ random: inout SeededGenerator
    ) async throws {
        let clock = ContinuousClock()
        var workers: [Process] = []
        for _ in 0..<Self.crew { workers.append(try spawn(0, port: port, seed: random.next(), rate: 0)) }
        var left = Int.max
        var changed = clock.now
        while workers.contains(where: \.isRunning) {
            try await Task.sleep(for: .milliseconds(100))
            let open = try await record.installs(all: false).count
            if open != left { (left, changed) = (open, clock.now) }
            guard changed.duration(to: clock.now) < Self.patience else {
                for worker in workers { worker.terminate() }
                throw SoakFailure("\(open) installs do not end; see \(stage.folder)")
            }
        }
        for worker in workers where worker.terminationStatus != 0 {
            throw SoakFailure("a worker ended by itself: \(worker.terminationStatus)")
        }
    }

    /// How often a worker killed itself, and in what.
    private func strikes() -> String {
        let points = Dictionary(grouping: stage.lines(of: "strikes.log")) { $0 }.mapValues(\.count)
        let texts = points.sorted { $0.key < $1.key }.map { "\($0.value) to \($0.key)" }
        return texts.isEmpty ? "all at random" : "of themselves, about " + texts.joined(separator: ", ")
    }
}
