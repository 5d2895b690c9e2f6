import FerryBytes
import FerryCodeSignature
import FerryHTTP

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

/// An archive that was sent and may be installed.
struct Upload: Sendable, Hashable {
    let id: String
    /// What its sender calls it, for people alone.
    let name: String
    let path: String
    let byteCount: Int
    let sha256: [UInt8]
    let arrivedAt: Date
}

/// Archives that were sent to the server, until they are installed or an hour has passed.
///
/// Each is written without a name, synced, and put in place: a sender that goes away leaves nothing. Of an earlier process
/// only what a recorded install needs is kept, see ``sweep(keeping:at:)``.
actor UploadFolder {
    /// So much is gathered before it is written.
    private static let pieceBytes = 1 << 20

    nonisolated let path: String
    private let limits: ControlLimits
    private var uploads: [String: Upload] = [:]
    private var arriving = 0

    init(path: String, limits: ControlLimits) {
        self.path = path
        self.limits = limits
    }

    subscript(_ id: String) -> Upload? { uploads[id] }

    /// Takes a body.
    func receive(_ body: RequestBody, name: String, at date: Date) async throws -> Upload {
        guard uploads.count + arriving < limits.uploads else {
            throw Problem(
                429,
                "\(limits.uploads) archives wait to be installed.",
                remedy: "Install or remove some of them.",
                headers: ["Retry-After": "60"]
            )
        }
        arriving += 1
        defer { arriving -= 1 }
        if let length = body.expectedLength, let room = freeBytes(), length > room {
            throw FileFailure("write", path, errorNumber: ENOSPC)
        }
        let id = InstallSecret.random()
        let file = try NewFile(path: path + "/" + id + ".ipa", permissions: 0o600)
        let writing = Writing(file)
        var piece: [UInt8] = []
        for try await chunk in body {
            piece += chunk
            if piece.count >= Self.pieceBytes {
                try await writing.add(piece)
                piece.removeAll(keepingCapacity: true)
            }
        }
        try await writing.add(piece)
        guard await writing.count > 0 else { throw Problem(400, "The archive that was sent is empty.") }
        let (count, digest) = try await writing.end()
        let upload = Upload(
            id: id,
            name: Self.shown(name),
            path: file.path,
            byteCount: count,
            sha256: digest,
            arrivedAt: date
        )
        uploads[id] = upload
        return upload
    }

    /// Removes an archive; gives whether it was there.
    func remove(_ id: String) -> Bool {
        guard let upload = uploads.removeValue(forKey: id) else { return false }
        removeFile(upload.path)
        return true
    }

    /// Removes what has waited for too long, and what an earlier process left.
    ///
    /// - Parameter isNeeded: whether an install that has not ended, or may be tried again, reads the file.
    func sweep(at date: Date, keeping isNeeded: @Sendable (_ path: String) async -> Bool) async {
        for upload in uploads.values where date.timeIntervalSince(upload.arrivedAt) > limits.uploadAge {
            if await isNeeded(upload.path) { continue }
            _ = remove(upload.id)
        }
        let known = Set(uploads.values.map(\.path))
        for name in (try? folderNames(path)) ?? [] where name.hasSuffix(".ipa") {
            let file = path + "/" + name
            var status = stat()
            guard !known.contains(file), stat(file, &status) == 0 else { continue }
            let age = date.timeIntervalSince1970 - Double(status.modified.tv_sec)
            guard age > limits.uploadAge, await !isNeeded(file), uploads.values.allSatisfy({ $0.path != file }) else {
                continue
            }
            removeFile(file)
        }
    }

    private func freeBytes() -> Int? {
        var status = statvfs()
        guard statvfs(path, &status) == 0 else { return nil }
        return Int(clamping: UInt64(status.f_bavail) &* UInt64(status.f_frsize))
    }

    /// The last part of a name, printable, and not too long.
    private static func shown(_ name: String) -> String {
        let last = name.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last.map(String.init) ?? ""
        let text = String(last.printable.prefix(200))
        return ["", ".", ".."].contains(text) ? "App.ipa" : text
    }
}

/// Writes and hashes on threads that may wait for the disk.
private actor Writing {
    private let file: NewFile
    private let digester = Digester(.sha256)
    private(set) var count = 0

    init(_ file: NewFile) {
        self.file = file
    }

    func add(_ bytes: [UInt8]) async throws {
        guard !bytes.isEmpty else { return }
        let file = file
        count += bytes.count
        digester.update(bytes)
        try await onOwnThread(orElse: FileFailure("write", file.path, errorNumber: EAGAIN)) { try file.write(bytes) }
    }

    func end() async throws -> (count: Int, digest: [UInt8]) {
        let file = file
        try await onOwnThread(orElse: FileFailure("write", file.path, errorNumber: EAGAIN)) { try file.commit() }
        return (count, digester.finish())
    }
}

/// Names that nobody can guess.
enum InstallSecret {
    /// 128 random bits.
    static func random() -> String {
        Data((0..<16).map { _ in UInt8.random(in: 0...255) }).base64URLText
    }
}
