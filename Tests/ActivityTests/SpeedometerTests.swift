import Testing

@testable import FerryActivity

@Suite struct `A speedometer` {
    @Test func `knows nothing before a full window`() {
        var meter = Speedometer()
        #expect(meter.record(1_000, at: 10) == nil)
        #expect(meter.record(2_000, at: 10.4) == nil)
        #expect(meter.record(3_000, at: 10.5) == 4_000)
    }

    @Test func `keeps a steady rate`() {
        var meter = Speedometer()
        for tick in 0...40 { _ = meter.record(Int64(tick) * 500, at: Double(tick) / 2) }
        #expect(meter.bytesPerSecond == 1_000)
    }

    @Test func `follows a change bit by bit`() {
        var meter = Speedometer()
        _ = meter.record(0, at: 0)
        _ = meter.record(1_000, at: 1)
        // A second at 2,000: a fifth of the way, for 1 / (1 + 4).
        #expect(meter.record(3_000, at: 2) == 1_200)
        for second in 3...40 { _ = meter.record(Int64(second) * 2_000 - 1_000, at: Double(second)) }
        #expect(abs((meter.bytesPerSecond ?? 0) - 2_000) < 1)
    }

    @Test func `does not count what was there when a download is resumed`() {
        var meter = Speedometer()
        #expect(meter.record(900_000, at: 5) == nil)
        #expect(meter.record(900_100, at: 6) == 100)
    }

    @Test func `does not count held time`() {
        var meter = Speedometer()
        _ = meter.record(0, at: 0)
        _ = meter.record(1_000, at: 1)
        meter.hold(true)
        _ = meter.record(1_500, at: 50)
        meter.hold(false)
        #expect(meter.record(1_500, at: 100) == 1_000)
        #expect(meter.record(2_500, at: 101) == 1_000)
    }

    @Test func `begins anew when bytes or time go back`() {
        var meter = Speedometer()
        _ = meter.record(5_000, at: 0)
        _ = meter.record(6_000, at: 1)
        #expect(meter.record(0, at: 2) == 1_000)
        #expect(meter.record(1_000, at: 3) == 1_000)
        #expect(meter.record(.min, at: 3.5) == 1_000)
        #expect(meter.record(.max, at: 2) == 1_000)
    }

    @Test func `falls when nothing comes`() {
        var meter = Speedometer()
        _ = meter.record(0, at: 0)
        _ = meter.record(1_000, at: 1)
        #expect(meter.record(1_000, at: 5) == 500)
    }

    @Test func `measures bytes of the present stage only`() {
        var meters = Meters()
        #expect(meters.observe(.progress("a", .bytes(0, of: nil)), at: 0) == nil)
        #expect(meters.observe(.progress("a", .bytes(100, of: nil)), at: 1) == 100)
        #expect(meters.observe(.progress("a", .steps(3, of: nil)), at: 2) == nil)
        #expect(meters.observe(.note("a", ""), at: 2) == 100)
        #expect(meters.observe(.stage("a", .signing), at: 2) == nil)
        #expect(meters.observe(.note("a", ""), at: 2) == nil)
    }
}
