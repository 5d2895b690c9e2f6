import FerryActivity
import FerryBytes
import FerryInstalling
import FerryRecord
import Foundation
import TestKit

/// Kills its own process now and then, a moment after something begins.
final class Mayhem: Sendable {
    /// How long the longest moment is: about as long as a sync takes.
    private static let longestMicroseconds: UInt32 = 3000

    private let stage: SoakStage
    private let random: Guarded<SeededGenerator>
    /// Of a thousand chances, how many are taken.
    private let rate: Int

    init(_ stage: SoakStage, seed: UInt64, rate: Int) {
        self.stage = stage
        random = Guarded(SeededGenerator(seed: seed))
        self.rate = rate
    }

    /// Something begins that a kill must not harm.
    func strike(_ point: String) {
        let delay: UInt32? = random.withLock { random in
            guard Int.random(in: 0..<1000, using: &random) < rate else { return nil }
            return UInt32.random(in: 0...Self.longestMicroseconds, using: &random)
        }
        guard let delay else { return }
        stage.log(point, to: "strikes.log")
        Thread.detachNewThread {
            usleep(delay)
            kill(getpid(), SIGKILL)
        }
    }
}

/// A record in whose writes its process dies now and then.
struct MayhemRecord: InstallRecord {
    let base: SQLiteRecord
    let mayhem: Mayhem

    func add(_ id: InstallID, _ request: RecordedRequest, title: String) async throws(RecordError) {
        mayhem.strike("add")
        try await base.add(id, request, title: title)
    }

    func claim(_ id: InstallID) async throws(RecordError) -> RecordedInstall {
        mayhem.strike("claim")
        return try await base.claim(id)
    }

    func letGo(_ id: InstallID) async throws(RecordError) {
        mayhem.strike("let go")
        try await base.letGo(id)
    }

    func write(_ fact: RecordedFact, of id: InstallID) async throws(RecordError) {
        if case .finished = fact { mayhem.strike("write the end") } else { mayhem.strike("write a fact") }
        try await base.write(fact, of: id)
    }

    func note(_ progress: StageProgress, of id: InstallID) {
        // All is there, and what follows is a rename: of the download, of the signed archive, or of the app's folder.
        if progress.completed == progress.total { mayhem.strike("rename") }
        base.note(progress, of: id)
    }

    func order(_ order: InstallOrder, _ ids: [InstallID]) async throws(RecordError) -> [InstallID: Standing] {
        try await base.order(order, ids)
    }

    func standings(_ ids: [InstallID]) async throws(RecordError) -> [InstallID: Standing] {
        try await base.standings(ids)
    }

    func installs(all: Bool) async throws(RecordError) -> [RecordedInstall] {
        try await base.installs(all: all)
    }

    func changes() -> AsyncStream<Void> { base.changes() }
}

/// A folder of apps that notices when two processes install one archive at the same time.
struct WatchedTarget: InstallTarget {
    let stage: SoakStage
    let folder: FolderTarget

    init(_ stage: SoakStage) {
        self.stage = stage
        folder = FolderTarget(folder: stage.apps)
    }

    var name: String { folder.name }

    func install(
        _ path: String,
        tell: @escaping @Sendable (InstallEvent) -> Void
    ) async throws(InstallError) -> InstalledApp {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        let lock = open(stage.folder + "/locks/" + name, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        defer { close(lock) }
        if flock(lock, LOCK_EX | LOCK_NB) != 0 { stage.log(name, to: "twice.log") }
        return try await folder.install(path, tell: tell)
    }
}
