import FerryLiveActivity
import Foundation
import SwiftUI
import WidgetKit

extension IslandAttributes {
    fileprivate static let preview = IslandAttributes(id: "preview", startedAt: .now)
}

extension IslandState {
    fileprivate static let download = IslandState(
        seq: 1,
        count: 1,
        isDownloading: true,
        percent: 41,
        barFraction: 0.414,
        downloadedBytes: 19_872_000,
        totalBytes: 48_000_000,
        finishAt: .now.addingTimeInterval(95),
        items: [Item(title: "Delta", stage: .downloading, percent: 41)]
    )
    fileprivate static let batch = IslandState(
        seq: 2,
        count: 5,
        failedCount: 1,
        isDownloading: true,
        percent: 63,
        barFraction: 0.63,
        downloadedBytes: 189_000_000,
        totalBytes: 300_000_000,
        finishAt: .now.addingTimeInterval(240),
        items: [
            Item(title: "Delta", stage: .signing), Item(title: "Une application au très long nom", stage: .downloading),
            Item(title: "ملاحظات", stage: .downloading, percent: 80), Item(title: "Clip", stage: .waiting),
        ],
        hiddenCount: 2
    )
    fileprivate static let held = IslandState(
        seq: 3,
        count: 1,
        isDownloading: true,
        percent: 41,
        barFraction: 0.414,
        downloadedBytes: 19_872_000,
        totalBytes: 48_000_000,
        items: [Item(title: "Delta", stage: .downloading, percent: 41, isHeld: true)],
        isHeld: true
    )
    fileprivate static let signing = IslandState(seq: 4, count: 1, items: [Item(title: "Delta", stage: .signing)])
    fileprivate static let failed = IslandState(seq: 5, failedCount: 1, items: [Item(title: "Delta", stage: .failed)])
    fileprivate static let done = IslandState(
        seq: 6,
        installedCount: 1,
        items: [Item(title: "Delta", stage: .installed)]
    )
    fileprivate static let tap = signing.numbered(7).askingForTap()

    fileprivate static let samples = [download, batch, held, signing, failed, done, tap]
}

#Preview("Lock screen", as: .content, using: IslandAttributes.preview) {
    IslandWidget()
} contentStates: {
    for state in IslandState.samples { state }
}

#Preview("Expanded", as: .dynamicIsland(.expanded), using: IslandAttributes.preview) {
    IslandWidget()
} contentStates: {
    for state in IslandState.samples { state }
}

#Preview("Compact", as: .dynamicIsland(.compact), using: IslandAttributes.preview) {
    IslandWidget()
} contentStates: {
    for state in IslandState.samples { state }
}

#Preview("Minimal", as: .dynamicIsland(.minimal), using: IslandAttributes.preview) {
    IslandWidget()
} contentStates: {
    for state in IslandState.samples { state }
}
