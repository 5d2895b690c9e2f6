public import FerryActivity
public import FerryDownload
public import FerryInstalling
public import FerryRecord
public import FerrySigning

/// Takes apps from their source to their target: download → sign → install, each as its own task, all in one activity.
///
/// A stage knows neither the next nor who is told; the pipeline reads its events and tells the ``ActivityCenter``. With a
/// record, installs outlive the process: ``resume(_:_:)`` goes on with one, and orders come from other processes too.
public actor InstallPipeline {
    /// How many archives are fetched at once.
    public static let downloadLimit = 4
    /// How many are signed at once: one, for it takes every core.
    public static let signingLimit = 1

    /// The step of an install that stands in line for its next stage.
    static let waitsForItsTurn = "waits for its turn"

    /// Why an install ends before its time.
    enum Ending {
        /// Somebody does not want it any more.
        case cancelled
        /// Its process ends; another one goes on with it.
        case interrupted
    }

    struct Job {
        var isHeld = false
        /// Of the last order that was obeyed.
        var revision: Int64 = -1
        var ending: Ending?
        var download: DownloadID?
        /// What reads the archive while it arrives, until it is signed.
        var ahead: ArchiveAhead?
        /// Whether the download was told what to do, so that what it says of being held is only an echo.
        var hasOrders = false
        var task: Task<Result<InstallResult, any Error>, Never>?
        /// Stops the work of a stage at once; the task's own cancellation comes to it only in its turn.
        var stop: (@Sendable () -> Void)?
        /// The install's task, where it waits to be released.
        var gate: CheckedContinuation<Void, Never>?
    }

    let downloader: Downloader
    let signer: Signer
    let installer: Installer
    let center: ActivityCenter
    let record: (any InstallRecord)?
    let files: InstallFiles
    let downloads = Turnstile(limit: InstallPipeline.downloadLimit)
    let signings = Turnstile(limit: InstallPipeline.signingLimit)
    let installs: Turnstile
    var jobs: [InstallID: Job] = [:]
    private var ended = EndedInstalls()
    /// Hears orders of other processes. Cancelled by `deinit`.
    private var listener: Task<Void, Never>?

    /// Connects the stages.
    ///
    /// - Parameter workFolder: where archives lie on their way; it must exist. The same one in the next process lets
    ///   downloads go on.
    /// - Parameter record: what every install is written into; `nil` writes nothing.
    /// - Parameter partialFolder: the downloader's `stateFolder`, which the files of cancelled installs are removed from;
    ///   needed with a record.
    public init(
        downloader: Downloader,
        signer: Signer,
        installer: Installer,
        center: ActivityCenter,
        workFolder: String,
        record: (any InstallRecord)? = nil,
        partialFolder: String = ""
    ) {
        self.downloader = downloader
        self.signer = signer
        self.installer = installer
        installs = Turnstile(limit: installer.target.maximumInstalls)
        self.center = center
        self.record = record
        files = InstallFiles(workFolder: workFolder, partialFolder: partialFolder)
    }

    deinit {
        listener?.cancel()
    }

    /// How many installs have not ended.
    public var unfinishedCount: Int { jobs.count }

    /// Begins an install; it goes on by itself until it ends, is cancelled, or is interrupted.
    ///
    /// - Parameters:
    ///   - id: Its name, which no other install has.
    ///   - held: Whether nothing moves until it is released.
    @discardableResult
    public func submit(
        _ request: InstallRequest,
        as id: InstallID = .random(),
        held: Bool = false
    ) async -> InstallID {
        let title = request.title ?? Self.title(request.source)
        jobs[id] = Job()
        var failure: RecordError?
        if let record {
            let recorded =
                request.recorded
                ?? RecordedRequest(source: RecordedSource(request.source), target: installer.target.name)
            do throws(RecordError) {
                try await record.add(id, recorded, title: title)
            } catch {
                failure = error
            }
        }
        await center.send(.added(id, title: title))
        // Before it begins, so that not a byte is asked for.
        if held { await hold(id) }
        begin(id, request, after: nil, failure)
        return id
    }

    /// Goes on with an install of the record that no process runs, held where it was held; `request` is what was asked
    /// for, with its secrets.
    public func resume(_ id: InstallID, _ request: InstallRequest) async throws(RecordError) {
        guard let record else { throw RecordError(.unknown, "\(id): this pipeline has no record.") }
        let install = try await record.claim(id)
        ended.forget(id)
        jobs[id] = Job(isHeld: install.isHeld)
        await center.send(.added(id, title: install.title))
        if install.bundleID != nil {
            await center.send(
                .named(id, title: install.title, bundleID: install.bundleID, version: install.version)
            )
        }
        if install.isHeld { await center.send(.held(id)) }
        begin(id, request, after: install, nil)
        // An order that came before it was one of ours rang for nothing.
        await obeyRecord()
    }

    /// Waits for the end of an install.
    ///
    /// A task that is cancelled while it waits interrupts the install; without a record, that is its end. The results of
    /// the last thousand are kept for who asks late.
    public func result(of id: InstallID) async throws -> InstallResult {
        if let result = ended[id] { return try result.get() }
        guard let task = jobs[id]?.task else { throw CancellationError() }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
            // Owned by nobody: it ends at once.
            Task { await self.end(id, .interrupted) }
        }.get()
    }

    private func begin(
        _ id: InstallID,
        _ request: InstallRequest,
        after install: RecordedInstall?,
        _ failure: RecordError?
    ) {
        listen()
        // Owned by the job; whoever ends the install cancels it.
        let task = Task {
            let result = await self.run(id, request, after: install, failure)
            self.forget(id, result)
            return result
        }
        jobs[id]?.task = task
        if jobs[id]?.ending != nil { task.cancel() }
    }

    private func forget(_ id: InstallID, _ result: Result<InstallResult, any Error>) {
        jobs[id] = nil
        ended.add(id, result)
    }

    private func listen() {
        guard let record, listener == nil else { return }
        let changes = record.changes()
        listener = Task { [weak self] in
            for await _ in changes { await self?.obeyRecord() }
        }
    }

    static func title(_ source: String) -> String {
        // Without the query of a URL, which may hold a token, and a name and password before its host.
        let path = RecordedSource(source).text.prefix { $0 != "?" && $0 != "#" }
        return path.split(separator: "/").last.map(String.init) ?? String(path)
    }
}
