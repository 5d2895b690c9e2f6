import Testing

@testable import FerryIcons

@Suite struct `A square icon` {
    /// Black beside white.
    private let pair = Picture(width: 2, height: 1, rgba: [0, 0, 0, 255, 255, 255, 255, 255])

    @Test func `is mixed of the nearest pixels where it is larger, and stands in the middle`() {
        let square = pair.square(4)
        #expect(square.width == 4 && square.height == 4)
        let rows = (0..<4).map { Array(square.rgba[$0 * 16..<$0 * 16 + 16]) }
        // By hand: the new centres lie at -0.25, 0.25, 0.75 and 1.25 of the old ones.
        let mixed: [UInt8] = [0, 0, 0, 255, 64, 64, 64, 255, 191, 191, 191, 255, 255, 255, 255, 255]
        #expect(rows[1] == mixed && rows[2] == mixed)
        #expect(rows[0].allSatisfy { $0 == 0 } && rows[3].allSatisfy { $0 == 0 })
    }

    @Test func `takes no color from what is transparent`() {
        let half = Picture(width: 2, height: 1, rgba: [200, 100, 50, 255, 9, 9, 9, 0]).square(4)
        let row = Array(half.rgba[16..<32])
        #expect(row == [200, 100, 50, 255, 200, 100, 50, 191, 200, 100, 50, 64, 0, 0, 0, 0])
    }

    @Test(arguments: [1, 2, 57, 512, 1_024])
    func `keeps one color as it is`(side: Int) {
        let flat = Picture(width: 3, height: 3, rgba: (0..<9).flatMap { _ in [10, 20, 30, 255] as [UInt8] })
        let square = flat.square(side)
        #expect(square.rgba == (0..<side * side).flatMap { _ in [10, 20, 30, 255] as [UInt8] })
    }
}
