import FerryActivity
import Foundation
import TestKit
import Testing

@testable import FerryLiveActivity

@Suite struct `A content state` {
    @Test func `has no numbers once nothing is downloading`() {
        let state = IslandState(
            count: 1,
            percent: 41,
            barFraction: 0.4,
            downloadedBytes: 1,
            totalBytes: 2,
            finishAt: .now
        )
        #expect(state == IslandState(count: 1))
    }
}
