import COpenSSL
import FerryBytes

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
        guard let bytes = try? WholeFile.read(path, limit: Self.sizeLimit) else { return nil }
        let parts = String(decoding: bytes, as: UTF8.self).split(separator: " ")
        guard parts.count == 2, parts[0] == key.fingerprint else { return nil }
        return ProviderToken(String(parts[1]), of: key)
    }

    /// Keeps a token. Only this user may read it.
    func keep(_ token: ProviderToken, of key: ProviderKey) {
        try? WholeFile.write(Array("\(key.fingerprint) \(token.issuedAt):\(token.revealed)".utf8), to: path)
    }
}

extension ProviderKey {
    /// The SHA-256 of the key in DER, in hexadecimal digits.
    fileprivate var fingerprint: String {
        var digest = [UInt8](repeating: 0, count: 32)
        guard EVP_Digest(der, der.count, &digest, nil, EVP_sha256(), nil) == 1 else { return "" }
        return digest.hex
    }
}
