import AppIntents
import FerryLiveActivity
import Foundation
import SwiftUI
import UIKit

/// The app's picture; a sign where there is none, or more than one app.
struct Picture: View {
    let island: Island
    let size: CGFloat

    var body: some View {
        Group {
            if let icon = island.text.icon, let image = UIImage(data: Data(icon)) {
                Image(uiImage: image).resizable().scaledToFit()
            } else {
                Image(systemName: "arrow.down.app.fill").resizable().scaledToFit().foregroundStyle(island.tint)
            }
        }
        .frame(width: size, height: size)
        .clipShape(RoundedRectangle(cornerRadius: size * 0.22))
        .accessibilityHidden(true)
    }
}

/// How far the downloads are; nothing once nothing downloads.
struct Bar: View {
    let fraction: Double?
    let tint: Color

    var body: some View {
        if let fraction {
            // It runs from right to left by itself where the language does. What it shows is read aloud by the heading.
            ProgressView(value: fraction).tint(tint).accessibilityHidden(true)
        }
    }
}

/// A line of text, and the countdown, which ticks without an update.
struct LastLine: View {
    let text: String?
    let countdown: Date?

    var body: some View {
        HStack {
            if let text { Text(text).lineLimit(1).foregroundStyle(.secondary) }
            Spacer(minLength: 8)
            if let countdown {
                // A timer takes all the width that it can get, and a range that ends before it begins is a trap.
                Text(timerInterval: min(.now, countdown)...countdown, countsDown: true)
                    .monospacedDigit()
                    .multilineTextAlignment(.trailing)
                    .frame(maxWidth: 64, alignment: .trailing)
            }
        }
    }
}

/// Holds or releases every install.
struct HoldButton: View {
    let island: Island

    var body: some View {
        if island.canBeHeld {
            Group {
                if island.state.isHeld {
                    Button(intent: ReleaseIntent()) { Label("release", systemImage: "play.fill") }
                } else {
                    Button(intent: HoldIntent()) { Label("hold", systemImage: "pause.fill") }
                }
            }
            .labelStyle(.iconOnly)
            .buttonStyle(.bordered)
            .buttonBorderShape(.circle)
            .tint(island.tint)
        }
    }
}
