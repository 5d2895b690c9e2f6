/// A stream on its way out: what was written and is not sent yet, and who waits to write more. No lock, no task.
struct Outflow {
    typealias Writer = CheckedContinuation<Void, any Error>

    private var bytes: [UInt8] = []
    private var offset = 0
    private(set) var isEnded = false
    private(set) var isFailed = false
    var writer: Writer?

    /// How many bytes are still to be sent.
    var count: Int { bytes.count - offset }

    mutating func append(_ new: [UInt8]) {
        if offset == bytes.count {
            bytes = new
            offset = 0
        } else {
            bytes += new
        }
    }

    /// Moves some into `buffer`, and says how many.
    mutating func take(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        let taken = min(buffer.count, count)
        bytes.withUnsafeBytes { buffer.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[offset..<offset + taken])) }
        offset += taken
        if offset == bytes.count {
            bytes = []
            offset = 0
        }
        return taken
    }

    /// Nothing more is written. `isFailed`: the client is to see that something is missing.
    mutating func end(isFailed: Bool) {
        guard !isEnded else { return }
        isEnded = true
        self.isFailed = isFailed
    }
}
