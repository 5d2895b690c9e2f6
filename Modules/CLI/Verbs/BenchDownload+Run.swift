import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension BenchDownload {
    /// What `--json` prints.
    struct Report: Encodable {
        let url: String
        let bytes: Int
        let connections: Int?
        let runs: Int
        let cores: Int
        let rows: [Row]
        /// Time of each other program over that of ferry, by its name; above one, ferry is faster.
        let ratios: [String: Double]
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let runs = arguments.number("--runs") ?? 1
        let count = arguments.number("--connections")
        let scratch = try BenchFolder()
        var server: BenchServer?
        let url: String
        if let given = arguments.value("--url") {
            url = given
        } else {
            let started = try BenchServer(
                scratch,
                bytes: arguments.number("--bytes") ?? 1 << 30,
                through: arguments.value("--through")
            )
            server = started
            url = started.url
        }
        let output = scratch.path("out")
        let rivals = commands(url, scratch, connections: count)
        var costs: [String: [Measurement]] = [:]
        var failures: [String: Int] = [:]
        // In turn, so that a machine that slows down slows all of them; the first turn only warms up.
        for turn in 0...runs {
            for rival in rivals {
                try Task.checkCancellation()
                let cost = try rival.run(input: "", output: output)
                let isWhole = cost != nil && server.map { cost?.output == $0.bytes } ?? true
                guard turn > 0 else { continue }
                if let cost, isWhole {
                    costs[rival.name, default: []].append(cost)
                } else {
                    failures[rival.name, default: 0] += 1
                }
            }
        }
        let rows = rivals.map { Row($0.name, costs[$0.name] ?? [], failures: failures[$0.name] ?? 0) }
        let own = rows.first?.wall ?? 0
        let report = Report(
            url: url,
            bytes: server?.bytes ?? rows.first?.output ?? 0,
            connections: count,
            runs: runs,
            cores: invocation.coreCount,
            rows: rows,
            ratios: Dictionary(
                rows.dropFirst().filter { $0.wall > 0 && own > 0 }.map { ($0.name, $0.wall / own) },
                uniquingKeysWith: { $1 }
            )
        )
        withExtendedLifetime(server) {}
        try invocation.show(report, text: text(report))
        return failures.isEmpty ? .done : .failed
    }

    /// This program first, then those that are installed.
    private static func commands(_ url: String, _ scratch: BenchFolder, connections: Int?) -> [Rival] {
        let own = connections.map { " --connections \($0)" } ?? ""
        let environment = "no_proxy=127.0.0.1 XDG_STATE_HOME='\(scratch.path("state"))' exec"
        let others = connections ?? 4
        var lines = [("ferry", "\(environment) '\(ownPath)' download '\(url)' -o {out} --json\(own)")]
        let folders = (getenv("PATH").map { String(cString: $0) } ?? "").split(separator: ":")
        func isInstalled(_ name: String) -> Bool { folders.contains { access($0 + "/" + name, X_OK) == 0 } }
        if isInstalled("curl") {
            lines.append(("curl", "\(environment) curl -sfL -o {out} '\(url)'"))
            // What it takes to know what ferry knows in the end.
            lines.append(("curl, sha256sum", "no_proxy=127.0.0.1 curl -sfL -o {out} '\(url)' && sha256sum {out}"))
        }
        if isInstalled("aria2c") {
            lines.append(
                (
                    "aria2c -x\(others)",
                    "\(environment) aria2c -q -x\(others) -s\(others) -k1M --file-allocation=none --retry-wait=0 -m1000 "
                        + "--no-conf --allow-overwrite=true -d / -o {out} '\(url)'"
                )
            )
        }
        // The output goes nowhere else; where there is an equals sign, it is the first that counts.
        return lines.compactMap { Rival($0.0 + "=" + $0.1) }
    }

    /// Where this program is, also for a child.
    private static var ownPath: String {
        #if os(Linux)
        "/proc/\(getpid())/exe"
        #else
        CommandLine.arguments[0]
        #endif
    }

    /// A table: a row for each program.
    static func text(_ report: Report) -> String {
        let header = ["", "wall", "least", "CPU", "memory", "MB/s", "× ferry"]
        let lines = report.rows.map { row in
            row.wall == 0
                ? [row.name, "failed", "", "", "", "", ""]
                : [
                    row.name, BenchTable.decimals(row.wall, 3) + " s", BenchTable.decimals(row.wallMinimum, 3) + " s",
                    BenchTable.decimals(row.processor, 3) + " s", row.peakMemory.map { sizeText($0) } ?? "",
                    "\(Int(Double(report.bytes) / row.wall / 1e6))",
                    report.ratios[row.name].map { BenchTable.decimals($0, 2) } ?? "1.00",
                ]
        }
        let title =
            "\(sizeText(report.bytes)): median of \(report.runs) on \(report.cores) cores"
        return BenchTable.text(title, [header] + lines)
    }
}
