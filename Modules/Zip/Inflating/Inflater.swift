import CDeflate
public import FerryBytes

/// Unpacks entries, and accepts none whose size or CRC-32 is not what the directory says.
///
/// Holds a decompressor that is used again for each entry: make one a worker.
public final class Inflater {
    private let decompressor: OpaquePointer
    lazy var stream = InflateStream()
    /// For packed bytes, until the next entry.
    package let packedMemory = ReusedMemory()
    /// For unpacked bytes, until the next entry.
    package let unpackedMemory = ReusedMemory()

    /// Up to this unpacked size an entry is unpacked at once, which is twice as fast as in pieces.
    private static let wholeBytes = 4 << 20
    /// The pieces in which larger ones are read, and unpacked.
    private static let pieceBytes = 256 << 10
    /// Boundaries closer together than this are not all kept: it bounds what a hostile stream makes us remember.
    static let boundarySpacing = 512

    /// Makes a decompressor.
    public init() {
        guard let made = libdeflate_alloc_decompressor() else {
            preconditionFailure("libdeflate has no memory for a decompressor")
        }
        decompressor = made
    }

    deinit {
        libdeflate_free_decompressor(decompressor)
    }

    /// Unpacks a whole entry.
    ///
    /// `compressed` are its packed bytes; `output` has exactly the unpacked size.
    public func inflate(
        _ entry: ZipEntry,
        compressed: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ZipError) {
        try checkCounts(entry, compressed: compressed.count, output: output.count)
        if entry.method == .stored {
            output.copyMemory(from: compressed)
        } else {
            try inflateDeflated(entry, compressed: compressed, into: output)
        }
        try checkCRC(entry, crc32(of: UnsafeRawBufferPointer(output)))
    }

    /// The unpacked bytes of an entry.
    public func contents(of entry: ZipEntry, in source: some ByteSource) throws(ZipError) -> [UInt8] {
        do {
            if entry.method == .stored {
                let bytes = try source.bytes(at: entry.dataOffset, count: entry.compressedSize)
                try checkCRC(entry, bytes.withUnsafeBytes { crc32(of: $0) })
                return bytes
            }
            guard entry.isCompact else {
                var bytes: [UInt8] = []
                bytes.reserveCapacity(entry.uncompressedSize)
                try read(entry, in: source) { bytes.append(contentsOf: $0) }
                return bytes
            }
            let compressed = try source.bytes(at: entry.dataOffset, count: entry.compressedSize)
            return try [UInt8](unsafeUninitializedCapacity: entry.uncompressedSize) { buffer, initialized in
                try compressed.withUnsafeBytes {
                    try inflate(entry, compressed: $0, into: UnsafeMutableRawBufferPointer(buffer))
                }
                initialized = entry.uncompressedSize
            }
        } catch {
            throw .reading(error, entry: entry.name)
        }
    }

    /// Hands the unpacked bytes of an entry of any size to `chunk`, in order, with bounded memory.
    ///
    /// The last check, of size and CRC, comes after the last chunk: until this returns, nothing is certain. What
    /// `chunk` throws comes out as it is.
    public func read(
        _ entry: ZipEntry,
        in source: some ByteSource,
        chunk: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        if entry.uncompressedSize <= Self.wholeBytes, entry.method == .deflated, entry.isCompact {
            let input = packedMemory.bytes(entry.compressedSize)
            let output = unpackedMemory.bytes(entry.uncompressedSize)
            do {
                try source.read(at: entry.dataOffset, into: input)
            } catch {
                throw ZipError.reading(error, entry: entry.name)
            }
            try inflate(entry, compressed: UnsafeRawBufferPointer(input), into: output)
            if !output.isEmpty { try chunk(UnsafeRawBufferPointer(output)) }
            return
        }
        var crc: UInt32 = 0
        var total = 0
        func take(_ bytes: UnsafeRawBufferPointer) throws {
            guard bytes.count <= entry.uncompressedSize - total else { throw sizeFault(entry, .goesOn) }
            total += bytes.count
            crc = crc32(of: bytes, after: crc)
            try chunk(bytes)
        }
        if entry.method == .deflated {
            stream.reset()
        }
        let output = unpackedMemory.bytes(Self.pieceBytes)
        let input = packedMemory.bytes(Self.pieceBytes)
        var done = 0
        var ended = entry.method == .stored
        while done < entry.compressedSize {
            let piece = UnsafeMutableRawBufferPointer(
                rebasing: input[..<min(Self.pieceBytes, entry.compressedSize - done)]
            )
            do {
                try source.read(at: entry.dataOffset + done, into: piece)
            } catch {
                throw ZipError.reading(error, entry: entry.name)
            }
            done += piece.count
            if entry.method == .stored {
                try take(UnsafeRawBufferPointer(piece))
                continue
            }
            do {
                ended = try stream.inflatePart(UnsafeRawBufferPointer(piece), through: output, chunk: take)
            } catch let fault as InflateStream.Fault {
                throw sizeFault(entry, fault)
            }
            if ended, done < entry.compressedSize { throw sizeFault(entry, .goesOn) }
        }
        guard ended, total == entry.uncompressedSize else { throw sizeFault(entry, .endsEarly) }
        try checkCRC(entry, crc)
    }

    /// Unpacks a whole entry like ``inflate(_:compressed:into:)``, and tells where its blocks begin: what
    /// ``DeflateSplice`` needs.
    ///
    /// Boundaries come in order, without the stream's end; of those closer together than 512 bytes the last one.
    /// Empty for a stored entry. About half as fast as without.
    public func inflateRecordingBlocks(
        _ entry: ZipEntry,
        compressed: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ZipError) -> [BlockBoundary] {
        guard entry.method == .deflated else {
            try inflate(entry, compressed: compressed, into: output)
            return []
        }
        try checkCounts(entry, compressed: compressed.count, output: output.count)
        var boundaries: [BlockBoundary] = []
        /// Where the run of close boundaries began that the last one stands for.
        var runStart = 0
        do throws(InflateStream.Fault) {
            try stream.walk(compressed, into: output) { offset, bit in
                let boundary = BlockBoundary(offset, bit, in: compressed)
                if boundaries.isEmpty || offset - runStart >= Self.boundarySpacing {
                    boundaries.append(boundary)
                    runStart = offset
                } else if boundaries.count > 1 {
                    boundaries[boundaries.count - 1] = boundary
                }
            }
        } catch {
            throw sizeFault(entry, error)
        }
        try checkCRC(entry, crc32(of: UnsafeRawBufferPointer(output)))
        return boundaries
    }

    private func inflateDeflated(
        _ entry: ZipEntry,
        compressed: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer
    ) throws(ZipError) {
        switch decompress(compressed, into: output) {
        case .success: return
        case .fault(let fault): throw sizeFault(entry, fault)
        }
    }

    /// What libdeflate says of a stream.
    enum Verdict: Equatable {
        case success
        case fault(InflateStream.Fault)
    }

    /// Unpacks a stream that is to fill `output` and end with `compressed`.
    func decompress(_ compressed: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Verdict {
        var used = 0
        var made = 0
        // An empty buffer has no address, but libdeflate's arguments must not be null.
        var nowhere: UInt8 = 0
        let result = withUnsafeMutableBytes(of: &nowhere) { nowhere in
            libdeflate_deflate_decompress_ex(
                decompressor,
                compressed.baseAddress ?? UnsafeRawPointer(nowhere.baseAddress),
                compressed.count,
                output.baseAddress ?? nowhere.baseAddress,
                output.count,
                &used,
                &made
            )
        }
        switch result {
        case LIBDEFLATE_SUCCESS:
            guard used == compressed.count else { return .fault(.goesOn) }
            return made == output.count ? .success : .fault(.endsEarly)
        case LIBDEFLATE_INSUFFICIENT_SPACE: return .fault(.goesOn)
        default: return .fault(.corrupt)
        }
    }

    private func checkCounts(_ entry: ZipEntry, compressed: Int, output: Int) throws(ZipError) {
        guard compressed == entry.compressedSize, output == entry.uncompressedSize else {
            throw ZipError(
                .sizeMismatch,
                entry: entry.name,
                "The entry has \(entry.compressedSize) bytes packed and \(entry.uncompressedSize) unpacked, "
                    + "not \(compressed) and \(output)."
            )
        }
    }

    func checkCRC(_ entry: ZipEntry, _ crc: UInt32) throws(ZipError) {
        guard crc == entry.crc32 else {
            throw ZipError(
                .checksum,
                entry: entry.name,
                "The entry's bytes have the CRC-32 \(hexadecimal(crc)), but it should be \(hexadecimal(entry.crc32))."
            )
        }
    }

    func sizeFault(_ entry: ZipEntry, _ fault: InflateStream.Fault) -> ZipError {
        switch fault {
        case .corrupt:
            ZipError(.malformed, entry: entry.name, "The packed bytes are damaged.")
        case .endsEarly:
            ZipError(
                .sizeMismatch,
                entry: entry.name,
                "The packed bytes end before the \(entry.uncompressedSize) bytes that they should unpack to."
            )
        case .goesOn:
            ZipError(
                .sizeMismatch,
                entry: entry.name,
                "The packed bytes do not end with the \(entry.uncompressedSize) bytes that they should unpack to."
            )
        }
    }
}

extension ZipEntry {
    /// Whether its packed bytes are not many more than they unpack to: then both fit into memory where one does.
    fileprivate var isCompact: Bool {
        compressedSize / 2 <= uncompressedSize + (64 << 10)
    }
}

/// The CRC-32 of bytes that follow others whose CRC-32 is `previous`.
func crc32(of bytes: UnsafeRawBufferPointer, after previous: UInt32 = 0) -> UInt32 {
    // For no address libdeflate would answer its start value.
    bytes.isEmpty ? previous : libdeflate_crc32(previous, bytes.baseAddress, bytes.count)
}

private func hexadecimal(_ value: UInt32) -> String {
    let digits = String(value, radix: 16)
    return String(repeating: "0", count: 8 - digits.count) + digits
}
