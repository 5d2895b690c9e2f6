import FerryWeb

// What people and the disk bring about.
extension DownloadCourse {
    /// The first steps.
    mutating func begin() -> [Step] {
        isHeld ? [.tell(.held(reason: nil)), .open] : [.open]
    }

    /// The partial file is open.
    mutating func opened(_ found: Found) -> [Step] {
        guard phase == .opening else { return [] }
        present = found.present
        isSpread = found.isSpread
        highWater = completedBytes
        version = found.version
        if origins.indices.contains(found.source) {
            source = found.source
            versions = completedBytes > 0 ? [source: version] : [:]
        }
        if let (keepsPartial, error) = cancelledWhileOpening {
            return end(error, keepsPartial: keepsPartial)
        }
        var steps: [Step] = []
        if let reason = found.uselessBecause {
            steps.append(.tell(.restarted(reason: reason)))
        }
        if found.wasHeld, !isHeld {
            isHeld = !releasedWhileOpening
            steps.append(isHeld ? .tell(.held(reason: nil)) : .saveHeld(false))
        } else if isHeld, !found.wasHeld {
            steps.append(.saveHeld(true))
        }
        if isHeld {
            phase = .resting
            return steps
        }
        return steps + connect()
    }

    /// The partial file could not be opened; nothing is left to close.
    mutating func openingFailed(_ error: DownloadError) -> [Step] {
        guard phase == .opening else { return [] }
        phase = .ended
        return [.tell(.failed(cancelledWhileOpening?.error ?? error))]
    }

    /// Somebody wants it to stop where it is.
    mutating func hold() -> [Step] {
        if roomReason != nil {
            // Held for want of room; from here on it waits for whoever holds it.
            roomReason = nil
            return [.stopTimer, .saveHeld(true), .tell(.held(reason: nil))]
        }
        guard !isHeld else { return [] }
        switch phase {
        case .opening:
            isHeld = true
            releasedWhileOpening = false
            return [.tell(.held(reason: nil))]
        case .connecting:
            // libcurl forgets a pause that comes before the answer, and nothing of the file is lost yet.
            isHeld = true
            phase = .resting
            lanes = [:]
            return [.drop, .saveHeld(true), .tell(.held(reason: nil))]
        case .receiving:
            isHeld = true
            let unanswered = lanes.filter { !$0.value.isReceiving }.map(\.key).sorted()
            for number in unanswered { lanes[number] = nil }
            return unanswered.map { .dropLane($0) } + [
                .pause, .saveHeld(true), .startTimer(limits.pauseLimit), .tell(.held(reason: nil)),
            ]
        case .waiting:
            isHeld = true
            phase = .resting
            return [.stopTimer, .saveHeld(true), .tell(.held(reason: nil))]
        case .resting, .sealing, .closing, .ended:
            return []
        }
    }

    /// Somebody wants it to go on.
    mutating func release() -> [Step] {
        if phase == .opening {
            releasedWhileOpening = true
        }
        guard isHeld else { return [] }
        switch phase {
        case .opening:
            isHeld = false
            return [.tell(.released)]
        case .receiving:
            isHeld = false
            return [.saveHeld(false), .stopTimer, .tell(.released), .unpause]
        case .resting:
            isHeld = false
            attempts = 0
            let timer: [Step] = roomReason == nil ? [] : [.stopTimer]
            roomReason = nil
            return timer + [.saveHeld(false), .tell(.released)] + connect()
        case .connecting, .waiting, .sealing, .closing, .ended:
            return []
        }
    }

    /// The disk is full: it waits for room, or for whoever releases it.
    mutating func holdForRoom(_ error: DownloadError) -> [Step] {
        switch phase {
        case .connecting, .receiving, .waiting, .resting, .sealing: break
        case .opening, .closing, .ended: return []
        }
        guard limits.holdsOnFullDisk else { return end(error, keepsPartial: true) }
        lanes = [:]
        phase = .resting
        guard !isHeld else { return [.drop, .stopTimer, .sync] }
        isHeld = true
        roomReason = error.message
        return [
            .drop, .stopTimer, .sync, .tell(.held(reason: error.message)), .startTimer(limits.roomInterval),
        ]
    }

    /// Whether there is room on the disk by now.
    mutating func roomChecked(isEnough: Bool) -> [Step] {
        guard phase == .resting, roomReason != nil else { return [] }
        return isEnough ? release() : [.startTimer(limits.roomInterval)]
    }

    /// Work on the disk that takes moments failed outside of any connection.
    mutating func diskFailed(_ error: DownloadError) -> [Step] {
        error.code == .diskFull ? holdForRoom(error) : cancel(keepsPartial: true, error: error)
    }

    /// Somebody wants it to end.
    mutating func cancel(keepsPartial: Bool, error: DownloadError = .cancelled) -> [Step] {
        switch phase {
        case .opening:
            if cancelledWhileOpening == nil {
                cancelledWhileOpening = (keepsPartial, error)
            }
            return []
        case .connecting, .receiving, .waiting, .resting:
            return end(error, keepsPartial: keepsPartial)
        case .sealing, .closing, .ended:
            return []
        }
    }

    /// The time that a step asked for has passed.
    mutating func timerFired() -> [Step] {
        switch phase {
        case .waiting:
            return connect()
        case .receiving where isHeld:
            phase = .resting
            lanes = [:]
            return [.drop, .sync]
        case .resting where roomReason != nil:
            return [.checkRoom]
        default:
            return []
        }
    }

    /// The file is checked and at its place, or it is not.
    mutating func sealed(_ result: Result<DownloadedFile, DownloadError>) -> [Step] {
        guard phase == .sealing else { return [] }
        switch result {
        case .success(let file):
            phase = .ended
            return [.tell(.finished(file))]
        case .failure(let error) where error.code == .diskFull:
            return holdForRoom(error)
        case .failure(let error):
            let isBad = error.code == .checksumMismatch || error.code == .lengthMismatch
            return end(error, keepsPartial: !isBad)
        }
    }

    /// The partial file is closed.
    mutating func closed() -> [Step] {
        guard case .closing(let error) = phase else { return [] }
        phase = .ended
        return [.tell(.failed(error))]
    }

    /// Asks for what is missing, from the URL that the caller gave, by one connection.
    ///
    /// Always from there, for what it redirects to may be valid for a few minutes only.
    mutating func connect() -> [Step] {
        if isWhole { return seal() }
        var steps: [Step] = []
        let isProvable = version.validator != nil || (limits.hasChecksum && version.totalBytes != nil)
        if completedBytes > 0, !isProvable {
            steps += startOver(reason: "The server gives nothing to check that its file is still the same.")
        }
        phase = .connecting
        lanes = [:]
        growth.pauseMeasuring()
        let gap = version.totalBytes.flatMap { present.gaps(below: $0).first }
        let reachesEnd = gap == nil || gap?.upperBound == version.totalBytes
        let request = Request(
            source: source,
            address: origins[source],
            from: gap?.lowerBound ?? present.front,
            end: reachesEnd ? nil : gap?.upperBound,
            validator: completedBytes > 0 ? versions[source]?.validator : nil
        )
        var lane = Lane(request)
        lane.end = gap?.upperBound
        lanes[0] = lane
        return steps + [.connect(request)]
    }

    /// Whether every byte of a file of known length is there.
    var isWhole: Bool { completedBytes > 0 && present.front == version.totalBytes }

    /// Forgets what is there.
    mutating func startOver(reason: String) -> [Step] {
        forget()
        return [.startOver(version), .tell(.restarted(reason: reason))]
    }

    mutating func forget() {
        present = ByteMap()
        version = FileVersion()
        versions = [:]
        isSpread = false
    }

    /// All bytes are there.
    mutating func seal() -> [Step] {
        phase = .sealing
        version.totalBytes = completedBytes
        let drops: [Step] = lanes.isEmpty ? [] : [.drop]
        lanes = [:]
        return drops + started(resumedFrom: completedBytes) + [
            .tell(.progress(completedBytes: completedBytes, totalBytes: completedBytes)), .seal,
        ]
    }

    /// Tells, once, that bytes begin to come.
    mutating func started(resumedFrom: Int64) -> [Step] {
        guard !wasStarted else { return [] }
        wasStarted = true
        return [.tell(.started(totalBytes: totalBytes, resumedFrom: resumedFrom))]
    }

    /// Ends without a file.
    mutating func end(_ error: DownloadError, keepsPartial: Bool) -> [Step] {
        phase = .closing(error)
        lanes = [:]
        return [.drop, .stopTimer, .close(keepsPartial: keepsPartial)]
    }
}
