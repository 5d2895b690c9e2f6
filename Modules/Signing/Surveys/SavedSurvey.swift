import FerryBytes
import FerryCodeSignature
import FerryZip

/// A survey as it is kept in a file.
///
/// ```
/// "ferry survey 1\n" │ SHA-256 of the rest, 32 bytes │ known as: count, then 56 bytes each │
/// SHA-256 of the archive: 0 or 1, then 32 bytes │ resources: count, then index, SHA-1, SHA-256 each │
/// code: count, then index and eight fields each, with their length before
/// ```
/// Integers have 32 bits, little-endian. Only this machine reads it: hashes in the making lie in it as OpenSSL has them.
struct SavedSurvey: Sendable {
    /// The most files that are remembered as the same archive.
    static let identityLimit = 8

    /// The identities of files that hold the archive (``FileSource/identity``), the newest first.
    var identities: [[UInt8]]
    /// The SHA-256 of the archive; `nil` where nobody has hashed it.
    var sha256: [UInt8]?
    var survey: ArchiveSurvey

    private static let magic = Array("ferry survey 1\n".utf8)
    private static let identityBytes = 56

    /// The file's bytes.
    var encoded: [UInt8] {
        var bytes: [UInt8] = []
        let kept = identities.filter { $0.count == Self.identityBytes }.prefix(Self.identityLimit)
        bytes.append(UInt32(kept.count), .little)
        for identity in kept { bytes += identity }
        bytes.append(sha256 == nil ? 0 : 1)
        bytes += sha256 ?? []
        var (resources, code): ([UInt8], [UInt8]) = ([], [])
        var (resourceCount, codeCount): (UInt32, UInt32) = (0, 0)
        for (index, file) in survey.files.sorted(by: { $0.key < $1.key }) {
            switch file {
            case .resource(let digests):
                resources.append(UInt32(index), .little)
                resources += digests.sha1 + digests.sha256
                resourceCount += 1
            case .code(let survey):
                code.append(UInt32(index), .little)
                code.append(survey: survey)
                codeCount += 1
            }
        }
        bytes.append(resourceCount, .little)
        bytes += resources
        bytes.append(codeCount, .little)
        bytes += code
        return Self.magic + HashAlgorithm.sha256.digest(bytes) + bytes
    }

    /// Reads a file of ours; `nil` for any other, a damaged one, or one of another archive.
    init?(_ bytes: [UInt8], of directory: ZipDirectory) {
        let start = Self.magic.count + HashAlgorithm.sha256.size
        guard bytes.count > start, bytes.starts(with: Self.magic),
            bytes.withUnsafeBytes({ HashAlgorithm.sha256.digest(UnsafeRawBufferPointer(rebasing: $0[start...])) })
                == Array(bytes[Self.magic.count..<start])
        else { return nil }
        var reader = ByteReader(bytes[start...])
        guard let read = try? Self.read(&reader, directory) else { return nil }
        self = read
    }

    /// Keeps what is known of an archive.
    init(identities: [[UInt8]], sha256: [UInt8]?, survey: ArchiveSurvey) {
        self.identities = identities
        self.sha256 = sha256
        self.survey = survey
    }

    private static func read(_ reader: inout ByteReader, _ directory: ZipDirectory) throws -> SavedSurvey? {
        var identities: [[UInt8]] = []
        for _ in 0..<min(try reader.count(), identityLimit) { identities.append(Array(try reader.next(identityBytes))) }
        let sha256 = try reader.next(UInt8.self, .little) == 1 ? Array(try reader.next(32)) : nil
        var survey = ArchiveSurvey()
        let resources = try reader.count()
        survey.files.reserveCapacity(min(resources, directory.entries.count))
        for _ in 0..<resources {
            let index = try reader.count()
            let digests = Digests(sha1: Array(try reader.next(20)), sha256: Array(try reader.next(32)))
            guard directory.entries.indices.contains(index) else { return nil }
            survey.files[index] = .resource(digests)
        }
        for _ in 0..<(try reader.count()) {
            let index = try reader.count()
            guard directory.entries.indices.contains(index),
                let code = try reader.survey(of: directory.entries[index])
            else { return nil }
            survey.files[index] = .code(code)
        }
        guard reader.remaining == 0 else { return nil }
        return SavedSurvey(identities: identities, sha256: sha256, survey: survey)
    }
}

extension [UInt8] {
    fileprivate mutating func append(survey: CodeSurvey) {
        let numbers = [survey.contentEnd, survey.codeLimit, survey.pageSize]
        for number in numbers { append(UInt32(truncatingIfNeeded: number), .little) }
        for field in [
            survey.header, survey.oldSignature, survey.slots[.sha1] ?? [], survey.slots[.sha256] ?? [],
            survey.splice.saved, survey.beforeSeam?.saved ?? [],
        ] {
            append(UInt32(field.count), .little)
            self += field
        }
    }
}

extension ByteReader {
    fileprivate mutating func count() throws(OutOfBounds) -> Int {
        Int(try next(UInt32.self, .little))
    }

    fileprivate mutating func survey(of entry: ZipEntry) throws -> CodeSurvey? {
        let (contentEnd, codeLimit, pageSize) = (try count(), try count(), try count())
        var fields: [ArraySlice<UInt8>] = []
        while fields.count < 6 { fields.append(try next(try count())) }
        guard pageSize == 4096 || pageSize == 16384, contentEnd <= codeLimit, contentEnd <= entry.uncompressedSize,
            let splice = DeflateSplice(saved: fields[4], entry: entry), splice.seamOffset <= contentEnd
        else { return nil }
        let pages = CodeDirectory.pageCount(codeLimit: codeLimit, pageSize: pageSize)
        var slots: [HashAlgorithm: [UInt8]] = [:]
        for (algorithm, field) in [(HashAlgorithm.sha1, fields[2]), (.sha256, fields[3])] where !field.isEmpty {
            guard field.count == pages * algorithm.size else { return nil }
            slots[algorithm] = Array(field)
        }
        let beforeSeam = fields[5].isEmpty ? nil : RunningDigests(saved: fields[5])
        guard fields[5].isEmpty == (beforeSeam == nil) else { return nil }
        return CodeSurvey(
            header: Array(fields[0]),
            oldSignature: Array(fields[1]),
            contentEnd: contentEnd,
            codeLimit: codeLimit,
            pageSize: pageSize,
            slots: slots,
            splice: splice,
            beforeSeam: beforeSeam
        )
    }
}
