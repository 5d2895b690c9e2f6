package import Synchronization

/// A `Mutex` that ThreadSanitizer can see through.
///
/// The slow path of Swift's `Mutex`, taken when two threads want it at once, is in the standard library, which is not
/// instrumented; so each contended lock looks like a race. The atomic in here says the same as the lock, where
/// ThreadSanitizer sees it. Without it, that is two plain moves.
package struct Guarded<Value: ~Copyable>: ~Copyable, Sendable {
    @usableFromInline let mutex: Mutex<Value>
    @usableFromInline let turn = Atomic<UInt8>(0)

    /// Guards `value`.
    package init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Lets `body` alone have the value.
    ///
    /// Always inlined: as a call, it would look up the types of value and result each time.
    @inlinable @inline(__always)
    package borrowing func withLock<Result: ~Copyable, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        try mutex.withLock { value throws(Failure) in
            _ = turn.load(ordering: .acquiring)
            defer { turn.store(0, ordering: .releasing) }
            return try body(&value)
        }
    }
}
