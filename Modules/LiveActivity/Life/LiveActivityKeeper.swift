#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Keeps the one Live Activity alive: the thin actor around ``ActivityLife``.
///
/// What happens comes in by ``send(_:)`` and by the host's events, and never waits. What is to be done is done one after
/// the other in ``run()``, and its answers come in as inputs. A host that fails or hangs delays the activity and nothing
/// else: nobody who sends waits for it, and it throws at nobody.
public actor LiveActivityKeeper {
    private let host: any LiveActivityHost
    private let store: any LifeStore
    private let rules: LifeRules
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date

    private var life: ActivityLife
    /// The record that the store has; `nil` while that is unknown.
    private var kept: LifeRecord?
    /// A record on its way to the store.
    private var saving: Task<Void, Never>?
    private var isLaunched = false
    private var isStopped = false
    /// What came before the launch was over.
    private var early: [LifeInput] = []
    private var queue: [LifeAction] = []
    private var isActing = false
    private var watchers: [Int: AsyncStream<LifeStatus>.Continuation] = [:]
    private var lastWatcher = 0
    private let bells: AsyncStream<Void>
    private let bell: AsyncStream<Void>.Continuation
    /// Sleeps until the next tick; cancelled by the next one and at the end of ``run()``.
    private var alarm: Task<Void, Never>?
    private var alarmAt: Date?

    /// A keeper that does nothing before ``run()``.
    ///
    /// - Parameters:
    ///   - host: Makes the activities.
    ///   - store: Keeps the record.
    ///   - rules: The numbers.
    ///   - clock: What ticks are waited for by.
    ///   - now: The date of what happens now.
    public init(
        host: any LiveActivityHost,
        store: any LifeStore,
        rules: LifeRules = LifeRules(),
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date
    ) {
        self.host = host
        self.store = store
        self.rules = rules
        self.clock = clock
        self.now = now
        life = ActivityLife(abilities: host.abilities, rules: rules, at: now())
        (bells, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// How it stands.
    public var status: LifeStatus { life.status }

    /// How it stands, now and after everything that happens; who reads slowly gets the newest only.
    public func statuses() -> AsyncStream<LifeStatus> {
        let (statuses, watcher) = AsyncStream.makeStream(of: LifeStatus.self, bufferingPolicy: .bufferingNewest(1))
        lastWatcher += 1
        let number = lastWatcher
        watchers[number] = watcher
        watcher.onTermination = { [weak self] _ in
            // Owned by nobody, as it does nothing but remove an entry.
            Task { await self?.forget(number) }
        }
        watcher.yield(life.status)
        return statuses
    }

    private func forget(_ watcher: Int) {
        watchers[watcher] = nil
    }

    /// Whether nothing is being done, and nothing is left to do.
    var isIdle: Bool { isLaunched && queue.isEmpty && !isActing }

    /// What was decided and why, the newest last.
    public var decisions: [LifeDecision] { life.decisions }

    /// How many decisions there were in all, and those after the first `count` that are remembered.
    public func decisions(after count: Int) -> (total: Int, new: [LifeDecision]) {
        (life.decisionCount, Array(life.decisions.suffix(max(life.decisionCount - count, 0))))
    }

    /// Whether nothing is under way: no start that the phone may still adopt, and no end that is owed.
    public var isSettled: Bool {
        !isActing && queue.isEmpty && life.record.pending == nil && !life.record.former.contains(where: \.owesEnd)
    }

    /// The record as it is now.
    public var record: LifeRecord { life.record }

    /// Takes an input. Waits for nothing. Before the launch is over it is kept until then.
    public func send(_ input: LifeInput) {
        guard !isStopped else { return }
        guard isLaunched else {
            // Of what repeats itself, the last one says all; the rest are few.
            if case .contentChanged = input { early.removeAll { $0 == input } }
            return early.append(input)
        }
        take(input)
    }

    /// Launches, then keeps the activity until the host's events end or the task is cancelled. Once only.
    ///
    /// What is to be done at that moment is still done, the last record is kept; the activity itself stays on the phone.
    public func run() async {
        await launch()
        await withTaskGroup { group in
            group.addTask { [host] in
                for await input in host.events { await self.send(input) }
                await self.stop()
            }
            await perform()
            group.cancelAll()
        }
        // Whatever was cut off: the next process must know of it.
        await save()
        alarm?.cancel()
        alarm = nil
        for watcher in watchers.values { watcher.finish() }
    }

    /// Ends ``run()`` after what is to be done now.
    public func stop() {
        take(.terminates)
        isStopped = true
        bell.finish()
    }

    private func launch() async {
        var isDamaged = false
        var record: LifeRecord?
        do {
            record = try await store.load()
        } catch {
            isDamaged = true
        }
        let inputs = await host.launch()
        var last = record ?? LifeRecord()
        // The installs of the last process may be gone: nothing is started for them if somebody knows better.
        for case .installs(let running, _) in early { last.installs = running }
        life = ActivityLife(record: last, abilities: host.abilities, rules: rules, at: now())
        if isDamaged { life.note(.recordDamaged, now()) }
        isLaunched = true
        let waiting = early
        early = []
        for input in inputs { take(input) }
        for input in waiting { take(input) }
    }

    private func take(_ input: LifeInput) {
        for action in life.handle(input, at: now()) { enqueue(action) }
        bell.yield()
        arm()
        tellWatchers()
    }

    private func tellWatchers() {
        for watcher in watchers.values { watcher.yield(life.status) }
    }

    /// Puts an action at the end of the queue; a newer update or record makes an older one that still waits needless.
    private func enqueue(_ action: LifeAction) {
        switch action {
        case .save: if queue.last == .save { return }
        case .update(let update):
            if case .update(let last) = queue.last, last.island == update.island {
                queue[queue.count - 1] = .update(update.urgent(last.isUrgent))
                return
            }
            // A save between two updates of one activity does not make the first one worth sending.
            if queue.count > 1, queue.last == .save, case .update(let last) = queue[queue.count - 2],
                last.island == update.island
            {
                queue.remove(at: queue.count - 2)
                return queue.append(.update(update.urgent(last.isUrgent)))
            }
        default: break
        }
        queue.append(action)
    }

    /// Keeps the record now; says whether all that was sent before is kept, so that it may be forgotten elsewhere.
    public func keep() async -> Bool {
        guard isLaunched else { return false }
        let record = life.record
        await save()
        return kept == record || kept == life.record
    }

    /// Returns when the record is kept, or could not be.
    private func save() async {
        if saving == nil {
            // Ends by itself, also where the one who asked is cancelled: what happened must not be forgotten.
            saving = Task { await write() }
        }
        await saving?.value
    }

    /// Writes until what is kept is the newest, one record after the other.
    private func write() async {
        while life.record != kept {
            let record = life.record
            do {
                try await store.save(record)
                kept = record
            } catch {
                life.note(.recordNotSaved(String(describing: error)), now())
                break
            }
        }
        saving = nil
    }

    // MARK: Doing

    private func perform() async {
        for await _ in bells { await drain() }
        await drain()
    }

    private func drain() async {
        while !queue.isEmpty {
            let action = queue.removeFirst()
            isActing = true
            let inputs = await perform(action)
            isActing = false
            // What was cut off in the middle is no answer: nobody must wait the longer for it the next time.
            guard !Task.isCancelled else { break }
            for input in inputs { take(input) }
        }
        tellWatchers()
    }

    private func perform(_ action: LifeAction) async -> [LifeInput] {
        switch action {
        case .save:
            await save()
            return []
        case .request(let start):
            do {
                return [.requested(try await host.request(start))]
            } catch {
                return [.requestRefused(error.description)]
            }
        case .pushStart(let start, let token):
            return [.answer(.start(seq: start.seq, token), await host.pushStart(start, to: token))]
        case .update(let update):
            return [.answer(.update(update.island, seq: update.seq, update.token), await host.update(update))]
        case .end(let end):
            return [.answer(.end(end.island, end.token), await host.end(end))]
        case .notifyTapToUpdate:
            await host.notifyTapToUpdate(true)
            return []
        case .withdrawNotice:
            await host.notifyTapToUpdate(false)
            return []
        }
    }

    // MARK: Ticks

    /// Sleeps until the life wants to be woken.
    private func arm() {
        guard let wake = life.nextWake, !isStopped else {
            alarm?.cancel()
            (alarm, alarmAt) = (nil, nil)
            return
        }
        guard wake != alarmAt else { return }
        alarm?.cancel()
        alarmAt = wake
        // At least a second: a wall clock that runs slower than `clock` must not make this spin.
        let wait = Duration.seconds(min(max(wake.timeIntervalSince(now()), 1), 86_400))
        alarm = Task { [weak self, clock] in
            guard (try? await clock.sleep(for: wait)) != nil else { return }
            await self?.ring()
        }
    }

    private func ring() {
        (alarm, alarmAt) = (nil, nil)
        take(.tick)
    }
}

extension IslandUpdate {
    /// The same update, urgent also where one before it was.
    fileprivate func urgent(_ wasUrgent: Bool) -> IslandUpdate {
        IslandUpdate(
            island: island,
            token: token,
            seq: seq,
            timestamp: timestamp,
            staleAt: staleAt,
            isUrgent: isUrgent || wasUrgent,
            needsTap: needsTap
        )
    }
}
