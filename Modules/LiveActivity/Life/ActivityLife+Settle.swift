#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// What is to be done now, whatever happened before: called after every input.
extension ActivityLife {
    /// Whether a request would be granted.
    var canRequest: Bool { isInFront && abilities.contains(.requests) }

    /// Brings the activity to what it should be.
    mutating func settle(_ now: Date) {
        retryEnds(now)
        expire(now)
        guard record.availability == .on else {
            return rest(.off, record.availability.reason, .switchedOff, lingers: false, now)
        }
        guard record.installs > 0 else { return rest(.off, .noInstalls, .noInstalls, lingers: true, now) }
        if let swipe = record.dismissal, !rules.flaws.contains(.undoesSwipes) {
            let reason: LifeReason = swipe.isPresumed ? .presumedSwiped(swipe.island) : .swiped(swipe.island)
            return rest(.dismissedByUser, reason, .unwanted, lingers: false, now)
        }
        if let cause = cause(now) {
            start(cause, now)
        } else if let island = record.current {
            become(.running, .showing(island.id), now)
        }
    }

    /// Why a new activity is needed; `nil` when the one that stands is good.
    func cause(_ now: Date) -> StartCause? {
        guard let island = record.current else { return StartCause.none }
        if island.isUnusable { return .coldStart }
        let age = now.timeIntervalSince(island.startedAt)
        if age >= rules.renewAfter - (canRequest ? rules.renewalWarning : 0) { return .renewal }
        if let since = stillSince(island), now.timeIntervalSince(since) >= rules.stuckAfter,
            record.stuckRestarts < rules.stuckRestarts
        {
            return .stuckWidget
        }
        if canRequest, record.unadoptedStarts >= rules.unadoptedStartsLimit { return .forced }
        return nil
    }

    /// Since when the widget has something to draw and drew nothing; `nil` while it is up to date.
    ///
    /// Not since its last render: a widget with nothing to draw is not behind.
    func stillSince(_ island: LifeRecord.Island) -> Date? {
        guard abilities.contains(.hearsWidget), let behind = island.behindSince else { return nil }
        if rules.flaws.contains(.hasNoGrace) { return record.liveness?.at ?? Date(timeIntervalSince1970: 0) }
        return max(behind, island.adoptedAt, record.liveness?.at ?? behind)
    }

    /// Remembers the state and says so where it is another one.
    mutating func become(_ state: LifeState, _ reason: LifeReason, _ now: Date) {
        if record.state != state || record.since == LifeRecord.never {
            record.state = state
            record.since = now
        } else if record.reason == reason {
            return
        }
        record.reason = reason
        note(reason, now)
    }

    /// Has no activity.
    private mutating func rest(
        _ state: LifeState,
        _ reason: LifeReason,
        _ cause: EndCause,
        lingers: Bool,
        _ now: Date
    ) {
        if let island = record.current {
            record.current = nil
            retire(island, isEndedByUs: true)
            end(island.id, cause, dismissAt: lingers ? now.addingTimeInterval(rules.lingering) : nil, now)
        }
        recover()
        become(state, reason, now)
    }

    /// The renewal is no longer due, or done.
    mutating func recover() {
        record.renewalFailedAt = nil
        guard record.isNoticeShown else { return }
        record.isNoticeShown = false
        actions.append(.withdrawNotice)
    }

    /// Lets go of an activity that the system has ended without a word: after eight hours it does, surely.
    private mutating func expire(_ now: Date) {
        guard let island = record.current,
            now.timeIntervalSince(island.startedAt) >= rules.activeLimit
        else { return }
        record.current = nil
        retire(island, isEndedByUs: false)
        note(.systemEnded(island.id), now)
    }

    // MARK: Starts

    private mutating func start(_ cause: StartCause, _ now: Date) {
        guard !isWaiting(cause, now) else { return }
        if canRequest { return request(cause, now) }
        if let latchedAt, now.timeIntervalSince(latchedAt) < rules.latchLimit {
            return become(cause == .none ? .off : .renewing, .comingToForeground, now)
        }
        guard abilities.contains(.pushesStarts) else { return wait(cause, .off, .onlyInForeground, now) }
        guard let token = record.pushToStartToken else { return wait(cause, .off, .noPushToStartToken, now) }
        if let backOff = record.backOff, backOff.until > now, !ignores(backOff) {
            let reason: LifeReason =
                record.unadoptedStarts >= rules.unadoptedStartsLimit && backOff.status == 200
                ? .startsUnadopted(record.unadoptedStarts, until: backOff.until)
                : .backingOff(until: backOff.until, status: backOff.status)
            return wait(cause, .backingOff, reason, now)
        }
        push(cause, token, now)
    }

    private func ignores(_ backOff: LifeRecord.BackOff) -> Bool {
        rules.flaws.contains(.ignoresBackOff) || rules.flaws.contains(.stacksStarts) && backOff.status == 200
    }

    /// Whether a start is under way that must be waited for: none is stacked upon it.
    private mutating func isWaiting(_ cause: StartCause, _ now: Date) -> Bool {
        guard let pending = record.pending, !rules.flaws.contains(.stacksStarts) else { return false }
        let age = now.timeIntervalSince(pending.at)
        let state: LifeState = cause == .none ? .awaitingAdoption : .renewing
        if pending.isRequest {
            guard age >= rules.requestPatience else {
                become(state, .requesting, now)
                return true
            }
            record.pending = nil
            return false
        }
        guard pending.isAnswered else {
            guard age >= (canRequest ? rules.adoptionPatience : rules.answerPatience) else {
                become(state, .startSent, now)
                return true
            }
            record.pending = nil
            backOff(.none, pending.at)
            return false
        }
        let retryAt = record.backOff?.until ?? pending.at.addingTimeInterval(rules.baseBackOff)
        let isOver = canRequest ? age >= rules.adoptionPatience : now >= retryAt
        guard isOver, !rules.flaws.contains(.waitsForEver) else {
            let isSilence = record.unadoptedStarts >= rules.unadoptedStartsLimit
            become(
                .awaitingAdoption,
                isSilence
                    ? .startsUnadopted(record.unadoptedStarts, until: retryAt) : .startAnswered(retryAt: retryAt),
                now
            )
            return true
        }
        return false
    }

    /// Says why nothing can be started, and to the user as well where an activity comes to its end by that.
    private mutating func wait(_ cause: StartCause, _ state: LifeState, _ reason: LifeReason, _ now: Date) {
        switch cause {
        case .stuckWidget, .forced: return become(.running, reason, now)
        case .none where record.renewalFailedAt == nil: return become(state, reason, now)
        case .none, .renewal, .coldStart: break
        }
        if record.renewalFailedAt == nil {
            record.renewalFailedAt = now
            record.current?.owesUpdate = true
            owesFact = true
        }
        become(.renewalFailed, reason, now)
        guard !record.isNoticeShown else { return }
        record.isNoticeShown = true
        actions.append(.notifyTapToUpdate)
        note(.toldToTap, now)
    }

    private mutating func request(_ cause: StartCause, _ now: Date) {
        if let refusal, now.timeIntervalSince(refusal.at) < rules.requestPatience {
            return become(cause == .none ? .off : .renewalFailed, .requestRefused(refusal.why), now)
        }
        if let old = record.current {
            record.current = nil
            retire(old, isEndedByUs: true)
            end(old.id, .replaced, now)
        }
        clearLockScreen(now)
        countStuck(cause)
        let start = nextStart(isSilent: true, now)
        record.pending = LifeRecord.Pending(seq: start.seq, at: now, isRequest: true)
        actions.append(.request(start))
        note(.started(seq: start.seq, cause), now)
        become(cause == .none ? .awaitingAdoption : .renewing, .requesting, now)
    }

    private mutating func push(_ cause: StartCause, _ token: PushToken, _ now: Date) {
        let isRenewal = cause != .none
        let isSilent = isRenewal && rules.renewsSilently && record.unadoptedStarts < rules.silentStarts
        countStuck(cause)
        let start = nextStart(isSilent: isSilent, now)
        record.pending = LifeRecord.Pending(seq: start.seq, at: now, isRequest: false)
        actions.append(.pushStart(start, token))
        note(.pushedStart(seq: start.seq, cause, isSilent: isSilent), now)
        become(isRenewal ? .renewing : .awaitingAdoption, .startSent, now)
    }

    private mutating func countStuck(_ cause: StartCause) {
        if cause == .stuckWidget { record.stuckRestarts += 1 }
    }

    private mutating func nextStart(isSilent: Bool, _ now: Date) -> IslandStart {
        IslandStart(
            seq: nextSeq(),
            timestamp: LifeClock.seconds(now),
            startedAt: now,
            staleAt: now.addingTimeInterval(rules.renewAfter),
            isSilent: isSilent
        )
    }

    /// The number of the next state; an equal state would not be drawn again.
    mutating func nextSeq() -> Int {
        record.seq = record.seq >= LifeRecord.maximumSeq ? 1 : record.seq + 1
        return record.seq
    }
}

extension Availability {
    /// Why it is off.
    fileprivate var reason: LifeReason {
        switch self {
        case .on, .off: .switchedOff
        case .offInSettings: .switchedOffInSettings
        case .unsupported(let why): .unsupported(why)
        }
    }
}
