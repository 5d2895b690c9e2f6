import Dispatch
import FerryBytes
import Foundation

/// A far, slow line on loopback: stands between a client and a server, and gives each connection a round trip that takes
/// its time, a rate of its own, and now and then an early end.
///
/// What a connection brings comes as late as it would from afar: a handshake costs a round trip before the first byte is
/// passed on, and each byte half of one. The places where connections end come from a seed.
public final class DelayingProxy: Sendable {
    /// What the line is like.
    public struct Line: Sendable {
        /// How long a byte takes there and back.
        public var roundTrip: Duration = .milliseconds(80)
        /// How many bytes a second one connection brings.
        public var bytesPerSecond = 4_000_000
        /// After how many bytes a connection is dropped, on average; `nil` never.
        public var dropEvery: Int?
        /// From which the places of the drops come.
        public var seed: UInt64 = 1

        /// 80 ms and 4 MB/s, and no drops.
        public init() {}
    }

    private static let pieceLength = 16 << 10

    /// Its port.
    public var port: Int { relay.port }
    private let relay: Relay
    private let line: Line
    private let state: Guarded<State>

    private struct State {
        var generator: SeededGenerator
        var connections = 0
        var drops = 0
    }

    /// Passes connections on to `target` on loopback.
    public init(to target: Int, _ line: Line = Line()) throws {
        relay = try Relay(to: target)
        self.line = line
        state = Guarded(State(generator: SeededGenerator(seed: line.seed)))
        relay.start { [weak self] client, server in self?.pass(client, server) }
    }

    /// How many connections there were.
    public var connections: Int { state.withLock { $0.connections } }

    /// How many of them it has dropped.
    public var drops: Int { state.withLock { $0.drops } }

    private func pass(_ client: Socket, _ server: Socket) {
        let dropAfter: Int? = state.withLock { state in
            state.connections += 1
            guard let mean = line.dropEvery else { return nil }
            // Exponential, so that a drop is as likely at any place.
            let draw = Double.random(in: 0.001..<1, using: &state.generator)
            return max(1, Int(-Double(mean) * log(draw)))
        }
        let half = line.roundTrip.inSeconds / 2
        // The client believes that it is connected at once; from afar it would learn that a round trip later.
        carry(from: client, to: server, delay: half, handshake: 2 * half, rate: nil, dropAfter: nil)
        carry(
            from: server,
            to: client,
            delay: half,
            handshake: 0,
            rate: Double(line.bytesPerSecond),
            dropAfter: dropAfter
        )
    }

    private func carry(
        from: Socket,
        to: Socket,
        delay: Double,
        handshake: Double,
        rate: Double?,
        dropAfter: Int?
    ) {
        // No more is under way than the line holds.
        let pipe = Pipe(places: max(4, Int((rate ?? 1e6) * (2 * delay + 0.02)) / Self.pieceLength))
        let opened = ProcessInfo.processInfo.systemUptime
        Thread.detachNewThread {
            var free = opened + handshake
            while true {
                let bytes = from.read(Self.pieceLength)
                let now = ProcessInfo.processInfo.systemUptime
                free = max(now, free) + Double(bytes.count) / (rate ?? .infinity)
                pipe.put((bytes, free + delay))
                if bytes.isEmpty { return }
            }
        }
        Thread.detachNewThread { [weak self] in
            var passed = 0
            while true {
                let (bytes, due) = pipe.take()
                let wait = due - ProcessInfo.processInfo.systemUptime
                if wait > 0 { Thread.sleep(forTimeInterval: wait) }
                let wanted = bytes.prefix((dropAfter ?? .max) - passed)
                passed += to.write(wanted)
                if bytes.isEmpty || wanted.count < bytes.count || passed == dropAfter {
                    if !bytes.isEmpty { self?.state.withLock { $0.drops += 1 } }
                    break
                }
            }
            to.shutDown()
            from.shutDown()
            pipe.close()
        }
    }
}

/// Bytes that are under way, each with the time at which it arrives.
private final class Pipe: Sendable {
    typealias Piece = (bytes: [UInt8], due: Double)

    private let pieces = Guarded([Piece]())
    private let filled = DispatchSemaphore(value: 0)
    // Not begun with the number of places: a semaphore may not go with fewer than it began with.
    private let places = DispatchSemaphore(value: 0)

    /// Has room for so many pieces.
    init(places count: Int) {
        for _ in 0..<count { places.signal() }
    }

    /// Waits while the line is full. No bytes are the end.
    func put(_ piece: Piece) {
        places.wait()
        pieces.withLock { $0.append(piece) }
        filled.signal()
    }

    /// Waits for the next piece.
    func take() -> Piece {
        filled.wait()
        defer { places.signal() }
        return pieces.withLock { $0.removeFirst() }
    }

    /// Lets whoever puts go on: what is put from here on is lost.
    func close() {
        places.signal()
    }
}
