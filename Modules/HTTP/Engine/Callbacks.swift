import CMicroHTTPD

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The ways in from libmicrohttpd. Each is called on one of its threads, those of one connection always on the same.
enum Callbacks {
    static let accept: MHD_AcceptPolicyCallback = { context, address, _ in
        guard let core = core(context), core.accepts(address) else { return .NO }
        return .YES
    }

    static let connection: MHD_NotifyConnectionCallback = { context, connection, slot, what in
        guard let core = core(context), let connection, let slot else { return }
        switch what {
        case .CONNECTION_NOTIFY_STARTED:
            let new = Connection(
                descriptor: ferry_mhd_socket(connection),
                address: Connection.text(ferry_mhd_address(connection))
            )
            core.opened(new)
            slot.pointee = Unmanaged.passRetained(new).toOpaque()
        case .CONNECTION_NOTIFY_CLOSED:
            guard let known = slot.pointee else { return }
            slot.pointee = nil
            core.closed(Unmanaged<Connection>.fromOpaque(known).takeRetainedValue())
        @unknown default:
            return
        }
    }

    static let request: MHD_AccessHandlerCallback = { context, connection, path, method, _, bytes, count, slot in
        guard let core = core(context), let connection, let path, let method, let count, let slot else { return .NO }
        if let known = slot.pointee {
            let exchange = Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
            if count.pointee == 0 { return exchange.bodyIsOver(path, method) }
            count.pointee -= exchange.receive(UnsafeRawBufferPointer(start: bytes, count: count.pointee))
            return exchange.goesOn
        }
        guard let link = ferry_mhd_context(connection) else { return .NO }
        let exchange = Exchange(
            core,
            connection,
            Unmanaged<Connection>.fromOpaque(link).takeUnretainedValue()
        )
        slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
        return exchange.headIsThere(path, method)
    }

    static let completed: MHD_RequestCompletedCallback = { _, _, slot, how in
        guard let slot, let known = slot.pointee else { return }
        slot.pointee = nil
        Unmanaged<Exchange>.fromOpaque(known).takeRetainedValue().completed(
            isWhole: how == .REQUEST_TERMINATED_COMPLETED_OK
        )
    }

    private static func core(_ context: UnsafeMutableRawPointer?) -> ServerCore? {
        context.map { Unmanaged<ServerCore>.fromOpaque($0).takeUnretainedValue() }
    }
}
