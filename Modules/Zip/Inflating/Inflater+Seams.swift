extension Inflater {
    /// How many bytes ``inflateKeepingSeams(_:compressed:into:cut:)`` may write behind the unpacked size.
    public static let seamRoom = 16
    /// Entries from this unpacked size on are worth a guess: of smaller ones zlib has counted the blocks before.
    private static let guessedBytes = 1 << 20

    /// Unpacks a whole entry like ``inflate(_:compressed:into:)``, and finds the last block boundary before `cut`, which
    /// ``DeflateSplice`` needs.
    ///
    /// The boundary is guessed from the stream's end (``BlockSearch``). The guess is proven by unpacking: the packed
    /// bytes up to it get an end of our own, a stored block of 16 random bytes. libdeflate reads that as the end only if it
    /// is between two blocks there; within a block the random bytes would not come out as they are. So the whole is
    /// unpacked once, by libdeflate, and the boundary is as sure as if zlib had counted the blocks. Where there is no good
    /// guess, zlib does.
    ///
    /// - Parameter compressed: the entry's packed bytes, which come out as they went in.
    /// - Parameter output: ``seamRoom`` bytes larger than the unpacked size.
    /// - Returns: boundaries in order, the one before the cut among them; empty for a stored entry.
    public func inflateKeepingSeams(
        _ entry: ZipEntry,
        compressed: UnsafeMutableRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        cut: Int
    ) throws(ZipError) -> [BlockBoundary] {
        try inflateKeepingSeams(entry, compressed: compressed, into: output, cut: cut, guessingFrom: Self.guessedBytes)
    }

    /// The same, guessing for every entry of at least so many unpacked bytes.
    package func inflateKeepingSeams(
        _ entry: ZipEntry,
        compressed: UnsafeMutableRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        cut: Int,
        guessingFrom guessedBytes: Int
    ) throws(ZipError) -> [BlockBoundary] {
        let size = entry.uncompressedSize
        guard compressed.count == entry.compressedSize, output.count == size + Self.seamRoom else {
            throw ZipError(.sizeMismatch, entry: entry.name, "There is no room for the entry's \(size) bytes.")
        }
        if entry.method == .deflated, size >= guessedBytes, cut > 0, cut <= size,
            let seam = guess(compressed, output, size: size, cut: cut)
        {
            try checkCRC(entry, crc32(of: UnsafeRawBufferPointer(rebasing: output[..<size])))
            return [seam]
        }
        return try inflateRecordingBlocks(
            entry,
            compressed: UnsafeRawBufferPointer(compressed),
            into: UnsafeMutableRawBufferPointer(rebasing: output[..<size])
        )
    }

    /// The first block of a stream from where on nothing refers to what lies before `offset`; `nil` where it cannot be
    /// found near it.
    public func block(of compressed: UnsafeRawBufferPointer, free offset: Int) -> BlockBoundary? {
        var found: BlockBoundary?
        let first = offset + DeflateSplice.windowBytes
        // Blocks are rarely larger than 4 MiB.
        let room = UnsafeMutableRawBufferPointer.allocate(byteCount: first + 4 << 20, alignment: 16)
        defer { room.deallocate() }
        // What lies behind the block does not fit, and is of no interest.
        _ = try? stream.walk(compressed, into: room) { start, bit in
            guard found == nil, start >= first else { return }
            found = BlockBoundary(start, bit, in: compressed)
        }
        return found
    }

    private func guess(
        _ compressed: UnsafeMutableRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer,
        size: Int,
        cut: Int
    ) -> BlockBoundary? {
        let packed = UnsafeRawBufferPointer(compressed)
        // The output is free until the entry is unpacked.
        var search = BlockSearch(in: packed, stream, output)
        guard let found = search.block(before: size - cut), size > found.bytesToEnd else { return nil }
        let seam = BlockBoundary(size - found.bytesToEnd, found.compressedBit, in: packed)
        guard isProven(seam, compressed, output) else { return nil }
        let dictionary = output[max(0, seam.uncompressedOffset - DeflateSplice.windowBytes)..<seam.uncompressedOffset]
        let rest: Void? = try? stream.unpack(
            UnsafeRawBufferPointer(rebasing: packed[(seam.compressedBit >> 3)...]),
            phase: seam.phase,
            dictionary: Array(dictionary),
            into: UnsafeMutableRawBufferPointer(rebasing: output[seam.uncompressedOffset..<size])
        )
        return rest == nil ? nil : seam
    }

    /// Unpacks all before a seam, and says whether a block ends and another begins there.
    private func isProven(
        _ seam: BlockBoundary,
        _ compressed: UnsafeMutableRawBufferPointer,
        _ output: UnsafeMutableRawBufferPointer
    ) -> Bool {
        let start = seam.compressedBit >> 3
        var generator = SystemRandomNumberGenerator()
        let nonce = (0..<Self.seamRoom).map { _ in UInt8.random(in: 0...255, using: &generator) }
        // BFINAL 1, BTYPE 00, zeros up to the next byte, the length and its complement, the bytes.
        var ending: [UInt8] = [seam.sharedByte & (1 << UInt8(seam.phase) - 1) | 1 << UInt8(seam.phase)]
        if seam.phase > 5 { ending.append(0) }
        ending += [UInt8(nonce.count), 0, ~UInt8(nonce.count), 0xFF] + nonce
        guard compressed.count - start >= ending.count else { return false }

        let place = UnsafeMutableRawBufferPointer(rebasing: compressed[start..<start + ending.count])
        let old = Array(place)
        place.copyBytes(from: ending)
        defer { place.copyBytes(from: old) }
        let end = seam.uncompressedOffset + nonce.count
        let verdict = decompress(
            UnsafeRawBufferPointer(rebasing: compressed[..<(start + ending.count)]),
            into: UnsafeMutableRawBufferPointer(rebasing: output[..<end])
        )
        return verdict == .success && output[seam.uncompressedOffset..<end].elementsEqual(nonce)
    }
}

extension BlockBoundary {
    /// The boundary at a bit of a stream.
    init(_ uncompressedOffset: Int, _ compressedBit: Int, in compressed: UnsafeRawBufferPointer) {
        self.init(
            uncompressedOffset: uncompressedOffset,
            compressedBit: compressedBit,
            sharedByte: compressedBit & 7 == 0 ? 0 : compressed[compressedBit >> 3]
        )
    }
}
