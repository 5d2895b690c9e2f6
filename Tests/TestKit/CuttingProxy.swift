import FerryBytes
import Foundation

/// Stands between an HTTP client and a server on loopback, and cuts connections where a test says.
///
/// A cut is clean: what was passed on before it reaches the client, then the connection ends. So the bytes that are
/// counted here are those that the client got, unless the client itself went away.
public final class CuttingProxy: Sendable {
    /// One connection: what was asked and how much of the answer's body was passed on.
    public struct Passage: Sendable {
        /// The first byte of `Range: bytes=N-`; zero where none was asked for.
        public var firstByte = 0
        /// The answer's status.
        public var status = 0
        /// How many bytes of the body the client was sent.
        public var bodyBytes = 0
        /// Whether we cut it.
        public var wasCut = false
        /// Whether nothing more will be passed on.
        public var isOver = false
    }

    /// Its port.
    public var port: Int { relay.port }
    private let relay: Relay
    private let state: Guarded<State>
    private let cutAfter: @Sendable (Int) -> Int?

    private struct State {
        var passages: [Passage] = []
    }

    /// Passes connections on to `target`. `cutAfter` is given how many cuts there were, and says after how many bytes of
    /// the body the next connection is cut; `nil` never.
    public init(to target: Int, cutAfter: @escaping @Sendable (Int) -> Int?) throws {
        relay = try Relay(to: target)
        self.cutAfter = cutAfter
        state = Guarded(State())
        relay.start { [weak self] client, server in self?.pass(client, server) }
    }

    /// The connections so far, in order.
    public var passages: [Passage] { state.withLock { $0.passages } }

    private func pass(_ client: Socket, _ server: Socket) {
        let number = state.withLock { state in
            state.passages.append(Passage())
            return state.passages.count - 1
        }
        Thread.detachNewThread { [weak self] in
            while true {
                let bytes = client.read()
                guard !bytes.isEmpty else { break }
                self?.note(number) { passage in
                    let text = String(decoding: bytes, as: UTF8.self)
                    if let range = text.range(of: "Range: bytes=") {
                        passage.firstByte = Int(text[range.upperBound...].prefix { $0 != "-" }) ?? 0
                    }
                }
                _ = server.write(bytes[...])
            }
            server.shutDown()
        }
        let limit = cutAfter(passages.count { $0.wasCut })
        Thread.detachNewThread { [weak self] in
            self?.passBack(from: server, to: client, number, limit)
            client.shutDown()
            server.shutDown()
            self?.note(number) { $0.isOver = true }
        }
    }

    private func passBack(from server: Socket, to client: Socket, _ number: Int, _ limit: Int?) {
        var head: [UInt8]? = []
        var passed = 0
        while true {
            var bytes = server.read()[...]
            guard !bytes.isEmpty else { return }
            if var begun = head {
                begun += bytes
                guard let end = begun.firstRange(of: Array("\r\n\r\n".utf8)) else {
                    head = begun
                    continue
                }
                let status = Int(String(decoding: begun.dropFirst("HTTP/1.1 ".count).prefix(3), as: UTF8.self)) ?? 0
                note(number) { $0.status = status }
                _ = client.write(begun[..<end.upperBound])
                bytes = begun[end.upperBound...]
                head = nil
            }
            let wanted = bytes.prefix((limit ?? .max) - passed)
            passed += client.write(wanted)
            note(number) { passage in
                passage.bodyBytes = passed
                passage.wasCut = passed == limit
            }
            if passed == limit { return }
        }
    }

    private func note(_ number: Int, _ change: (inout Passage) -> Void) {
        state.withLock { change(&$0.passages[number]) }
    }
}
