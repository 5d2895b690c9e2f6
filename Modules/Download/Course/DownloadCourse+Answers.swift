import FerryWeb

// What servers bring about.
extension DownloadCourse {
    /// The head of an answer is there. `receives` says whether its body belongs into the partial file.
    mutating func answered(_ answer: Answer, on number: Int = 0) -> (steps: [Step], receives: Bool) {
        guard phase == .connecting || phase == .receiving, let lane = lanes[number], !lane.isReceiving else {
            return ([], false)
        }
        // Another connection has brought its part meanwhile.
        if lane.isDone, lane.request.isRanged { return refuse(.notNeeded, number) }
        switch answer.status {
        case 200, 203:
            return whole(answer, number, lane)
        case 206 where lane.request.isRanged:
            return part(answer, number, lane)
        case 301, 302, 303, 307, 308:
            return refuse(redirect(answer, lane), number)
        case 416 where lane.request.isRanged:
            return refuse(nothingMore(answer), number)
        default:
            return refuse(failure(answer, lane.request), number)
        }
    }

    /// How many of `count` further bytes are welcome, and where; `nil` ends the connection, and so does fewer than `count`.
    mutating func accepts(_ count: Int, on number: Int = 0) -> (count: Int, offset: Int64)? {
        // A refusal ends the connection; bytes that still come would leave a gap behind those that were lost.
        guard phase == .receiving, let lane = lanes[number], lane.isReceiving, lane.refusal == nil else { return nil }
        let (sum, overflow) = lane.position.addingReportingOverflow(Int64(count))
        takeOver(from: number, upTo: sum)
        let promised = min(lane.bodyEnd ?? .max, totalBytes ?? .max, limits.lengthLimit)
        guard !overflow, sum <= promised else {
            let refusal = Refusal.failWhole(tooMuch(promised: promised), keepsPartial: false)
            lanes[number]?.refusal = refusal
            return nil
        }
        // What follows its end is there already, or comes by another connection.
        let end = min(sum, lanes[number]?.end ?? .max)
        guard end > lane.position else { return nil }
        present.insert(lane.position..<end)
        lanes[number]?.position = end
        lanes[number]?.broughtBytes += end - lane.position
        return (Int(end - lane.position), lane.position)
    }

    /// Whether the connection has brought its part, and more would come that is not wanted.
    func isSpent(_ number: Int) -> Bool {
        guard let lane = lanes[number] else { return true }
        return lane.isDone && lane.bodyEnd ?? .max > lane.position
    }

    /// The bytes could not be written, only those of the map are there; the connection ends with this.
    mutating func writingFailed(_ error: DownloadError, present map: ByteMap, on number: Int = 0) {
        present = map
        lanes[number]?.refusal =
            error.code == .diskFull ? .noRoom(error) : .failWhole(error, keepsPartial: true)
    }
}

extension DownloadCourse {
    private static let changed = "The file on the server has changed."

    /// The body is not the file; what follows is decided when the connection has ended.
    private mutating func refuse(_ refusal: Refusal, _ number: Int) -> (steps: [Step], receives: Bool) {
        lanes[number]?.refusal = refusal
        return ([], false)
    }

    /// 200: the file from its first byte on.
    private mutating func whole(_ answer: Answer, _ number: Int, _ lane: Lane) -> (steps: [Step], receives: Bool) {
        if let fault = fault(answer, lane.request, totalBytes: answer.bodyLength) {
            return refuse(fault, number)
        }
        let next = answer.version(totalBytes: answer.bodyLength)
        let hasChanged = versions[lane.request.source].map { next.differs(from: $0) } ?? false
        if lanes.count > 1 {
            // The others have parts of the file; this one cannot have the whole of it beside them.
            return refuse(hasChanged ? .startOver(reason: Self.changed) : .wholeOnly, number)
        }
        var steps: [Step] = []
        if lane.request.isRanged {
            let reason = hasChanged ? Self.changed : "The server sends the file from its start only."
            steps.append(.tell(.restarted(reason: reason)))
            // Without this, a server that changes its mind each time would be asked for parts for ever.
            if completedBytes > 0, isSpread { hadConflict = true }
        }
        forget()
        version = next
        source = lane.request.source
        versions = [source: next]
        lanes[number]?.position = 0
        lanes[number]?.end = next.totalBytes
        lanes[number]?.bodyEnd = answer.bodyLength
        lanes[number]?.isReceiving = true
        phase = .receiving
        if !answer.acceptsRanges { growth.refused(beyond: 1) }
        return (steps + [.startOver(version)] + started(resumedFrom: 0), true)
    }

    /// 206: the part that we asked for, if the server kept to that.
    private mutating func part(_ answer: Answer, _ number: Int, _ lane: Lane) -> (steps: [Step], receives: Bool) {
        guard case .part(let first, let last, let total)? = answer.range, first == lane.request.from else {
            return refuse(.startOver(reason: "The server sent another part than was asked for."), number)
        }
        if let fault = fault(answer, lane.request, totalBytes: total ?? version.totalBytes) {
            return refuse(fault, number)
        }
        let next = answer.version(totalBytes: total)
        if let known = versions[lane.request.source] {
            guard !next.differs(from: known) else {
                return refuse(.startOver(reason: Self.changed), number)
            }
        } else {
            // A server that the others know nothing of: only the length can be compared, and the SHA-256 in the end.
            guard limits.hasChecksum, total == version.totalBytes else {
                let error = otherLength(lane.request, total, version.totalBytes ?? 0)
                return refuse(.fail(error, keepsPartial: true), number)
            }
            versions[lane.request.source] = next
        }
        let before = version
        version.totalBytes = version.totalBytes ?? total
        // `last` is below Int64.max, or there would be no total that it is below.
        let bodyEnd = last < .max ? last + 1 : .max
        hasParts = true
        lanes[number]?.bodyEnd = bodyEnd
        lanes[number]?.isReceiving = true
        phase = .receiving
        let steps: [Step] = version == before ? [] : [.record(version)]
        return (steps + started(resumedFrom: completedBytes), true)
    }
}
