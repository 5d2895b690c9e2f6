import FerryBytes
import FerrySigning

extension Sign {
    /// What became of several archives: what `--json` prints, and a table for people.
    struct ManyReport: Encodable {
        /// One archive for one identity.
        ///
        /// As data, one that was signed has all that ``Report`` has beside these.
        struct Item {
            let archive: String
            let identity: String?
            /// `signed`, `skipped`, `refused`, `failed`, `cancelled` or `notBegun`.
            let result: String
            let signed: Report?
            /// Where what was left as it was is.
            let skippedOutput: String?
            let error: Failure?
            let seconds: Double?
        }

        /// Why one was not signed.
        struct Failure: Encodable {
            struct Reason: Encodable {
                let message: String
                let remedy: String?
            }

            let code: String
            let message: String
            let remedy: String?
            /// Everything that stands in the way; at least one.
            let reasons: [Reason]

            init(_ error: any Error) {
                let report = ErrorReport(error)
                (code, message, remedy) = (report.code, report.message, report.remedy)
                let single = Reason(message: report.message, remedy: report.remedy)
                let all = (error as? SignError)?.reasons.map { Reason(message: $0.message, remedy: $0.remedy) } ?? []
                reasons = all.isEmpty ? [single] : all
            }
        }

        let archives: [Item]
        let signed: Int
        let skipped: Int
        let failed: Int
        let cancelled: Int
        let seconds: Double

        init(_ items: [ManyPlan.Item], _ endings: [Ending], seconds: Double) {
            let archives = zip(items, endings).map { Item($0, $1) }
            func count(_ results: Set<String>) -> Int { archives.count { results.contains($0.result) } }
            self.archives = archives
            signed = count(["signed"])
            skipped = count(["skipped"])
            failed = count(["refused", "failed"])
            cancelled = count(["cancelled", "notBegun"])
            self.seconds = seconds.rounded(toPlaces: 3)
        }
    }
}

extension Sign.ManyReport.Item: Encodable {
    init(_ item: ManyPlan.Item, _ ending: Sign.Ending) {
        var report: Sign.Report?
        var failure: Sign.ManyReport.Failure?
        let result: String
        switch ending.fate {
        case .signed(let archive):
            report = Sign.Report(archive)
            result = "signed"
        case .skipped: result = "skipped"
        case .failed(let error):
            failure = Sign.ManyReport.Failure(error)
            switch ExitCode(error) {
            case .refused: result = "refused"
            case .cancelled: result = "cancelled"
            default: result = "failed"
            }
        case .notBegun: result = "notBegun"
        }
        self.init(
            archive: item.input,
            identity: item.identity,
            result: result,
            signed: report,
            skippedOutput: item.isSkipped ? item.output : nil,
            error: failure,
            seconds: ending.seconds?.rounded(toPlaces: 3)
        )
    }

    private enum Key: CodingKey {
        case archive, identity, result, output, error, seconds
    }

    func encode(to encoder: any Encoder) throws {
        try signed?.encode(to: encoder)
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(archive, forKey: .archive)
        try container.encodeIfPresent(identity, forKey: .identity)
        try container.encode(result, forKey: .result)
        try container.encodeIfPresent(skippedOutput, forKey: .output)
        try container.encodeIfPresent(error, forKey: .error)
        try container.encodeIfPresent(seconds, forKey: .seconds)
    }

    /// Its line of the table.
    fileprivate func row(withIdentity: Bool) -> [String] {
        var row = [archive.pathParts.last ?? archive]
        if withIdentity { row.append(identity ?? "") }
        if let signed {
            let warnings = signed.warnings.count
            row.append("signed" + (warnings == 0 ? "" : ", \(warnings) \(warnings == 1 ? "warning" : "warnings")"))
            row += [signed.identifier, sizeText(signed.bytes), signed.output]
        } else {
            row.append(result == "notBegun" ? "not begun" : result)
            // The first of several lines says how many there are.
            if result != "cancelled", let reason = error?.reasons.first {
                let more = (error?.reasons.count ?? 1) - 1
                row.append(reason.message + (more > 0 ? " (and \(more) more)" : ""))
            } else if let skippedOutput {
                row += ["", "", skippedOutput]
            }
        }
        return row.map(\.printable)
    }
}

extension Sign.ManyReport {
    /// A line for each, and how many there are of each kind.
    func text(_ marks: Marks) -> String {
        let hasIdentities = archives.contains { $0.identity != nil }
        let headings =
            ["ARCHIVE"] + (hasIdentities ? ["IDENTITY"] : []) + ["RESULT", "IDENTIFIER", "SIZE", "OUTPUT"]
        let lines = tableLines([headings] + archives.map { $0.row(withIdentity: hasIdentities) })
        let signs =
            [" "]
            + archives.map { item in
                switch item.result {
                case "signed": item.signed?.warnings.isEmpty == true ? marks.good : marks.warning
                case "skipped": "·"
                default: marks.bad
                }
            }
        let counts = [(signed, "signed"), (skipped, "skipped"), (failed, "failed"), (cancelled, "cancelled")]
        let words = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }.joined(separator: ", ")
        let time = "in \(seconds.rounded(toPlaces: 1)) s"
        return (zip(signs, lines).map { $0 + " " + $1 } + ["\(words) \(time)"]).joined(separator: "\n")
    }
}

extension Double {
    fileprivate func rounded(toPlaces places: Int) -> Double {
        var factor = 1.0
        for _ in 0..<places { factor *= 10 }
        return (self * factor).rounded() / factor
    }
}
