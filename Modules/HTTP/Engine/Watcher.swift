import CMicroHTTPD
import FerryBytes
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Looks after exchanges that wait for us, not for the network: the library does not see that their clients go away.
///
/// A thread waits until one of their sockets is closed from outside. It also ends connections that never finish the head
/// of a request. Elsewhere than on Linux nobody looks: there a client that went away is noticed at the next byte.
final class Watcher: Sendable {
    private struct Table {
        var exchanges: [UInt64: Exchange] = [:]
        var isClosed = false
    }

    private let table = Guarded(Table())
    private let sweep: @Sendable () -> Void
    private let epoll: Int32
    private let waker: Int32
    private let isOver = Atomic(false)

    /// How often `sweep` is called, at the least, in milliseconds.
    private static let pause: Int32 = 1000

    init(sweep: @escaping @Sendable () -> Void) throws(HTTPError) {
        self.sweep = sweep
        #if os(Linux)
        epoll = ferry_epoll_new()
        waker = ferry_waker_new()
        guard epoll >= 0, waker >= 0, ferry_epoll_add_waker(epoll, waker) == 0 else {
            throw HTTPError(.system, "The system gives no more files to watch.", remedy: "Raise the limit: ulimit -n.")
        }
        #else
        epoll = -1
        waker = -1
        #endif
        guard let thread = startThread({ [self] in run() }) else {
            throw HTTPError(.system, "No thread can be had.", remedy: "Check this machine's limits.")
        }
        pthread_detach(thread)
    }

    deinit {
        if epoll >= 0 { closeDescriptor(epoll) }
        if waker >= 0 { closeDescriptor(waker) }
    }

    /// Looks after an exchange; `false` once it is closed, and then the exchange must not wait.
    func watch(_ exchange: Exchange) -> Bool {
        table.withLock { table in
            if table.isClosed { return false }
            table.exchanges[exchange.number] = exchange
            #if os(Linux)
            _ = ferry_epoll_watch(epoll, exchange.connection.descriptor, exchange.number)
            #endif
            return true
        }
    }

    /// Looks after it no more.
    func forget(_ exchange: Exchange) {
        table.withLock { table in
            table.exchanges[exchange.number] = nil
            #if os(Linux)
            _ = ferry_epoll_forget(epoll, exchange.connection.descriptor)
            #endif
        }
    }

    /// Those that wait now.
    var waiting: [Exchange] { table.withLock { Array($0.exchanges.values) } }

    /// Takes in no more, and gives those that wait; the thread ends.
    func close() -> [Exchange] {
        isOver.store(true, ordering: .releasing)
        #if os(Linux)
        var one: UInt64 = 1
        _ = write(waker, &one, 8)
        #endif
        return table.withLock { table in
            table.isClosed = true
            return Array(table.exchanges.values)
        }
    }

    private func run() {
        #if os(Linux)
        var numbers = [UInt64](repeating: 0, count: 64)
        while !isOver.load(ordering: .acquiring) {
            let count = ferry_epoll_wait(epoll, &numbers, Self.pause)
            for number in numbers.prefix(max(0, Int(count))) where number != 0 {
                table.withLock { $0.exchanges[number] }?.clientWent()
            }
            sweep()
        }
        #else
        while !isOver.load(ordering: .acquiring) {
            usleep(UInt32(Self.pause) * 1000)
            sweep()
        }
        #endif
    }
}
