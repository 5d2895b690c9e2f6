import CKernel
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where an archive is written to.
protocol ArchiveSink {
    mutating func write(_ bytes: [UInt8]) throws
    /// Appends a range of the archive that entries are copied from.
    mutating func copy(_ range: Range<Int>) throws
    /// Nothing follows.
    mutating func finish() throws
}

/// An archive in memory.
struct MemorySink<Source: ByteSource>: ArchiveSink {
    private(set) var bytes: [UInt8] = []
    let source: Source

    init(source: Source) {
        self.source = source
    }

    mutating func write(_ bytes: [UInt8]) {
        self.bytes += bytes
    }

    mutating func copy(_ range: Range<Int>) throws {
        do {
            bytes += try source.bytes(at: range.lowerBound, count: range.count)
        } catch {
            throw ZipError.reading(error)
        }
    }

    func finish() {}
}

/// An archive in a file, written from where the descriptor stands.
///
/// Small pieces are gathered; large ranges of the source are copied by the kernel, where it can.
struct FileSink: ArchiveSink {
    private let source: FileSource?
    private let descriptor: Int32
    private let path: String
    private let progress: (Int) throws -> Void
    private var buffer: [UInt8] = []
    private var written = 0
    private var kernelCopies = true

    /// Pieces are gathered up to this size.
    private static let bufferBytes = 256 << 10
    /// Ranges shorter than this are gathered too: it is less work than a call of their own.
    private static let smallBytes = 64 << 10
    /// The kernel copies at most this much between two looks at whether to go on.
    private static let kernelBytes = 16 << 20

    init(source: FileSource?, descriptor: Int32, path: String, progress: @escaping (Int) throws -> Void) {
        self.source = source
        self.descriptor = descriptor
        self.path = path
        self.progress = progress
        buffer.reserveCapacity(Self.bufferBytes)
    }

    mutating func write(_ bytes: [UInt8]) throws {
        if buffer.count + bytes.count > Self.bufferBytes {
            try flush()
        }
        if bytes.count >= Self.bufferBytes {
            try bytes.withUnsafeBytes { try writeAll($0) }
        } else {
            buffer += bytes
        }
    }

    mutating func copy(_ range: Range<Int>) throws {
        guard let source else { preconditionFailure("bytes to copy, but no archive to copy them from") }
        var range = range
        if range.count >= Self.smallBytes, kernelCopies {
            try flush()
            try copyInKernel(&range, from: source)
        }
        while !range.isEmpty {
            let count = min(range.count, Self.bufferBytes)
            do {
                try write(try source.bytes(at: range.lowerBound, count: count))
            } catch let error as OutOfBounds {
                throw ZipError.reading(error)
            } catch let error as FileFailure {
                throw ZipError.reading(error)
            }
            range = range.lowerBound + count..<range.upperBound
        }
    }

    mutating func finish() throws {
        try flush()
    }

    private mutating func flush() throws {
        guard !buffer.isEmpty else { return }
        try buffer.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                done += try writeSome(UnsafeRawBufferPointer(rebasing: bytes[done...]))
            }
        }
        written += buffer.count
        buffer.removeAll(keepingCapacity: true)
        try progress(written)
    }

    private mutating func writeAll(_ bytes: UnsafeRawBufferPointer) throws {
        var done = 0
        while done < bytes.count {
            let part = min(bytes.count - done, Self.kernelBytes)
            let count = try writeSome(UnsafeRawBufferPointer(rebasing: bytes[done..<done + part]))
            done += count
            written += count
            try progress(written)
        }
    }

    private func writeSome(_ bytes: UnsafeRawBufferPointer) throws -> Int {
        while true {
            #if canImport(Glibc)
            let count = Glibc.write(descriptor, bytes.baseAddress, bytes.count)
            #elseif canImport(Musl)
            let count = Musl.write(descriptor, bytes.baseAddress, bytes.count)
            #else
            let count = Darwin.write(descriptor, bytes.baseAddress, bytes.count)
            #endif
            if count > 0 { return count }
            if count < 0, errno == EINTR { continue }
            throw ZipError.writing(FileFailure("write", path, errorNumber: count < 0 ? errno : EIO))
        }
    }

    /// Copies what the kernel can, and takes it off the front of `range`.
    private mutating func copyInKernel(_ range: inout Range<Int>, from source: FileSource) throws {
        #if os(Linux)
        var from = off_t(range.lowerBound)
        while !range.isEmpty {
            let count = copy_file_range(
                source.descriptor,
                &from,
                descriptor,
                nil,
                min(range.count, Self.kernelBytes),
                0
            )
            if count > 0 {
                range = range.lowerBound + count..<range.upperBound
                written += count
                try progress(written)
                continue
            }
            if count < 0, errno == EINTR { continue }
            // Not on these file systems, not between them, or not to such a descriptor; zero: some answer so where the
            // call is missing, and if the source did become shorter, reading will say so.
            if count == 0 || [EXDEV, EINVAL, ENOSYS, EOPNOTSUPP, EBADF, EPERM].contains(errno) {
                kernelCopies = false
                return
            }
            throw ZipError.writing(FileFailure("write", path, errorNumber: errno))
        }
        #endif
    }
}
