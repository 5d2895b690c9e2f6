import FerryBytes
import Testing

@testable import FerryPipeline

/// What happened, in order.
private final class Diary: Sendable {
    private let lines = Guarded<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func note(_ line: String) { lines.withLock { $0.append(line) } }
}

/// How many are inside, and how many there were at most.
private final class Headcount: Sendable {
    private let state = Guarded((now: 0, most: 0))
    var now: Int { state.withLock { $0.now } }
    var most: Int { state.withLock { $0.most } }
    func enter() {
        state.withLock { state in
            state.now += 1
            state.most = max(state.most, state.now)
        }
    }
    func leave() { state.withLock { $0.now -= 1 } }
}

/// Opens once, for all who wait.
private struct Door: Sendable {
    private let stream: AsyncStream<Never>
    private let continuation: AsyncStream<Never>.Continuation
    init() { (stream, continuation) = AsyncStream.makeStream() }
    func open() { continuation.finish() }
    func wait() async { for await _ in stream {} }
}

@Suite(.timeLimit(.minutes(10))) struct `A turnstile` {
    @Test func `lets people in in the order in which they came`() async throws {
        let turnstile = Turnstile(limit: 1)
        let diary = Diary()
        let (first, isIn) = (Door(), Door())
        let holder = Task {
            try await turnstile.pass {
                isIn.open()
                await first.wait()
            }
        }
        await isIn.wait()
        var others: [Task<Void, any Error>] = []
        for number in 1...5 {
            others.append(Task { try await turnstile.pass { diary.note("\(number)") } })
            while await turnstile.count != number { await Task.yield() }
        }
        #expect(diary.all.isEmpty)
        first.open()
        try await holder.value
        for other in others { try await other.value }
        #expect(diary.all == ["1", "2", "3", "4", "5"])
    }

    @Test func `tells those who have to wait, and nobody else`() async throws {
        let turnstile = Turnstile(limit: 1)
        let diary = Diary()
        let (first, isIn) = (Door(), Door())
        let holder = Task {
            try await turnstile.pass(waits: { diary.note("the first waits") }) {
                isIn.open()
                await first.wait()
            }
        }
        await isIn.wait()
        let (told, goesOn) = (Door(), Door())
        let second = Task {
            try await turnstile.pass(
                waits: {
                    diary.note("the second waits")
                    told.open()
                    await goesOn.wait()
                },
                { diary.note("the second is in") }
            )
        }
        await told.wait()
        #expect(await turnstile.count == 1)
        // It is its turn before it has told that it waits.
        first.open()
        try await holder.value
        #expect(await turnstile.count == 0)
        goesOn.open()
        try await second.value
        #expect(diary.all == ["the second waits", "the second is in"])
        try await turnstile.pass(waits: { diary.note("the third waits") }) { diary.note("the third is in") }
        #expect(diary.all.last == "the third is in")
        #expect(diary.all.count == 3)
    }

    @Test func `gives the room on of one who is cancelled before it waits`() async throws {
        let turnstile = Turnstile(limit: 1)
        let (first, isIn) = (Door(), Door())
        let holder = Task {
            try await turnstile.pass {
                isIn.open()
                await first.wait()
            }
        }
        await isIn.wait()
        let (told, goesOn) = (Door(), Door())
        let second = Task {
            try await turnstile.pass(
                waits: {
                    told.open()
                    await goesOn.wait()
                },
                {}
            )
        }
        await told.wait()
        second.cancel()
        goesOn.open()
        await #expect(throws: CancellationError.self) { try await second.value }
        first.open()
        try await holder.value
        try await turnstile.pass {}
    }

    @Test(arguments: [1, 2, 7]) func `never has more inside than its limit`(limit: Int) async throws {
        let turnstile = Turnstile(limit: limit)
        let inside = Headcount()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<40 {
                group.addTask {
                    try await turnstile.pass {
                        inside.enter()
                        for _ in 0..<3 { await Task.yield() }
                        inside.leave()
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect((1...limit).contains(inside.most))
        #expect(inside.now == 0)
    }

    @Test func `turns away who is cancelled in line, and nobody else`() async throws {
        let turnstile = Turnstile(limit: 1)
        let diary = Diary()
        let (first, isIn) = (Door(), Door())
        let holder = Task {
            try await turnstile.pass {
                isIn.open()
                await first.wait()
            }
        }
        await isIn.wait()
        let gone = Task { try await turnstile.pass { diary.note("gone") } }
        while await turnstile.count != 1 { await Task.yield() }
        let patient = Task { try await turnstile.pass { diary.note("patient") } }
        while await turnstile.count != 2 { await Task.yield() }
        gone.cancel()
        await #expect(throws: CancellationError.self) { try await gone.value }
        first.open()
        try await holder.value
        try await patient.value
        #expect(diary.all == ["patient"])
        // And its place is free again.
        #expect(try await turnstile.pass { 4 } == 4)
    }

    @Test func `turns away who comes cancelled while it is full`() async throws {
        let turnstile = Turnstile(limit: 1)
        let late = Door()
        try await turnstile.pass {
            let task = Task {
                await late.wait()
                try await turnstile.pass {}
            }
            task.cancel()
            late.open()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
        #expect(await turnstile.count == 0)
    }

    @Test func `has its place free again after an error`() async throws {
        struct Oops: Error {}
        let turnstile = Turnstile(limit: 1)
        await #expect(throws: Oops.self) { try await turnstile.pass { throw Oops() } }
        #expect(try await turnstile.pass { 4 } == 4)
    }
}
