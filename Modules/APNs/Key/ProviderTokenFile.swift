import COpenSSL
import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The last provider token, kept for the next process.
///
/// APNs answers `TooManyProviderTokenUpdates` to a team that makes a new token within 20 minutes, and a command that runs
/// for seconds would make one each time. One line: the SHA-256 of the key in hexadecimal digits, a space, when it
/// was made, a colon, the token. A
/// file that cannot be read or written is as none.
struct ProviderTokenFile: Sendable {
    private static let sizeLimit = 4096

    let path: String

    /// The token that was kept, if it was made with this key.
    func token(for key: ProviderKey) -> ProviderToken? {
        guard let source = try? FileSource(path: path), source.count <= Self.sizeLimit,
            let bytes = try? source.bytes(at: 0, count: source.count)
        else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard parts.count == 2, parts[0] == key.fingerprint else { return nil }
        return ProviderToken(String(parts[1]), of: key)
    }

    /// Keeps a token. Only this user may read it.
    func keep(_ token: ProviderToken, of key: ProviderKey) {
        guard let file = try? NewFile(path: path, permissions: 0o600) else { return }
        let line = Array("\(key.fingerprint) \(token.issuedAt):\(token.revealed)".utf8)
        let written = line.withUnsafeBytes { write(file.descriptor, $0.baseAddress, $0.count) }
        guard written == line.count else { return }
        try? file.commit()
    }
}

extension ProviderKey {
    /// The SHA-256 of the key in DER, in hexadecimal digits.
    fileprivate var fingerprint: String {
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(der, der.count, &digest, nil, EVP_sha256(), nil) == 1 else { return "" }
        return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
