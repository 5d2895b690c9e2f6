import Dispatch
import FerryActivity
import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryDownload
import FerryInstalling
import FerryPipeline
import FerryRecord
import FerrySample
import FerrySigning
import Foundation
import Synchronization
import TestKit
import Testing

/// What all tests here install and sign with.
enum Cargo {
    static let day: Int64 = 86400
    /// The signer's date.
    static let now: Int64 = 1_780_000_000
    private static let password = Secret("pier")

    /// A small app, archived.
    static let small = Result { try archive { $0.approximateBytes = 200_000 } }

    /// More than the sockets between a server and us can hold, so that a reader that stops stops the server.
    static let large = Result {
        try archive { app in
            var random = SeededGenerator(seed: 7)
            let bytes = random.bytes(16 << 20)
            app.extraFiles = [.init(SampleApp.path + "/noise.bin", bytes)]
            app.approximateBytes = 200_000
        }
    }

    static func archive(_ change: (inout SampleApp) -> Void) throws -> [UInt8] {
        var app = SampleApp()
        change(&app)
        return try app.archive(level: 1)
    }

    private static let hands = Result { try ThrowawayIdentity(notBefore: now - day, notAfter: now + 300 * day) }

    /// An identity, and a profile for the bundles of that pattern.
    static func options(_ pattern: String = "*") throws -> SigningOptions {
        let hands = try hands.get()
        let profile = SampleProfile(
            appIDPattern: pattern,
            team: hands.team,
            certificates: [hands.leafDER],
            creation: now - day,
            expiration: now + 200 * day
        )
        return SigningOptions(
            identity: try Identity(pkcs12: try hands.p12(password: password), password: password),
            profiles: [try ProvisioningProfile(bytes: try profile.signed(by: hands.authority))]
        )
    }
}

/// A place in code that blocks, where a test stops it once.
///
/// Only for code that runs on threads of its own: one that all tasks need might be the one that opens it.
final class Checkpoint: Sendable {
    private let isArmed = Atomic(true)
    private let arrivals: AsyncStream<Never>
    private let arrival: AsyncStream<Never>.Continuation
    private let barrier = DispatchSemaphore(value: 0)

    init() {
        (arrivals, arrival) = AsyncStream.makeStream()
    }

    /// Stops here until it is opened.
    func pass() {
        guard isArmed.exchange(false, ordering: .acquiringAndReleasing) else { return }
        arrival.finish()
        barrier.wait()
    }

    /// Waits until somebody stands here.
    func reached() async {
        for await _ in arrivals {}
    }

    /// Lets it go on.
    func open() {
        barrier.signal()
    }
}

/// A folder of apps that can be stopped in the middle of an install.
struct StoppedTarget: InstallTarget {
    let folder: FolderTarget
    let checkpoint: Checkpoint?
    /// Stops once the app stands.
    let afterwards: Checkpoint?
    private let threads = BlockingExecutor()
    var name: String { folder.name }

    init(folder: FolderTarget, checkpoint: Checkpoint?, afterwards: Checkpoint?) {
        self.folder = folder
        self.checkpoint = checkpoint
        self.afterwards = afterwards
    }

    func install(
        _ path: String,
        tell: @escaping @Sendable (InstallEvent) -> Void
    ) async throws(InstallError) -> InstalledApp {
        let result = await withTaskExecutorPreference(threads) { () async -> Result<InstalledApp, InstallError> in
            do throws(InstallError) {
                let app = try await folder.install(path) { event in
                    tell(event)
                    checkpoint?.pass()
                }
                afterwards?.pass()
                return .success(app)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }
}

/// One process, as it were: a pipeline with all its stages, in a folder that the next may share.
struct Wharf: Sendable {
    let folder: TemporaryFolder
    let center: ActivityCenter
    let downloader: Downloader
    let pipeline: InstallPipeline
    let record: SQLiteRecord?
    private let log: ActivityUpdates

    init(
        _ folder: TemporaryFolder? = nil,
        isRecorded: Bool = false,
        stopsSigning: Checkpoint? = nil,
        stopsInstalling: Checkpoint? = nil,
        stopsInstalled: Checkpoint? = nil
    ) async throws {
        let folder = try folder ?? TemporaryFolder()
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder.path("work"), withIntermediateDirectories: true)
        center = ActivityCenter(now: { Date() }, clock: ContinuousClock())
        log = await center.subscribe(named: "log")
        var configuration = DownloadConfiguration(stateFolder: folder.path("state"))
        configuration.proxy = ""
        configuration.spareBytes = 0
        configuration.retries = 1
        configuration.backOff = BackOff(first: .milliseconds(1), limit: .milliseconds(2))
        downloader = try Downloader(configuration)
        let signer = Signer(threadCount: 2) {
            stopsSigning?.pass()
            return Cargo.now
        }
        let target = StoppedTarget(
            folder: FolderTarget(folder: folder.path("apps")),
            checkpoint: stopsInstalling,
            afterwards: stopsInstalled
        )
        record = isRecorded ? try await SQLiteRecord(folder: folder.path("record")) { Date() } : nil
        pipeline = InstallPipeline(
            downloader: downloader,
            signer: signer,
            installer: Installer(target: target),
            center: center,
            workFolder: folder.path("work"),
            record: record,
            partialFolder: folder.path("state")
        )
    }

    /// Begins to install, signed by the usual identity.
    func submit(
        _ source: String,
        _ change: (inout InstallRequest) -> Void = { _ in }
    ) async throws -> InstallID {
        var request = InstallRequest(source: source, signing: try Cargo.options())
        change(&request)
        return await pipeline.submit(request)
    }

    /// Waits until an install is as `isIt` says; the activity's end is a failure.
    func wait(for id: InstallID, _ isIt: (Install) -> Bool) async {
        var last: Install?
        for await update in await center.subscribe() {
            last = update.activity[id]
            if let last, isIt(last) { return }
            if last?.isFinished == true { break }
        }
        Issue.record("it was never so; in the end it was \(last.map { "\($0)" } ?? "nothing")")
    }

    /// Waits until the downloader has done what it was told before, as it does one thing after the other.
    func downloaderHasHeard() async throws {
        let server = try HTTPServer { ServedFile([1]).answer($0) }
        let file = folder.path("heard")
        _ = try await downloader.start(DownloadRequest(url: server.url(), destination: file)).file
        try FileManager.default.removeItem(atPath: file)
    }

    func waitForBytes(_ count: Int64, of id: InstallID) async {
        await wait(for: id) { $0.stage == .downloading && ($0.progress?.completed ?? 0) >= count }
    }

    /// Waits for the end; gives how it ended, once it is told.
    func outcome(of id: InstallID) async -> Outcome? {
        _ = try? await pipeline.result(of: id)
        return await center.activity[id]?.outcome
    }

    /// Ends the process, and gives all facts of an install, in words.
    func end(_ id: InstallID) async -> [String] {
        await end()[id] ?? []
    }

    /// Ends the process, and gives all facts.
    func end() async -> [InstallID: [String]] {
        await downloader.close()
        await center.close(waitingAtMost: .seconds(1))
        await record?.close()
        var words: [InstallID: [String]] = [:]
        for await update in log {
            guard let fact = update.fact, let id = fact.installID else { continue }
            // It comes when it is ready, before or after what somebody orders.
            if case .iconChanged = fact { continue }
            // Whether there is room at once depends on how quick the others are.
            if case .stepChanged(_, "waits for its turn") = fact { continue }
            words[id, default: []].append(Self.words(fact, update.activity[id]))
        }
        return words
    }

    private static func words(_ fact: Fact, _ install: Install?) -> String {
        switch fact {
        case .added: "added \(install?.title ?? "")"
        case .named: "named \(install?.title ?? "") \(install?.bundleID ?? "") \(install?.version ?? "")"
        case .stageChanged(_, let stage): "\(stage)"
        case .stepChanged(_, let step): "step: \(step)"
        case .held: "held"
        case .released: "released"
        case .note(_, let text): "note: \(text)"
        case .finished(_, .installed): "installed"
        case .finished(_, .delivered): "delivered"
        case .finished(_, .failed(let failure)): "failed while \(failure.stage)"
        case .finished(_, .cancelled): "cancelled"
        case .iconChanged, .reporterDetached, .closed: "nothing of an install"
        }
    }

    /// All files and folders that are there, the folders for work and state left out.
    func files(in name: String) throws -> [String] {
        guard FileManager.default.fileExists(atPath: folder.path(name)) else { return [] }
        return try FileManager.default.subpathsOfDirectory(atPath: folder.path(name)).sorted()
    }
}

/// Serves one file, and pauses where it is told to until it is let go.
struct Quay: Sendable {
    let server: HTTPServer
    private let gate: DispatchSemaphore

    /// - Parameter pauseAfter: after how many bytes of the body; `nil` sends all.
    /// - Parameter isPaused: which requests pause, by their number.
    init(
        _ bytes: [UInt8],
        pauseAfter: Int? = nil,
        isPaused: @escaping @Sendable (Int) -> Bool = { _ in true }
    ) throws {
        let file = ServedFile(bytes)
        let gate = DispatchSemaphore(value: 0)
        self.gate = gate
        server = try HTTPServer { request in
            file.answer(request).with { response in
                guard let pauseAfter, isPaused(request.number) else { return }
                response.pauseAfter = pauseAfter
                response.waiting = {
                    gate.wait()
                    // Who passed leaves it open: how many requests there will be nobody can know. A download that is held
                    // before its answer came, or whose connection breaks, asks again.
                    gate.signal()
                }
            }
        }
    }

    /// Lets paused answers go on, now and when they come.
    func letGo() {
        gate.signal()
    }

    var url: String { server.url("/Harbour.ipa") }

    /// First bytes that were asked for, in order; zero for the whole file.
    var ranges: [Int] { server.exchanges.map { $0.request.firstByte ?? 0 } }
}

/// Looks again and again until it is so; the test's time limit ends it otherwise.
func until(_ isSo: () throws -> Bool) async throws {
    while !(try isSo()) { try await Task.sleep(for: .milliseconds(2)) }
}
