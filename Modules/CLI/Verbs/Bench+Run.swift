import FerryBytes
import FerrySigning

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Bench {
    /// What `--json` prints.
    struct Report: Encodable {
        let input: String
        let inputBytes: Int
        let runs: Int
        let cores: Int
        let rows: [Row]
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let input = arguments.required("IN")
        let runs = arguments.number("--runs") ?? 1
        let rivals = try arguments.values("--against").map { text throws(UsageError) in
            guard let rival = Rival(text) else {
                throw UsageError(
                    .invalidValue,
                    "“\(text)” is not NAME=COMMAND.",
                    advice: "Give --against 'unzip=unzip -tqq {in}'."
                )
            }
            return rival
        }
        let options = try await invocation.signingOptions()
        let bytes = try FileSource(path: input).count
        let folder = try BenchFolder()
        let trial = SigningTrial(input: input, folder: folder, options: options, invocation)

        var own: [String: [Measurement]] = [:]
        var others: [[Measurement]] = rivals.map { _ in [] }
        var failures = rivals.map { _ in 0 }
        // In turn, so that a machine that slows down slows all of them; the first turn only warms up.
        for turn in 0...runs {
            for (name, cost) in try await trial.turn() where turn > 0 {
                own[name, default: []].append(cost)
            }
            for (index, rival) in rivals.enumerated() {
                try Task.checkCancellation()
                let cost = try rival.run(input: input, output: folder.path("rival.ipa"))
                guard turn > 0 else { continue }
                if let cost {
                    others[index].append(cost)
                } else {
                    failures[index] += 1
                }
            }
        }
        let rows =
            trial.names.map { Row($0, own[$0] ?? []) }
            + rivals.indices.map { Row(rivals[$0].name, others[$0], failures: failures[$0]) }
        let report = Report(
            input: input,
            inputBytes: bytes,
            runs: runs,
            cores: invocation.coreCount,
            rows: rows
        )
        try invocation.show(report, text: text(report))
        return failures.allSatisfy { $0 == 0 } ? .done : .failed
    }

    /// A table: phases, a first signature, and the others beside it.
    static func text(_ report: Report) -> String {
        let whole = report.rows.first { $0.name == "first" }?.wall ?? 0
        let header = ["", "wall", "least", "CPU", "memory", "output", "× first"]
        let lines = report.rows.map { row in
            row.wall == 0 && row.failures > 0
                ? [row.name, "failed", "", "", "", "", ""]
                : [
                    row.name, BenchTable.seconds(row.wall), BenchTable.seconds(row.wallMinimum),
                    BenchTable.seconds(row.processor),
                    row.peakMemory.map { sizeText($0) } ?? "", row.output.map { sizeText($0) } ?? "",
                    whole > 0 ? BenchTable.decimals(row.wall / whole, 2) : "",
                ]
        }
        let title =
            "\(report.input), \(sizeText(report.inputBytes)): median of \(report.runs) on \(report.cores) cores"
        return BenchTable.text(title, [header] + lines)
    }
}
