public import FerryActivity
import FerryBytes
public import FerryDownload
public import FerryInstalling
public import FerrySigning

/// Takes apps from their source to their target: download → sign → install, each as its own task, all in one activity.
///
/// A stage knows neither the next nor who is told; the pipeline reads its events and tells the ``ActivityCenter``.
public actor InstallPipeline {
    /// How many archives are fetched at once.
    public static let downloadLimit = 4
    /// How many are signed at once: one, for it takes every core.
    public static let signingLimit = 1
    /// How many are installed at once: one, for a target takes them one by one.
    public static let installingLimit = 1

    private struct Job {
        var isHeld = false
        /// Whether it was cancelled before it had a task.
        var isCancelled = false
        var download: DownloadID?
        /// Whether the download was told what to do, so that what it says of being held is only an echo.
        var hasOrders = false
        var task: Task<Result<InstallResult, any Error>, Never>?
        /// The install's task, where it waits to be released.
        var gate: CheckedContinuation<Void, Never>?
    }

    private let downloader: Downloader
    private let signer: Signer
    private let installer: Installer
    private let center: ActivityCenter
    private let workFolder: String
    private let downloads = Turnstile(limit: InstallPipeline.downloadLimit)
    private let signings = Turnstile(limit: InstallPipeline.signingLimit)
    private let installs = Turnstile(limit: InstallPipeline.installingLimit)
    private var jobs: [InstallID: Job] = [:]

    /// Connects the stages.
    ///
    /// - Parameter workFolder: where archives lie on their way; it must exist. The same one in the next process lets
    ///   downloads go on.
    public init(
        downloader: Downloader,
        signer: Signer,
        installer: Installer,
        center: ActivityCenter,
        workFolder: String
    ) {
        self.downloader = downloader
        self.signer = signer
        self.installer = installer
        self.center = center
        self.workFolder = workFolder
    }

    /// Begins an install; it goes on by itself until it ends or is cancelled.
    public func submit(_ request: InstallRequest) async -> InstallID {
        let id = InstallID(rawValue: String(UInt64.random(in: 0...UInt64.max), radix: 36))
        jobs[id] = Job()
        await center.send(.added(id, title: request.title ?? Self.title(request.source)))
        // Owned by the job; `cancel(_:)` cancels it.
        let task = Task { await self.run(id, request) }
        jobs[id]?.task = task
        if jobs[id]?.isCancelled == true { task.cancel() }
        return id
    }

    /// Waits for the end of an install; a task that is cancelled while it waits cancels the install.
    public func result(of id: InstallID) async throws -> InstallResult {
        guard let task = jobs[id]?.task else { throw CancellationError() }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
            Task { await self.open(id) }
        }.get()
    }

    /// Holds an install where it is: a download stops, and a later stage does not begin.
    public func hold(_ id: InstallID) async {
        guard let job = jobs[id], !job.isHeld else { return }
        jobs[id]?.isHeld = true
        await center.send(.held(id))
        await order(id)
    }

    /// Lets a held install go on.
    public func release(_ id: InstallID) async {
        guard let job = jobs[id], job.isHeld else { return }
        jobs[id]?.isHeld = false
        await center.send(.released(id))
        await order(id)
        open(id)
    }

    /// Holds every install that has not ended.
    public func holdAll() async {
        for id in await unfinished() {
            await hold(id)
        }
    }

    /// Lets every held install go on.
    public func releaseAll() async {
        for id in await unfinished() {
            await release(id)
        }
    }

    /// Ends an install; what of a download has arrived is kept for the next time.
    public func cancel(_ id: InstallID) {
        jobs[id]?.isCancelled = true
        jobs[id]?.task?.cancel()
        open(id)
    }

    /// Ends every install.
    public func cancelAll() {
        for id in Array(jobs.keys) {
            cancel(id)
        }
    }

    /// Tells the download what holds now, whatever came in between.
    private func order(_ id: InstallID) async {
        var told: Bool?
        while let job = jobs[id], let download = job.download, told != job.isHeld {
            told = job.isHeld
            jobs[id]?.hasOrders = true
            if job.isHeld {
                await downloader.hold(download)
            } else {
                await downloader.release(download)
            }
        }
    }

    private func unfinished() async -> [InstallID] {
        await center.activity.unfinished.map(\.id)
    }

    private func open(_ id: InstallID) {
        jobs[id]?.gate?.resume()
        jobs[id]?.gate = nil
    }

    private static func title(_ source: String) -> String {
        // Without the query of a URL, which may hold a token.
        let path = source.prefix { $0 != "?" && $0 != "#" }
        return path.split(separator: "/").last.map(String.init) ?? source
    }
}

extension InstallPipeline {
    private func run(_ id: InstallID, _ request: InstallRequest) async -> Result<InstallResult, any Error> {
        var stage = Stage.waiting
        do {
            let result = try await walk(id, request, &stage)
            await center.send(.finished(id, .installed(location: result.location)))
            return .success(result)
        } catch {
            await center.send(.finished(id, Self.outcome(of: error, in: stage)))
            return .failure(error)
        }
    }

    /// How an activity tells of an error.
    public static func outcome(of error: any Error, in stage: Stage) -> Outcome {
        let explained = error as? any ExplainedError
        if error is CancellationError || explained?.isCancellation == true { return .cancelled }
        return .failed(
            Failure(message: explained?.message ?? "\(error)", remedy: explained?.remedy, stage: stage)
        )
    }

    private func walk(_ id: InstallID, _ request: InstallRequest, _ stage: inout Stage) async throws -> InstallResult {
        let name = try WorkName(for: request.source, in: workFolder)
        defer { name.giveUp() }
        stage = .downloading
        let file = try await enter(downloads, id) { try await self.download(id, request, to: name.path + ".ipa") }
        defer {
            if !file.isOriginal { removeFile(file.path) }
        }

        var archive = file.path
        var signed: SignedArchive?
        if let options = request.signing {
            stage = .signing
            let output = request.signedArchive ?? name.path + ".signed.ipa"
            var wanted = SigningRequest(input: file.path, output: output, options: options)
            // A path of ours tells people nothing.
            wanted.inputName = file.isOriginal ? nil : request.title ?? Self.title(request.source)
            let signing = wanted
            signed = try await enter(signings, id) { try await self.sign(id, signing) }
            archive = output
        }
        defer {
            if request.signing != nil, request.signedArchive == nil { removeFile(archive) }
        }

        stage = .installing
        let app = try await enter(installs, id) { try await self.install(id, archive, isSigned: signed != nil) }
        return InstallResult(signed: signed, location: app.location, isUpdate: app.isUpdate)
    }

    /// Runs a stage once there is room and nobody holds the install.
    private func enter<Value: Sendable>(
        _ turnstile: Turnstile,
        _ id: InstallID,
        _ body: () async throws -> Value
    ) async throws -> Value {
        while true {
            try await passGate(id)
            // One that was held while it stood in line makes way for the next.
            let value = try await turnstile.pass { self.jobs[id]?.isHeld == true ? nil : try await body() }
            if let value { return value }
        }
    }

    private func passGate(_ id: InstallID) async throws {
        while jobs[id]?.isHeld == true, !Task.isCancelled {
            await withCheckedContinuation { jobs[id]?.gate = $0 }
        }
        try Task.checkCancellation()
    }

    private func download(_ id: InstallID, _ request: InstallRequest, to path: String) async throws -> DownloadedFile {
        await center.send(.stage(id, .downloading))
        var wanted = DownloadRequest(url: request.source, destination: path)
        wanted.sha256 = request.sha256
        wanted.startsHeld = jobs[id]?.isHeld ?? false
        jobs[id]?.hasOrders = wanted.startsHeld
        let download = await downloader.start(wanted)
        jobs[id]?.download = download.id
        defer { jobs[id]?.download = nil }
        // What came between the two lines above reached nobody.
        if jobs[id]?.isHeld != wanted.startsHeld { await order(id) }
        return try await center.follow(download, of: id) { isHeld in
            // Not an echo, which may come late, but the word of an earlier process.
            guard self.jobs[id]?.hasOrders == false else { return false }
            self.jobs[id]?.isHeld = isHeld
            return true
        }
    }

    private func sign(_ id: InstallID, _ request: SigningRequest) async throws -> SignedArchive {
        await center.send(.stage(id, .signing))
        return try await center.follow(signer.sign(request), of: id) {
            await self.tellIcon(of: request.input, id)
        }
    }

    private func install(_ id: InstallID, _ archive: String, isSigned: Bool) async throws -> InstalledApp {
        await center.send(.stage(id, .installing))
        let installation = await installer.install(archive)
        // That of a signed one was told when its plan stood. The installation goes on meanwhile.
        if !isSigned { await tellIcon(of: archive, id) }
        return try await center.follow(installation, of: id)
    }

    private func tellIcon(of archive: String, _ id: InstallID) async {
        guard let icon = await InstallIcon.jpeg(of: archive) else { return }
        await center.send(.icon(id, icon))
    }
}
