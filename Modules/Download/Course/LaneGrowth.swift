import FerryBytes

/// How many connections a download may use.
public enum ConnectionCount: Sendable, Hashable {
    /// Begins with one and adds more for as long as each step brings a measurable gain; never more than this.
    case adaptive(limit: Int)
    /// As many as this as soon as the server has shown that it can do it.
    case fixed(Int)

    /// The most that a download ever uses.
    public static let most = 16

    /// How many it may become, from one to ``most``.
    var limit: Int {
        switch self {
        case .adaptive(let limit): min(max(1, limit), Self.most)
        case .fixed(let count): min(max(1, count), Self.most)
        }
    }
}

/// Decides how many connections a download should have: measures, doubles, and stops where doubling does not help.
///
/// No clock is in here: each call says what time it is.
struct LaneGrowth: Equatable {
    /// How long one measurement takes at least.
    static let window = Duration.milliseconds(200)
    /// By how much the rate must grow for twice the connections to be worth it.
    static let gain = 1.15
    /// A file that will be there in so many seconds needs no more connections.
    static let soon = 1.5
    /// Nor does a line that brings so many bytes a second: what is slow then is this machine.
    static let plenty = 2e8

    /// The most that there may be; sinks when the server refuses more.
    private(set) var limit: Int
    /// How many there should be now.
    private(set) var target: Int
    private let isAdaptive: Bool
    private var isSettled = false
    /// When the present measurement began, and with how many bytes.
    private var begun: Mark?
    /// Bytes a second with half as many connections; zero before the first measurement.
    private var lastRate = 0.0
    /// Bytes a second of all connections, over the last second or so; zero before that is known.
    private(set) var rate = 0.0
    private var rateBegun: Mark?
    /// Measurements in a row that showed no gain.
    private var disappointments = 0

    private struct Mark: Equatable {
        var time: Duration
        var bytes: Int64
    }

    init(_ connections: ConnectionCount) {
        limit = connections.limit
        switch connections {
        case .adaptive:
            isAdaptive = true
            target = 1
        case .fixed:
            isAdaptive = false
            target = limit
        }
    }

    /// The server does not want more than this many.
    mutating func refused(beyond count: Int) {
        limit = min(limit, max(1, count))
        target = min(target, limit)
    }

    /// What was measured so far no longer counts: connections came or went, or stood still.
    mutating func pauseMeasuring() {
        begun = nil
        rateBegun = nil
    }

    private mutating func measureRate(at now: Duration, _ completedBytes: Int64) {
        guard let mark = rateBegun, completedBytes >= mark.bytes else {
            rateBegun = Mark(time: now, bytes: completedBytes)
            return
        }
        let seconds = (now - mark.time).inSeconds
        guard seconds >= 1 || (rate == 0 && seconds >= 0.2) else { return }
        rate = Double(completedBytes - mark.bytes) / seconds
        rateBegun = Mark(time: now, bytes: completedBytes)
    }

    /// Takes note of how far the file is. `isSteady` is whether all connections that should be there bring bytes.
    mutating func look(at now: Duration, completedBytes: Int64, missingBytes: Int64, isSteady: Bool) {
        measureRate(at: now, completedBytes)
        guard isAdaptive, !isSettled, target < limit else { return }
        guard isSteady, let mark = begun, completedBytes >= mark.bytes else {
            begun = isSteady ? Mark(time: now, bytes: completedBytes) : nil
            return
        }
        let seconds = (now - mark.time).inSeconds
        guard now - mark.time >= Self.window, seconds > 0 else { return }
        begun = Mark(time: now, bytes: completedBytes)
        let rate = Double(completedBytes - mark.bytes) / seconds
        guard rate > 0, rate < Self.plenty, Double(missingBytes) / rate > Self.soon else { return }
        if rate >= lastRate * Self.gain {
            lastRate = rate
            disappointments = 0
            target = min(limit, target * 2)
            begun = nil
        } else {
            disappointments += 1
            // One bad moment of the line is no verdict.
            guard disappointments == 2 else { return }
            isSettled = true
            target = max(1, target / 2)
        }
    }
}
