/// What is most like `word` among `candidates`: one that it begins, or one a few letters away; `nil` for none.
package func suggestion(for word: String, among candidates: [String]) -> String? {
    let dashes = word.prefix { $0 == "-" }.count
    let letters = word.count - dashes
    guard letters >= 2, !candidates.contains(word) else { return nil }
    let allowed = letters <= 2 ? 1 : letters <= 5 ? 2 : 3
    let near = candidates.map { (name: $0, distance: editDistance(word, $0)) }.min { $0.distance < $1.distance }
    if let near, near.distance <= allowed, near.distance < near.name.count - dashes { return near.name }
    return candidates.first { $0.hasPrefix(word) }
}

/// How many letters must be put in, taken out, changed, or swapped with their neighbour to make one word of the other.
///
/// Optimal string alignment: the restricted Damerau-Levenshtein distance.
package func editDistance(_ first: String, _ second: String) -> Int {
    let first = Array(first)
    let second = Array(second)
    var older: [Int] = []
    var previous = Array(0...second.count)
    for row in first.indices {
        var current = [row + 1]
        for column in second.indices {
            let same = first[row] == second[column]
            var best = min(previous[column] + (same ? 0 : 1), previous[column + 1] + 1, current[column] + 1)
            if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                best = min(best, older[column - 1] + 1)
            }
            current.append(best)
        }
        older = previous
        previous = current
    }
    return previous[second.count]
}
