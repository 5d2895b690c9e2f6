/// What viewers are told, encoded once for all of them; each has a ``Cursor`` and nothing else.
///
/// Facts are numbered and kept up to a bound. Progress and the island are states: the latest is enough, and comes only
/// to a viewer that has all facts, so that it never speaks of what that viewer does not know. Of progress the last few
/// events are kept, for each has only what moved; who is further behind gets all that can move.
struct EventLog: Sendable {
    /// Where a viewer is.
    struct Cursor: Sendable, Hashable {
        /// The number of the last fact that it has; `nil` before the state.
        fileprivate(set) var fact: Int?
        fileprivate(set) var progress = 0
        fileprivate(set) var island = 0
        fileprivate(set) var beat = 0
    }

    /// What a viewer gets when it asks.
    enum Take: Sendable, Equatable {
        case bytes([UInt8])
        case wait
        /// It has everything, and nothing more comes.
        case end
        /// It is too far behind.
        case tooLate
    }

    /// How many events of progress are kept.
    static let keptProgress = 16

    let epoch: String
    private let limits: WebLimits
    private var facts: [[UInt8]] = []
    /// The number of the first fact that is kept.
    private var first = 1
    private var bytes = 0
    private var progress: [[UInt8]] = []
    private var lastProgress = 0
    private var lastIsland = 0
    private var beats = 0
    private(set) var isClosed = false
    /// What was made for the last viewer that caught up, for the next one at the same place.
    private var piece: (from: Int, to: Int, bytes: [UInt8])?

    init(epoch: String, limits: WebLimits) {
        self.epoch = epoch
        self.limits = limits
    }

    /// The number of the last fact; 0 before the first.
    var last: Int { first + facts.count - 1 }
    /// What a viewer that has everything begins after the next time.
    var lastEventID: String { "\(epoch)-\(last)" }
    /// How many facts are kept, and how many bytes they have.
    var kept: (facts: Int, bytes: Int) { (facts.count, bytes) }

    // MARK: What comes in

    mutating func addFact(_ json: String) {
        let event = Self.event("fact", json, id: "\(epoch)-\(last + 1)")
        facts.append(event)
        bytes += event.count
        guard facts.count > limits.facts || bytes > limits.factBytes else { return }
        // A tenth at once, so that each fact is moved but a few times.
        var dropped = 0
        while dropped < facts.count - 1, facts.count - dropped > limits.facts * 9 / 10 || bytes > limits.factBytes {
            bytes -= facts[dropped].count
            dropped += 1
        }
        facts.removeFirst(dropped)
        first += dropped
    }

    mutating func addProgress(_ json: String) {
        lastProgress += 1
        progress.append(Self.event("progress", json))
        if progress.count > Self.keptProgress { progress.removeFirst() }
    }

    /// The island is another one.
    mutating func islandChanged() { lastIsland += 1 }

    /// Viewers that have heard nothing get a comment.
    mutating func beat() { beats += 1 }

    mutating func close() { isClosed = true }

    // MARK: Viewers

    /// A cursor after the event of that id, if all that follows it is kept; else one at the start.
    func cursor(after id: String?) -> Cursor {
        var cursor = Cursor()
        cursor.beat = beats
        if let id, let dash = id.lastIndex(of: "-"), id[..<dash] == epoch,
            let number = Int(id[id.index(after: dash)...]),
            number >= first - 1, number <= last
        {
            cursor.fact = number
            // What it has seen of these is not in the id.
            cursor.progress = -1
            cursor.island = -1
        }
        return cursor
    }

    /// Whether that viewer would be given something.
    func hasNews(_ cursor: Cursor) -> Bool {
        cursor.fact != last || cursor.progress != lastProgress || cursor.island != lastIsland || cursor.beat != beats
            || isClosed
    }

    /// What has to be made for a viewer before it can be given what comes next.
    enum Need: Sendable {
        case nothing, state, allProgress, island
    }

    /// What ``take(_:_:)`` is to be given for that viewer.
    func need(_ cursor: Cursor) -> Need {
        guard let fact = cursor.fact else { return .state }
        if fact < last { return .nothing }
        if cursor.progress != lastProgress { return missesLittle(cursor) ? .nothing : .allProgress }
        return cursor.island == lastIsland ? .nothing : .island
    }

    /// What comes next for a viewer; `made` is the event that ``need(_:)`` asked for.
    mutating func take(_ cursor: inout Cursor, _ made: [UInt8]) -> Take {
        guard let fact = cursor.fact else {
            cursor = Cursor(fact: last, progress: lastProgress, island: lastIsland, beat: beats)
            return .bytes(made)
        }
        guard fact >= first - 1 else { return .tooLate }
        if fact < last {
            let piece = facts(after: fact)
            cursor.fact = piece.to
            cursor.beat = beats
            return .bytes(piece.bytes)
        }
        if cursor.progress != lastProgress {
            let events = missesLittle(cursor) ? progress.suffix(lastProgress - cursor.progress) : [made]
            cursor.progress = lastProgress
            cursor.beat = beats
            return .bytes(events.count == 1 ? events.first ?? [] : Array(events.joined()))
        }
        if cursor.island != lastIsland {
            cursor.island = lastIsland
            cursor.beat = beats
            return .bytes(made)
        }
        if isClosed { return .end }
        guard cursor.beat != beats else { return .wait }
        cursor.beat = beats
        return .bytes(Self.comment)
    }

    /// Whether what the viewer has not seen of progress is kept.
    private func missesLittle(_ cursor: Cursor) -> Bool {
        cursor.progress >= 0 && lastProgress - cursor.progress <= progress.count
    }

    private mutating func facts(after fact: Int) -> (from: Int, to: Int, bytes: [UInt8]) {
        if let piece, piece.from == fact, piece.to == last || piece.bytes.count >= limits.pieceBytes { return piece }
        var bytes = facts[fact + 1 - first]
        var to = fact + 1
        while to < last, bytes.count < limits.pieceBytes {
            to += 1
            bytes += facts[to - first]
        }
        let made = (from: fact, to: to, bytes: bytes)
        piece = made
        return made
    }

    private static let comment = Array(": \n\n".utf8)

    /// An event as the HTML standard has it (§9.2.5). The data is one line of JSON.
    static func event(_ type: String, _ data: String, id: String? = nil) -> [UInt8] {
        Array("\(id.map { "id: \($0)\n" } ?? "")event: \(type)\ndata: \(data)\n\n".utf8)
    }
}
