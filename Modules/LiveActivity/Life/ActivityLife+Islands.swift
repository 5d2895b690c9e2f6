#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// Activities come, go, and take each other's place.
extension ActivityLife {
    /// The process began.
    mutating func launch(_ found: [FoundIsland]?, _ now: Date) {
        note(.launched(found: found?.count), now)
        isInFront = false
        // An app that begins is most often on its way to the front, where a request costs nothing.
        latchedAt = abilities.contains(.requests) ? now : nil
        refusal = nil
        forget(now)
        // A request is answered within the process that makes it.
        if record.pending?.isRequest == true { record.pending = nil }
        // Whether these were sent, and what was answered, nobody knows any more.
        for index in record.former.indices { record.former[index].notBefore = nil }
        guard let found else {
            record.current?.owesUpdate = true
            return
        }
        if let island = record.current {
            if let same = found.first(where: { $0.id == island.id }) {
                keep(same, now)
            } else if record.availability != .on || isPastItsDate(island, now) {
                record.current = nil
                retire(island, isEndedByUs: false)
                note(.pastItsDate(island.id), now)
            } else {
                swiped(island, isPresumed: false, now)
            }
        }
        let known = record.current?.id
        let presumed = record.dismissal.flatMap { $0.isPresumed ? $0.island : nil }
        // The one whose swipe is only presumed first, as the others are wanted or not by that; then the newest.
        let islands =
            found.filter { $0.id == presumed }
            + found.filter { $0.id != presumed }.sorted {
                ($0.startedAt ?? now) > ($1.startedAt ?? now)
            }
        for island in islands where island.id != known { adopt(island, isOurRequest: false, now) }
    }

    /// The activity that stood before is still there, or ended meanwhile.
    private mutating func keep(_ found: FoundIsland, _ now: Date) {
        guard found.isActive else { return ended(found.id, now) }
        refresh(found)
        guard let island = record.current else { return }
        let isDue = now.timeIntervalSince(island.startedAt) >= rules.renewAfter
        record.current?.owesUpdate = true
        if found.isStale || isDue || record.renewalFailedAt != nil { record.current?.isUnusable = true }
    }

    /// The mistakes of others: nothing of this is kept over a relaunch.
    private mutating func forget(_ now: Date) {
        if rules.flaws.contains(.forgetsDismissal) { record.dismissal = nil }
        if rules.flaws.contains(.forgetsBackOff) { record.backOff = nil }
        if rules.flaws.contains(.forgetsDeadline) { record.current?.startedAt = now }
    }

    func isPastItsDate(_ island: LifeRecord.Island, _ now: Date) -> Bool {
        now.timeIntervalSince(island.startedAt) >= rules.activeLimit
    }

    /// Takes over what is new about the present activity.
    private mutating func refresh(_ found: FoundIsland) {
        if let token = found.token { record.current?.token = token }
        if let seq = found.seq, seq > record.seq, seq <= LifeRecord.maximumSeq { record.seq = seq }
    }

    // MARK: Coming

    /// An activity is there.
    mutating func adopt(_ found: FoundIsland, isOurRequest: Bool, _ now: Date) {
        if let island = record.current, island.id == found.id {
            if let token = found.token, token != island.token { note(.tokenCame(found.id), now) }
            refresh(found)
            if isOurRequest { record.pending = nil }
            return
        }
        if let index = record.former.firstIndex(where: { $0.id == found.id }) { return meet(found, at: index, now) }
        guard found.isActive else {
            // It leaves the lock screen some time, and that is no swipe.
            let startedAt = min(found.startedAt ?? now, now)
            return retire(LifeRecord.Island(id: found.id, startedAt: startedAt, adoptedAt: now), isEndedByUs: false)
        }

        let isWanted = record.availability == .on && record.installs > 0 && record.dismissal == nil
        let isExpected = isOurRequest || record.pending != nil || record.current == nil || cause(now) != nil
        let started = found.startedAt ?? record.pending?.at ?? now
        var island = LifeRecord.Island(
            id: found.id,
            // The phone has it, so its time is not over, whatever date it carries.
            startedAt: min(max(started, now.addingTimeInterval(-rules.renewAfter)), now),
            adoptedAt: now
        )
        island.token = found.token
        island.firstSeq = min(max(found.seq ?? record.pending?.seq ?? 0, 0), LifeRecord.maximumSeq)
        island.sentSeq = island.firstSeq
        island.lastTimestamp = LifeClock.seconds(island.startedAt)
        island.isUnusable = found.isStale
        guard isWanted, isExpected else {
            arrived(now)
            retire(island, isEndedByUs: true)
            return end(found.id, isWanted ? .replaced : .unwanted, now)
        }
        let old = record.current
        if let old { retire(old, isEndedByUs: true) }
        // What happened or was sent since the start is not in it.
        let hasNews = record.pending?.hasNews == true
        island.owesUpdate = hasNews || old?.owesUpdate == true || record.seq > island.firstSeq
        if hasNews { owesFact = true }
        if let drawn = record.liveness?.seq, drawn < island.firstSeq || island.firstSeq == 0 { record.liveness = nil }
        island.behindSince = island.firstSeq > 0 && record.liveness == nil ? now : nil
        record.current = island
        note(.adopted(found.id, inPlaceOf: old?.id), now)
        arrived(now)
        recover()
        refresh(found)
        if let old, !rules.flaws.contains(.keepsOld) { end(old.id, .replaced, now) }
        clearLockScreen(now)
    }

    /// A start reached the phone.
    private mutating func arrived(_ now: Date) {
        record.pending = nil
        record.unadoptedStarts = 0
        // It waited for this; what another answer asked for still holds.
        if let backOff = record.backOff, backOff.status == 200 || backOff.status == 0 || backOff.until <= now {
            record.backOff = nil
        }
    }

    /// One that stood before is there, or has a new token.
    private mutating func meet(_ found: FoundIsland, at index: Int, _ now: Date) {
        let former = record.former[index]
        if let token = found.token { record.former[index].token = token }
        guard found.isActive else {
            record.former[index].owesEnd = false
            return revokePresumption(found.id, now)
        }
        let isUnwanted = record.dismissal.map { !$0.isPresumed || $0.island != found.id } ?? false
        let isWanted = record.availability == .on && record.installs > 0 && !isUnwanted
        let isOver = now.timeIntervalSince(former.startedAt) >= rules.activeLimit
        if isWanted, !former.isEndedByUs, !isOver, record.current == nil {
            // Its token was void as another one was on its way.
            record.dismissal = nil
            var island = LifeRecord.Island(id: former.id, startedAt: former.startedAt, adoptedAt: now)
            island.token = found.token ?? former.token
            island.lastTimestamp = former.lastTimestamp
            island.owesUpdate = true
            record.former.remove(at: index)
            record.current = island
            return note(.swipeRevoked(found.id), now)
        }
        let isNew = found.token.map { $0 != former.token } ?? false
        if !former.owesEnd || isNew || abilities.contains(.isOnDevice) { record.former[index].notBefore = nil }
        record.former[index].isEndedByUs = true
        record.former[index].owesEnd = true
    }

    // MARK: Going

    /// An activity left the screen. Who did it?
    mutating func dismissed(_ id: IslandID, _ now: Date) {
        if let island = record.current, island.id == id {
            guard isPastItsDate(island, now) else { return swiped(island, isPresumed: false, now) }
            record.current = nil
            retire(island, isEndedByUs: false)
            return note(.pastItsDate(id), now)
        }
        if let index = record.former.firstIndex(where: { $0.id == id }) {
            record.former[index].owesEnd = false
            record.former[index].lingersUntil = nil
            if record.dismissal?.island == id {
                if now.timeIntervalSince(record.former[index].startedAt) < rules.activeLimit {
                    record.dismissal?.isPresumed = false
                } else {
                    revokePresumption(id, now)
                }
                return
            }
            if rules.flaws.contains(.mistakesOwnEnds) {
                record.dismissal = LifeRecord.Dismissal(island: id, at: now, isPresumed: false)
            }
            return note(record.former[index].isEndedByUs ? .ownEnd(id) : .replacedBefore(id), now)
        }
        // Started by push, and swiped before we heard of it.
        swiped(LifeRecord.Island(id: id, startedAt: record.pending?.at ?? now, adoptedAt: now), isPresumed: false, now)
    }

    /// An activity ended, and not by our hand.
    mutating func ended(_ id: IslandID, _ now: Date) {
        if let island = record.current, island.id == id {
            record.current = nil
            retire(island, isEndedByUs: false)
            record.former[record.former.count - 1].lingersUntil = now.addingTimeInterval(rules.lockScreenLimit)
            return note(.systemEnded(id), now)
        }
        guard let index = record.former.firstIndex(where: { $0.id == id }) else { return }
        record.former[index].owesEnd = false
        revokePresumption(id, now)
    }

    /// It was the system that ended it, not a swipe.
    private mutating func revokePresumption(_ id: IslandID, _ now: Date) {
        guard let swipe = record.dismissal, swipe.island == id, swipe.isPresumed else { return }
        record.dismissal = nil
        note(.systemEnded(id), now)
    }

    /// The user does not want it. What else stands or comes is ended by ``settle(_:)`` and ``adopt(_:isOurRequest:_:)``.
    mutating func swiped(_ island: LifeRecord.Island, isPresumed: Bool, _ now: Date) {
        if record.current?.id == island.id { record.current = nil }
        retire(island, isEndedByUs: false)
        record.dismissal = LifeRecord.Dismissal(island: island.id, at: now, isPresumed: isPresumed)
    }

    /// Remembers an activity as one that stood before.
    mutating func retire(_ island: LifeRecord.Island, isEndedByUs: Bool) {
        if record.former.count >= LifeRecord.maximumFormer {
            record.former.remove(at: record.former.firstIndex { !$0.owesEnd } ?? 0)
        }
        var former = LifeRecord.Former(
            id: island.id,
            startedAt: island.startedAt,
            token: island.token,
            isEndedByUs: isEndedByUs
        )
        former.lastTimestamp = island.lastTimestamp
        record.former.append(former)
    }

    // MARK: Ends

    /// Ends a former activity.
    mutating func end(_ id: IslandID, _ cause: EndCause, dismissAt: Date? = nil, _ now: Date) {
        guard let index = record.former.lastIndex(where: { $0.id == id }) else { return }
        note(.ended(id, cause), now)
        record.former[index].owesEnd = true
        record.former[index].lingersUntil = dismissAt
        sendEnd(at: index, dismissAt, now)
    }

    private mutating func sendEnd(at index: Int, _ dismissAt: Date?, _ now: Date) {
        let former = record.former[index]
        guard abilities.contains(.isOnDevice) || former.token != nil else {
            return note(.waitsForToken(former.id), now)
        }
        let timestamp = nextTimestamp(after: former.lastTimestamp, now)
        record.former[index].lastTimestamp = timestamp
        record.former[index].notBefore = now.addingTimeInterval(rules.baseBackOff)
        actions.append(
            .end(
                IslandEnd(
                    island: former.id,
                    token: former.token,
                    seq: nextSeq(),
                    timestamp: timestamp,
                    dismissAt: dismissAt
                )
            )
        )
    }

    /// Sends the ends that did not get through, unless the system ended the activity meanwhile.
    mutating func retryEnds(_ now: Date) {
        for index in record.former.indices where record.former[index].owesEnd {
            let former = record.former[index]
            if now.timeIntervalSince(former.startedAt) >= rules.activeLimit + rules.lockScreenLimit {
                record.former[index].owesEnd = false
            } else if former.notBefore ?? now <= now, abilities.contains(.isOnDevice) || former.token != nil {
                sendEnd(at: index, nil, now)
            }
        }
    }

    /// Takes away what ended and still lies on the lock screen, for a new one comes; only the device itself can.
    mutating func clearLockScreen(_ now: Date) {
        guard abilities.contains(.isOnDevice) else { return }
        for index in record.former.indices {
            guard let date = record.former[index].lingersUntil else { continue }
            record.former[index].lingersUntil = nil
            guard date > now else { continue }
            record.former[index].owesEnd = true
            sendEnd(at: index, nil, now)
        }
    }

    /// A timestamp that the system does not drop: after the last one, also when our clock was set back; but never as far
    /// ahead as would be dropped for that.
    func nextTimestamp(after last: Int, _ now: Date) -> Int {
        let present = LifeClock.seconds(now)
        let next = max(present, last + 1)
        return next - present > Int(rules.activeLimit / 2) ? present : next
    }
}
