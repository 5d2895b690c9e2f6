import FerryLiveActivity
import Foundation
import SwiftUI

/// A state with its texts and its colour.
struct Island {
    let state: IslandState
    let text: IslandPresentation

    init(_ state: IslandState) {
        self.state = state
        text = IslandPresentation(state, words: .ofTheApp)
    }

    /// The colour that says the same as the words.
    var tint: Color {
        if state.isFinished { return state.failedCount > 0 ? .red : .green }
        return state.needsTap || state.isHeld ? .orange : .cyan
    }

    /// Whether there is something to hold or to release.
    var canBeHeld: Bool { state.count > 0 && !state.needsTap }
}

/// A view of a state, which leaves a mark when it is drawn: by that the app knows that the widget is not stuck.
struct Drawn<Content: View>: View {
    private let seq: Int
    private let content: Content

    init(_ island: Island, @ViewBuilder content: () -> Content) {
        seq = island.state.seq
        self.content = content()
    }

    var body: some View {
        let _: Void? = Shared.liveness?.drew(seq: seq)
        content
    }
}
