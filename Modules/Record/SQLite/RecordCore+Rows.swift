import FerryActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension RecordCore {
    private static let columns = """
        number, id, request, title, bundle_id, app_version, stage, is_held, is_cancelled, runner, process, starts,
        download_path, download_bytes, download_sha256, download_is_original,
        signed_path, signed_bytes, signed_sha256, signed_input_sha256, signed_fingerprint,
        outcome, location, message, remedy, failed_stage, added_at, changed_at, finished_at, completed, total, unit
        """

    /// The installs for which `condition` holds, in the order in which they were added.
    func installs(where condition: String, _ values: [Database.Value] = []) throws(RecordError) -> [RecordedInstall] {
        var installs: [RecordedInstall] = []
        // One look a process, not one an install.
        var alive: [String: Bool] = [:]
        try database().rows(
            "SELECT \(Self.columns) FROM install WHERE \(condition) ORDER BY number",
            values
        ) { row throws(RecordError) in
            var install = try Self.install(row)
            if let runner = row.text(9) {
                let isRunning = alive[runner] ?? isAlive(runner)
                alive[runner] = isRunning
                install.process = isRunning ? row.optionalNumber(10).map { Int32(clamping: $0) } : nil
            }
            installs.append(install)
        }
        return installs
    }

    private static func install(_ row: Database.Row) throws(RecordError) -> RecordedInstall {
        guard let id = row.text(1), let text = row.text(2),
            let request = try? JSONDecoder().decode(RecordedRequest.self, from: Data(text.utf8))
        else {
            throw RecordError(
                .damaged,
                "The record's install number \(row.number(0)) cannot be read.",
                remedy: "Look at it with the program sqlite3, or delete that row."
            )
        }
        var install = RecordedInstall(
            id: InstallID(id),
            request: request,
            title: row.text(3) ?? id,
            addedAt: date(row.number(26))
        )
        install.bundleID = row.text(4)
        install.version = row.text(5)
        install.stage = row.text(6).flatMap { Stage(rawValue: $0) } ?? .waiting
        install.isHeld = row.flag(7)
        install.isCancelled = row.flag(8)
        install.starts = Int(clamping: row.number(11))
        install.download = file(row, 12, isOriginal: row.flag(15))
        if let file = file(row, 16, isOriginal: false), let input = row.blob(19), let fingerprint = row.text(20) {
            install.signature = RecordedSignature(file: file, inputSHA256: input, fingerprint: fingerprint)
        }
        install.outcome = outcome(row)
        install.changedAt = date(row.number(27))
        install.finishedAt = row.optionalNumber(28).map { date($0) }
        if let completed = row.optionalNumber(29), let unit = row.text(31).flatMap({ StageProgress.Unit(rawValue: $0) })
        {
            install.progress = StageProgress(completed: completed, total: row.optionalNumber(30), unit: unit)
        }
        return install
    }

    private static func file(_ row: Database.Row, _ column: Int32, isOriginal: Bool) -> RecordedFile? {
        guard let path = row.text(column), let digest = row.blob(column + 2) else { return nil }
        return RecordedFile(path: path, byteCount: row.number(column + 1), sha256: digest, isOriginal: isOriginal)
    }

    private static func outcome(_ row: Database.Row) -> Outcome? {
        switch row.text(21) {
        case "installed": .installed(location: row.text(22))
        case "delivered": .delivered(location: row.text(22))
        case "cancelled": .cancelled
        case "failed":
            .failed(
                Failure(
                    message: row.text(23) ?? "",
                    remedy: row.text(24),
                    stage: row.text(25).flatMap { Stage(rawValue: $0) } ?? .waiting
                )
            )
        default: nil
        }
    }

    /// A request as it is written.
    static func text(_ request: RecordedRequest) -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(request) else {
            preconditionFailure("a request of text is always JSON")
        }
        return String(decoding: data, as: UTF8.self)
    }
}
