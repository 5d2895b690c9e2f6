import FerryBytes
import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// AFC over one connection: a device's files, which lie in a folder.
final class FileTalk {
    private let device: StandInDevice
    private let wire: Wire
    private let identifier: String
    private var files: [UInt64: Int32] = [:]
    private var written = 0

    init(_ device: StandInDevice, _ wire: Wire, _ identifier: String) {
        self.device = device
        self.wire = wire
        self.identifier = identifier
    }

    deinit { for file in files.values { close(file) } }

    func serve() throws {
        while true {
            let header = ByteReader(try wire.read(40))
            let entire = Int(try header.integer(at: 8, as: UInt64.self, .little))
            let this = Int(try header.integer(at: 16, as: UInt64.self, .little))
            let number = try header.integer(at: 24, as: UInt64.self, .little)
            let operation = try header.integer(at: 32, as: UInt64.self, .little)
            let arguments = try wire.read(this - 40)
            let data = try wire.read(entire - this)
            try obey(operation, arguments, data, number)
        }
    }

    private func obey(_ operation: UInt64, _ arguments: [UInt8], _ data: [UInt8], _ number: UInt64) throws {
        let faults = device.faults(identifier)
        func text(_ bytes: ArraySlice<UInt8>) -> String { String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self) }
        func handle() throws -> UInt64 { try ByteReader(arguments).integer(at: 0, as: UInt64.self, .little) }
        switch operation {
        case 0x03:
            let names = try? FileManager.default.contentsOfDirectory(atPath: path(text(arguments[...])))
            guard let names, !faults.hidesFolders else { return try status(8, number) }
            try reply(2, [], Array(([".", ".."] + names).joined(separator: "\0").utf8) + [0], number)
        case 0x08, 0x22:
            device.note("remove " + text(arguments[...]), identifier)
            try status(remove(path(text(arguments[...]))) ? 0 : 8, number)
        case 0x09:
            device.note("mkdir " + text(arguments[...]), identifier)
            if let folderStatus = faults.folderStatus { return try status(folderStatus, number) }
            try? FileManager.default.createDirectory(
                atPath: path(text(arguments[...])),
                withIntermediateDirectories: true
            )
            try status(0, number)
        case 0x0A:
            var found = stat()
            guard stat(path(text(arguments[...])), &found) == 0 else { return try status(8, number) }
            let kind = found.st_mode & S_IFMT == S_IFDIR ? "S_IFDIR" : "S_IFREG"
            let times = [
                "st_mtime", "\(found.st_mtim.tv_sec)000000000", "st_birthtime", "\(found.st_ctim.tv_sec)000000000",
            ]
            let facts =
                ["st_size", "\(found.st_size)", "st_blocks", "8", "st_nlink", "1", "st_ifmt", kind] + times
            try reply(2, [], Array(facts.joined(separator: "\0").utf8) + [0], number)
        case 0x0D:
            device.note("open " + text(arguments.dropFirst(8)), identifier)
            let descriptor = open(path(text(arguments.dropFirst(8))), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
            guard descriptor >= 0 else { return try status(8, number) }
            let opened = UInt64(files.count + 1)
            files[opened] = descriptor
            written = 0
            var answer: [UInt8] = []
            answer.append(opened, .little)
            try reply(0x0E, answer, [], number)
        case 0x10: try write(data, to: try handle(), faults, number)
        case 0x14:
            if let file = files.removeValue(forKey: try handle()) { close(file) }
            try status(0, number)
        default: try status(15, number)
        }
    }

    private func write(_ data: [UInt8], to file: UInt64, _ faults: StandInFaults, _ number: UInt64) throws {
        guard let descriptor = files[file] else { return try status(7, number) }
        if let limit = faults.fullAfterBytes, written + data.count > limit { return try status(18, number) }
        let kept = faults.keepsHalf ? data.count / 2 : data.count
        guard Glibc.write(descriptor, data, kept) == kept else { return try status(20, number) }
        written += data.count
        if let limit = faults.endsAfterBytes, written >= limit {
            device.pullCable(identifier)
            throw EndOfWire()
        }
        if let limit = faults.stallsAfterBytes, written >= limit {
            wire.stall()
            throw EndOfWire()
        }
        try status(0, number)
    }

    /// A folder only where it is empty, as on a device.
    private func remove(_ path: String) -> Bool { Glibc.remove(path) == 0 }

    /// Where a path of the device is here; nothing leads out.
    private func path(_ name: String) -> String {
        let parts = name.split(separator: "/").filter { $0 != "." && $0 != ".." }
        return ([device.root(identifier)] + parts.map(String.init)).joined(separator: "/")
    }

    private func status(_ value: UInt64, _ number: UInt64) throws {
        var bytes: [UInt8] = []
        bytes.append(value, .little)
        try reply(1, bytes, [], number)
    }

    private func reply(_ operation: UInt64, _ arguments: [UInt8], _ data: [UInt8], _ number: UInt64) throws {
        var bytes = Array("CFA6LPAA".utf8)
        for field in [UInt64(40 + arguments.count + data.count), UInt64(40 + arguments.count), number, operation] {
            bytes.append(field, .little)
        }
        try wire.write(bytes + arguments + data)
    }
}
