import FerryLiveActivity
import SwiftUI
import WidgetKit

/// The Live Activity in every form that it takes. What is said comes from `IslandPresentation`; here is where it goes.
struct IslandWidget: Widget {
    var body: some WidgetConfiguration {
        // The package's own type: a copy of it with one field that differs shows nothing, and no error either.
        ActivityConfiguration(for: IslandAttributes.self) { context in
            let island = Island(context.state)
            Drawn(island) { LockScreen(island: island, isStale: context.isStale) }
                .widgetURL(Links.installs)
        } dynamicIsland: { context in
            let island = Island(context.state)
            return DynamicIsland {
                DynamicIslandExpandedRegion(.leading) { Picture(island: island, size: 44) }
                DynamicIslandExpandedRegion(.center) { Drawn(island) { Heading(island: island) } }
                DynamicIslandExpandedRegion(.trailing) { HoldButton(island: island) }
                DynamicIslandExpandedRegion(.bottom) { Installs(island: island) }
            } compactLeading: {
                CompactLeading(island: island)
            } compactTrailing: {
                Drawn(island) { Short(text: island.text.compactTrailing, tint: island.tint) }
                    .accessibilityHidden(true)
            } minimal: {
                Drawn(island) { Short(text: island.text.minimal, tint: island.tint) }
                    .accessibilityElement(children: .ignore)
                    .accessibilityLabel(island.text.accessibilityText)
            }
            .widgetURL(Links.installs)
            .keylineTint(island.tint)
        }
    }
}

/// Left of the camera: the app's picture, or its name, or how many there are.
private struct CompactLeading: View {
    let island: Island

    var body: some View {
        Group {
            if island.text.icon != nil {
                Picture(island: island, size: 22)
            } else {
                Short(text: island.text.compactLeading, tint: .primary)
            }
        }
        .accessibilityElement(children: .ignore)
        .accessibilityLabel(island.text.accessibilityText)
    }
}

/// A label of at most eight letters, which does not jump when a digit changes.
private struct Short: View {
    let text: String
    let tint: Color

    var body: some View {
        Text(text)
            .font(.caption.weight(.semibold))
            .monospacedDigit()
            .lineLimit(1)
            .minimumScaleFactor(0.7)
            .foregroundStyle(tint)
    }
}

/// What is installed, and what is done.
private struct Heading: View {
    let island: Island

    var body: some View {
        VStack(spacing: 2) {
            Text(island.text.expanded.title).font(.headline).lineLimit(1)
            Text(island.text.expanded.subtitle).font(.caption).foregroundStyle(island.tint).lineLimit(1)
        }
        .accessibilityElement(children: .ignore)
        .accessibilityLabel(island.text.accessibilityText)
    }
}

/// The lower half of the expanded island: the bar, the installs of a batch, and what the list does not show.
private struct Installs: View {
    let island: Island

    var body: some View {
        let expanded = island.text.expanded
        VStack(alignment: .leading, spacing: 6) {
            Bar(fraction: expanded.fraction, tint: island.tint)
            if island.state.totalCount > 1 {
                // Two rows are what the island has room for, next to the bar and the last line.
                ForEach(Array(expanded.rows.prefix(2).enumerated()), id: \.offset) { _, row in
                    HStack {
                        Text(row.title).lineLimit(1)
                        Spacer(minLength: 8)
                        Text(row.label).monospacedDigit().foregroundStyle(.secondary)
                    }
                    .accessibilityElement(children: .combine)
                }
            }
            LastLine(text: expanded.footer ?? expanded.detail, countdown: expanded.countdown)
        }
        .font(.caption)
    }
}

/// The lock screen, StandBy, and the banner of a phone without an island.
private struct LockScreen: View {
    @Environment(\.isLuminanceReduced) private var isLuminanceReduced
    let island: Island
    let isStale: Bool

    var body: some View {
        let screen = island.text.lockScreen
        HStack(spacing: 12) {
            Picture(island: island, size: 48)
            VStack(alignment: .leading, spacing: 4) {
                VStack(alignment: .leading, spacing: 2) {
                    Text(screen.title).font(.headline).lineLimit(1)
                    Text(screen.status).font(.subheadline).foregroundStyle(island.tint).lineLimit(1)
                }
                .accessibilityElement(children: .ignore)
                .accessibilityLabel(island.text.accessibilityText)
                Bar(fraction: screen.fraction, tint: island.tint)
                LastLine(text: screen.detail, countdown: screen.countdown).font(.caption)
            }
            HoldButton(island: island)
        }
        .padding()
        // The always-on display wants little light; what is out of date wants no trust.
        .opacity(isLuminanceReduced || isStale ? 0.6 : 1)
        .activitySystemActionForegroundColor(island.tint)
    }
}
