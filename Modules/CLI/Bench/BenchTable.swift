/// What a benchmark prints: a title, and a row for each thing that was measured.
enum BenchTable {
    /// The lines, in columns; all but the first one stand at their right edges.
    static func text(_ title: String, _ table: [[String]]) -> String {
        let columns = table.map(\.count).max() ?? 0
        let widths = (0..<columns).map { column in table.map { $0[column].count }.max() ?? 0 }
        let lines = table.map { cells in
            zip(cells, widths).enumerated().map { index, cell in
                let space = String(repeating: " ", count: cell.1 - cell.0.count)
                return index == 0 ? cell.0 + space : space + cell.0
            }.joined(separator: "  ")
        }
        return ([title, ""] + lines).joined(separator: "\n")
    }

    /// A time in seconds, to the millisecond.
    static func seconds(_ value: Double) -> String {
        decimals(value, 3) + " s"
    }

    /// A number with two or three digits behind the point.
    static func decimals(_ value: Double, _ digits: Int) -> String {
        let scale = digits == 2 ? 100.0 : 1000.0
        let whole = Int((value * scale).rounded())
        let fraction = String(whole % Int(scale))
        return "\(whole / Int(scale))." + String(repeating: "0", count: digits - fraction.count) + fraction
    }
}
