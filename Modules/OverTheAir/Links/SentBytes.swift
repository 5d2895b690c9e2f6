/// Which bytes of a file were sent, each counted once, whoever got them and in whatever order.
struct SentBytes: Sendable, Hashable {
    /// The most pieces that are told apart; whoever asks for more of them gets their bytes, but no progress.
    static let maximumPieces = 4_096

    /// Apart from each other, in order.
    private(set) var pieces: [Range<Int>] = []
    private(set) var count = 0

    mutating func add(_ range: Range<Int>) {
        guard !range.isEmpty else { return }
        // Pieces that touch it become one with it.
        let first = pieces.firstIndex { $0.upperBound >= range.lowerBound } ?? pieces.count
        var last = first
        var merged = range
        while last < pieces.count, pieces[last].lowerBound <= range.upperBound {
            merged = min(merged.lowerBound, pieces[last].lowerBound)..<max(merged.upperBound, pieces[last].upperBound)
            count -= pieces[last].count
            last += 1
        }
        if first == last, pieces.count >= Self.maximumPieces { return }
        pieces.replaceSubrange(first..<last, with: [merged])
        count += merged.count
    }
}
