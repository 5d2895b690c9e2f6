import TestKit
import Testing

@testable import FerryAPNs

@Suite struct `A line of waiting pushes` {
    /// So that what changes the line may stand in an expectation.
    private final class Box {
        private var line = WaitingLine()

        var count: Int { line.count }
        var hasReady: Bool { line.hasReady }
        var nextRelease: Duration? { line.nextRelease }

        func add(_ push: Push) -> Push? { line.add(push) }
        func takeBack(_ push: Push) -> Bool { line.takeBack(push) }
        func next() -> Push? { line.next() }
        func remove(_ push: Push) { line.remove(push) }
        func release(at now: Duration) { line.release(at: now) }
        func ended(_ push: Push, wasAnswered: Bool) { line.ended(push, wasAnswered: wasAnswered) }
    }

    private func push(_ number: UInt64, key: String? = nil) throws -> Push {
        let run = RunState(PushRun(inFlight: 1, next: { nil }, each: { _, _ in }, end: {}))
        let request = try World.push(Int(number), replacementKey: key)
        return Push(request, of: run, Int(number), number: number, deadline: .seconds(60))
    }

    private func drain(_ box: Box) -> [UInt64] {
        var numbers: [UInt64] = []
        while let push = box.next() { numbers.append(push.number) }
        return numbers
    }

    @Test func `goes in order, those that are sent anew first`() throws {
        let box = Box()
        for number in 1...5 as ClosedRange<UInt64> { _ = box.add(try push(number)) }
        let first = try #require(box.next())
        let second = try #require(box.next())
        #expect([first.number, second.number] == [1, 2])
        #expect(box.takeBack(first))
        #expect(box.takeBack(second))
        #expect(box.count == 5)
        #expect(drain(box) == [1, 2, 3, 4, 5])
        #expect(box.count == 0)
    }

    @Test func `gives a newer push the place of the older one`() throws {
        let box = Box()
        let older = try push(1, key: "a")
        #expect(box.add(older) == nil)
        #expect(box.add(try push(2, key: "b")) == nil)
        #expect(box.add(try push(3, key: "a")) === older)
        box.ended(older, wasAnswered: false)
        #expect(box.count == 2)
        #expect(drain(box) == [3, 2])
    }

    @Test func `takes none back that a newer one stands for`() throws {
        let box = Box()
        let older = try push(1, key: "a")
        _ = box.add(older)
        _ = box.next()
        let newer = try push(2, key: "a")
        #expect(box.add(newer) == nil)
        _ = box.next()
        #expect(!box.takeBack(older))
        // Where the newer one did not get there, the older one is better than none.
        box.ended(newer, wasAnswered: false)
        #expect(box.takeBack(older))
        #expect(drain(box) == [1])
    }

    @Test func `holds delayed pushes until their time, and their place for a newer one`() throws {
        let box = Box()
        let delayed = try (1...3 as ClosedRange<UInt64>).map { try push($0, key: "\($0)") }
        for push in delayed { _ = box.add(push) }
        _ = drain(box)
        for (index, push) in delayed.enumerated() {
            push.notBefore = .seconds(10 * (index + 1))
            #expect(box.takeBack(push))
        }
        #expect(!box.hasReady)
        #expect(box.nextRelease == .seconds(10))
        #expect(box.add(try push(4, key: "2")) === delayed[1])
        box.remove(delayed[0])
        box.release(at: .seconds(19))
        #expect(!box.hasReady)
        box.release(at: .seconds(20))
        #expect(drain(box) == [4])
        box.release(at: .seconds(30))
        #expect(drain(box) == [3])
        #expect(box.count == 0)
    }

    @Test func `keeps its books through thousands of adds, removes and replacements`() throws {
        let seed = UInt64.random(in: 0...UInt64.max)
        print("seed \(seed)")
        var generator = SeededGenerator(seed: seed)
        let box = Box()
        var alive: [UInt64: Push] = [:]
        var out: [Push] = []
        for number in 1...5000 as ClosedRange<UInt64> {
            switch UInt64.random(in: 0..<6, using: &generator) {
            case 0...2:
                let key = number.isMultiple(of: 3) ? nil : "\(number % 17)"
                let push = try push(number, key: key)
                if let older = box.add(push) {
                    box.ended(older, wasAnswered: false)
                    #expect(alive.removeValue(forKey: older.number) === older)
                }
                alive[number] = push
            case 3:
                if let push = box.next() {
                    #expect(alive.removeValue(forKey: push.number) === push)
                    out.append(push)
                }
            case 4:
                guard let push = out.popLast() else { continue }
                push.notBefore = number.isMultiple(of: 2) ? .seconds(Int(number)) : nil
                if box.takeBack(push) { alive[push.number] = push } else { box.ended(push, wasAnswered: false) }
            default:
                if let push = alive.values.min(by: { $0.number < $1.number }) {
                    box.remove(push)
                    box.ended(push, wasAnswered: false)
                    alive[push.number] = nil
                }
            }
            box.release(at: .seconds(Int(number) / 2))
            #expect(box.count == alive.count)
        }
        box.release(at: .seconds(1 << 20))
        #expect(Set(drain(box)) == Set(alive.keys))
    }
}
