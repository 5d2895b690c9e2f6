import CZlib
import FerryAPNs
import FerryAPNsReporter
import FerryArchives
import FerryBytes
import FerryDownload
import FerryIcons
import FerryLiveActivity
import FerryWeb
import Foundation

extension FuzzTarget {
    /// What people inject, pictures, what servers answer, and what lies in our own files.
    static let others = [
        FuzzTarget("package", maximumBytes: 16384, package),
        FuzzTarget("tweak", maximumBytes: 16384, tweak),
        FuzzTarget("picture", picture),
        FuzzTarget("push-answer", maximumBytes: 1024, pushAnswer),
        FuzzTarget("http-answer", maximumBytes: 2048, httpAnswer),
        FuzzTarget("download-record", maximumBytes: 2048, downloadRecord),
        FuzzTarget("island", maximumBytes: 4096, island),
        FuzzTarget("configuration", maximumBytes: 2048, configuration),
        FuzzTarget("source", source),
    ]

    /// What an archive may ask for here: little, as a fuzzer has many to try.
    private static let archiveLimits = {
        var limits = ArchiveLimits()
        limits.fileBytes = 1 << 20
        limits.totalBytes = 4 << 20
        limits.entryCount = 500
        return limits
    }()

    @Sendable private static func package(_ bytes: [UInt8]) throws {
        if let package = try? DebianPackage(bytes, limits: archiveLimits) {
            let total = package.files.reduce(0) { $0 + ($1.bytes?.count ?? 0) }
            try expect(total <= archiveLimits.totalBytes, "all files together keep to the limit")
            if let tweak = try? Tweak(package) { plan(tweak) }
        }
        if let fields = try? ControlFields(bytes) { _ = (fields.name, fields.dependencies) }
        _ = TweakFilter(bytes)
    }

    @Sendable private static func tweak(_ bytes: [UInt8]) throws {
        try inFile(bytes) { path in
            if let tweak = try? Tweak(path: path, limits: archiveLimits) { plan(tweak) }
        }
    }

    private static func plan(_ tweak: Tweak) {
        guard let files = try? InjectedFiles([tweak], identifier: "com.example.app", executable: "App") else { return }
        _ = files.edits(forExecutableIn: "", isWeak: true)
    }

    @Sendable private static func picture(_ bytes: [UInt8]) throws {
        try readPicture(bytes)
        // A fuzzer cannot guess checksums, and behind them it gets no further.
        try readPicture(withChecksums(bytes))
    }

    /// A PNG whose chunks have the checksums that they need.
    private static func withChecksums(_ bytes: [UInt8]) -> [UInt8] {
        var bytes = bytes
        var place = 8
        while bytes.count - place >= 12 {
            let size = bytes[place..<place + 4].reduce(0) { $0 << 8 | Int($1) }
            guard size <= bytes.count - place - 12 else { break }
            let end = place + 8 + size
            let sum = bytes[place + 4..<end].withUnsafeBufferPointer { crc32(0, $0.baseAddress, UInt32($0.count)) }
            for index in 0..<4 { bytes[end + index] = UInt8(truncatingIfNeeded: sum >> (24 - 8 * UInt(index))) }
            place = end + 4
        }
        return bytes
    }

    private static func readPicture(_ bytes: [UInt8]) throws {
        if let crushed = try? CrushedPNG(bytes), let plain = try? crushed.plain() {
            try expect(!CrushedPNG.isCrushed(plain), "what was made plain is not crushed")
        }
        guard let picture = try? Picture(png: bytes) else { return }
        // Larger ones take long, and nothing else happens with them.
        guard picture.width * picture.height <= 1 << 16 else { return }
        if let jpeg = try? Icon.jpeg(from: bytes) {
            try expect(jpeg.count <= Icon.maximumJPEGBytes, "a JPEG keeps to its limit")
        }
        let small = try Icon.png(from: bytes, side: 20)
        guard let again = try? Picture(png: small) else {
            throw FuzzFinding(description: "A picture that was written cannot be read.")
        }
        try expect(max(again.width, again.height) <= 20, "a picture that was made smaller is smaller")
    }

    @Sendable private static func pushAnswer(_ bytes: [UInt8]) throws {
        _ = AnswerBody(bytes)
        if let wait = RetryAfter.wait(String(decoding: bytes, as: UTF8.self), wallSeconds: 1_750_000_000) {
            try expect(wait >= .zero && wait <= RetryAfter.limit, "a wait keeps to its limit")
        }
        _ = try? ProxyAddress(url: String(decoding: bytes, as: UTF8.self))
    }

    @Sendable private static func httpAnswer(_ bytes: [UInt8]) throws {
        var answer = Answer()
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false) {
            answer.read(line)
        }
        if let delay = answer.retryDelay { try expect(delay >= .zero, "a wait is not below zero") }
        if let length = answer.bodyLength { try expect(length >= 0, "a length is not below zero") }
        if case .part(let first, let last, let total)? = answer.range {
            try expect(first >= 0 && first <= last && last < total ?? .max, "a range lies inside")
        }
        let version = answer.version(totalBytes: answer.bodyLength)
        try expect(!version.differs(from: version), "a version is itself")
        guard let address = WebAddress("https://example.com/a/b.ipa?c=d"), let location = answer.location,
            let next = address.following(location)
        else { return }
        try expect(WebAddress(next.url) != nil, "an address that was followed is one")
    }

    @Sendable private static func downloadRecord(_ bytes: [UInt8]) throws {
        try inFile(bytes) { path in
            guard let record = try? PartialRecord.read(path) else { return }
            try record.write(to: path, durably: false)
            try expect(try PartialRecord.read(path) == record, "a record that was written is read as it was")
        }
    }

    @Sendable private static func island(_ bytes: [UInt8]) throws {
        let data = Data(bytes)
        try expectStable(IslandState.self, data)
        try expectStable(IslandAttributes.self, data)
        if let record = LifeRecord(json: data) {
            guard let written = try? JSONEncoder().encode(record) else {
                throw FuzzFinding(description: "A record that was read cannot be written.")
            }
            try expect(LifeRecord(json: written) == record, "a record that was written is read as it was")
        }
    }

    /// Whether a value is written, and read again as it was.
    private static func expectStable<Value: Codable & Equatable>(_ type: Value.Type, _ data: Data) throws {
        guard let value = try? JSONDecoder().decode(type, from: data) else { return }
        guard let written = try? JSONEncoder().encode(value) else {
            throw FuzzFinding(description: "A \(type) that was read cannot be written.")
        }
        guard let again = try? JSONDecoder().decode(type, from: written) else {
            throw FuzzFinding(description: "A \(type) that was written cannot be read.")
        }
        // A date loses its fraction the first time.
        try expect(try JSONEncoder().encode(again).count == written.count, "a \(type) that was read again stays")
    }

    @Sendable private static func configuration(_ bytes: [UInt8]) throws {
        try inFile(bytes) { path in
            _ = try? IslandConfiguration(path: path)
            _ = try? ProviderKey(p8: bytes, keyID: "ABCDE12345", teamID: "FERRYDEMO1")
        }
    }

    /// Runs a reader of files on a file with these bytes.
    private static func inFile(_ bytes: [UInt8], _ body: (String) throws -> Void) throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("ferry-fuzz-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appendingPathComponent("input")
        try Data(bytes).write(to: file)
        try body(file.path)
    }
}
