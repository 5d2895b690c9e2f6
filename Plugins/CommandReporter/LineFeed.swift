import FerryActivity

/// The lines that wait for a program, and what it would have to be told if it began anew.
///
/// Facts wait up to a bound. Progress is left out while much waits: it would be old when it is read.
struct LineFeed: Sendable {
    private let limits: CommandLimits
    private var lines: JSONLines
    private var last: Activity?
    private var waiting: [[UInt8]] = []
    /// How many of ``waiting`` have been given, and how many bytes of the next.
    private var given = 0
    private var givenBytes = 0
    /// How many bytes have not been taken.
    private(set) var unread = 0
    /// Whether more was said than may wait.
    private(set) var isOverfull = false

    init(_ limits: CommandLimits) {
        self.limits = limits
        lines = JSONLines(progressPerSecond: limits.progressPerSecond)
    }

    /// Whether there is something to write.
    var isEmpty: Bool { unread == 0 }

    /// Takes an update.
    mutating func take(_ update: ActivityUpdate) {
        last = update.activity
        append(update)
    }

    /// Forgets what waits, and tells everything again that makes up the present state.
    mutating func beginAnew() {
        lines = JSONLines(progressPerSecond: limits.progressPerSecond)
        waiting = []
        (given, givenBytes, unread) = (0, 0, 0)
        for update in last?.retelling ?? [] { append(update) }
    }

    /// The next bytes, at most to the end of a line; empty where there are none.
    var next: ArraySlice<UInt8> {
        given < waiting.count ? waiting[given][givenBytes...] : []
    }

    /// Notes that the program has that many bytes of ``next``.
    mutating func took(_ count: Int) {
        unread -= count
        givenBytes += count
        guard given < waiting.count, givenBytes == waiting[given].count else { return }
        givenBytes = 0
        given += 1
        // Each line is moved once for every time it is halved away.
        if given * 2 >= waiting.count {
            waiting.removeFirst(given)
            given = 0
        }
    }

    private mutating func append(_ update: ActivityUpdate) {
        guard !isOverfull, update.fact != nil || unread <= limits.unreadBytesWithProgress else { return }
        for line in lines.lines(for: update) {
            let bytes = Array(line.utf8)
            waiting.append(bytes)
            unread += bytes.count
        }
        if unread > limits.unreadBytes { isOverfull = true }
    }
}
