import FerryAPNs
import FerryActivity
import FerryLiveActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A server that drives the activity on somebody's phone by pushes: it sees nothing of the phone but what it is told.
actor APNsHost: LiveActivityHost {
    /// How long an update may be without an answer until a newer state takes its place.
    private static let patience: Duration = .seconds(2)
    /// How often that may happen to one update; then its answer is waited for.
    private static let mostReplacements = 4
    /// How often it is looked for one then.
    private static let look: Duration = .milliseconds(200)

    nonisolated let abilities: HostAbilities
    nonisolated let events: AsyncStream<LifeInput>
    private let event: AsyncStream<LifeInput>.Continuation

    private let configuration: IslandConfiguration
    private let client: APNsClient
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    /// What is written into the journal.
    private let note: @Sendable (String) -> Void

    private var feed = StateFeed()
    private var budget: PushBudget
    /// Counts the states, so that a newer one is seen.
    private var version = 0
    /// Whether an update of the installs has come.
    private(set) var hasState = false
    /// Whether this process drives the island.
    private(set) var isDriving = false
    /// Why nothing will ever be shown, once that is known.
    private(set) var fatal: APNsReporterError?

    init(
        _ configuration: IslandConfiguration,
        client: APNsClient,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date,
        note: @escaping @Sendable (String) -> Void
    ) {
        self.configuration = configuration
        self.client = client
        self.clock = clock
        self.now = now
        self.note = note
        abilities = configuration.hearsWidget ? [.pushesStarts, .hearsWidget] : [.pushesStarts]
        budget = PushBudget(perHour: configuration.pushesPerHour)
        // What the phone says comes as messages; this only ends.
        (events, event) = AsyncStream.makeStream(bufferingPolicy: .bufferingOldest(1))
    }

    /// No other process drives the island now.
    func beginDriving() { isDriving = true }

    /// Takes an update of the installs; gives what the life is to hear.
    func take(_ update: ActivityUpdate) -> [LifeInput] {
        let inputs = feed.take(update)
        version += 1
        hasState = true
        return inputs + offer()
    }

    /// What the life is to hear of a state that had to wait.
    func offer() -> [LifeInput] {
        feed.offer(budget, at: now()).map { [$0] } ?? []
    }

    /// The phone will say nothing more.
    nonisolated func finish() { event.finish() }

    // MARK: What the keeper asks for

    /// A server knows of the phone what is in the record.
    func launch() async -> [LifeInput] { [.launched(found: nil)] }

    func pushStart(_ start: IslandStart, to token: PushToken) async -> PushAnswer {
        let state = feed.state.numbered(start.seq)
        let shown = IslandPresentation(state, words: configuration.words).lockScreen
        let push = LiveActivityPush.start(
            IslandAttributes(id: "\(configuration.device) \(start.seq)", startedAt: start.startedAt),
            state,
            alert: start.isSilent ? .silent : PushAlert(title: shown.title, body: shown.status),
            at: Date(timeIntervalSince1970: TimeInterval(start.timestamp)),
            staleDate: start.staleAt,
            relevance: 100
        )
        return await send(push, to: token, activity: nil)
    }

    func update(_ update: IslandUpdate) async -> PushAnswer {
        guard let token = update.token else { return .none }
        var replacements = 0
        var first: IslandState?
        while true {
            let (sent, state) = (version, feed.state)
            let hasFact = update.isUrgent || (first.map { state.importance(since: $0) == .fact } ?? false)
            first = first ?? state
            let push = LiveActivityPush.update(
                state.numbered(update.seq).askingForTap(update.needsTap),
                hasFact ? .fact : .progress,
                at: max(Date(timeIntervalSince1970: TimeInterval(update.timestamp)), now()),
                staleDate: update.staleAt,
                relevance: 100
            )
            guard replacements < Self.mostReplacements else {
                return await send(push, to: token, activity: update.island)
            }
            // On a connection that is dead and does not know it, this is not the state that should come first later on.
            let answer = await withTaskGroup(of: PushAnswer?.self) { group in
                group.addTask { await self.send(push, to: token, activity: update.island) }
                group.addTask { await self.waitForState(after: sent) }
                let first = await group.next().flatMap(\.self)
                group.cancelAll()
                return first
            }
            if let answer { return answer }
            guard !Task.isCancelled else { return .none }
            replacements += 1
        }
    }

    func end(_ end: IslandEnd) async -> PushAnswer {
        guard let token = end.token else { return .none }
        let date = Date(timeIntervalSince1970: TimeInterval(end.timestamp))
        let push = LiveActivityPush.end(
            feed.state.numbered(end.seq),
            dismissal: end.dismissAt.map { .after(.seconds($0.timeIntervalSince(date))) } ?? .atOnce,
            at: date
        )
        return await send(push, to: token, activity: end.island)
    }

    /// Returns `nil` once a newer state is there and the one that is being sent had its time.
    private func waitForState(after sent: Int) async -> PushAnswer? {
        var wait = Self.patience
        while (try? await clock.sleep(for: wait)) != nil, version == sent { wait = Self.look }
        return nil
    }

    private func send(_ push: LiveActivityPush, to token: PushToken, activity: IslandID?) async -> PushAnswer {
        do {
            let encoded = try push.encode()
            let request = try PushRequest(
                token: token.hex,
                topic: LiveActivityPush.topic(bundleID: configuration.bundleID),
                priority: push.priority == 5 ? .five : .ten,
                payload: encoded.body,
                expiration: Int64(push.expiration),
                collapseID: activity.flatMap { push.collapseID(for: $0.rawValue) }
            )
            let response = try await client.send(request)
            // What nobody answered was not delivered, and costs nothing.
            budget.note(at: now())
            if !response.isDelivered { note("\(push.event.rawValue): \(response.explanation)") }
            if response.verdict == .fixKey {
                return await stop(for: APNsReporterError(.key, response.explanation))
            }
            return PushAnswer(
                status: response.status,
                reason: response.reason?.text,
                retryAfter: response.retryAfter.map { TimeInterval($0.components.seconds) }
            )
        } catch {
            if !error.isCancellationOfOurs { note("\(push.event.rawValue): \(error)") }
            if let error = error as? APNsError, Self.isFatal(error.code) {
                return await stop(for: APNsReporterError(.key, error.message, remedy: error.remedy))
            }
            return .none
        }
    }

    /// Whether no push will ever go through.
    private static func isFatal(_ code: APNsError.Code) -> Bool {
        [.providerToken, .badConfiguration, .badKey, .badRequest].contains(code)
    }

    /// Ends the reporter. The life gets no answer: it has nothing to wait for when the cause is mended.
    private func stop(for error: APNsReporterError) async -> PushAnswer {
        fatal = fatal ?? error
        while (try? await clock.sleep(for: .seconds(3_600))) != nil {}
        return .none
    }

    // MARK: Over processes

    /// When the pushes of the last hour were sent.
    var sentPushes: [Date] { budget.sent }

    /// Counts the pushes of other processes in the last hour too.
    func count(_ pushes: [Date]) { budget.add(pushes, at: now()) }
}

extension Error {
    /// Whether a newer state took this one's place.
    fileprivate var isCancellationOfOurs: Bool { (self as? APNsError)?.isCancellation == true }
}
