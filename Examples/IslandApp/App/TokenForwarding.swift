import ActivityKit
import FerryLiveActivity
import Foundation

/// Sends this phone's tokens to the server that pushes to it: one for starts, and one for each activity.
///
/// Only the last token of each kind counts: an old one is never sent after a newer one, however long the server was away.
/// Nothing is kept over a relaunch, when all are sent again.
actor TokenForwarding {
    /// What `island/tokens` takes.
    private struct Report: Encodable, Hashable {
        /// The bundle identifier, of which `apns-topic` is made.
        let bundle: String
        /// The activity whose updates the token is for; left out for the token for starts.
        let activity: String?
        /// When it was started, in seconds since 1970: its eight hours run from there.
        let startedAt: Double?
        /// The number of the state that it has.
        let seq: Int?
        /// Hexadecimal digits.
        let token: String
        /// Whether the token belongs to `api.sandbox.push.apple.com`, as those of builds from Xcode do.
        let isSandbox: Bool
    }

    private let server: Server
    private var unsent: [String: Report] = [:]
    private var taken: [String: String] = [:]
    private let bell = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))

    init(to server: Server) {
        self.server = server
    }

    /// Watches and sends for as long as its task lives. Begin it in the app's `init`: a pushed start wakes the app in the
    /// background for a few seconds, without a scene, and that is when the token for the updates comes.
    func run() async {
        await withDiscardingTaskGroup { group in
            group.addTask { await self.send() }
            group.addTask {
                for await token in Activity<IslandAttributes>.pushToStartTokenUpdates {
                    await self.keepForStarts(token)
                }
            }
            refresh()
            for id in Activity<IslandAttributes>.activities.map(\.id) {
                group.addTask { await self.watch(id) }
            }
            for await id in Activity<IslandAttributes>.activityUpdates.map(\.id) {
                group.addTask { await self.watch(id) }
            }
        }
    }

    /// Reads the tokens that are there. The streams alone do not do: what came before they were listened to, they may
    /// never tell. Call it whenever the app comes to the front.
    func refresh() {
        if let token = Activity<IslandAttributes>.pushToStartToken { keepForStarts(token) }
        for activity in Activity<IslandAttributes>.activities {
            if let token = activity.pushToken { keep(token, forUpdatesOf: activity) }
        }
    }

    private func watch(_ id: String) async {
        guard let tokens = Self.activity(id)?.pushTokenUpdates else { return }
        for await token in tokens {
            if let activity = Self.activity(id) { keep(token, forUpdatesOf: activity) }
        }
    }

    private static func activity(_ id: String) -> Activity<IslandAttributes>? {
        Activity<IslandAttributes>.activities.first { $0.id == id }
    }

    private func keepForStarts(_ token: Data) {
        keep(token, activity: nil, startedAt: nil, seq: nil)
    }

    private func keep(_ token: Data, forUpdatesOf activity: Activity<IslandAttributes>) {
        // One that has ended may still tell its token, and must not take the place of the one after it.
        guard activity.activityState == .active || activity.activityState == .stale else { return }
        keep(
            token,
            activity: activity.id,
            startedAt: activity.attributes.startedAt?.timeIntervalSince1970,
            seq: activity.content.state.seq
        )
    }

    private func keep(_ token: Data, activity: String?, startedAt: Double?, seq: Int?) {
        let key = activity ?? ""
        guard let token = PushToken(bytes: token), taken[key] != token.hex else { return }
        var isSandbox = false
        #if DEBUG
        isSandbox = true
        #endif
        unsent[key] = Report(
            bundle: Bundle.main.bundleIdentifier ?? "",
            activity: activity,
            startedAt: startedAt,
            seq: seq,
            token: token.hex,
            isSandbox: isSandbox
        )
        bell.continuation.yield()
    }

    private func send() async {
        for await _ in bell.stream {
            var pause = Duration.seconds(1)
            while let (key, report) = unsent.first {
                switch await server.post(report, to: "island/tokens") {
                case .notNow:
                    do { try await Task.sleep(for: pause) } catch { return }
                    pause = min(pause * 2, .seconds(60))
                    continue
                case .refused(let status):
                    NSLog("The server refuses the token ‹…%@› with %d.", String(report.token.suffix(4)), status)
                case .taken:
                    taken[key] = report.token
                }
                // A newer one may have come in the meantime.
                if unsent[key] == report { unsent[key] = nil }
            }
        }
    }
}
