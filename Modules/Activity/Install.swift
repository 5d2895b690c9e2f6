#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// One install as everybody sees it.
public struct Install: Sendable, Hashable, Identifiable {
    /// How many notes are kept; the oldest go first.
    public static let maximumNotes = 20
    /// How many bytes an icon may have: with it, a Live Activity's payload still has room for all else.
    public static let maximumIconBytes = 2_304

    /// Its name in every event and fact.
    public let id: InstallID
    /// What people call the app.
    public var title: String
    /// The app's bundle id; `nil` until it is known.
    public var bundleID: String?
    /// The app's version; `nil` until it is known.
    public var version: String?
    /// The app's icon as a JPEG, at most ``maximumIconBytes``; `nil` until it is known, and for an app without one.
    public var icon: [UInt8]?
    /// Where it is.
    public var stage: Stage
    /// What ``stage`` does at this moment, in the words of who does it: `VerifyingApplication`; `nil` where nobody says, and
    /// once it has ended.
    public var step: String?
    /// The last stage of one that has ended, as not all go the whole way; `nil` until then.
    public var lastStage: Stage?
    /// How far ``stage`` is; `nil` while nothing is known.
    public var progress: StageProgress?
    /// The smoothed rate; `nil` until it is known, while held, and when nothing is counted in bytes.
    public var bytesPerSecond: Double?
    /// When ``stage`` will be over at that rate; `nil` until it is known.
    public var finishAt: Date?
    /// Whether somebody holds it.
    public var isHeld: Bool
    /// How it ended; `nil` until then.
    public var outcome: Outcome?
    /// The warnings so far, oldest first, at most ``maximumNotes``.
    public var notes: [String]
    /// When it was added.
    public var addedAt: Date
    /// When it ended; `nil` until then.
    public var finishedAt: Date?

    /// An install in any state, as a test of a reporter wants it.
    public init(
        id: InstallID,
        title: String,
        bundleID: String? = nil,
        version: String? = nil,
        stage: Stage = .waiting,
        progress: StageProgress? = nil,
        bytesPerSecond: Double? = nil,
        finishAt: Date? = nil,
        isHeld: Bool = false,
        outcome: Outcome? = nil,
        notes: [String] = [],
        addedAt: Date,
        finishedAt: Date? = nil,
        lastStage: Stage? = nil,
        icon: [UInt8]? = nil,
        step: String? = nil
    ) {
        self.id = id
        self.title = title
        self.bundleID = bundleID
        self.version = version
        self.icon = icon
        self.stage = stage
        self.progress = progress
        self.bytesPerSecond = bytesPerSecond
        self.finishAt = finishAt
        self.isHeld = isHeld
        self.outcome = outcome
        self.notes = notes
        self.addedAt = addedAt
        self.finishedAt = finishedAt
        self.lastStage = lastStage
        self.step = step
    }

    /// Whether it has ended.
    public var isFinished: Bool { outcome != nil }

    /// How much of the whole install is done, from 0 to 1; `nil` while the length of its download is unknown.
    ///
    /// The download is 70 % of an install, signing 20 %, installing 10 %. A stage without progress counts as just
    /// begun. An install that ended is at 1, however it ended: nothing more will come. For the bar of one stage take
    /// ``StageProgress/fraction`` of ``progress``.
    public var fraction: Double? {
        let ofStage = progress?.fraction
        return switch stage {
        case .waiting: 0
        case .downloading: progress != nil && ofStage == nil ? nil : 0.7 * (ofStage ?? 0)
        case .signing: 0.7 + 0.2 * (ofStage ?? 0)
        case .installing: 0.9 + 0.1 * (ofStage ?? 0)
        case .finished: 1
        }
    }

    /// The state in at most 8 letters: `Waiting`, `41%`, `Download`, `Signing`, `Install`, `Paused`, `Done`, `Failed`,
    /// `Stopped`.
    ///
    /// The percentage is that of the download, and is rounded down: `100%` means all of it.
    public var label: String {
        switch outcome {
        case .installed, .delivered: return "Done"
        case .failed: return "Failed"
        case .cancelled: return "Stopped"
        case nil: break
        }
        if isHeld { return "Paused" }
        return switch stage {
        case .waiting: "Waiting"
        case .downloading: progress?.fraction.map { "\(Int($0 * 100))%" } ?? "Download"
        case .signing: "Signing"
        case .installing: "Install"
        case .finished: "Done"
        }
    }
}
