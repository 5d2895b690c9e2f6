import Synchronization

/// A push on its way from a caller to the thread, and the caller's way to take it back.
final class PushTicket: Sendable {
    let request: PushRequest
    private let cancellation = Atomic(false)

    init(_ request: PushRequest) {
        self.request = request
    }

    /// Whether the caller has gone.
    var isCancelled: Bool { cancellation.load(ordering: .acquiring) }

    /// Notes that the caller has gone.
    func cancel() {
        cancellation.store(true, ordering: .releasing)
    }
}

/// Many pushes that the thread reads by itself, so many at once.
final class PushRun: Sendable {
    typealias Outcome = Result<PushResponse, APNsError>

    /// How many may be under way at once.
    let inFlight: Int
    private let nextRequest: @Sendable () -> PushRequest?
    private let each: @Sendable (Int, Outcome) -> Void
    private let end: @Sendable () -> Void

    init(
        inFlight: Int,
        next: @escaping @Sendable () -> PushRequest?,
        each: @escaping @Sendable (Int, Outcome) -> Void,
        end: @escaping @Sendable () -> Void
    ) {
        self.inFlight = max(1, inFlight)
        nextRequest = next
        self.each = each
        self.end = end
    }

    /// Hands itself to the thread; where that has ended, it is over at once.
    func start(_ loop: PushLoop) {
        if !loop.send(.run(self)) { end() }
    }

    /// The next request; `nil` at the end.
    func next() -> PushRequest? { nextRequest() }

    /// Tells how one ended.
    func tell(_ number: Int, _ outcome: Outcome) { each(number, outcome) }

    /// Tells that all have ended.
    func finish() { end() }
}
