public import FerryAPNs
public import FerryActivity
public import FerryLiveActivity

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Shows every install in one Live Activity on a phone, by pushes.
///
/// The life of the activity goes on over processes: its record and tokens are in a folder. One process drives an island
/// at a time; another one waits until it is free. What the phone has to say comes by ``IslandFolder/send(_:)``, from
/// this process or any other.
public struct APNsReporter: Reporter {
    /// How often messages, and states that had to wait, are looked for.
    var pause: Duration = .seconds(1)
    /// How long the last pushes may take when there is nothing more to tell.
    var lastWait: Duration = .seconds(5)

    private let configuration: IslandConfiguration
    private let client: APNsClient
    private let folder: IslandFolder
    private let rules: LifeRules
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date

    /// A reporter to one device. Nothing is sent before ``report(_:)``; throws where that could never work.
    ///
    /// - Parameters:
    ///   - configuration: Whose island, and with which key.
    ///   - stateFolder: Where the folders of all islands are.
    ///   - rules: The numbers that the life of the activity keeps to.
    ///   - clock: What is waited by.
    ///   - now: The date.
    public init(
        _ configuration: IslandConfiguration,
        stateFolder: String,
        rules: LifeRules = LifeRules(),
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date
    ) throws(APNsReporterError) {
        var rules = rules
        rules.renewsSilently = configuration.renewsSilently
        self.configuration = configuration
        self.rules = rules
        self.clock = clock
        self.now = now
        folder = try IslandFolder(configuration, in: stateFolder)
        do {
            client = try APNsClient(configuration.client(stateFolder, now), key: configuration.key)
        } catch {
            throw APNsReporterError(.configuration, error.message, remedy: error.remedy)
        }
    }

    /// Reads the updates until they end, and drives the island if no other process does.
    public func report(_ updates: ActivityUpdates) async throws {
        let (folder, now) = (folder, now)
        let host = APNsHost(
            configuration,
            client: client,
            clock: clock,
            now: now,
            note: { folder.journal(["\(Self.stamp(now())) \($0)"]) }
        )
        let keeper = LiveActivityKeeper(host: host, store: folder, rules: rules, clock: clock, now: now)
        do {
            try await drive(updates, host, keeper)
        } catch {
            await client.close()
            throw error
        }
        await client.close()
    }

    /// What can end while an island is driven.
    private enum End: Sendable {
        case updates, watch, time
    }

    private func drive(_ updates: ActivityUpdates, _ host: APNsHost, _ keeper: LiveActivityKeeper) async throws {
        try await withThrowingTaskGroup(of: End.self) { group in
            group.addTask {
                for await update in updates {
                    for input in await host.take(update) { await keeper.send(input) }
                }
                return .updates
            }
            group.addTask {
                guard let lock = try await waitForLock(), !Task.isCancelled else { return .watch }
                await host.beginDriving()
                await host.count(folder.pushes())
                try await watch(host, keeper)
                folder.keep(await host.sentPushes)
                withExtendedLifetime(lock) {}
                return .watch
            }
            defer { group.cancelAll() }
            guard try await group.next() == .updates else { return }
            guard await host.isDriving else { return }
            group.addTask {
                // A start that the phone has not adopted yet would stand there with its first state.
                var waited = Duration.zero
                while !(await keeper.isSettled), waited < lastWait, !Task.isCancelled {
                    try? await clock.sleep(for: pause)
                    waited += pause
                }
                // The keeper does what is to be done, and then the watch ends too.
                host.finish()
                try? await clock.sleep(for: lastWait)
                return .time
            }
            _ = try await group.next()
        }
    }

    /// Drives the island: the keeper runs, messages are read, and the journal is written.
    private func watch(_ host: APNsHost, _ keeper: LiveActivityKeeper) async throws {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            group.addTask {
                // What runs is known before anything is decided.
                while !(await host.hasState), !Task.isCancelled { try? await clock.sleep(for: pause) }
                await keeper.run()
                return true
            }
            group.addTask {
                var told = 0
                while !Task.isCancelled {
                    let messages = folder.messages()
                    for (path, message) in messages {
                        if let message { await keeper.send(message.input) } else { folder.putAside(path) }
                    }
                    // A kill before that reads them again, which does no harm.
                    if !messages.isEmpty, await keeper.keep() {
                        for (path, message) in messages where message != nil { folder.forget(path) }
                    }
                    for input in await host.offer() { await keeper.send(input) }
                    told = await journal(keeper, after: told)
                    if let fatal = await host.fatal { throw fatal }
                    try? await clock.sleep(for: pause)
                }
                _ = await journal(keeper, after: told)
                return false
            }
            defer { group.cancelAll() }
            while let isKeeper = try await group.next(), !isKeeper {}
        }
    }

    private func waitForLock() async throws -> IslandLock? {
        var isTold = false
        while !Task.isCancelled {
            if let lock = try folder.lock() { return lock }
            if !isTold {
                folder.journal([Self.stamp(now()) + " another process waits to drive this island"])
                isTold = true
            }
            try? await clock.sleep(for: pause)
        }
        return nil
    }

    private func journal(_ keeper: LiveActivityKeeper, after count: Int) async -> Int {
        let (total, decisions) = await keeper.decisions(after: count)
        folder.journal(decisions.map { "\(Self.stamp($0.date)) \($0.reason.text(time: LifeDecision.utc))" })
        return total
    }

    static func stamp(_ date: Date) -> String { date.formatted(.iso8601) }
}

extension IslandConfiguration {
    /// How pushes are sent.
    ///
    /// - Parameters:
    ///   - stateFolder: Where the folders of all islands are; the last provider token is kept there, too.
    ///   - now: The date, for provider tokens.
    public func client(_ stateFolder: String, _ now: @escaping @Sendable () -> Date) -> APNsConfiguration {
        var client = APNsConfiguration(endpoint)
        client.tokenFile = "\(stateFolder)/\(key.teamID)-\(key.keyID).token"
        client.proxy = proxy
        client.caFile = caFile
        // People look at a phone for seconds: a connection that is dead is given up soon.
        client.silenceTimeout = .seconds(2)
        client.pingTimeout = .seconds(2)
        client.clock.wallSeconds = { Int64(now().timeIntervalSince1970) }
        return client
    }
}
