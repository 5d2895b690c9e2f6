import FerryActivity
import FerryDownload
import FerryInstalling
import FerryPipeline
import FerryRecord
import FerrySigning
import Foundation
import TestKit

/// One process that takes installs of the record to their end until there are none, if it is not killed before.
struct SoakWorker {
    /// How many it takes at once.
    private static let batch = 6

    let stage: SoakStage
    let port: Int
    let total: Int
    let seed: UInt64
    let rate: Int

    /// `FOLDER PORT TOTAL SEED RATE`
    init(_ arguments: some Sequence<String>) throws {
        let words = Array(arguments)
        guard words.count == 5, let port = Int(words[1]), let total = Int(words[2]), let seed = UInt64(words[3]),
            let rate = Int(words[4])
        else { throw SoakFailure("a worker needs FOLDER PORT TOTAL SEED RATE") }
        stage = SoakStage(folder: words[0])
        self.port = port
        self.total = total
        self.seed = seed
        self.rate = rate
    }

    func run() async throws {
        let mayhem = Mayhem(stage, seed: seed, rate: rate)
        let record = try await SQLiteRecord(folder: stage.record) { Date() }
        if let notice = record.notice { stage.log(notice, to: "notices.log") }
        try await stage.files.sweep(record)
        let pipeline = try pipeline(MayhemRecord(base: record, mayhem: mayhem))
        let hands = try stage.hands()
        var random = SeededGenerator(seed: seed)
        while true {
            var begun: [(InstallID, Int)] = []
            if let number = unclaimedNumber() {
                begun.append((await pipeline.submit(stage.request(number, port: port, hands)), number))
            }
            // What failed is tried again: the server's faults may be more than the retries.
            let open = try await record.installs(all: true).filter { $0.outcome == nil || $0.outcome?.failure != nil }
            if open.isEmpty, begun.isEmpty { break }
            for install in open.filter({ $0.process == nil }).shuffled(using: &random).prefix(Self.batch) {
                guard let number = install.number else { continue }
                do throws(RecordError) {
                    try await pipeline.resume(install.id, stage.request(number, port: port, hands))
                    begun.append((install.id, number))
                } catch {
                    // Another one was first, or it was cancelled just now.
                    guard error.code == .running || error.code == .finished else { throw error }
                }
            }
            if begun.isEmpty { try await Task.sleep(for: .milliseconds(20)) }
            for (id, number) in begun {
                if (try? await pipeline.result(of: id)) != nil { stage.log("\(number)", to: "ends.log") }
            }
        }
        await record.close()
    }

    private func pipeline(_ record: MayhemRecord) throws -> InstallPipeline {
        var configuration = DownloadConfiguration(stateFolder: stage.files.partialFolder)
        configuration.proxy = ""
        configuration.retries = 8
        configuration.backOff = BackOff(first: .milliseconds(5), limit: .milliseconds(20))
        configuration.syncInterval = 64 << 10
        return InstallPipeline(
            downloader: try Downloader(configuration),
            signer: Signer(threadCount: 2) { SoakStage.now },
            installer: Installer(target: WatchedTarget(stage)),
            center: ActivityCenter(now: { Date() }, clock: ContinuousClock()),
            workFolder: stage.files.workFolder,
            record: record,
            partialFolder: stage.files.partialFolder
        )
    }

    /// A number that is not in the record and that no other worker adds: one in three is left for workers.
    private func unclaimedNumber() -> Int? {
        for number in stride(from: 2, to: total, by: 3) {
            let mark = open(stage.folder + "/added/\(number)", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
            guard mark >= 0 else { continue }
            close(mark)
            return number
        }
        return nil
    }
}
