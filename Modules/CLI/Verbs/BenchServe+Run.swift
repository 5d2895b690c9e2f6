extension BenchServe {
    /// What `--json` prints.
    struct Report: Encodable {
        /// The length of the archive.
        let bytes: Int
        let requests: Int
        let connections: Int
        let runs: Int
        let cores: Int
        let rows: [Row]
    }

    /// Medians of what both servers did, of one kind.
    struct Row: Encodable {
        let name: String
        /// `MB/s` or `requests/s`.
        let unit: String
        let ferry: Double
        let nginx: Double
        /// The median of the ratios of each turn; above one, Ferry is faster.
        let ratio: Double
        let ratioMinimum: Double
        let ratioMaximum: Double
        let failures: Int
    }

    /// What one kind of measuring is, and what came of it.
    private struct Kind {
        let name: String
        let unit: String
        let scheme: String
        let file: String
        /// What a server did, per second; `nil` where it failed.
        let measure: (String) throws -> Double?
        var pairs: [(ferry: Double, nginx: Double)] = []
        var failures = 0
    }

    static func run(_ invocation: Invocation) async throws -> ExitCode {
        let arguments = invocation.arguments
        let runs = arguments.number("--runs") ?? 1
        let requests = arguments.number("--requests") ?? 1
        let connections = arguments.number("--connections") ?? 1
        let trial = try await ServeTrial(bytes: arguments.number("--bytes") ?? 1_000_000)
        let fetch = { (url: String) in try trial.fetch(url).map { Double(trial.bytes) / 1e6 / $0.wall } }
        let load = { (url: String) in try trial.load(url, requests: requests, connections: connections) }
        var kinds = [
            Kind(name: "archive by https", unit: "MB/s", scheme: "https", file: "app.ipa", measure: fetch),
            Kind(name: "archive by http", unit: "MB/s", scheme: "http", file: "app.ipa", measure: fetch),
            Kind(name: "small, by http", unit: "requests/s", scheme: "http", file: "state", measure: load),
            Kind(name: "small, by https", unit: "requests/s", scheme: "https", file: "state", measure: load),
        ]
        // In turn, so that a machine that slows down slows both; the first turn only warms up.
        for turn in 0...runs {
            for index in kinds.indices {
                try Task.checkCancellation()
                let kind = kinds[index]
                let rates = try trial.addresses(kind.scheme, kind.file).map { try kind.measure($0.url) }
                guard turn > 0 else { continue }
                if let ferry = rates[0], let nginx = rates[1], nginx > 0 {
                    kinds[index].pairs.append((ferry, nginx))
                } else {
                    kinds[index].failures += 1
                }
            }
        }
        let report = Report(
            bytes: trial.bytes,
            requests: requests,
            connections: connections,
            runs: runs,
            cores: invocation.coreCount,
            rows: kinds.map { kind in
                let ratios = kind.pairs.map { $0.ferry / $0.nginx }
                return Row(
                    name: kind.name,
                    unit: kind.unit,
                    ferry: kind.pairs.map(\.ferry).median,
                    nginx: kind.pairs.map(\.nginx).median,
                    ratio: ratios.median,
                    ratioMinimum: ratios.min() ?? 0,
                    ratioMaximum: ratios.max() ?? 0,
                    failures: kind.failures
                )
            }
        )
        try invocation.show(report, text: text(report))
        return kinds.allSatisfy { $0.failures == 0 } ? .done : .failed
    }

    /// A table: a row for each kind.
    static func text(_ report: Report) -> String {
        let header = ["", "ferry", "nginx", "", "ferry / nginx", "least", "most"]
        let lines = report.rows.map { row in
            let failed = row.failures > 0 ? "\(row.failures) of \(report.runs) failed" : ""
            return row.ferry == 0
                ? [row.name, "", "", failed, "", "", ""]
                : [
                    row.name, "\(Int(row.ferry))", "\(Int(row.nginx))", row.unit, BenchTable.decimals(row.ratio, 2),
                    BenchTable.decimals(row.ratioMinimum, 2), BenchTable.decimals(row.ratioMaximum, 2),
                ]
        }
        let title =
            "\(sizeText(report.bytes)); \(report.requests) small requests, \(report.connections) connections: "
            + "median of \(report.runs) on \(report.cores) cores"
        return BenchTable.text(title, [header] + lines)
    }
}
