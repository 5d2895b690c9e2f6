import CDeflate
import CZlib
import FerryBytes
import FerryZip
import Foundation
import TestKit
import Testing

/// A way to pack bytes into a raw deflate stream, as some tool out there may have done it.
enum Packing: Sendable, CustomStringConvertible {
    case zlib(level: Int32, strategy: Int32)
    case libdeflate(level: Int32)
    /// zlib, flushed after every so many bytes.
    case flushed(every: Int, flush: Int32)

    static let all: [Packing] =
        (0...9).map { .zlib(level: $0, strategy: Z_DEFAULT_STRATEGY) }
        + [Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED].map { .zlib(level: 6, strategy: $0) }
        + [1, 3, 6, 9, 12].map { .libdeflate(level: $0) }
        + [Z_SYNC_FLUSH, Z_FULL_FLUSH, Z_PARTIAL_FLUSH, Z_BLOCK].map { .flushed(every: 40_000, flush: $0) }
        + [.flushed(every: 900, flush: Z_SYNC_FLUSH), .flushed(every: 300, flush: Z_BLOCK)]

    var description: String {
        switch self {
        case .zlib(let level, let strategy): "zlib level \(level) strategy \(strategy)"
        case .libdeflate(let level): "libdeflate level \(level)"
        case .flushed(let every, let flush): "zlib flushed by \(flush) every \(every)"
        }
    }

    func pack(_ bytes: [UInt8]) -> [UInt8] {
        switch self {
        case .zlib(let level, let strategy): Self.zlib(bytes, level: level, strategy: strategy)
        case .flushed(let every, let flush): Self.zlib(bytes, level: 6, strategy: 0, every: every, flush: flush)
        case .libdeflate(let level): Self.libdeflate(bytes, level: level)
        }
    }

    private static func libdeflate(_ bytes: [UInt8], level: Int32) -> [UInt8] {
        let compressor = libdeflate_alloc_compressor(level)
        defer { libdeflate_free_compressor(compressor) }
        var packed = [UInt8](repeating: 0, count: libdeflate_deflate_compress_bound(compressor, bytes.count))
        let count = libdeflate_deflate_compress(compressor, bytes, bytes.count, &packed, packed.count)
        return Array(packed[..<count])
    }

    private static func zlib(
        _ bytes: [UInt8],
        level: Int32,
        strategy: Int32,
        every: Int = .max,
        flush: Int32 = Z_NO_FLUSH
    ) -> [UInt8] {
        var stream = z_stream()
        let size = Int32(MemoryLayout<z_stream>.size)
        deflateInit2_(&stream, level, Z_DEFLATED, -15, 8, strategy, ZLIB_VERSION, size)
        defer { deflateEnd(&stream) }
        var packed = [UInt8](repeating: 0, count: bytes.count * 2 + bytes.count / min(every, 1 << 40) * 32 + 4096)
        var input = bytes
        packed.withUnsafeMutableBufferPointer { packed in
            input.withUnsafeMutableBufferPointer { input in
                stream.next_out = packed.baseAddress
                stream.avail_out = UInt32(packed.count)
                var done = 0
                while done < input.count {
                    let count = min(every, input.count - done)
                    stream.next_in = input.baseAddress.map { $0 + done }
                    stream.avail_in = UInt32(count)
                    deflate(&stream, flush)
                    done += count
                }
                stream.avail_in = 0
                deflate(&stream, Z_FINISH)
            }
        }
        return Array(packed[..<Int(stream.total_out)])
    }
}

/// Unpacks a raw deflate stream with zlib alone; `nil` where it is damaged, or does not end with its last byte.
func unpackWithZlib(_ packed: [UInt8], count: Int) -> [UInt8]? {
    var stream = z_stream()
    inflateInit2_(&stream, -15, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size))
    defer { inflateEnd(&stream) }
    var input = packed
    var output = [UInt8](repeating: 0, count: count + 1)
    let result = output.withUnsafeMutableBufferPointer { output in
        input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = UInt32(input.count)
            stream.next_out = output.baseAddress
            stream.avail_out = UInt32(output.count)
            return inflate(&stream, Z_FINISH)
        }
    }
    guard result == Z_STREAM_END, stream.avail_in == 0 else { return nil }
    return Array(output[..<Int(stream.total_out)])
}

/// Unpacks a raw deflate stream with libdeflate alone; `nil` where it is damaged, or does not end with its last byte.
func unpackWithLibdeflate(_ packed: [UInt8], count: Int) -> [UInt8]? {
    let decompressor = libdeflate_alloc_decompressor()
    defer { libdeflate_free_decompressor(decompressor) }
    var output = [UInt8](repeating: 0, count: count + 1)
    var used = 0
    var made = 0
    let result = libdeflate_deflate_decompress_ex(
        decompressor,
        packed,
        packed.count,
        &output,
        output.count,
        &used,
        &made
    )
    guard result == LIBDEFLATE_SUCCESS, used == packed.count else { return nil }
    return Array(output[..<made])
}

/// Whether two runs of bytes are the same; much faster than `==` in a debug build.
func isSame(_ bytes: [UInt8]?, _ others: [UInt8]) -> Bool {
    guard let bytes, bytes.count == others.count else { return false }
    return bytes.withUnsafeBytes { bytes in
        others.withUnsafeBytes { others in
            guard let first = bytes.baseAddress, let second = others.baseAddress else { return true }
            return memcmp(first, second, bytes.count) == 0
        }
    }
}

/// zlib's CRC-32 of bytes.
func zlibCRC(_ bytes: [UInt8]) -> UInt32 {
    UInt32(bytes.withUnsafeBufferPointer { crc32_z(0, $0.baseAddress, $0.count) })
}

extension SeededGenerator {
    /// Bytes that are partly random, partly repeated from near and far, partly zero: as compiled code packs.
    mutating func code(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 4096)
        while bytes.count < count {
            switch Int.random(in: 0..<10, using: &self) {
            case 0: bytes += self.bytes(Int.random(in: 1...400, using: &self))
            case 1: bytes += [UInt8](repeating: 0, count: Int.random(in: 1...3000, using: &self))
            default:
                guard bytes.count > 300 else {
                    bytes += self.bytes(64)
                    continue
                }
                let reach = Int.random(in: 0..<4, using: &self) == 0 ? 200_000 : 33_000
                let start = Int.random(in: max(0, bytes.count - reach)..<bytes.count - 200, using: &self)
                bytes += bytes[start..<start + Int.random(in: 3...200, using: &self)]
                bytes.append(UInt8.random(in: 0...255, using: &self))
            }
        }
        return Array(bytes.prefix(count))
    }
}

extension EncodedEntry {
    /// The packed bytes; `original` is the archive that its pieces come from.
    func packed(original: [UInt8] = []) -> [UInt8] {
        var packed: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .bytes(let bytes): packed += bytes
            case .original(let range): packed += original[range]
            }
        }
        return packed
    }
}

/// An archive in memory with one entry, whose packed bytes are given.
struct OneEntryArchive {
    let bytes: [UInt8]
    let entry: ZipEntry

    init(_ name: String = "Payload/A.app/A", packed: [UInt8], of content: [UInt8]) throws {
        var builder = ZipBuilder()
        let encoded = EncodedEntry(
            method: .deflated,
            crc32: zlibCRC(content),
            uncompressedSize: content.count,
            pieces: [.bytes(packed)]
        )
        builder.add(name, 0o100755, encoded)
        bytes = try builder.bytes()
        entry = try ZipDirectory(MemorySource(bytes)).entries[0]
    }

    /// The entry's content and its blocks.
    func boundaries() throws -> (content: [UInt8], boundaries: [BlockBoundary]) {
        var content = [UInt8](repeating: 0, count: entry.uncompressedSize)
        let boundaries = try content.withUnsafeMutableBytes { content in
            try Array(bytes[entry.dataRange]).withUnsafeBytes {
                try Inflater().inflateRecordingBlocks(entry, compressed: $0, into: content)
            }
        }
        return (content, boundaries)
    }
}
