import FerryBytes
import FerryCodeSignature

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Answers that held an issuer, in a folder: one file an address, named after its SHA-256.
///
/// Whoever can write there can add certificates, but none that counts: each is verified anew by the chain that it is for.
public struct CertificateCache: Sendable {
    private let folder: String

    /// Keeps files in `folder`, which is made when the first one is kept.
    public init(folder: String) {
        self.folder = folder
    }

    /// What `url` answered; `nil` where nothing is kept, or it cannot be read.
    func answer(of url: String) -> [UInt8]? {
        let descriptor = open(path(of: url), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0, bytes.count <= WebFetch.longestAnswer else { return nil }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
        }
    }

    /// Keeps what `url` answered. A cache that cannot be written is none: the next one asks again.
    func keep(_ bytes: [UInt8], of url: String) {
        var made = folder.utf8.first == UInt8(ascii: "/") ? "" : "."
        for part in folder.split(separator: "/") {
            made += "/" + part
            mkdir(made, 0o700)
        }
        guard let file = try? NewFile(path: path(of: url), permissions: 0o600) else { return }
        var done = 0
        while done < bytes.count {
            let wrote = bytes[done...].withUnsafeBytes { write(file.descriptor, $0.baseAddress, $0.count) }
            if wrote < 0, errno == EINTR { continue }
            guard wrote > 0 else { return }
            done += wrote
        }
        try? file.commit()
    }

    private func path(of url: String) -> String {
        folder + "/" + HashAlgorithm.sha256.digest(Array(url.utf8)).hex + ".cer"
    }
}
