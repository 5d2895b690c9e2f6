import Dispatch
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Threads of our own for work that computes without a pause.
///
/// The pool that all of Swift's tasks share has a thread a core; hashing on it would stop every other task, such as the
/// one that shows progress.
final class Workers: TaskExecutor {
    /// How many threads there are.
    let count: Int
    private let queue = Queue()

    /// What the threads hold on to; they must not keep the pool itself alive.
    private final class Queue: Sendable {
        private let jobs = Guarded<[UnownedJob?]>([])
        private let ready = DispatchSemaphore(value: 0)

        func add(_ job: UnownedJob?) {
            jobs.withLock { $0.append(job) }
            ready.signal()
        }

        /// The oldest job; `nil` ends a thread.
        func next() -> UnownedJob? {
            ready.wait()
            return jobs.withLock { $0.removeFirst() }
        }
    }

    private final class Start: Sendable {
        let queue: Queue
        let executor: UnownedTaskExecutor

        init(_ queue: Queue, _ executor: UnownedTaskExecutor) {
            self.queue = queue
            self.executor = executor
        }
    }

    /// Starts `count` threads; they end with the pool.
    init(count: Int) {
        self.count = max(1, count)
        for _ in 0..<self.count {
            let start = Unmanaged.passRetained(Start(queue, asUnownedTaskExecutor()))
            #if canImport(Darwin)
            var thread: pthread_t?
            #else
            var thread = pthread_t()
            #endif
            let code = pthread_create(&thread, nil, Self.run, start.toOpaque())
            guard code == 0 else { preconditionFailure("the system gives no thread: error \(code)") }
            #if canImport(Darwin)
            if let thread { pthread_detach(thread) }
            #else
            pthread_detach(thread)
            #endif
        }
    }

    deinit {
        for _ in 0..<count {
            queue.add(nil)
        }
    }

    #if canImport(Darwin)
    private static let run: @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? = { argument in
        serve(argument)
        return nil
    }
    #else
    private static let run: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { argument in
        serve(argument)
        return nil
    }
    #endif

    private static func serve(_ argument: UnsafeMutableRawPointer?) {
        guard let argument else { return }
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        while let job = start.queue.next() {
            job.runSynchronously(on: start.executor)
        }
    }

    /// Takes a job of a task that runs here.
    func enqueue(_ job: consuming ExecutorJob) {
        queue.add(UnownedJob(job))
    }
}

extension Workers {
    /// Runs `body` once for every item, on all threads, and gives the results in the items' order.
    ///
    /// The largest come first, so that no thread ends with a large one alone. Of those that cost more than
    /// `hugeCost` one runs at a time, which bounds the memory. Each thread makes one `Context` and keeps it.
    func map<Item: Sendable, Context, Result: Sendable>(
        _ items: [Item],
        cost: (Item) -> Int,
        hugeCost: Int = .max,
        context: @escaping @Sendable () -> Context,
        _ body: @escaping @Sendable (Item, inout Context) throws -> Result
    ) async throws -> [Result] {
        let order = items.indices.map { (index: $0, cost: cost(items[$0])) }.sorted { $0.cost > $1.cost }
        let work = Worklist(order, hugeCost: hugeCost)
        return try await withThrowingTaskGroup(of: [(Int, Result)].self) { group in
            for _ in 0..<min(count, items.count) {
                group.addTask(executorPreference: self) {
                    var own = context()
                    var results: [(Int, Result)] = []
                    while let next = work.next() {
                        try Task.checkCancellation()
                        results.append((next.index, try body(items[next.index], &own)))
                        work.finished(next)
                    }
                    return results
                }
            }
            var results = [Result?](repeating: nil, count: items.count)
            for try await part in group {
                for (index, result) in part {
                    results[index] = result
                }
            }
            return results.compactMap(\.self)
        }
    }
}

/// What is left to do, the largest first.
private final class Worklist: Sendable {
    struct Entry: Sendable {
        let index: Int
        let isHuge: Bool
    }

    private struct State {
        var huge: ArraySlice<Int>
        var others: ArraySlice<Int>
        var hugeIsRunning = false
    }

    private let state: Guarded<State>

    init(_ order: [(index: Int, cost: Int)], hugeCost: Int) {
        let split = order.firstIndex { $0.cost <= hugeCost } ?? order.count
        let indexes = order.map(\.index)
        state = Guarded(State(huge: indexes[..<split], others: indexes[split...]))
    }

    /// The next entry to work on; `nil` where none may be begun any more by the one who asks.
    func next() -> Entry? {
        state.withLock { state in
            if !state.hugeIsRunning, let index = state.huge.popFirst() {
                state.hugeIsRunning = true
                return Entry(index: index, isHuge: true)
            }
            // Whoever runs the huge one takes those that are left of its kind.
            return state.others.popFirst().map { Entry(index: $0, isHuge: false) }
        }
    }

    func finished(_ entry: Entry) {
        guard entry.isHuge else { return }
        state.withLock { $0.hugeIsRunning = false }
    }
}
