public import FerryActivity

/// Remembers every install, so that another process can go on with it, and takes orders for those that others run.
///
/// A fact is on the disk when the call returns; progress may be lost. Each install is run by one process at a time: by the
/// one that added or claimed it, until it ends, is let go, or that process dies. Calls may overlap; each is done whole or
/// not at all. They wait for the disk, never on a thread that tasks share.
public protocol InstallRecord: Sendable {
    /// Takes a new install, which this process runs from now on; throws ``RecordError/Code/duplicate``.
    func add(_ id: InstallID, _ request: RecordedRequest, title: String) async throws(RecordError)

    /// Takes over an install that no process runs and that has not ended, or failed; throws ``RecordError/Code/running``, ``RecordError/Code/finished`` or
    /// ``RecordError/Code/unknown``.
    func claim(_ id: InstallID) async throws(RecordError) -> RecordedInstall

    /// Lets others take over an install that this process runs and that has not ended.
    func letGo(_ id: InstallID) async throws(RecordError)

    /// Writes what happened to an install that this process runs.
    func write(_ fact: RecordedFact, of id: InstallID) async throws(RecordError)

    /// Notes how far a stage is. Returns at once; what comes soon after replaces it.
    func note(_ progress: StageProgress, of id: InstallID)

    /// Gives an order for installs, whoever runs them; those that have ended or are unknown are passed over.
    ///
    /// One that is cancelled while no process runs it has ended when this returns; one that failed can be cancelled too, and
    /// then not be gone on with.
    /// - Returns: where each of them stands now.
    func order(_ order: InstallOrder, _ ids: [InstallID]) async throws(RecordError) -> [InstallID: Standing]

    /// Where each of these stands; the unknown are left out.
    func standings(_ ids: [InstallID]) async throws(RecordError) -> [InstallID: Standing]

    /// All installs, or only those that have not ended, in the order in which they were added.
    func installs(all: Bool) async throws(RecordError) -> [RecordedInstall]

    /// Yields within a quarter of a second after somebody else may have given an order. For one reader.
    func changes() -> AsyncStream<Void>
}

/// What somebody wants of an install.
public enum InstallOrder: String, Sendable, Hashable {
    /// It stops where it is.
    case hold
    /// It goes on.
    case release
    /// It ends.
    case cancel
}

/// What is wanted of an install now.
public struct Standing: Sendable, Hashable {
    /// Counts the orders that changed something: of two standings the one with more is the later.
    public var revision: Int64
    /// Whether it is to be held.
    public var isHeld: Bool
    /// Whether it is to end.
    public var isCancelled: Bool
    /// Whether it has ended.
    public var isFinished: Bool

    /// Takes these as they are.
    public init(revision: Int64 = 0, isHeld: Bool = false, isCancelled: Bool = false, isFinished: Bool = false) {
        self.revision = revision
        self.isHeld = isHeld
        self.isCancelled = isCancelled
        self.isFinished = isFinished
    }
}

/// Something that happened to an install and must not be forgotten.
public enum RecordedFact: Sendable, Hashable {
    /// The app inside is known.
    case named(title: String, bundleID: String?, version: String?)
    /// It came to another stage.
    case stage(Stage)
    /// Its archive is there.
    case downloaded(RecordedFile)
    /// Its signed archive is there.
    case signed(RecordedSignature)
    /// It ended. Once only: an install that has ended takes no other end, unless it failed and is claimed again.
    case finished(Outcome)
}

/// How long installs that have ended stay in the record.
public struct RecordLimits: Sendable, Hashable {
    /// How long: two weeks.
    public var finishedAge: Duration = .seconds(14 * 86400)
    /// How many, the newest of them.
    public var finishedCount = 1000

    /// The usual ones.
    public init() {}
}
