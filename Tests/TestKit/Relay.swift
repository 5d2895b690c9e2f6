import FerryBytes
import Foundation

/// Takes connections on loopback and makes one to a server for each; what stands between the two is for its owner.
///
/// With its last reference it takes no more and ends those that there are.
final class Relay: Sendable {
    /// Its port.
    let port: Int
    private let target: Int
    private let listener: Socket
    private let open = Guarded<[Socket]>([])

    /// Listens; connections wait until ``start(_:)``.
    init(to target: Int) throws {
        (listener, port) = try Socket.listen()
        self.target = target
    }

    deinit {
        listener.shutDown()
        open.withLock { open in
            for socket in open { socket.shutDown() }
        }
    }

    /// Hands each pair to `pass`, which must keep neither the relay nor its owner alive.
    func start(_ pass: @escaping @Sendable (_ client: Socket, _ server: Socket) -> Void) {
        let listener = listener
        // Nor must the thread, or it would never stop.
        Thread.detachNewThread { [weak self] in
            while let client = listener.accept() {
                guard let server = self?.connect(client) else { continue }
                pass(client, server)
            }
        }
    }

    private func connect(_ client: Socket) -> Socket? {
        guard let server = try? Socket.connect(port: target) else {
            client.shutDown()
            return nil
        }
        open.withLock { $0 += [client, server] }
        return server
    }
}
