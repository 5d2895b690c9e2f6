#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

// What was said to pushes, and updates.
extension ActivityLife {
    /// A pushed start was answered.
    mutating func startAnswered(_ seq: Int, _ token: PushToken, _ answer: PushAnswer, _ now: Date) {
        // `nil` where the phone adopted it before the answer came, or we gave up waiting.
        let isPending = record.pending?.seq == seq && record.pending?.isRequest == false
        guard answer.status != 200 else {
            guard isPending else { return }
            record.pending?.isAnswered = true
            record.unadoptedStarts += 1
            backOff(answer, now)
            if rules.flaws.contains(.endsOldOnAnswer), let old = record.current {
                record.current = nil
                retire(old, isEndedByUs: true)
                end(old.id, .replaced, now)
            }
            return
        }
        if isPending { record.pending = nil }
        guard !answer.isTokenVoid else {
            if record.pushToStartToken == token { record.pushToStartToken = nil }
            record.backOff = nil
            return note(.startTokenVoid(status: answer.status), now)
        }
        backOff(answer, now)
        note(.startFailed(status: answer.status, until: record.backOff?.until ?? now), now)
    }

    /// Keeps starts back after an answer: a 200 for as long as its adoption may take, 429 twice as long as the last time,
    /// everything else at least the base. A longer `Retry-After` wins.
    mutating func backOff(_ answer: PushAnswer, _ now: Date) {
        let last = record.backOff?.step ?? 0
        let step: TimeInterval =
            switch answer.status {
            case 200: rules.baseBackOff
            case 429: min(max(last * 2, rules.baseBackOff), rules.longestBackOff)
            default: min(max(last, rules.baseBackOff), rules.longestBackOff)
            }
        let isSilence = answer.status == 200 && record.unadoptedStarts >= rules.unadoptedStartsLimit
        let wait = isSilence ? rules.longestBackOff : step
        record.backOff = LifeRecord.BackOff(
            until: now.addingTimeInterval(max(wait, answer.wait(rules))),
            step: step,
            status: answer.status
        )
    }

    /// An update was answered.
    mutating func updateAnswered(_ id: IslandID, _ seq: Int, _ token: PushToken?, _ answer: PushAnswer, _ now: Date) {
        // An answer for an earlier activity, or an earlier token of this one, says nothing about it.
        guard let island = record.current, island.id == id, island.token == token || token == nil else { return }
        switch answer.status {
        case 200:
            record.updateBackOff = nil
            // Behind is a widget that was given something, not one to which nothing got through.
            record.current?.sentSeq = max(seq, island.sentSeq)
            if seq > record.liveness?.seq ?? 0 { record.current?.behindSince = island.behindSince ?? now }
        case _ where answer.isTokenVoid:
            if isPastItsDate(island, now) {
                ended(id, now)
            } else {
                swiped(island, isPresumed: true, now)
            }
        // Too large, or wrong in itself: the same again would be refused again.
        case 400, 405, 413: note(.updateRefused(status: answer.status), now)
        default:
            let last = record.updateBackOff?.step ?? 0
            let (base, longest) =
                answer.status == 429
                ? (rules.baseBackOff, rules.longestBackOff) : (rules.updateBackOff, rules.baseBackOff)
            let step = min(max(last * 2, base), max(last, longest))
            let until = now.addingTimeInterval(max(step, answer.wait(rules)))
            record.updateBackOff = LifeRecord.BackOff(until: until, step: step, status: answer.status)
            record.current?.owesUpdate = true
            note(.updatesWait(until: until, status: answer.status), now)
        }
    }

    /// An end was answered.
    mutating func endAnswered(_ id: IslandID, _ answer: PushAnswer, _ now: Date) {
        guard let index = record.former.firstIndex(where: { $0.id == id }), record.former[index].owesEnd else { return }
        switch answer.status {
        case 200, 400, 405, 413: record.former[index].owesEnd = false
        case _ where answer.isTokenVoid: record.former[index].owesEnd = false
        default:
            let until = now.addingTimeInterval(max(rules.baseBackOff, answer.wait(rules)))
            record.former[index].notBefore = until
            note(.endWaits(id, until: until, status: answer.status), now)
        }
    }

    /// Sends what is new, if there is something and it can be sent.
    mutating func flushUpdate(_ now: Date) {
        guard let island = record.current, island.owesUpdate else { return }
        let isOnDevice = abilities.contains(.isOnDevice)
        guard isOnDevice || island.token != nil else { return }
        if !isOnDevice, let backOff = record.updateBackOff, backOff.until > now { return }
        let timestamp = nextTimestamp(after: island.lastTimestamp, now)
        let seq = nextSeq()
        record.current?.lastTimestamp = timestamp
        record.current?.owesUpdate = false
        send(island.id, island.token, seq, timestamp, island.startedAt)
        if rules.flaws.contains(.updatesReplaced), let old = record.former.last {
            send(old.id, old.token, seq, timestamp, old.startedAt)
        }
        owesFact = false
    }

    private mutating func send(_ id: IslandID, _ token: PushToken?, _ seq: Int, _ timestamp: Int, _ startedAt: Date) {
        actions.append(
            .update(
                IslandUpdate(
                    island: id,
                    token: token,
                    seq: seq,
                    timestamp: timestamp,
                    staleAt: startedAt.addingTimeInterval(rules.renewAfter),
                    isUrgent: owesFact,
                    needsTap: record.renewalFailedAt != nil
                )
            )
        )
    }
}

extension PushAnswer {
    /// How long the server wants us to wait, within reason.
    fileprivate func wait(_ rules: LifeRules) -> TimeInterval {
        guard let retryAfter, retryAfter > 0 else { return 0 }
        return min(retryAfter, rules.longestRetryAfter)
    }
}
