#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Bytes that can be read at any place, from any thread: a file, or memory.
public protocol ByteSource: Sendable {
    /// How many bytes there are.
    var count: Int { get }

    /// Fills `buffer` with the bytes from `offset` on.
    ///
    /// Throws ``OutOfBounds`` where they are not all there, ``FileFailure`` where reading fails.
    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws
}

extension ByteSource {
    /// The `count` bytes from `offset` on.
    public func bytes(at offset: Int, count wanted: Int) throws -> [UInt8] {
        guard offset >= 0, wanted >= 0, offset <= count, wanted <= count - offset else {
            throw OutOfBounds(offset: offset, needed: wanted, available: max(0, min(count, count - offset)))
        }
        return try [UInt8](unsafeUninitializedCapacity: wanted) { buffer, initialized in
            try read(at: offset, into: UnsafeMutableRawBufferPointer(buffer))
            initialized = wanted
        }
    }
}

/// Bytes in memory as a ``ByteSource``.
public struct MemorySource: ByteSource {
    /// The bytes.
    public let bytes: [UInt8]

    /// Reads from `bytes`.
    public init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// How many bytes there are.
    public var count: Int { bytes.count }

    /// Copies from memory; throws ``OutOfBounds``.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws {
        let slice = try ByteReader(bytes).bytes(at: offset, count: buffer.count)
        slice.withUnsafeBytes { buffer.copyMemory(from: $0) }
    }
}

/// A regular file, open for reading until the last reference goes.
///
/// Reads name their place (`pread`), so any number of threads may share one.
public final class FileSource: ByteSource {
    /// The path that it was opened by, for messages.
    public let path: String
    /// The open file; owned by this object.
    public let descriptor: Int32
    /// The length when it was opened.
    public let count: Int
    /// When its bytes or its properties were last changed, as it was when it was opened.
    private let changed: timespec

    /// Whether the file is still the one that was opened: neither written to nor cut since.
    public var isUnchanged: Bool {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return false }
        let now = status.modified
        return Int(status.st_size) == count && now.tv_sec == changed.tv_sec && now.tv_nsec == changed.tv_nsec
    }

    /// What tells the file from every other one on this machine, and from itself before any change, as it was when it was
    /// opened: device, inode, length, and both times, 8 bytes each or pairs of them.
    package let identity: [UInt8]
    /// When anything of it was last changed, its name and place too, in seconds since 1970.
    package let statusChanged: Int64

    private static func identity(_ status: stat) -> [UInt8] {
        let times = [status.modified, status.statusChanged].flatMap { [Int64($0.tv_sec), Int64($0.tv_nsec)] }
        var bytes: [UInt8] = []
        for number in [Int64(status.st_dev), Int64(truncatingIfNeeded: status.st_ino), Int64(status.st_size)] + times {
            bytes.append(number, .little)
        }
        return bytes
    }

    /// Opens the file at `path`; throws ``FileFailure``, also for what is not a regular file.
    public init(path: String) throws(FileFailure) {
        // O_NONBLOCK: a named pipe must be refused below, not waited for.
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard opened >= 0 else { throw FileFailure("open", path, errorNumber: errno) }
        var status = stat()
        guard fstat(opened, &status) == 0 else {
            let number = errno
            close(opened)
            throw FileFailure("examine", path, errorNumber: number)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            close(opened)
            throw FileFailure(
                "read",
                path,
                errorNumber: status.st_mode & S_IFMT == S_IFDIR ? EISDIR : EINVAL
            )
        }
        self.path = path
        descriptor = opened
        count = Int(status.st_size)
        changed = status.modified
        identity = Self.identity(status)
        statusChanged = Int64(status.statusChanged.tv_sec)
    }

    /// Reads a file that is open already, through a descriptor of its own; throws ``FileFailure``.
    ///
    /// - Parameter path: for messages.
    public init(duplicating descriptor: Int32, path: String) throws(FileFailure) {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        guard copy >= 0 else { throw FileFailure("open", path, errorNumber: errno) }
        var status = stat()
        guard fstat(copy, &status) == 0 else {
            let number = errno
            close(copy)
            throw FileFailure("examine", path, errorNumber: number)
        }
        self.path = path
        self.descriptor = copy
        count = Int(status.st_size)
        changed = status.modified
        identity = Self.identity(status)
        statusChanged = Int64(status.statusChanged.tv_sec)
    }

    deinit {
        close(descriptor)
    }

    /// Reads from the file; a file that became shorter meanwhile is ``OutOfBounds``.
    public func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws {
        var done = 0
        while done < buffer.count, let base = buffer.baseAddress {
            let got = pread(descriptor, base + done, buffer.count - done, off_t(offset + done))
            if got < 0 {
                if errno == EINTR { continue }
                throw FileFailure("read", path, errorNumber: errno)
            }
            guard got > 0 else {
                throw OutOfBounds(offset: offset, needed: buffer.count, available: done)
            }
            done += got
        }
    }
}
