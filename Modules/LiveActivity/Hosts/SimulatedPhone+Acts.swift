#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// What the app, the network and the user do.
extension SimulatedPhone {
    // MARK: The app's calls

    /// `Activity.request`: only while the app is in front.
    public mutating func request(_ start: IslandStart, bytes: Int = 400) throws(Refusal) -> FoundIsland {
        guard isEnabled else { throw .denied }
        guard scene == .active else { throw .visibility }
        guard bytes <= rules.maximumBytes else { throw .attributesTooLarge }
        guard active.count < rules.maximumIslands,
            let island = make(
                startedAt: start.startedAt,
                timestamp: start.timestamp,
                seq: start.seq,
                staleAt: start.staleAt
            )
        else { throw .targetMaximumExceeded }
        return found(island)
    }

    /// `Activity.update`, on the device.
    public mutating func update(_ update: IslandUpdate) {
        guard let index = islands.firstIndex(where: { $0.id == update.island && $0.state == .active }) else { return }
        self.update(index, timestamp: update.timestamp, seq: update.seq, staleAt: update.staleAt)
    }

    /// `Activity.end`, on the device.
    public mutating func end(_ end: IslandEnd) {
        guard let index = islands.firstIndex(where: { $0.id == end.island }) else { return }
        self.end(index, dismissAt: end.dismissAt)
    }

    /// `Activity.activities`, and the rest that an app knows when it is launched.
    public var atLaunch: [LifeInput] {
        var inputs: [LifeInput] = [.availability(isEnabled ? .on : .offInSettings)]
        if let pushToStartToken { inputs.append(.pushToStartToken(pushToStartToken)) }
        inputs.append(.launched(found: islands.filter { $0.state != .dismissed }.map(found)))
        if let drawnSeq { inputs.append(.widgetSaw(seq: drawnSeq)) }
        return inputs
    }

    // MARK: APNs

    /// A push, as APNs answers it. A 200 says that APNs has it, not that the phone takes it.
    public mutating func push(_ push: SimulatedPush) -> PushAnswer {
        if let unreachableUntil, now < unreachableUntil { return .none }
        if push.bytes > rules.maximumBytes { return PushAnswer(status: 413, reason: "PayloadTooLarge") }
        if let rateLimitedUntil, now < rateLimitedUntil {
            return PushAnswer(status: 429, reason: "TooManyRequests", retryAfter: retryAfter)
        }
        let island = islands.first { $0.token == push.token && $0.state == .active }
        let isKnown: Bool = if case .start = push.event { push.token == pushToStartToken } else { island != nil }
        guard isInstalled, isKnown else { return PushAnswer(status: 410, reason: "Unregistered") }
        after(rules.delay, .deliver(push, to: island?.id))
        return .ok
    }

    // MARK: The user

    /// Swipes an activity away; without a name the newest that is seen. Returns which.
    @discardableResult
    public mutating func swipe(_ id: IslandID? = nil) -> IslandID? {
        let index = islands.lastIndex { $0.state != .dismissed && (id == nil || $0.id == id) }
        guard let index else { return nil }
        dismiss(index)
        return islands[index].id
    }

    /// Starts the app, in the background or on its way to the front. What it knows then is ``atLaunch``.
    public mutating func launch(into scene: Scene = .inactive) {
        guard isInstalled, self.scene == .notRunning else { return }
        self.scene = scene
        isQuit = false
        if pushToStartToken == nil, let token = newToken() {
            pushToStartToken = token
            tell(.pushToStartToken(token))
        }
        if scene == .inactive { tell(.willEnterForeground, after: 0) }
    }

    /// The app comes to the front: told at once, active after ``becomeActive()``.
    public mutating func enterForeground() {
        guard scene == .background else { return }
        scene = .inactive
        tell(.willEnterForeground, after: 0)
    }

    /// The app is in front.
    public mutating func becomeActive() {
        guard scene == .inactive else { return }
        scene = .active
        tell(.didBecomeActive, after: 0)
    }

    /// The app leaves the front.
    public mutating func enterBackground() {
        guard scene == .active || scene == .inactive else { return }
        scene = .background
        tell(.didEnterBackground, after: 0)
    }

    /// The app ends, by the system or by the user's hand. Activities stay; what was to be told is lost.
    public mutating func kill(byUser: Bool = false) {
        guard scene != .notRunning else { return }
        scene = .notRunning
        isQuit = byUser
        effects.removeAll { effect in
            if case .tell = effect.effect { true } else { false }
        }
    }

    /// Switches activities on or off for the app, in Settings.
    public mutating func allow(_ isEnabled: Bool) {
        guard self.isEnabled != isEnabled else { return }
        self.isEnabled = isEnabled
        let news = LifeInput.availability(isEnabled ? .on : .offInSettings)
        if !rules.tellsDismissalFirst { tell(news) }
        if !isEnabled {
            for index in islands.indices { dismiss(index) }
        }
        if rules.tellsDismissalFirst { tell(news) }
    }

    /// Removes the app, its activities and its tokens.
    public mutating func uninstall() {
        kill(byUser: true)
        isInstalled = false
        pushToStartToken = nil
        drawnSeq = nil
        islands = []
        effects = []
    }

    /// Installs the app again; it does not run yet.
    public mutating func reinstall() {
        isInstalled = true
    }

    // MARK: The system

    /// Gives another token for starts.
    public mutating func rotatePushToStartToken() {
        guard isInstalled, pushToStartToken != nil, let token = newToken() else { return }
        pushToStartToken = token
        tell(.pushToStartToken(token))
    }

    /// Gives every activity another token.
    public mutating func rotateTokens() {
        for index in islands.indices where islands[index].state == .active && islands[index].token != nil {
            guard let token = newToken() else { continue }
            islands[index].token = token
            tell(.updateToken(islands[index].id, token))
        }
    }

    /// Lets the widgets of the present activities draw no more. The next activity's will.
    public mutating func hangWidgets() {
        for index in islands.indices { islands[index].isHung = true }
    }
}
