import FerryActivity
import Testing

@testable import FerryPipeline

@Suite struct `What is kept of installs that ended` {
    @Test func `is bounded, and the newest`() {
        var ended = EndedInstalls()
        for number in 0...EndedInstalls.limit { ended.add(InstallID("\(number)"), .failure(CancellationError())) }
        #expect(ended.count == EndedInstalls.limit)
        #expect(ended["0"] == nil)
        #expect(ended["1"] != nil)
        ended.add("1", .failure(CancellationError()))
        ended.add("more", .failure(CancellationError()))
        #expect(ended["1"] != nil)
        #expect(ended["2"] == nil)
        ended.forget("1")
        #expect(ended["1"] == nil)
        #expect(ended.count == EndedInstalls.limit - 1)
    }
}
