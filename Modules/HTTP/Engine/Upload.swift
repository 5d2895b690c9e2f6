/// A body on its way in: what has come and is not read yet, and who waits for more. No lock, no task.
struct Upload {
    typealias Reader = CheckedContinuation<[UInt8]?, any Error>

    /// What a reader gets.
    enum Read {
        case chunk([UInt8])
        case end
        case failed(BodyError)
        case wait
    }

    private(set) var waiting: [UInt8] = []
    private(set) var failure: BodyError?
    private(set) var isOver = false
    private var received = 0
    private var discarded = 0
    var limit = 0
    var reader: Reader?

    /// Takes in some bytes; `false` where they are beyond the limit.
    mutating func receive(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= limit - received else {
            fail(.tooLarge)
            return false
        }
        received += bytes.count
        waiting.append(contentsOf: bytes)
        return true
    }

    /// Counts what nobody wants; `false` when it has become too much.
    mutating func discard(_ count: Int, limit: Int) -> Bool {
        discarded += count
        return discarded <= limit
    }

    mutating func end() {
        isOver = true
    }

    /// The first failure stays; what was not read is let go.
    mutating func fail(_ error: BodyError) {
        guard failure == nil, !isOver else { return }
        failure = error
        waiting = []
    }

    mutating func read() -> Read {
        if let failure { return .failed(failure) }
        if !waiting.isEmpty {
            defer { waiting = [] }
            return .chunk(waiting)
        }
        return isOver ? .end : .wait
    }
}
