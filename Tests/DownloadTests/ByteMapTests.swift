import TestKit
import Testing

@testable import FerryDownload

@Suite struct `A map of bytes` {
    /// Against a plain list of flags.
    @Test(arguments: [UInt64.random(in: 0...UInt64.max)])
    func `knows which bytes are there, and which are not`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var map = ByteMap()
            var flags = [Bool](repeating: false, count: 60)
            for _ in 0..<Int.random(in: 0...12, using: &generator) {
                let lower = Int.random(in: 0..<60, using: &generator)
                let upper = Int.random(in: lower...60, using: &generator)
                map.insert(Int64(lower)..<Int64(upper))
                for index in lower..<upper { flags[index] = true }
            }
            #expect(map.count == Int64(flags.count { $0 }), "seed \(seed)")
            #expect(map.front == Int64(flags.prefix { $0 }.count), "seed \(seed)")
            #expect(map.end == Int64((flags.lastIndex(of: true) ?? -1) + 1), "seed \(seed)")
            #expect(ByteMap(sorted: map.ranges) == map, "seed \(seed)")
            for total in [0, 1, 30, 60, 70] {
                var missing = [Bool](repeating: false, count: total)
                for gap in map.gaps(below: Int64(total)) {
                    for index in gap { missing[Int(index)] = true }
                }
                let expected = (0..<total).map { $0 >= flags.count || !flags[$0] }
                #expect(missing == expected, "seed \(seed)")
                #expect(map.below(Int64(total)).count == Int64(flags.prefix(total).count { $0 }), "seed \(seed)")
            }
        }
    }

    @Test(arguments: [[-1..<3], [0..<0], [0..<3, 3..<5], [4..<6, 0..<2], [0..<5, 2..<9]] as [[Range<Int64>]])
    func `takes no ranges that are none`(ranges: [Range<Int64>]) {
        #expect(ByteMap(sorted: ranges) == nil)
    }
}
