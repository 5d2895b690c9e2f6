import FerryAPNs
import FerryBytes
public import FerryLiveActivity

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What is known of one device's island over all processes: the record of its life with the tokens, messages that wait
/// to be read, and a journal of what was decided and why.
///
/// One folder for an app, an environment and a device, as a token is good for these three only. It is for this user
/// alone: who has the tokens can write on somebody's lock screen.
public struct IslandFolder: Sendable {
    /// How long the journal may grow, in bytes, until it is begun anew; the one before is kept.
    static let journalLimit = 1 << 20

    /// The folder.
    public let path: String

    /// The folder of that device's island below `stateFolder`; made where it is missing.
    public init(_ configuration: IslandConfiguration, in stateFolder: String) throws(APNsReporterError) {
        let endpoint = configuration.endpoint
        let place = endpoint.environment == .custom ? endpoint.description : endpoint.environment.rawValue
        let names = [configuration.bundleID, place, configuration.device].map(Self.name)
        path = stateFolder + "/" + names.joined(separator: "@")
        do {
            try makeFolders(inbox)
        } catch {
            throw Self.failure(error)
        }
    }

    /// Letters, digits, dots and dashes stay; every other byte becomes a percent sign and two digits.
    private static func name(_ text: String) -> String {
        var name = ""
        let isLong = text.utf8.count > longestName
        for byte in text.utf8.prefix(longestName) {
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"):
                name.append(Character(Unicode.Scalar(byte)))
            case UInt8(ascii: ".") where !name.isEmpty: name.append(".")
            default: name += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
        }
        // Two long names with one beginning are two folders (FNV-1a).
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        return isLong ? name + "~" + String(hash, radix: 16) : name
    }

    /// How many bytes of a name are in a folder's name.
    private static let longestName = 60

    private static func failure(_ failure: FileFailure) -> APNsReporterError {
        APNsReporterError(.state, failure.message, remedy: failure.remedy)
    }

    var recordPath: String { path + "/record.json" }
    var inbox: String { path + "/inbox" }
    /// The journal: a line for each decision.
    public var journalPath: String { path + "/journal.log" }

    // MARK: The record

    /// The record that was kept last; `nil` where there is none yet, or none that can be read.
    public func record() -> LifeRecord? { (try? readRecord()).flatMap(\.self) }

    private func readRecord() throws -> LifeRecord? {
        let bytes: [UInt8]
        do {
            bytes = try WholeFile.read(recordPath, limit: LifeRecord.maximumBytes)
        } catch  where error.errorNumber == ENOENT {
            return nil
        } catch  where error.errorNumber == EFBIG {
            throw Damaged()
        }
        guard let record = LifeRecord(json: Data(bytes)) else { throw Damaged() }
        return record
    }

    struct Damaged: Error {}

    // MARK: Pushes

    private var pushesPath: String { path + "/pushes" }

    /// When the pushes of the last hour were sent, as the last process said.
    func pushes() -> [Date] {
        guard let bytes = try? WholeFile.read(pushesPath, limit: 1 << 21) else { return [] }
        return String(decoding: bytes, as: UTF8.self).split(separator: "\n").compactMap { Double($0) }
            .filter(\.isFinite).map(Date.init(timeIntervalSince1970:))
    }

    /// Keeps them for the next process. Where that fails, it begins with a budget of its own.
    func keep(_ pushes: [Date]) {
        let text = pushes.map { "\($0.timeIntervalSince1970)\n" }.joined()
        try? WholeFile.write(Array(text.utf8), to: pushesPath)
    }

    // MARK: Who drives

    /// Takes the island for this process; `nil` while another one has it. Held until the result goes.
    func lock() throws(APNsReporterError) -> IslandLock? {
        let name = path + "/lock"
        let descriptor = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Self.failure(FileFailure("open", name, errorNumber: errno)) }
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            let number = errno
            guard number != EINTR else { continue }
            close(descriptor)
            guard number == EWOULDBLOCK else { throw Self.failure(FileFailure("lock", name, errorNumber: number)) }
            return nil
        }
        return IslandLock(descriptor)
    }

    /// Whether a process drives the island now.
    public var isDriven: Bool {
        // Taken for a moment: a process that starts just then tries again a second later.
        guard let lock = try? lock() else { return true }
        withExtendedLifetime(lock) {}
        return false
    }

    // MARK: Messages

    /// Leaves a message for the process that drives the island, now or the next time. Returns when it is on disk.
    public func send(_ message: IslandMessage) throws(APNsReporterError) {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        // In the order of their names they were sent.
        let seconds = String(time.tv_sec), nanoseconds = String(time.tv_nsec)
        let stamp =
            String(repeating: "0", count: max(0, 12 - seconds.count)) + seconds + "."
            + String(repeating: "0", count: max(0, 9 - nanoseconds.count)) + nanoseconds
        let name = "\(inbox)/\(stamp)-\(getpid())-\(UInt32.random(in: .min ... .max)).json"
        do {
            try WholeFile.write(message.json(), to: name)
        } catch {
            throw Self.failure(error)
        }
    }

    /// The messages that nobody has read yet, oldest first, with the paths of their files.
    func messages() -> [(path: String, message: IslandMessage?)] {
        let names = ((try? folderNames(inbox)) ?? []).filter { name in
            name.utf8.first != UInt8(ascii: ".") && name.hasSuffix(".json")
        }
        return names.sorted().compactMap { name in
            let path = inbox + "/" + name
            // One that cannot be read now may be later.
            guard let bytes = try? WholeFile.read(path, limit: 1 << 16) else { return nil }
            return (path, IslandMessage(json: bytes))
        }
    }

    /// Puts what is no message that we know aside, for a newer program or a person.
    func putAside(_ path: String) { rename(path, path + ".unknown") }

    /// The messages that wait, oldest first.
    public var waiting: [IslandMessage] { messages().compactMap(\.message) }

    func forget(_ path: String) { unlink(path) }

    // MARK: The journal

    /// Adds lines. One that cannot be written is lost: the journal explains, and decides nothing.
    func journal(_ lines: [String]) {
        guard !lines.isEmpty else { return }
        var status = stat()
        if stat(journalPath, &status) == 0, status.st_size > Self.journalLimit {
            rename(journalPath, journalPath + ".1")
        }
        let descriptor = open(journalPath, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        let text = lines.map { $0 + "\n" }.joined()
        _ = Array(text.utf8).withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
    }

    /// The last lines, oldest first.
    public func journal(last count: Int) -> [String] {
        guard let source = try? FileSource(path: journalPath) else { return [] }
        let start = max(0, source.count - 1 << 16)
        guard let bytes = try? source.bytes(at: start, count: source.count - start) else { return [] }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
        return Array(lines.dropFirst(start > 0 ? 1 : 0).suffix(count))
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    count == 0 ? 0 : write(descriptor, bytes, count)
}

/// That this process drives an island.
final class IslandLock: Sendable {
    private let descriptor: Int32

    init(_ descriptor: Int32) {
        self.descriptor = descriptor
    }

    deinit {
        close(descriptor)
    }
}

extension IslandFolder: LifeStore {
    /// The record that was kept last. One that cannot be read is put aside, and told by throwing.
    public func load() async throws -> LifeRecord? {
        do {
            return try readRecord()
        } catch let error as Damaged {
            rename(recordPath, recordPath + ".damaged")
            throw error
        }
    }

    /// Keeps a record: written beside, synced, and put in place.
    public func save(_ record: LifeRecord) async throws {
        try WholeFile.write([UInt8](try record.json()), to: recordPath)
    }
}
