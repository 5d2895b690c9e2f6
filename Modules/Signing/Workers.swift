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
        private struct State {
            var jobs: [UnownedJob?] = []
            var errands: [Errands] = []
        }

        private let state = Guarded(State())
        private let ready = DispatchSemaphore(value: 0)

        func add(_ job: UnownedJob?) {
            state.withLock { $0.jobs.append(job) }
            ready.signal()
        }

        func add(_ errands: Errands, helpers: Int) {
            state.withLock { $0.errands.append(errands) }
            for _ in 0..<helpers { ready.signal() }
        }

        func remove(_ errands: Errands) {
            state.withLock { $0.errands.removeAll { $0 === errands } }
        }

        /// Does one errand; `false` where there is none.
        func help() -> Bool {
            guard let errands = state.withLock({ $0.errands.first }) else { return false }
            if errands.runNext() { return true }
            // Its owner only waits for those that others do.
            remove(errands)
            return true
        }

        /// The oldest job, once no errand is left; `nil` ends a thread.
        func next() -> UnownedJob? {
            while true {
                ready.wait()
                while help() {}
                // Errands that their owner did himself leave a signal behind.
                let jobs = state.withLock { state in
                    let first = Array(state.jobs.prefix(1))
                    state.jobs.removeFirst(first.count)
                    return first
                }
                if let job = jobs.first { return job }
            }
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

    /// Does the parts of a piece of work at the same time: on the thread that calls, and on others as they come free.
    /// Gives what comes of each, in their order.
    ///
    /// For a thread of this pool, which waits until all are done.
    @discardableResult
    func together<Result: Sendable>(_ parts: [@Sendable () -> Result]) -> [Result] {
        guard count > 1, parts.count > 1 else { return parts.map { $0() } }
        let results = Guarded([Result?](repeating: nil, count: parts.count))
        let errands = Errands(
            parts.enumerated().map { index, part in
                {
                    let result = part()
                    results.withLock { $0[index] = result }
                }
            }
        )
        queue.add(errands, helpers: min(count, parts.count) - 1)
        while errands.runNext() {}
        queue.remove(errands)
        errands.wait()
        return results.withLock { $0.compactMap(\.self) }
    }

    /// Takes a job of a task that runs here.
    func enqueue(_ job: consuming ExecutorJob) {
        queue.add(UnownedJob(job))
    }
}

/// Parts of one piece of work, each for whoever takes it first.
private final class Errands: Sendable {
    private let parts: [@Sendable () -> Void]
    private let state = Guarded((begun: 0, done: 0))
    private let allDone = DispatchSemaphore(value: 0)

    init(_ parts: [@Sendable () -> Void]) {
        self.parts = parts
    }

    /// Does the next part; `false` where none is left to begin.
    func runNext() -> Bool {
        let index = state.withLock { state -> Int? in
            guard state.begun < parts.count else { return nil }
            state.begun += 1
            return state.begun - 1
        }
        guard let index else { return false }
        parts[index]()
        let isLast = state.withLock { state in
            state.done += 1
            return state.done == parts.count
        }
        if isLast { allDone.signal() }
        return true
    }

    /// Waits for those that others began.
    func wait() {
        allDone.wait()
    }
}

extension Workers {
    /// Runs `body` once for every item, on all threads, and gives the results in the items' order.
    ///
    /// The largest come first, so that no thread ends with a large one alone. Those that cost more than `hugeCost` are all
    /// for one thread, which bounds the memory. Each thread makes one `Context` and keeps it.
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
                    var takesHuge = false
                    while let index = work.next(&takesHuge) {
                        try Task.checkCancellation()
                        while self.queue.help() {}
                        results.append((index, try body(items[index], &own)))
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
    private struct State {
        var huge: ArraySlice<Int>
        var others: ArraySlice<Int>
        var hugeIsTaken = false
    }

    private let state: Guarded<State>

    init(_ order: [(index: Int, cost: Int)], hugeCost: Int) {
        let split = order.firstIndex { $0.cost <= hugeCost } ?? order.count
        let indexes = order.map(\.index)
        state = Guarded(State(huge: indexes[..<split], others: indexes[split...]))
    }

    /// The next one to work on; `nil` where there is none for the thread that asks.
    ///
    /// - Parameter takesHuge: whether that thread has taken the huge ones on.
    func next(_ takesHuge: inout Bool) -> Int? {
        let takes = takesHuge
        let (index, isHuge) = state.withLock { state -> (Int?, Bool) in
            if takes || !state.hugeIsTaken, let index = state.huge.popFirst() {
                state.hugeIsTaken = true
                return (index, true)
            }
            return (state.others.popFirst(), takes)
        }
        takesHuge = isHuge
        return index
    }
}
