import Testing

@testable import FerryOverTheAir

@Suite struct `Sent bytes` {
    @Test(arguments: [
        ([0..<10, 10..<20], 20, [0..<20]), ([5..<10, 0..<3, 2..<6], 10, [0..<10]),
        ([0..<10, 0..<10, 3..<4], 10, [0..<10]),
        ([0..<1, 4..<5, 8..<9, 0..<9], 9, [0..<9]), ([3..<3, 7..<8], 1, [7..<8]), ([4..<6, 0..<2], 4, [0..<2, 4..<6]),
    ])
    func `count once, in whatever order they come`(ranges: [Range<Int>], count: Int, pieces: [Range<Int>]) {
        var sent = SentBytes()
        for range in ranges { sent.add(range) }
        #expect(sent.count == count)
        #expect(sent.pieces == pieces)
    }
}
