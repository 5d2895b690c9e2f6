import AppIntents

/// What the button of the Live Activity does: the app sets it when it starts.
struct Holding: Sendable {
    let hold: @Sendable () async -> Void
    let release: @Sendable () async -> Void
}

/// Holds every install.
///
/// Compiled into the app and the widget. The widget only names it: a `LiveActivityIntent` (iOS 17) is performed in the
/// app's process, which the system starts in the background if it must.
struct HoldIntent: LiveActivityIntent {
    static let title: LocalizedStringResource = "hold"
    @Dependency private var holding: Holding

    func perform() async throws -> some IntentResult {
        await holding.hold()
        return .result()
    }
}

/// Releases every install.
struct ReleaseIntent: LiveActivityIntent {
    static let title: LocalizedStringResource = "release"
    @Dependency private var holding: Holding

    func perform() async throws -> some IntentResult {
        await holding.release()
        return .result()
    }
}
