import TestKit
import Testing

@testable import FerryAPNs

@Suite struct `A table of streams` {
    private func push(_ number: UInt64) throws -> Push {
        let run = RunState(PushRun(inFlight: 1, next: { nil }, each: { _, _ in }, end: {}))
        return Push(try World.push(), of: run, 0, number: number, deadline: .zero)
    }

    @Test func `finds what a dictionary finds, whatever comes and goes`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        var table = StreamTable()
        var expected: [Int32: Push] = [:]
        var next: Int32 = 1
        for step in 0..<6000 {
            // First more come than go, then the other way round, while one old stream stays open.
            if Int.random(in: 0..<100, using: &generator) < (step < 3000 ? 60 : 45) {
                let push = try push(UInt64(next))
                table.insert(push, next)
                expected[next] = push
                next += 2
            } else if let stream = expected.keys.filter({ $0 != 1 }).randomElement(using: &generator) {
                let removed = table.remove(stream)
                #expect(removed === expected.removeValue(forKey: stream))
            }
            #expect(table.count == expected.count)
        }
        for stream in Int32(-3)...next {
            #expect(table[stream] === expected[stream])
        }
        #expect(Set(table.pushes.map(\.number)) == Set(expected.values.map(\.number)))
        let first = try #require(expected[1])
        #expect(table.stream(of: first) == 1)
        let all = table.removeAll()
        #expect(all.count == expected.count)
        #expect(table.isEmpty)
        let absent = table.remove(1)
        #expect(absent == nil)
    }
}
