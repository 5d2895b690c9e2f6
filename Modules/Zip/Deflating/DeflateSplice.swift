/// An entry whose first and last bytes changed, packed anew there only: between, the old packed bits stay.
///
/// ```
/// new bytes  0 ─────────────── head ─────────────── first seam ── middle ── last seam ──── cut ── tail
/// packed     new blocks, then empty ones up to      the old bytes,          new blocks that know the
///            the old stream's bit within a byte     untouched               last 32 KiB before them
/// ```
/// Deflate refers back at most 32 KiB, so the middle may begin at the first block that lies so far behind the last
/// changed byte of the head. Without a changed head the old bytes are kept from the start.
public struct DeflateSplice: Sendable {
    /// How far deflate refers back.
    static let windowBytes = 32 << 10

    let head: [UInt8]
    /// In the archive that the entry comes from.
    let middle: Range<Int>
    let seam: BlockBoundary
    let dictionary: [UInt8]
    /// The bytes from the last seam to the cut.
    public let rest: [UInt8]
    let crcBeforeSeam: UInt32
    let crcSoFar: UInt32
    let cut: Int
    let level: Int

    /// Prepares to keep the middle of `entry`.
    ///
    /// `content` is the new content up to the cut, and `boundaries` are the old stream's, from
    /// ``Inflater/inflateRecordingBlocks(_:compressed:into:)``. From `changedPrefix` to the cut the content must be the
    /// old one: that is not checked, as the old one need not be there any more. The content is not kept: only the packed
    /// head, at most 32 KiB before the last boundary, and the bytes from there to the cut.
    ///
    /// `nil` where no boundary serves: the entry is stored, or the changes meet. Then ``DeflatePrefix`` does it.
    public init?(
        entry: ZipEntry,
        boundaries: [BlockBoundary],
        content: UnsafeRawBufferPointer,
        changedPrefix: Int,
        level: Int = 6
    ) {
        guard entry.method == .deflated, changedPrefix >= 0 else { return nil }
        let cut = min(content.count, entry.uncompressedSize)
        let after = boundaries.partitioningIndex { $0.uncompressedOffset > cut }
        guard after > 0, boundaries[after - 1].uncompressedOffset > 0 else { return nil }
        let seam = boundaries[after - 1]

        var seamed = BitSeam([])
        var middleStart = 0
        if changedPrefix > 0 {
            let first = boundaries.partitioningIndex { $0.uncompressedOffset - Self.windowBytes >= changedPrefix }
            guard first < after - 1 else { return nil }
            let boundary = boundaries[first]
            let changed = UnsafeRawBufferPointer(rebasing: content[..<boundary.uncompressedOffset])
            seamed = BitSeam(DeflatePrefix.openEnded(changed, level: level))
            seamed.advance(to: boundary.phase)
            seamed.complete(with: boundary.sharedByte)
            middleStart = (boundary.compressedBit + 7) >> 3
        }
        let middleEnd = seam.compressedBit >> 3
        guard middleStart < middleEnd, middleEnd <= entry.compressedSize else { return nil }

        head = seamed.bytes
        middle = entry.dataOffset + middleStart..<entry.dataOffset + middleEnd
        self.seam = seam
        dictionary = Array(content[max(0, seam.uncompressedOffset - Self.windowBytes)..<seam.uncompressedOffset])
        rest = Array(content[seam.uncompressedOffset...])
        crcBeforeSeam = FerryZip.crc32(of: UnsafeRawBufferPointer(rebasing: content[..<seam.uncompressedOffset]))
        crcSoFar = rest.withUnsafeBytes { [crcBeforeSeam] in FerryZip.crc32(of: $0, after: crcBeforeSeam) }
        self.cut = content.count
        self.level = level
    }

    init(
        head: [UInt8],
        middle: Range<Int>,
        seam: BlockBoundary,
        dictionary: [UInt8],
        rest: [UInt8],
        crcBeforeSeam: UInt32,
        crcSoFar: UInt32,
        cut: Int,
        level: Int
    ) {
        self.head = head
        self.middle = middle
        self.seam = seam
        self.dictionary = dictionary
        self.rest = rest
        self.crcBeforeSeam = crcBeforeSeam
        self.crcSoFar = crcSoFar
        self.cut = cut
        self.level = level
    }

    /// Where in the finished entry what was packed anew begins, so that it can be read back alone; `nil` where the head was
    /// packed anew too.
    public var end: EntrySeam? {
        head.isEmpty ? EntrySeam(boundary: seam, dictionary: dictionary, crc32: crcBeforeSeam) : nil
    }

    /// How many unpacked bytes come before the last seam.
    public var seamOffset: Int { seam.uncompressedOffset }

    /// The CRC-32 of all up to the cut and then `tail`.
    public func crc32(followedBy tail: [UInt8]) -> UInt32 {
        tail.withUnsafeBytes { FerryZip.crc32(of: $0, after: crcSoFar) }
    }

    /// Adds what follows the cut; it may be empty.
    public func finish(tail: [UInt8]) throws(ZipError) -> EncodedEntry {
        let stream = try DeflateStream(
            level: level,
            sharedByte: seam.sharedByte,
            phase: seam.phase,
            dictionary: dictionary
        )
        return EncodedEntry(
            method: .deflated,
            crc32: crc32(followedBy: tail),
            uncompressedSize: cut + tail.count,
            pieces: [.bytes(head), .original(middle), .bytes(stream.finish([rest, tail], lastIsPlain: true))]
        )
    }
}

extension Array {
    /// The index of the first element that is past, where all such elements come last; the count if none is.
    fileprivate func partitioningIndex(where isPast: (Element) -> Bool) -> Int {
        var low = 0
        var high = count
        while low < high {
            let middle = low + (high - low) / 2
            if isPast(self[middle]) {
                high = middle
            } else {
                low = middle + 1
            }
        }
        return low
    }
}
