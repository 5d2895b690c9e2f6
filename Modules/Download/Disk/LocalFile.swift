import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A file of this machine as the source of a download.
enum LocalFile {
    /// Reads the whole file once, checks it, and copies it where that was asked for.
    static func take(
        _ path: String,
        _ request: DownloadRequest,
        isAbandoned: () -> Bool,
        tell: (DownloadEvent) -> Void
    ) throws(DownloadError) -> DownloadedFile {
        let source: FileSource
        do {
            source = try FileSource(path: path)
        } catch {
            throw failure(error)
        }
        let length = Int64(source.count)
        tell(.started(totalBytes: length, resumedFrom: 0))
        let hash = SHA256()
        var done: Int64 = 0
        func seen(_ bytes: UnsafeRawBufferPointer) {
            hash.add(bytes)
            done += Int64(bytes.count)
            tell(.progress(completedBytes: done, totalBytes: length))
        }
        if request.copiesLocalFile {
            // Into the destination only when it is the right file, so it is read twice where something is to be checked.
            if request.sha256 != nil || request.expectedLength != nil {
                try verify(source, length, request, isAbandoned: isAbandoned)
            }
            try checkDestination(request.destination)
            try checkRoom(
                for: length,
                there: 0,
                spare: 0,
                partial: parent(of: request.destination),
                destination: request.destination
            )
            try copyFile(
                from: source.descriptor,
                length: length,
                to: request.destination,
                beside: request.destination + ".ferry-\(getpid())-\(source.descriptor)",
                isAbandoned: isAbandoned,
                seen
            )
            try? syncFolder(of: request.destination)
            return DownloadedFile(
                path: request.destination,
                length: length,
                sha256: hash.digest(),
                isOriginal: false
            )
        }
        try hashFile(source.descriptor, path, length: length, isAbandoned: isAbandoned) { seen($0) }
        guard done == length else { throw .cancelled }
        let digest = hash.digest()
        try check(
            length: length,
            digest: digest,
            expectedLength: request.expectedLength,
            sha256: request.sha256,
            source: path
        )
        return DownloadedFile(path: path, length: length, sha256: digest, isOriginal: true)
    }

    private static func verify(
        _ source: FileSource,
        _ length: Int64,
        _ request: DownloadRequest,
        isAbandoned: () -> Bool
    ) throws(DownloadError) {
        let hash = SHA256()
        if request.sha256 != nil {
            try hashFile(source.descriptor, source.path, length: length, isAbandoned: isAbandoned) { hash.add($0) }
            if isAbandoned() { throw .cancelled }
        }
        try check(
            length: length,
            digest: hash.digest(),
            expectedLength: request.expectedLength,
            sha256: request.sha256,
            source: source.path
        )
    }

    private static func failure(_ failure: FileFailure) -> DownloadError {
        switch failure.errorNumber {
        case ENOENT:
            DownloadError(.notFound, "\(failure.path): there is no such file.", remedy: "Check the path.")
        case EISDIR:
            DownloadError(
                .file,
                "\(failure.path) is a folder.",
                remedy: "Give the archive itself; an unpacked app must be packed first."
            )
        default:
            DownloadError(failure)
        }
    }
}
