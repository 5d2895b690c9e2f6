import COpenSSL

/// An app that a phone may fetch by a link.
package struct AirLink: Codable, Sendable, Hashable {
    /// How far a phone is with it, as far as a server can know.
    package enum Step: String, Codable, Sendable, Hashable {
        /// Nobody has asked for anything but the page.
        case waiting
        /// A phone has asked what there is to install.
        case asked
        /// Some of the archive was sent.
        case sending
        /// All of the archive was sent. Whether the phone installed it is not known.
        case delivered
        /// The app has reported that it runs.
        case installed
    }

    /// The secret part of its address: 128 bits in Base64url (RFC 4648 §5), 22 letters.
    package let secret: String
    /// The install that it belongs to; `nil` for none.
    package let install: String?
    /// The app's name.
    package let title: String
    /// Its bundle identifier.
    package let identifier: String
    /// Its version; `nil` where it has none.
    package let version: String?
    /// The length of its archive.
    package let byteCount: Int
    /// When the link was made, in seconds since 1970.
    package let madeAt: Int64
    /// From when on it is good for nothing.
    package internal(set) var expiresAt: Int64
    /// Whether somebody ended it before its time.
    package internal(set) var isRevoked = false
    /// How far it is.
    package internal(set) var step = Step.waiting

    /// A name for its files that tells nobody the secret.
    let files: String

    /// Whether it is good for anything.
    package func isOpen(at now: Int64) -> Bool { !isRevoked && now < expiresAt }

    /// A new secret. The system's generator is one for secrets.
    static func newSecret() -> String {
        var bytes: [UInt8] = []
        for _ in 0..<2 {
            withUnsafeBytes(of: UInt64.random(in: 0...UInt64.max)) { bytes += $0 }
        }
        return base64URL(bytes)
    }

    private static func base64URL(_ bytes: [UInt8]) -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let three = (0..<3).map { start + $0 < bytes.count ? Int(bytes[start + $0]) : 0 }
            let bits = three[0] << 16 | three[1] << 8 | three[2]
            for index in 0..<min(4, bytes.count - start + 1) { text.append(letters[bits >> (18 - 6 * index) & 63]) }
        }
        return String(decoding: text, as: UTF8.self)
    }
}

/// The SHA-256 of a link's secret.
struct SecretDigest: Sendable, Hashable {
    private let bytes: [UInt8]

    init(_ secret: String) {
        var secret = secret
        bytes = secret.withUTF8 { secret in
            [UInt8](unsafeUninitializedCapacity: 32) { digest, count in
                _ = SHA256(secret.baseAddress, secret.count, digest.baseAddress)
                count = 32
            }
        }
    }
}
