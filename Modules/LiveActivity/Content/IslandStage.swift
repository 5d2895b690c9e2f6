/// Where an install is, or how it ended: one field, so that no two can contradict each other.
public enum IslandStage: String, Sendable, Hashable, CaseIterable {
    /// It is known, and nothing is done for it yet.
    case waiting = "wait"
    /// Its archive is fetched.
    case downloading = "load"
    /// It is signed and packed.
    case signing = "sign"
    /// It is handed to its target.
    case installing = "install"
    /// The app is installed.
    case installed = "done"
    /// It did not work.
    case failed = "failed"
    /// Somebody ended it.
    case stopped = "stopped"
    /// A stage that a newer program told. It is shown as being worked on.
    case unknown = "unknown"

    /// Whether the install has ended.
    public var isFinished: Bool {
        switch self {
        case .installed, .failed, .stopped: true
        case .waiting, .downloading, .signing, .installing, .unknown: false
        }
    }
}
