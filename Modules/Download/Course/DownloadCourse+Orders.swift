import FerryWeb

// What people and the disk bring about.
extension DownloadCourse {
    /// The first steps.
    mutating func begin() -> [Step] {
        isHeld ? [.tell(.held), .open] : [.open]
    }

    /// The partial file is open.
    mutating func opened(_ found: Found) -> [Step] {
        guard phase == .opening else { return [] }
        completedBytes = found.completedBytes
        highWater = found.completedBytes
        version = found.version
        if let (keepsPartial, error) = cancelledWhileOpening {
            return end(error, keepsPartial: keepsPartial)
        }
        var steps: [Step] = []
        if let reason = found.uselessBecause {
            steps.append(.tell(.restarted(reason: reason)))
        }
        if found.wasHeld, !isHeld {
            isHeld = !releasedWhileOpening
            steps.append(isHeld ? .tell(.held) : .saveHeld(false))
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
        guard !isHeld else { return [] }
        switch phase {
        case .opening:
            isHeld = true
            releasedWhileOpening = false
            return [.tell(.held)]
        case .connecting:
            // libcurl forgets a pause that comes before the answer, and nothing of the file is lost yet.
            isHeld = true
            phase = .resting
            return [.drop, .saveHeld(true), .tell(.held)]
        case .receiving:
            isHeld = true
            return [.pause, .saveHeld(true), .startTimer(limits.pauseLimit), .tell(.held)]
        case .waiting:
            isHeld = true
            phase = .resting
            return [.stopTimer, .saveHeld(true), .tell(.held)]
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
            return [.saveHeld(false), .tell(.released)] + connect()
        case .connecting, .waiting, .sealing, .closing, .ended:
            return []
        }
    }

    /// Somebody wants it to end.
    mutating func cancel(keepsPartial: Bool, error: DownloadError = .cancelled) -> [Step] {
        switch phase {
        case .opening:
            if cancelledWhileOpening == nil {
                cancelledWhileOpening = (keepsPartial, error)
            }
            return [.abandonOpening]
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
            return [.drop, .sync]
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

    /// Asks for what is missing, from the URL that the caller gave.
    ///
    /// Always from there, for what it redirects to may be valid for a few minutes only.
    mutating func connect() -> [Step] {
        if completedBytes > 0, completedBytes == version.totalBytes {
            return seal()
        }
        var steps: [Step] = []
        if completedBytes > 0, version.validator == nil {
            steps += startOver(reason: "The server gives nothing to check that its file is still the same.")
        }
        phase = .connecting
        redirects = 0
        refusal = nil
        bodyEnd = nil
        request = Request(
            address: origin,
            from: completedBytes,
            validator: completedBytes > 0 ? version.validator : nil
        )
        return steps + [.connect(request)]
    }

    /// Forgets what is there.
    mutating func startOver(reason: String) -> [Step] {
        completedBytes = 0
        version = FileVersion()
        return [.startOver(version), .tell(.restarted(reason: reason))]
    }

    /// All bytes are there.
    mutating func seal() -> [Step] {
        phase = .sealing
        version.totalBytes = completedBytes
        return started(resumedFrom: completedBytes) + [
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
        return [.drop, .stopTimer, .close(keepsPartial: keepsPartial)]
    }
}
