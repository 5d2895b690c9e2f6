/// The rate of one download, smoothed.
///
/// Time comes in from outside. Samples closer together than ``window`` are put together, for a rate over a few
/// milliseconds says nothing. The first full window gives the first rate; each later one moves it by
/// *t* / (*t* + ``settling``), so that a lasting change is mostly there after ``settling``.
struct Speedometer: Sendable {
    /// The least time that a rate is measured over.
    static let window = 0.5
    /// About how long the rate takes to follow a change, in seconds.
    static let settling = 4.0

    /// The rate; `nil` until a window is full.
    private(set) var bytesPerSecond: Double?
    private var start: (seconds: Double, bytes: Int64)?
    private var isHeld = false

    /// Takes the number of bytes at a moment and gives the rate.
    mutating func record(_ bytes: Int64, at seconds: Double) -> Double? {
        // Where a resumed download begins, and one that begins again, nothing has been carried yet.
        guard !isHeld, let start, bytes >= start.bytes, seconds >= start.seconds else {
            start = isHeld ? nil : (seconds, bytes)
            return bytesPerSecond
        }
        let time = seconds - start.seconds
        guard time >= Self.window else { return bytesPerSecond }
        let rate = (Double(bytes) - Double(start.bytes)) / time
        if let old = bytesPerSecond {
            bytesPerSecond = old + (rate - old) * time / (time + Self.settling)
        } else {
            bytesPerSecond = rate
        }
        self.start = (seconds, bytes)
        return bytesPerSecond
    }

    /// Stops or starts to count time; what comes in while held counts for nothing.
    mutating func hold(_ isHeld: Bool) {
        self.isHeld = isHeld
        start = nil
    }
}

/// A speedometer for each install that counts bytes.
struct Meters: Sendable {
    private var meters: [InstallID: Speedometer] = [:]

    /// Takes an event at a moment and gives the rate of its install, where one is known.
    mutating func observe(_ event: ActivityEvent, at seconds: Double) -> Double? {
        let id = event.installID
        switch event {
        case .progress(_, let progress):
            guard progress.unit == .bytes else { return nil }
            return meters[id, default: Speedometer()].record(progress.completed, at: seconds)
        case .held: meters[id]?.hold(true)
        case .released: meters[id]?.hold(false)
        case .added, .stage, .finished: meters[id] = nil
        case .named, .icon, .step, .note: break
        }
        return meters[id]?.bytesPerSecond
    }
}
