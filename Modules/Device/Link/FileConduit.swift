import FerryBytes

/// `com.apple.afc`: files in the folder of a device that computers may write to.
///
/// ```
/// "CFA6LPAA", entire length, length of header and arguments, number, operation (8 bytes each, little-endian),
/// arguments, data
/// ```
final class FileConduit {
    private enum Operation {
        static let status: UInt64 = 0x01
        static let readFolder: UInt64 = 0x03
        static let removePath: UInt64 = 0x08
        static let makeFolder: UInt64 = 0x09
        static let fileInfo: UInt64 = 0x0A
        static let open: UInt64 = 0x0D
        static let openResult: UInt64 = 0x0E
        static let write: UInt64 = 0x10
        static let close: UInt64 = 0x14
    }

    /// The answers of a device that are more than a number.
    private enum Status {
        static let success: UInt64 = 0
        static let notFound: UInt64 = 8
        static let permissionDenied: UInt64 = 10
        static let objectExists: UInt64 = 16
        static let noSpace: UInt64 = 18
    }

    private static let magic = Array("CFA6LPAA".utf8)
    private static let headerBytes = 40
    /// The longest answer that is taken: ours are a number, what is known of one file, or the names in a folder.
    private static let maximumAnswerBytes = 1 << 20
    /// `AFC_FOPEN_WRONLY`: makes the file, or empties it.
    private static let writeOnly: UInt64 = 3
    /// How much of a file of `count` bytes goes in one message.
    ///
    /// Each is acknowledged, so fewer cost less waiting; small files show how far they are, and end soon when that is wanted.
    static func pieceBytes(of count: Int) -> Int { count < 32 << 20 ? 256 << 10 : 1 << 20 }

    private let connection: DeviceConnection
    private let line: DeviceLine
    private var number: UInt64 = 0

    init(_ connection: DeviceConnection, _ line: DeviceLine) {
        self.connection = connection
        self.line = line
    }

    /// Makes a folder; one that is there already will do.
    func makeFolder(_ path: String) throws(DeviceError) {
        let status = try ask(Operation.makeFolder, Array(path.utf8) + [0]).status
        guard status == Status.success || status == Status.objectExists else { throw error(status) }
    }

    /// Removes a file; `false` where there was none.
    @discardableResult
    func remove(_ path: String) throws(DeviceError) -> Bool {
        let status = try ask(Operation.removePath, Array(path.utf8) + [0]).status
        guard status == Status.success || status == Status.notFound else { throw error(status) }
        return status == Status.success
    }

    /// Writes a file of that many bytes, in pieces that `read` fills; tells how many the device has taken after each.
    func write(
        _ path: String,
        count: Int,
        read: (_ offset: Int, UnsafeMutableRawBufferPointer) throws -> Void,
        tell: (Int) -> Void
    ) throws {
        var mode: [UInt8] = []
        mode.append(Self.writeOnly, .little)
        let opened = try ask(Operation.open, mode + Array(path.utf8) + [0], wants: Operation.openResult)
        guard let file = opened.value else { throw error(opened.status) }
        // One piece, whatever the archive's size.
        let pieceBytes = Self.pieceBytes(of: count)
        // On a page's border: where malloc would put it, some processors copy a file's bytes at a fifth of their speed.
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 16384)
        defer { piece.deallocate() }
        var done = 0
        while done < count {
            try line.sign()
            let part = UnsafeMutableRawBufferPointer(rebasing: piece[..<min(pieceBytes, count - done)])
            try read(done, part)
            var arguments: [UInt8] = []
            arguments.append(file, .little)
            let status = try ask(Operation.write, arguments, UnsafeRawBufferPointer(part)).status
            guard status == Status.success else { throw error(status) }
            done += part.count
            tell(done)
        }
        var arguments: [UInt8] = []
        arguments.append(file, .little)
        let status = try ask(Operation.close, arguments).status
        guard status == Status.success else { throw error(status) }
        let size = try size(of: path)
        guard size == count else {
            throw DeviceError(
                .file,
                "\(line.name): \(line.step): \(size.map { "\($0)" } ?? "none") of \(count) bytes are there.",
                remedy: "Try again. If it stays so, restart the device."
            )
        }
    }

    /// The names in a folder, with `.` and `..` where the device says them; `nil` where it does not show them.
    func names(in folder: String) throws(DeviceError) -> [String]? {
        let answer = try ask(Operation.readFolder, Array(folder.utf8) + [0])
        guard answer.status == Status.success else { return nil }
        return answer.texts.filter { !$0.isEmpty }
    }

    /// When a file was changed last, in seconds since 1970; `nil` where there is none, or the device does not say.
    func modificationTime(of path: String) throws(DeviceError) -> Int64? {
        // In nanoseconds.
        try fact("st_mtime", of: path).flatMap { Int64($0) }.map { $0 / 1_000_000_000 }
    }

    /// The size of a file; `nil` where there is none.
    private func size(of path: String) throws(DeviceError) -> Int? {
        try fact("st_size", of: path).flatMap { Int($0) }
    }

    /// What the device says of a file: names and values in turn.
    private func fact(_ name: String, of path: String) throws(DeviceError) -> String? {
        let texts = try ask(Operation.fileInfo, Array(path.utf8) + [0]).texts
        for index in stride(from: 0, to: texts.count - 1, by: 2) where texts[index] == name { return texts[index + 1] }
        return nil
    }

    private struct Reply {
        /// 0 for success.
        var status: UInt64
        /// What an answer of the wanted kind begins with.
        var value: UInt64?
        var data: [UInt8]

        /// The texts of the data, each of which ends with a zero.
        var texts: [String] {
            data.split(separator: 0, omittingEmptySubsequences: false).map { String(decoding: $0, as: UTF8.self) }
        }
    }

    /// - Parameter wants: the kind of answer that is none of a status.
    private func ask(
        _ operation: UInt64,
        _ arguments: [UInt8],
        _ data: UnsafeRawBufferPointer? = nil,
        wants: UInt64? = nil
    ) throws(DeviceError) -> Reply {
        number += 1
        let short = Self.headerBytes + arguments.count
        var header = Self.magic
        for field in [UInt64(short + (data?.count ?? 0)), UInt64(short), number, operation] {
            header.append(field, .little)
        }
        try connection.send(header + arguments)
        if let data { try connection.send(data) }
        let answer = ByteReader(try connection.receive(Self.headerBytes))
        guard let magic = try? Array(answer.bytes(at: 0, count: 8)), magic == Self.magic,
            let entire = try? answer.integer(at: 8, as: UInt64.self, .little),
            let kind = try? answer.integer(at: 32, as: UInt64.self, .little),
            entire >= UInt64(Self.headerBytes), entire <= UInt64(Self.maximumAnswerBytes)
        else {
            throw DeviceError(.answer, "\(line.name): \(line.step): its answer is none of the service for files.")
        }
        let body = try connection.receive(Int(entire) - Self.headerBytes)
        let value = try? ByteReader(body).integer(at: 0, as: UInt64.self, .little)
        line.touch()
        if kind == Operation.status { return Reply(status: value ?? 1, value: nil, data: []) }
        return Reply(status: 0, value: kind == wants ? value : nil, data: body)
    }

    private func error(_ status: UInt64) -> DeviceError {
        let place = "\(line.name): \(line.step): "
        switch status {
        case Status.noSpace:
            return DeviceError(
                .room,
                place + "the device is full.",
                remedy:
                    "Make room on it: Settings, General, Storage. An app needs about twice its size while it is installed."
            )
        case Status.permissionDenied:
            return DeviceError(
                .file,
                place + "the device does not allow it.",
                remedy: "Unlock it and try again. If it is managed, ask whoever manages it."
            )
        default:
            return DeviceError(
                .file,
                place + "the device answers \(Self.word(status)).",
                remedy: "Unlock the device and try again. If it stays so, restart it."
            )
        }
    }

    private static func word(_ status: UInt64) -> String {
        let words: [UInt64: String] = [
            1: "unknown error", 2: "invalid operation header", 3: "no resources", 4: "read error", 5: "write error",
            7: "invalid argument", 8: "not found", 9: "is a folder", 11: "service not connected", 12: "timed out",
            15: "not supported", 17: "busy", 20: "input or output error", 21: "interrupted", 23: "internal error",
        ]
        return "“\(words[status] ?? "error")” (AFC \(status))"
    }
}
