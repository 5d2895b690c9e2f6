#if canImport(ActivityKit) && os(iOS) && !targetEnvironment(macCatalyst)
public import ActivityKit
public import Foundation

/// A host on the device itself: Apple's ActivityKit.
///
/// The package asks for iOS 18, so that everything is there that came with iOS 16.2 (contents, stale dates) and 17.2
/// (pushed starts). Where activities are switched off in Settings every call does nothing, and the life says why. The app
/// forwards its scene's changes by ``send(_:)``.
public final class ActivityKitHost<Attributes: ActivityAttributes>: LiveActivityHost
where Attributes: Sendable, Attributes.ContentState: Sendable {
    /// The state of that number, as it is now.
    public typealias Content = @Sendable (_ seq: Int, _ needsTap: Bool) async -> Attributes.ContentState

    /// Requests and acts on the device; whether it hears the widget depends on the store.
    public let abilities: HostAbilities
    /// What the system and the app tell.
    public let events: AsyncStream<LifeInput>
    private let event: AsyncStream<LifeInput>.Continuation
    private let attributes: @Sendable (_ startedAt: Date) -> Attributes
    private let startedAt: @Sendable (Attributes) -> Date?
    private let seq: @Sendable (Attributes.ContentState) -> Int
    private let content: Content
    private let notify: @Sendable (Bool) async -> Void
    private let liveness: (any LivenessStore)?
    private let pusher: (@Sendable (IslandStart, PushToken) async -> PushAnswer)?

    /// A host that asks for contents when it needs them.
    ///
    /// - Parameters:
    ///   - attributes: The attributes of an activity that is started at that date.
    ///   - startedAt: The date in attributes.
    ///   - seq: The number in a state.
    ///   - content: The present state with that number.
    ///   - liveness: The store of the app group.
    ///   - pushStart: Sends a start to this device, where the app can; else only the app in front starts one.
    ///   - notify: Shows the notification "tap to update", or takes it away.
    public init(
        attributes: @escaping @Sendable (_ startedAt: Date) -> Attributes,
        startedAt: @escaping @Sendable (Attributes) -> Date?,
        seq: @escaping @Sendable (Attributes.ContentState) -> Int,
        content: @escaping Content,
        liveness: (any LivenessStore)? = nil,
        pushStart: (@Sendable (IslandStart, PushToken) async -> PushAnswer)? = nil,
        notify: @escaping @Sendable (Bool) async -> Void = { _ in }
    ) {
        self.attributes = attributes
        self.startedAt = startedAt
        self.seq = seq
        self.content = content
        self.liveness = liveness
        self.notify = notify
        pusher = pushStart
        var abilities: HostAbilities = [.requests, .isOnDevice]
        if liveness != nil { abilities.insert(.hearsWidget) }
        if pushStart != nil { abilities.insert(.pushesStarts) }
        self.abilities = abilities
        // Unbounded: the system says a few things an hour, and a fact must not get lost.
        (events, event) = AsyncStream.makeStream(bufferingPolicy: .unbounded)
    }

    /// Forwards what the app knows: its scene's changes, ends, what the widget drew.
    public func send(_ input: LifeInput) {
        if let seq = liveness?.drawnSeq { event.yield(.widgetSaw(seq: seq)) }
        event.yield(input)
    }

    /// Watches the system for as long as the task lives; run it beside the keeper.
    public func watch() async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                for await isEnabled in ActivityAuthorizationInfo().activityEnablementUpdates {
                    self.send(.availability(isEnabled ? .on : .offInSettings))
                }
            }
            group.addTask {
                for await token in Activity<Attributes>.pushToStartTokenUpdates {
                    self.send(.pushToStartToken(PushToken(bytes: token)))
                }
            }
            for id in Activity<Attributes>.activities.map(\.id) {
                group.addTask { await self.watch(id) }
            }
            // Yields those that this app requests as well as those that were pushed.
            for await activity in Activity<Attributes>.activityUpdates {
                let id = activity.id
                if let found = found(activity) { send(.adopted(found)) }
                group.addTask { await self.watch(id) }
            }
            group.cancelAll()
        }
    }

    private func watch(_ id: String) async {
        guard let activity = activity(id), let island = IslandID(rawValue: id) else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                guard let activity = self.activity(id) else { return }
                for await token in activity.pushTokenUpdates {
                    guard let token = PushToken(bytes: token) else { continue }
                    self.send(.updateToken(island, token))
                }
            }
            for await state in activity.activityStateUpdates {
                switch state {
                case .stale: send(.stale(island))
                case .ended: send(.ended(island))
                case .dismissed:
                    send(.dismissed(island))
                    group.cancelAll()
                    return
                default: break
                }
            }
            group.cancelAll()
        }
    }

    private func activity(_ id: String) -> Activity<Attributes>? {
        Activity<Attributes>.activities.first { $0.id == id }
    }

    private func found(_ activity: Activity<Attributes>) -> FoundIsland? {
        guard let id = IslandID(rawValue: activity.id) else { return nil }
        return FoundIsland(
            id: id,
            token: activity.pushToken.flatMap { PushToken(bytes: $0) },
            startedAt: startedAt(activity.attributes),
            seq: seq(activity.content.state),
            isActive: activity.activityState == .active || activity.activityState == .stale,
            isStale: activity.activityState == .stale
        )
    }

    /// What the system knows at launch.
    public func launch() async -> [LifeInput] {
        let isEnabled = ActivityAuthorizationInfo().areActivitiesEnabled
        var inputs: [LifeInput] = [.availability(isEnabled ? .on : .offInSettings)]
        if let token = Activity<Attributes>.pushToStartToken {
            inputs.append(.pushToStartToken(PushToken(bytes: token)))
        }
        inputs.append(.launched(found: Activity<Attributes>.activities.compactMap { found($0) }))
        if let seq = liveness?.drawnSeq { inputs.append(.widgetSaw(seq: seq)) }
        return inputs
    }

    /// `Activity.request`, with a token for updates.
    public func request(_ start: IslandStart) async throws(HostRefusal) -> FoundIsland {
        guard ActivityAuthorizationInfo().areActivitiesEnabled else { throw HostRefusal("switched off in Settings") }
        let state = await content(start.seq, false)
        do {
            let activity = try Activity.request(
                attributes: attributes(start.startedAt),
                content: ActivityContent(state: state, staleDate: start.staleAt),
                pushType: .token
            )
            guard let found = found(activity) else { throw HostRefusal("its name cannot be used: \(activity.id)") }
            return found
        } catch let refusal as HostRefusal {
            throw refusal
        } catch {
            throw HostRefusal(String(describing: error))
        }
    }

    /// Sends a start by the app's own sender.
    public func pushStart(_ start: IslandStart, to token: PushToken) async -> PushAnswer {
        await pusher?(start, token) ?? .none
    }

    /// `Activity.update`. That one is not there any more is told by its state.
    public func update(_ update: IslandUpdate) async -> PushAnswer {
        guard let activity = activity(update.island.rawValue) else { return .ok }
        let state = await content(update.seq, update.needsTap)
        await activity.update(ActivityContent(state: state, staleDate: update.staleAt))
        return .ok
    }

    /// `Activity.end`. One that is not there any more has ended.
    public func end(_ end: IslandEnd) async -> PushAnswer {
        guard let activity = activity(end.island.rawValue) else { return .ok }
        let state = await content(end.seq, false)
        await activity.end(
            ActivityContent(state: state, staleDate: nil),
            dismissalPolicy: end.dismissAt.map { .after($0) } ?? .immediate
        )
        return .ok
    }

    /// Calls the app's closure.
    public func notifyTapToUpdate(_ isNeeded: Bool) async {
        await notify(isNeeded)
    }
}
#endif
