/// A bar of a given number of columns.
struct Bar {
    let columns: Int
    let signs: Signs

    /// Filled up to `fraction`, in half steps where the signs have them; full only at 1.
    func filled(to fraction: Double, _ ink: Ink) -> Line {
        let halves = min(Int(fraction * Double(columns * 2)), fraction < 1 ? columns * 2 - 1 : columns * 2)
        let full = max(halves, 0) / 2
        var line = Line(String(repeating: signs.full, count: full), ink)
        var rest = columns - full
        if let half = signs.half, halves % 2 == 1 {
            line.add(half, ink)
            rest -= 1
        }
        line.add(String(repeating: signs.empty, count: rest), .dim)
        return line
    }

    /// A piece that wanders to and fro, for what has no measure; `step` is the time.
    func wandering(at step: Int, _ ink: Ink) -> Line {
        let length = max(columns / 4, 1)
        let way = max(columns - length, 1)
        let place = step % (2 * way)
        let start = min(place < way ? place : 2 * way - place, columns - length)
        var line = Line(String(repeating: signs.empty, count: start), .dim)
        line.add(String(repeating: signs.full, count: length), ink)
        line.add(String(repeating: signs.empty, count: columns - start - length), .dim)
        return line
    }
}
