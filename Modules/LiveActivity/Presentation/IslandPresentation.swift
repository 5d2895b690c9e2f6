#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What each form of the island, the lock screen, a web page and a terminal show of a state: all texts, ready to draw.
///
/// The same state and words give the same texts everywhere. English labels are those of `Install.label` and
/// `Activity.label`.
public struct IslandPresentation: Sendable, Hashable {
    /// One install in the expanded island.
    public struct Row: Sendable, Hashable {
        /// The app's name.
        public let title: String
        /// Where it is, in at most 8 letters.
        public let label: String
        /// From 0 to 1 for a bar; `nil` unless it downloads a known length.
        public let fraction: Double?
    }

    /// The expanded island.
    public struct Expanded: Sendable, Hashable {
        /// The app's name, or how many there are.
        public let title: String
        /// What is done, or how it ended.
        public let subtitle: String
        /// The bytes: `19.2/48.0 MB`; `nil` once nothing downloads.
        public let detail: String?
        /// The first installs.
        public let rows: [Row]
        /// How many more there are, how many failed, or what to do; `nil` where there is nothing to say.
        public let footer: String?
        /// For a bar over all; `nil` once nothing downloads.
        public let fraction: Double?
        /// What a countdown runs to; `nil` without one.
        public let countdown: Date?
    }

    /// The lock screen.
    public struct LockScreen: Sendable, Hashable {
        /// The app's name, or how many there are.
        public let title: String
        /// What is done and how far it is: `Downloading, 41%`.
        public let status: String
        /// The bytes and how many failed, or what to do; `nil` where there is nothing to say.
        public let detail: String?
        /// For a bar; `nil` once nothing downloads.
        public let fraction: Double?
        /// What a countdown runs to; `nil` without one.
        public let countdown: Date?
    }

    /// The whole state in at most 8 letters. Empty when there is nothing.
    public let label: String
    /// Left of the camera, in at most 8 letters: the app's name, or `3 apps`.
    public let compactLeading: String
    /// Right of it, in at most 8 letters: `41%`, `Signing`, `Paused`, `Done`.
    public let compactTrailing: String
    /// Where another activity has the room, in at most 4 letters: `41%`, `3`, `✓`.
    public let minimal: String
    /// The expanded island.
    public let expanded: Expanded
    /// The lock screen.
    public let lockScreen: LockScreen
    /// What is read aloud.
    public let accessibilityText: String
    /// The app's picture; `nil` unless there is exactly one install.
    public let icon: [UInt8]?

    /// What is shown of `state` in the language of `words`.
    public init(_ state: IslandState, words: IslandWords = .english) {
        let teller = Teller(state: state, words: words)
        label = teller.label
        compactLeading = teller.compactLeading
        compactTrailing = teller.compactTrailing
        minimal = teller.minimal
        expanded = Expanded(
            title: teller.title,
            subtitle: teller.subtitle,
            detail: teller.bytes,
            rows: state.items.map { item in
                Row(
                    title: teller.name(item),
                    label: teller.label(item),
                    fraction: item.percent.map { Double($0) / 100 }
                )
            },
            footer: teller.footer,
            fraction: state.barFraction,
            countdown: state.finishAt
        )
        lockScreen = LockScreen(
            title: teller.title,
            status: words.list([teller.subtitle, state.percent.map(words.percent) ?? ""]),
            detail: teller.detail,
            fraction: state.barFraction,
            countdown: state.finishAt
        )
        accessibilityText = teller.spoken
        icon = state.icon
    }
}
