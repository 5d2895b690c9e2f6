import FerryBytes

/// SHA-1 and SHA-256 of content whose end is not known yet.
///
/// One worker adds the start and another, later, the end.
public final class RunningDigests: Sendable {
    private struct State: ~Copyable, Sendable {
        let sha1: Digester
        let sha256: Digester
    }

    private let state: Guarded<State>

    /// Begins with no content.
    public init() {
        state = Guarded(State(sha1: Digester(.sha1), sha256: Digester(.sha256)))
    }

    private init(_ state: consuming sending State) {
        self.state = Guarded(state)
    }

    /// What both hashes take in turn, so that the second finds it in the processor's cache.
    private static let pieceBytes = 128 << 10

    /// Adds content.
    public func update(_ bytes: UnsafeRawBufferPointer) {
        state.withLock { state in
            var rest = bytes[...]
            while !rest.isEmpty {
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceBytes))
                state.sha1.update(piece)
                state.sha256.update(piece)
                rest = rest.dropFirst(piece.count)
            }
        }
    }

    /// Adds content.
    public func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// The digests of what was added so far, which go on growing by themselves.
    public func fork() -> RunningDigests {
        state.withLock { state in
            RunningDigests(State(sha1: state.sha1.fork(), sha256: state.sha256.fork()))
        }
    }

    /// The digests of all that was added; then it begins anew.
    public func finish() -> Digests {
        state.withLock { state in
            Digests(sha1: state.sha1.finish(), sha256: state.sha256.finish())
        }
    }
}
