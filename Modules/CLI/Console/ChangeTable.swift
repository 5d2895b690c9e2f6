import FerryPropertyList

/// A value of a property list on one line, cut where it is long; `–` for none.
func changeText(_ value: PropertyList?) -> String {
    guard let value else { return "–" }
    let text = value.string ?? (try? jsonText(value)) ?? ""
    let longest = 60
    return text.count > longest ? text.prefix(longest) + "…" : text
}

/// Rows of a name, an old value and a new one, in columns as wide as their widest cell.
///
/// An old value is parted from a new one by an arrow; an empty one is none.
func changeTable(_ rows: [[String]]) -> [String] {
    let names = rows.map { $0[0].count }.max() ?? 0
    let olds = rows.map { $0[1].count }.max() ?? 0
    return rows.map { row in
        let name = row[0] + String(repeating: " ", count: names - row[0].count)
        let old = row[1] + String(repeating: " ", count: olds - row[1].count)
        let arrow = row[1].isEmpty ? "  " : "→ "
        return "  " + name + "  " + (olds == 0 ? row[2] : old + " " + arrow + row[2])
    }
}
