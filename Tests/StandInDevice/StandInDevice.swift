import FerryBytes
import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// usbmuxd, and devices behind it, for those who have none: enough of them for whatever installs apps.
///
/// It listens on a socket in the file system; clients find it with `USBMUXD_SOCKET_ADDRESS=UNIX:PATH`. Each device has its
/// own faults, so that tests that run beside each other can share one.
public final class StandInDevice: Sendable {
    struct State {
        var phones: [String: StandInPhone] = [:]
        /// By UDID, in the order that they came in.
        var order: [String] = []
        /// What was asked of a device, in order.
        var log: [String: [String]] = [:]
        /// Pair records that clients saved.
        var pairRecords: [String: [UInt8]] = [:]
        /// Open connections, and whose they are; empty for those that lead to none yet.
        var connections: [Int32: String] = [:]
        var serial: UInt64 = 0
    }

    /// Where it listens.
    public let socketPath: String
    /// Where the devices' files are: a folder for each.
    let folder: String
    let keys: StandInKeys
    let state = Guarded(State())
    private let listeners = Guarded<[Int32]>([])
    let hostIdentifier = UUID().uuidString
    let systemIdentifier = UUID().uuidString

    /// Listens at a path; the devices' files are put into `folder`.
    public init(socketPath: String, folder: String) throws {
        self.socketPath = socketPath
        self.folder = folder
        keys = try StandInKeys()
        unlink(socketPath)
        let socket = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let path = Array(socketPath.utf8)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw StandInFailure("listen at \(socketPath): the path is too long")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard bound == 0, Glibc.listen(socket, 128) == 0 else { throw StandInFailure("listen at \(socketPath)") }
        accept(from: socket) { device, wire in try? device.serve(wire) }
    }

    /// Ends all connections and listens no more.
    public func stop() {
        for socket in listeners.withLock({ $0 }) { shutdown(socket, Int32(SHUT_RDWR)) }
        state.withLock { state in
            for socket in state.connections.keys { shutdown(socket, Int32(SHUT_RDWR)) }
        }
        unlink(socketPath)
    }

    // MARK: Devices

    /// Connects a device, or changes one that is connected.
    public func connect(_ phone: StandInPhone) throws {
        try FileManager.default.createDirectory(atPath: root(phone.identifier), withIntermediateDirectories: true)
        let isNew = state.withLock { state in
            if state.phones.updateValue(phone, forKey: phone.identifier) == nil {
                state.order.append(phone.identifier)
                return true
            }
            return false
        }
        guard isNew, let address = phone.networkAddress else { return }
        for port in [Service.lockdown] + Service.all.map(\.port) {
            try listen(address, port) { device, wire in try? device.serve(wire, phone.identifier, port) }
        }
    }

    /// Takes a device away.
    public func disconnect(_ identifier: String) {
        state.withLock { state in
            state.phones[identifier] = nil
            state.order.removeAll { $0 == identifier }
        }
        endConnections(of: identifier)
    }

    /// A device as it is now.
    public func phone(_ identifier: String) -> StandInPhone? { state.withLock { $0.phones[identifier] } }

    /// Changes what goes wrong with a device.
    public func setFaults(_ faults: StandInFaults, of identifier: String) {
        state.withLock { $0.phones[identifier]?.faults = faults }
    }

    /// What was asked of a device, in order.
    public func log(_ identifier: String) -> [String] { state.withLock { $0.log[identifier] ?? [] } }

    /// The paths of all files and folders of a device.
    public func files(_ identifier: String) -> [String] {
        ((try? FileManager.default.subpathsOfDirectory(atPath: root(identifier))) ?? []).sorted()
    }

    /// How many connections to a device are open now.
    public func connectionCount(of identifier: String) -> Int {
        state.withLock { state in state.connections.values.count { $0 == identifier } }
    }

    /// The folder of a device's files.
    func root(_ identifier: String) -> String { folder + "/" + identifier }

    func note(_ text: String, _ identifier: String) {
        state.withLock { $0.log[identifier, default: []].append(text) }
    }

    func faults(_ identifier: String) -> StandInFaults { phone(identifier)?.faults ?? StandInFaults() }

    /// Ends every connection of a device, as pulling its cable does.
    func endConnections(of identifier: String) {
        // Under the lock: a number that is in the list is open, and still that connection's.
        state.withLock { state in
            for (socket, owner) in state.connections where owner == identifier { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    /// A fault that pulls the cable.
    func pullCable(_ identifier: String) {
        if faults(identifier).vanishes {
            disconnect(identifier)
        } else {
            endConnections(of: identifier)
        }
    }

    // MARK: Sockets

    private func listen(
        _ address: [UInt8],
        _ port: UInt16,
        _ serve: @escaping @Sendable (StandInDevice, Wire) -> Void
    ) throws {
        let socket = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var yes: Int32 = 1
        setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_port = port.bigEndian
        name.sin_addr.s_addr = address.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }.bigEndian
        let bound = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(socket, pointer, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard bound == 0, Glibc.listen(socket, 64) == 0 else { throw StandInFailure("listen in the network") }
        accept(from: socket, serve)
    }

    private func accept(from socket: Int32, _ serve: @escaping @Sendable (StandInDevice, Wire) -> Void) {
        listeners.withLock { $0.append(socket) }
        Self.thread { [weak self] in
            while true {
                let accepted = Glibc.accept(socket, nil, nil)
                guard accepted >= 0 else {
                    // It was shut, as against what ended just before or finds no room for another connection.
                    if errno == EINVAL || errno == EBADF { break }
                    continue
                }
                _ = fcntl(accepted, F_SETFD, FD_CLOEXEC)
                guard let self else { break }
                self.state.withLock { $0.connections[accepted] = "" }
                Self.thread {
                    let wire = Wire(accepted)
                    serve(self, wire)
                    // Before it is closed, for the number may be used again at once.
                    _ = self.state.withLock { $0.connections.removeValue(forKey: accepted) }
                    withExtendedLifetime(wire) {}
                }
            }
            close(socket)
        }
    }

    private static func thread(_ body: @escaping @Sendable () -> Void) {
        if let thread = startThread(body) { pthread_detach(thread) }
    }
}
