import FerryBytes
import Testing

@testable import FerrySigning

@Suite(.timeLimit(.minutes(10))) struct `Threads for signing` {
    @Test(arguments: 1...4) func `do every part of every piece once, whoever comes free`(count: Int) async throws {
        let workers = Workers(count: count)
        let totals = try await withThrowingTaskGroup(of: Int.self) { group in
            for archive in 1...6 {
                group.addTask {
                    let sums = try await workers.map(Array(1...40), cost: { $0 }, hugeCost: 30, context: {}) {
                        item,
                        _ in
                        let sum = Guarded(0)
                        workers.together((0..<item % 7).map { part in { sum.withLock { $0 += part + archive } } })
                        return sum.withLock { $0 }
                    }
                    return sums.reduce(0, +)
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        // Of each item the parts 0 to n-1, n = item mod 7, and n times the archive's number.
        let parts = (1...40).map { $0 % 7 }
        let expected = (1...6).map { archive in parts.reduce(0) { $0 + $1 * ($1 - 1) / 2 + $1 * archive } }
        #expect(totals.sorted() == expected.sorted())
    }

    @Test func `give results in the order of what was asked, though the largest come first`() async throws {
        let order = Guarded<[Int]>([])
        let results = try await Workers(count: 1).map([3, 9, 1, 7], cost: { $0 }, hugeCost: 8, context: { 0 }) {
            item,
            own in
            order.withLock { $0.append(item) }
            own += 1
            return "\(item) as number \(own)"
        }
        #expect(order.withLock { $0 } == [9, 7, 3, 1])
        #expect(results == ["3 as number 3", "9 as number 1", "1 as number 4", "7 as number 2"])
    }

    @Test func `stop at the first error`() async {
        struct Wrong: Error {}
        let workers = Workers(count: 2)
        await #expect(throws: Wrong.self) {
            _ = try await workers.map(Array(0..<100), cost: { _ in 1 }, context: {}) { item, _ in
                if item == 50 { throw Wrong() }
            }
        }
    }
}
