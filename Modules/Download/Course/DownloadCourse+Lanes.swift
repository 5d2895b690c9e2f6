// Which connection brings which part.
extension DownloadCourse {
    /// Looks at the time: measures, and opens further connections where they help. Called often while bytes come.
    mutating func look(at now: Duration) -> [Step] {
        guard phase == .receiving, !isHeld, let total = totalBytes, mayHaveLanes else {
            growth.pauseMeasuring()
            return []
        }
        let isSteady = lanes.count == growth.target && lanes.values.allSatisfy(\.isReceiving)
        growth.look(
            at: now,
            completedBytes: completedBytes,
            missingBytes: total - completedBytes,
            isSteady: isSteady
        )
        return openLanes()
    }

    /// Whether parts may be asked for beside each other: the file's length is known, and so is how to tell its version.
    var mayHaveLanes: Bool {
        guard version.totalBytes != nil, !hadConflict, growth.limit > 1 else { return false }
        return (versions[source] ?? version).validator != nil
    }

    /// Opens connections up to the number that there should be, for as long as there is something for them to do.
    mutating func openLanes() -> [Step] {
        guard mayHaveLanes, lanes.values.contains(where: \.isReceiving) else { return [] }
        var steps: [Step] = []
        while lanes.count < growth.target, let piece = nextPiece() {
            if !isSpread, let total = version.totalBytes {
                isSpread = true
                steps.append(.spread(totalBytes: total))
            }
            steps.append(open(piece))
        }
        return steps
    }

    /// Opens a connection for this part.
    mutating func open(_ piece: Range<Int64>) -> Step {
        let number = (0...).first { lanes[$0] == nil } ?? lanes.count
        let source = sourceForNext()
        let reachesEnd = piece.upperBound == version.totalBytes
        let request = Request(
            lane: number,
            source: source,
            address: origins[source],
            from: piece.lowerBound,
            end: reachesEnd && piece.lowerBound > 0 ? nil : piece.upperBound,
            validator: versions[source]?.validator
        )
        var lane = Lane(request)
        lane.end = piece.upperBound
        lanes[number] = lane
        return .connect(request)
    }

    /// The source with the fewest connections, where parts of several may be put together.
    private func sourceForNext() -> Int {
        guard limits.hasChecksum, origins.count > 1 else { return source }
        let usable = origins.indices.filter { !failedSources.contains($0) }
        func load(_ source: Int) -> Int { lanes.values.count { $0.request.source == source } }
        return usable.min { (load($0), $0) < (load($1), $1) } ?? source
    }

    /// The first part that no connection is about, or what follows the nearest that one has more of than it needs for a
    /// while, or the second half of the longest.
    ///
    /// From the front on, so that what is there without a gap grows with the download: it is hashed meanwhile, and whoever
    /// reads along waits for it.
    private mutating func nextPiece() -> Range<Int64>? {
        let most = pieceLength
        if let free = unclaimed().first { return free.lowerBound..<min(free.upperBound, free.lowerBound + most) }
        let owned = lanes.filter { $0.value.missingBytes != nil }.sorted { $0.value.position < $1.value.position }
        if let (number, lane) = owned.first(where: { $0.value.missingBytes ?? 0 >= most + limits.minimumPiece }),
            let end = lane.end, case let border = Self.border(lane.position + most), border < end
        {
            lanes[number]?.end = border
            return border..<min(end, border + most)
        }
        let longest = owned.max { ($0.value.missingBytes ?? 0) < ($1.value.missingBytes ?? 0) }
        guard let (number, lane) = longest, let missing = lane.missingBytes, let end = lane.end,
            missing / 2 >= limits.minimumPiece, case let middle = Self.border(end - missing / 2),
            middle > lane.position, middle < end
        else { return nil }
        lanes[number]?.end = middle
        return middle..<end
    }

    /// How much one request asks for while there are several: what one connection brings in a few seconds, so that the
    /// round trip between two requests costs little.
    private var pieceLength: Int64 {
        guard growth.target > 1 else { return .max >> 1 }
        let count = Double(max(1, lanes.count))
        let measured = Int64(min(growth.rate / count * Self.pieceSeconds, 1e15))
        return max(growth.rate > 0 ? measured : 0, 32 * limits.minimumPiece)
    }

    private static let pieceSeconds = 4.0

    /// A page's border at or below: two connections never write into one page.
    private static func border(_ offset: Int64) -> Int64 { offset & ~4095 }

    /// What is missing and no connection's to bring.
    func unclaimed() -> [Range<Int64>] {
        guard let total = version.totalBytes else { return [] }
        var map = present
        for lane in lanes.values {
            map.insert(lane.position..<max(lane.position, lane.end ?? total))
        }
        return map.gaps(below: total)
    }

    /// A connection has ended and others go on: gives its part to one that comes up to it anyway, or opens another one.
    mutating func replace() -> [Step] {
        settlePhase()
        if lanes.count >= growth.target || !mayHaveLanes { extendLanes() }
        return isHeld || phase != .receiving ? [] : openLanes()
    }

    /// Lets a connection go on into parts that others have asked for and not got, for as long as nobody knows whether the
    /// server gives any.
    mutating func takeOver(from number: Int, upTo position: Int64) {
        guard !hasParts, lanes.count > 1 else { return }
        while let lane = lanes[number], let end = lane.end, position > end, lane.bodyEnd ?? 0 > end {
            let next = lanes.first { $0.key != number && $0.value.position == end && !$0.value.isDone }
            if let next {
                guard !next.value.isReceiving else { return }
                lanes[number]?.end = next.value.end
                // With nothing left to bring it ends once it is answered.
                lanes[next.key]?.end = end
            } else if let gap = unclaimed().first(where: { $0.lowerBound == end }) {
                lanes[number]?.end = gap.upperBound
            } else {
                return
            }
        }
    }

    /// Lets connections go on into what nobody brings, as far as the answers that they read reach.
    private mutating func extendLanes() {
        for gap in unclaimed() {
            for (number, lane) in lanes where lane.end == gap.lowerBound && lane.isReceiving && !lane.isDone {
                let reach = min(lane.bodyEnd ?? gap.lowerBound, gap.upperBound)
                if reach > gap.lowerBound { lanes[number]?.end = reach }
            }
        }
    }

    /// Whether bytes come depends on the connections that are left.
    mutating func settlePhase() {
        guard phase == .connecting || phase == .receiving, !lanes.isEmpty else { return }
        phase = lanes.values.contains(where: \.isReceiving) ? .receiving : .connecting
    }
}
