import FerryActivity
import FerryLiveActivity
import Foundation

/// The installs, and who keeps their one Live Activity: this app, or a server that pushes. Never both.
final class Installs: Sendable {
    /// Takes the events of whoever installs.
    let center: ActivityCenter
    private let host: ActivityKitHost<IslandAttributes>
    private let keeper: LiveActivityKeeper
    private let server = Server.ofTheApp
    private let forwarding = Server.ofTheApp.map(TokenForwarding.init)

    init() {
        let center = ActivityCenter(now: { .now }, clock: ContinuousClock())
        let host = ActivityKitHost<IslandAttributes>(
            attributes: { IslandAttributes(id: UUID().uuidString, startedAt: $0) },
            startedAt: \.startedAt,
            seq: \.seq,
            content: { seq, needsTap in
                let state = IslandState(await center.activity, seq: seq, needsTap: needsTap)
                // Under the system's 4 KB. Without an icon it always is.
                return (try? state.fitted().state) ?? state
            },
            liveness: Shared.liveness
        )
        self.center = center
        self.host = host
        keeper = LiveActivityKeeper(host: host, store: FileLifeStore(), clock: ContinuousClock(), now: { .now })
    }

    /// Begins what lasts as long as the process.
    func begin() {
        if let forwarding {
            Task { await forwarding.run() }
        } else {
            Task { await keeper.run() }
            Task { await host.watch() }
            Task { await follow() }
        }
    }

    /// Tells what the scene does.
    func tell(_ input: LifeInput) {
        if let forwarding {
            if input == .didBecomeActive { Task { await forwarding.refresh() } }
        } else {
            host.send(input)
        }
    }

    /// What the button of the island does.
    var holding: Holding {
        Holding(
            hold: { await self.setHeld(true) },
            release: { await self.setHeld(false) }
        )
    }

    private func setHeld(_ isHeld: Bool) async {
        if let server {
            _ = await server.post([String: String](), to: isHeld ? "hold" : "release")
            return
        }
        for install in await center.activity.unfinished {
            await center.send(isHeld ? .held(install.id) : .released(install.id))
        }
    }

    /// Tells the keeper how many installs run, and when there is something new to draw.
    private func follow() async {
        var last: IslandState?
        for await update in await center.subscribe(named: "the island") {
            var began = false
            if case .added = update.fact { began = true }
            await keeper.send(.installs(running: update.activity.unfinished.count, began: began))
            let state = IslandState(update.activity, seq: 0)
            guard let importance = state.importance(since: last) else { continue }
            await keeper.send(.contentChanged(isUrgent: importance == .fact))
            last = state
        }
    }
}

/// What the keeper must know after a relaunch, in a file.
private struct FileLifeStore: LifeStore {
    private var file: URL { URL.applicationSupportDirectory.appending(path: "island.json") }

    func load() async throws -> LifeRecord? {
        guard FileManager.default.fileExists(atPath: file.path) else { return nil }
        guard let record = LifeRecord(json: try Data(contentsOf: file)) else { throw CocoaError(.fileReadCorruptFile) }
        return record
    }

    func save(_ record: LifeRecord) async throws {
        try FileManager.default.createDirectory(at: .applicationSupportDirectory, withIntermediateDirectories: true)
        try record.json().write(to: file, options: .atomic)
    }
}
