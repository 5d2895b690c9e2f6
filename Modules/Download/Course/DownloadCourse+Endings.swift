import FerryWeb

// What follows when a connection has ended.
extension DownloadCourse {
    /// The connection is gone. `glimpse` is the start of a body that was of no use.
    mutating func connectionEnded(
        _ ending: Ending,
        on number: Int = 0,
        glimpse: [UInt8] = [],
        random: Double = 0
    ) -> [Step] {
        guard phase == .connecting || phase == .receiving, let lane = lanes.removeValue(forKey: number) else {
            return []
        }
        if let refusal = lane.refusal {
            return follow(refusal, lane, glimpse: glimpse, random: random)
        }
        if lane.isReceiving {
            let endsHere = totalBytes == nil && lane.bodyEnd == nil && ending == .complete
            if endsHere || (completedBytes == totalBytes && present.front == completedBytes) {
                return isHeld ? drop() + rest() : seal()
            }
            if lane.isDone, !lanes.isEmpty || version.totalBytes != nil {
                return lanes.isEmpty ? (isHeld ? rest() : connect()) : replace()
            }
        }
        let shown = lane.request.address.shown
        switch ending {
        case .complete where lane.isReceiving && version.totalBytes == nil && lane.bodyEnd == nil:
            return end(wrongLength(completedBytes), keepsPartial: false)
        case .complete:
            let promised = (lane.bodyEnd ?? totalBytes).map { " of \($0)" } ?? ""
            let error = DownloadError(
                .connection,
                "\(shown): the answer ended after \(lane.position)\(promised) bytes.",
                remedy: "Try again later; what has arrived is kept."
            )
            return laneFailed(Failure(error: error, canPass: true), lane, after: nil, random: random)
        case .broken(let failure):
            return laneFailed(failure, lane, after: nil, random: random)
        }
    }
}

extension DownloadCourse {
    private mutating func follow(_ refusal: Refusal, _ lane: Lane, glimpse: [UInt8], random: Double) -> [Step] {
        switch refusal {
        case .failWhole(let error, let keepsPartial):
            return end(error, keepsPartial: keepsPartial)
        case .fail(let error, let keepsPartial):
            return sourceFailed(error, lane, keepsPartial: keepsPartial)
        case .noRoom(let error):
            return holdForRoom(error)
        case .webPage(let error):
            let line = Self.firstLine(of: glimpse)
            let message = error.message + (line.isEmpty ? "." : ": “\(line)”.")
            return sourceFailed(
                DownloadError(error.code, message, remedy: error.remedy),
                lane,
                keepsPartial: true
            )
        case .retry(let error, let after):
            return laneFailed(Failure(error: error, canPass: true), lane, isAnswer: true, after: after, random: random)
        case .startOver(let reason):
            let drops = drop()
            if isSpread { hadConflict = true }
            return drops + startOver(reason: reason) + (isHeld ? rest() : connect())
        case .redirect(let next):
            var again = lane
            again.redirects += 1
            again.refusal = nil
            again.request.sendsCredentials =
                again.request.sendsCredentials && origins[lane.request.source].sharesOrigin(with: next)
            again.request.address = next
            lanes[again.request.lane] = again
            settlePhase()
            return [.connect(again.request)]
        case .wholeOnly:
            growth.refused(beyond: 1)
            return lanes.isEmpty ? (isHeld ? rest() : connect()) : replace()
        case .notNeeded:
            return lanes.isEmpty ? (isHeld ? rest() : connect()) : replace()
        case .complete:
            return seal()
        }
    }

    /// A connection broke or was turned away. While others go on, its part waits for the next that is free.
    private mutating func laneFailed(
        _ failure: Failure,
        _ lane: Lane,
        isAnswer: Bool = false,
        after: Duration?,
        random: Double
    ) -> [Step] {
        guard lanes.isEmpty else {
            // One that brings nothing, again and again, is one too many for the server; one that did may come again.
            misses = lane.broughtBytes < limits.minimumPiece / 16 ? misses + 1 : 0
            if isAnswer || misses == Self.missLimit { growth.refused(beyond: lanes.count) }
            return replace()
        }
        if failure.canPass { return retry(failure.error, after: after, random: random) }
        return sourceFailed(failure.error, lane, keepsPartial: true)
    }

    /// A source gives no file. While connections go on, they do; otherwise the next mirror is asked, if there is one.
    private mutating func sourceFailed(_ error: DownloadError, _ lane: Lane, keepsPartial: Bool) -> [Step] {
        let failed = lane.request.source
        let others = lanes.values.contains { $0.request.source != failed || $0.isReceiving }
        if origins.count > 1 { failedSources.insert(failed) }
        if others {
            if origins.count == 1 { growth.refused(beyond: lanes.count) }
            moveOn(from: failed)
            return replace()
        }
        guard lanes.isEmpty else { return replace() }
        guard !isHeld else { return rest() }
        return nextSource(error) ?? end(error, keepsPartial: keepsPartial)
    }

    /// Waits and tries again, asks the next mirror, or gives up.
    private mutating func retry(_ error: DownloadError, after: Duration?, random: Double) -> [Step] {
        if isHeld { return rest() }
        if completedBytes > highWater {
            highWater = completedBytes
            attempts = 0
        }
        guard attempts < limits.retries else { return nextSource(error) ?? end(error, keepsPartial: true) }
        attempts += 1
        let delay = max(limits.backOff.delay(attempt: attempts, random: random), after ?? .zero)
        phase = .waiting
        return [
            .sync, .tell(.retrying(attempt: attempts, after: delay, reason: error.message)), .startTimer(delay),
        ]
    }

    /// Asks the next mirror; `nil` where none is left.
    private mutating func nextSource(_ error: DownloadError) -> [Step]? {
        failedSources.insert(source)
        guard let next = origins.indices.first(where: { !failedSources.contains($0) }) else { return nil }
        attempts = 0
        highWater = 0
        source = next
        agreedLength = version.totalBytes ?? agreedLength
        let told = Step.tell(.movedOn(to: origins[next].shown, reason: error.message))
        // With a SHA-256 it will show whether the parts fit together; otherwise nothing can.
        guard completedBytes > 0, !limits.hasChecksum || version.totalBytes == nil else {
            return [.sync, told] + connect()
        }
        return [told] + startOver(reason: "Nothing can show that the mirror has the same file.") + connect()
    }

    /// What new connections ask, once `failed` is of no use.
    private mutating func moveOn(from failed: Int) {
        if failed == source, let next = lanes.values.map(\.request.source).filter({ !failedSources.contains($0) }).min()
        {
            source = next
        }
    }

    /// Gives up all connections.
    private mutating func drop() -> [Step] {
        defer { lanes = [:] }
        return lanes.isEmpty ? [] : [.drop]
    }

    /// Held, and without a connection from here on.
    private mutating func rest() -> [Step] {
        if !lanes.isEmpty { return [] }
        phase = .resting
        return [.stopTimer, .sync]
    }
}
