import Testing

@testable import FerryDownload

@Suite struct `The number of connections` {
    /// Moves a download along a line on which each connection brings `each` bytes a second, and all together at most
    /// `all`; gives how many connections there are in the end.
    private func count(each: Double, all: Double, limit: Int = 16, total: Double = 1e9) -> Int {
        var growth = LaneGrowth(.adaptive(limit: limit))
        var time = Duration.zero
        var bytes = 0.0
        while bytes < total, time < .seconds(60) {
            growth.look(
                at: time,
                completedBytes: Int64(bytes),
                missingBytes: Int64(total - bytes),
                isSteady: true
            )
            time += .milliseconds(20)
            bytes += min(all, each * Double(growth.target)) * 0.02
        }
        return growth.target
    }

    @Test(
        arguments: [
            // Far servers that give each connection a rate: as many as are allowed.
            (4e6, 1e12, 16, 16), (4e6, 1e12, 6, 6),
            // A line that one connection fills.
            (1e7, 1e7, 16, 1),
            // One that four fill.
            (4e6, 16e6, 16, 4),
            // Three bring nearly what two do: no gain worth a connection.
            (4e6, 8.4e6, 16, 2),
        ] as [(Double, Double, Int, Int)]
    )
    func `grows for as long as it helps`(each: Double, all: Double, limit: Int, count expected: Int) {
        #expect(count(each: each, all: all, limit: limit) == expected)
    }

    @Test func `stays one where the file will be there in a moment, or nothing faster could be kept up with`() {
        #expect(count(each: 1e8, all: 1e12, total: 1.4e8) == 1)
        #expect(count(each: 1e9, all: 1e12, total: 1e11) == 1)
    }

    @Test func `stays one on a line that is silent`() {
        #expect(count(each: 0, all: 0) == 1)
    }

    @Test func `is what was asked for, within reason`() {
        #expect(LaneGrowth(.fixed(4)).target == 4)
        #expect(LaneGrowth(.fixed(0)).target == 1)
        #expect(LaneGrowth(.fixed(99)).target == 16)
        #expect(LaneGrowth(.adaptive(limit: 99)).limit == 16)
        #expect(LaneGrowth(.adaptive(limit: -1)).limit == 1)
    }

    @Test func `does not grow beyond what the server refused`() {
        var growth = LaneGrowth(.fixed(8))
        growth.refused(beyond: 3)
        #expect(growth.target == 3)
        growth.refused(beyond: 5)
        #expect(growth.target == 3)
        growth.refused(beyond: 0)
        #expect(growth.target == 1)
    }
}
