/// A push in the hands of the thread: where it is, and what came for it so far.
final class Push {
    typealias Outcome = Result<PushResponse, APNsError>

    let request: PushRequest
    // Who waits for the end: a task, or a run. No enumeration, whose copies would cost more than all else here.
    let ticket: PushTicket?
    let continuation: CheckedContinuation<Outcome, Never>?
    let run: RunState?
    /// Its number in the run.
    let runNumber: Int
    /// Counts the pushes of a client, from 1: a greater one is newer.
    let number: UInt64
    /// When it fails if no answer is there.
    let deadline: Duration

    /// Where it waits.
    var place = WaitingLine.Place.nowhere
    /// The earliest moment to send it; `nil` is at once.
    var notBefore: Duration?
    /// How often it was written.
    var attempts = 0
    /// How often the service was too busy for it.
    var busyAnswers = 0
    /// How often its stream was refused or broken off.
    var brokenStreams = 0
    /// Whether a new provider token was asked for it.
    var hasRenewed = false
    /// Whether it was sent anew because of too many provider tokens.
    var hasMoved = false
    /// Whether it is over; then nothing is told any more.
    var isOver = false

    // What belongs to one attempt.
    var tokenSerial = 0
    var payloadOffset = 0
    var status = 0
    var headBytes = 0
    var bodyBytes = 0
    var body: [UInt8] = []
    var retryAfter: String?
    var uniqueID: String?

    /// A push that a task waits for.
    init(
        _ ticket: PushTicket,
        _ continuation: CheckedContinuation<Outcome, Never>,
        number: UInt64,
        deadline: Duration
    ) {
        request = ticket.request
        self.ticket = ticket
        self.continuation = continuation
        run = nil
        runNumber = 0
        self.number = number
        self.deadline = deadline
    }

    /// A push of a run.
    init(_ request: PushRequest, of run: RunState, _ runNumber: Int, number: UInt64, deadline: Duration) {
        self.request = request
        ticket = nil
        continuation = nil
        self.run = run
        self.runNumber = runNumber
        self.number = number
        self.deadline = deadline
    }

    /// Whether a cancelled task waits for it.
    var isCancelled: Bool { ticket?.isCancelled ?? false }

    /// Tells whoever waits.
    func tell(_ outcome: Outcome) {
        continuation?.resume(returning: outcome)
        guard let run else { return }
        run.underWay -= 1
        run.run.tell(runNumber, outcome)
    }

    /// Makes it ready to be written.
    func beginAttempt(tokenSerial: Int) {
        attempts += 1
        self.tokenSerial = tokenSerial
        payloadOffset = 0
        status = 0
        headBytes = 0
        bodyBytes = 0
        if !body.isEmpty { body = [] }
        retryAfter = nil
        uniqueID = nil
    }
}

/// How far the thread is with a ``PushRun``.
final class RunState {
    let run: PushRun
    var underWay = 0
    var count = 0
    var isAtEnd = false

    init(_ run: PushRun) {
        self.run = run
    }
}
