import FerryBytes
import FerryCatalog
import FerryDownload
import FerrySigning

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension InstallRequest {
    /// The SHA-256 that the download must have; `nil` for any.
    var wantedSHA256: [UInt8]? { sha256 ?? published?.sha256 }

    /// The length that the download must have, so that another one is refused as soon as the server says it.
    var wantedLength: Int64? { published?.requiredByteCount }

    /// Compares an archive with what its source says of it; throws where they differ in what is not tolerated, and gives a
    /// sentence for each difference that is.
    func compare(_ file: DownloadedFile) async throws -> [String] {
        guard let published else { return [] }
        let place = title ?? published.identifier
        let identity = try await Self.identity(of: file.path, place)
        let facts = ArchiveFacts(
            identifier: identity.identifier,
            version: identity.version,
            build: identity.build,
            byteCount: file.length,
            sha256: file.sha256
        )
        return try published.check(facts, place).map { "\(place): \($0)." }
    }

    /// The same error; one about the length that a source says also says how to let it pass.
    func explaining(_ error: any Error) -> any Error {
        guard published?.requiredByteCount != nil, let failure = error as? DownloadError,
            failure.code == .lengthMismatch
        else { return error }
        return DownloadError(
            failure.code,
            failure.message,
            remedy: "The source says another size than the archive has: ask its author, or let it pass with "
                + "--allow-mismatch size."
        )
    }

    /// Read on a thread of its own, for it waits for the disk.
    private static func identity(of archive: String, _ name: String) async throws -> ArchiveIdentity {
        try await onOwnThread(orElse: FileFailure("read", archive, errorNumber: EAGAIN)) {
            try ArchiveIdentity(of: archive, name: name)
        }
    }
}
