import FerryActivity
import FerryCodeSignature
import FerryInstalling
import FerryPipeline
import FerryRecord
import FerrySigning
import Foundation
import TestKit

/// Looks at what a soak left.
final class SoakCheck {
    let stage: SoakStage
    let total: Int
    let cancelled: Set<InstallID>
    private(set) var counts = ""

    init(stage: SoakStage, total: Int, cancelled: Set<InstallID>) {
        self.stage = stage
        self.total = total
        self.cancelled = cancelled
    }

    /// All that is wrong.
    func run(_ record: SQLiteRecord) async throws -> [String] {
        let installs = try await record.installs(all: true)
        var problems = ends(installs) + leftovers()
        problems += try await results(installs.filter { $0.outcome?.isInstalled == true })
        // One whose process died just after it had put it in place may stand, though it was cancelled then.
        let known = Set(installs.filter { $0.outcome?.failure == nil }.compactMap(\.number).map(SoakStage.identifier))
        for name in (try? FileManager.default.contentsOfDirectory(atPath: stage.apps)) ?? [] where !known.contains(name)
        {
            problems.append("\(name) stands, and nobody wanted it")
        }
        if let tool = Tool("sqlite3") {
            let answer = try tool.run([stage.record + "/installs.sqlite", "PRAGMA integrity_check"]).text
            if answer != "ok\n" { problems.append("the database: \(answer)") }
        }
        let starts = installs.map(\.starts)
        counts =
            "\(installs.count { $0.outcome?.isInstalled == true }) installed, \(installs.count { $0.outcome == .cancelled }) "
            + "cancelled, begun \(starts.max() ?? 0) times at most and \(starts.reduce(0, +)) in all"
        return problems
    }

    /// Each number is there once, and has ended once, as it should.
    private func ends(_ installs: [RecordedInstall]) -> [String] {
        var problems: [String] = []
        let numbers = Dictionary(grouping: installs.compactMap(\.number)) { $0 }.mapValues(\.count)
        for number in 0..<total where numbers[number] != 1 {
            problems.append("\(number) is in the record \(numbers[number] ?? 0) times")
        }
        for install in installs {
            switch install.outcome {
            case .installed, .delivered: break
            case .cancelled where cancelled.contains(install.id): break
            case .cancelled: problems.append("\(install.title) is cancelled, and nobody wanted that")
            case .failed(let failure): problems.append("\(install.title) failed: \(failure)")
            case nil: problems.append("\(install.title) has not ended")
            }
        }
        for (number, count) in Dictionary(grouping: stage.lines(of: "ends.log"), by: { $0 }).mapValues(\.count)
        where count > 1 {
            problems.append("\(number) was told as installed \(count) times")
        }
        problems += stage.lines(of: "twice.log").map { "\($0) was put in place by two processes at once" }
        problems += stage.lines(of: "notices.log")
        return problems
    }

    /// Nothing is there that belongs to no app.
    private func leftovers() -> [String] {
        let manager = FileManager.default
        let places = [stage.files.workFolder, stage.files.partialFolder, stage.record + "/runs"]
        var problems: [String] = []
        for place in places {
            for name in (try? manager.contentsOfDirectory(atPath: place)) ?? [] {
                // That of this process.
                if place.hasSuffix("/runs"), isLocked(place + "/" + name) { continue }
                problems.append("\(place)/\(name) is left over")
            }
        }
        for name in (try? manager.contentsOfDirectory(atPath: stage.apps)) ?? [] where name.hasPrefix(".") {
            problems.append("\(stage.apps)/\(name) is left over")
        }
        let others = (try? manager.contentsOfDirectory(atPath: stage.record)) ?? []
        for name in others where name.hasPrefix("installs.sqlite.") { problems.append("\(name) was set aside") }
        return problems
    }

    private func isLocked(_ path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    /// Each app is what signing its archive once, undisturbed, gives; byte for byte, and nothing besides.
    private func results(_ installs: [RecordedInstall]) async throws -> [String] {
        let signer = Signer(threadCount: 2) { SoakStage.now }
        let hands = try stage.hands()
        let expected = stage.folder + "/expected"
        var problems: [String] = []
        for install in installs {
            guard let number = install.number else { continue }
            let identifier = SoakStage.identifier(number)
            var options = hands
            options.recipe.bundleIdentifier = identifier
            let signed = stage.folder + "/expected.ipa"
            let archive = stage.archive(number)
            let request = SigningRequest(input: archive, output: signed, options: options)
            _ = try await signer.sign(request).archive
            if number < SoakStage.variants {
                problems += try await signer.verify(signed).filter { !$0.isWarning }.map { "\(number): \($0)" }
            }
            _ = try await FolderTarget(folder: expected).install(signed) { _ in }
            problems += Self.differences(expected + "/" + identifier, stage.apps + "/" + identifier)
            try FileManager.default.removeItem(atPath: expected)
        }
        return problems
    }

    private static func differences(_ expected: String, _ found: String) -> [String] {
        let manager = FileManager.default
        func files(_ folder: String) -> [String] { ((try? manager.subpathsOfDirectory(atPath: folder)) ?? []).sorted() }
        let (left, right) = (files(expected), files(found))
        guard !left.isEmpty, left == right else { return ["\(found): its files are others"] }
        return left.filter { name in
            !manager.contentsEqual(atPath: expected + "/" + name, andPath: found + "/" + name)
        }.map { "\(found)/\($0): its bytes are others" }
    }
}
