import COpenSSL
public import FerryBytes

/// The key that signs provider tokens: a `.p8` file from Apple, with its ids.
public struct ProviderKey: Sendable, CustomStringConvertible, CustomReflectable {
    /// The most bytes that a key file may have.
    static let sizeLimit = 64 << 10

    /// The ten characters that name the key: the header `kid`.
    public let keyID: String
    /// The ten characters that name the team: the claim `iss`.
    public let teamID: String
    /// PKCS#8 in DER (RFC 5208).
    let der: [UInt8]

    /// Reads a key: PEM (`BEGIN PRIVATE KEY`), elliptic, on the curve P-256, not encrypted.
    ///
    /// Line ends of Windows and a byte order mark do no harm. Throws ``APNsError/Code/badKey``.
    public init(p8: [UInt8], keyID: String, teamID: String) throws(APNsError) {
        try Self.check(keyID, "key id", "It is in the file's name: AuthKey_KEYID.p8.")
        try Self.check(teamID, "team id", "It is on developer.apple.com under Membership details.")
        self.keyID = keyID
        self.teamID = teamID
        der = try Self.der(of: p8)
    }

    /// Reads a key from text, as ``init(p8:keyID:teamID:)-([UInt8],_,_)`` does.
    public init(p8: Secret, keyID: String, teamID: String) throws(APNsError) {
        try self.init(p8: Array(p8.revealed.utf8), keyID: keyID, teamID: teamID)
    }

    /// The ids alone.
    public var description: String { "key \(keyID) of team \(teamID) ‹hidden›" }

    /// A mirror without children, so that `dump` shows nothing.
    public var customMirror: Mirror { Mirror(self, children: []) }

    /// Signs with ECDSA and SHA-256; gives `r` and `s`, 32 bytes each, as JWS wants them (RFC 7518 §3.4).
    func signature(of message: [UInt8]) throws(APNsError) -> [UInt8] {
        let bio = OpenSSL.memory(der)
        defer { BIO_free(bio) }
        let key = d2i_PrivateKey_bio(bio, nil)
        defer { EVP_PKEY_free(key) }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        // A signature in DER has at most 72 bytes with this curve.
        var encoded = [UInt8](repeating: 0, count: 80)
        var length = encoded.count
        guard key != nil, EVP_DigestSignInit(context, nil, EVP_sha256(), nil, key) == 1,
            EVP_DigestSign(context, &encoded, &length, message, message.count) == 1,
            let raw = Self.raw(encoded, length)
        else {
            throw APNsError(.badKey, "Key \(keyID) cannot sign: \(OpenSSL.lastReason()).")
        }
        return raw
    }

    private static func raw(_ der: [UInt8], _ length: Int) -> [UInt8]? {
        let signature = der.withUnsafeBufferPointer { buffer in
            var start = buffer.baseAddress
            return d2i_ECDSA_SIG(nil, &start, length)
        }
        guard let signature else { return nil }
        defer { ECDSA_SIG_free(signature) }
        var raw = [UInt8](repeating: 0, count: 64)
        let isWhole = raw.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return false }
            return BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + 32, 32) == 32
        }
        return isWhole ? raw : nil
    }
}

extension ProviderKey {
    private static func check(_ id: String, _ name: String, _ remedy: String) throws(APNsError) {
        let isValid =
            id.utf8.count == 10
            && id.utf8.allSatisfy { byte in
                (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            }
        guard isValid else {
            throw APNsError(
                .badKey,
                "The \(name) “\(id.printable)” is not ten capital letters and digits.",
                remedy: remedy
            )
        }
    }

    private static func der(of file: [UInt8]) throws(APNsError) -> [UInt8] {
        let text = try pem(file)
        let bio = OpenSSL.memory(text)
        defer { BIO_free(bio) }
        ERR_clear_error()
        // Without a callback OpenSSL would ask for a password on the terminal.
        guard let key = PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil) else {
            throw APNsError(.badKey, "The provider key cannot be read: \(OpenSSL.lastReason()).", remedy: again)
        }
        defer { EVP_PKEY_free(key) }
        guard EVP_PKEY_get_base_id(key) == EVP_PKEY_EC else {
            let kind = EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA ? "an RSA key" : "of another kind"
            throw APNsError(
                .badKey,
                "The provider key is \(kind), and APNs takes elliptic ones (P-256).",
                remedy: again
            )
        }
        var name = [CChar](repeating: 0, count: 64)
        var length = 0
        guard EVP_PKEY_get_group_name(key, &name, name.count, &length) == 1, length < name.count else {
            throw APNsError(.badKey, "The provider key names no curve, and APNs takes P-256.", remedy: again)
        }
        let curve = String(decoding: name.prefix(length).map(UInt8.init(bitPattern:)), as: UTF8.self)
        guard curve == "prime256v1" else {
            throw APNsError(.badKey, "The provider key is on the curve \(curve), and APNs takes P-256.", remedy: again)
        }
        let output = BIO_new(BIO_s_mem())
        defer { BIO_free(output) }
        guard i2d_PKCS8PrivateKey_bio(output, key, nil, nil, 0, nil, nil) == 1 else {
            throw APNsError(.badKey, "The provider key cannot be kept: \(OpenSSL.lastReason()).")
        }
        return OpenSSL.contents(output)
    }

    /// The text of the file, without a byte order mark; refuses what is plainly something else.
    private static func pem(_ file: [UInt8]) throws(APNsError) -> [UInt8] {
        guard !file.isEmpty else { throw APNsError(.badKey, "The provider key's file is empty.", remedy: again) }
        guard file.count <= sizeLimit else {
            throw APNsError(
                .badKey,
                "The provider key's file has \(file.count) bytes, and keys are short.",
                remedy: again
            )
        }
        if file.starts(with: [0xFF, 0xFE]) || file.starts(with: [0xFE, 0xFF]) {
            throw APNsError(
                .badKey,
                "The provider key's file is in UTF-16.",
                remedy: "Save it as UTF-8, or take the file as Apple gave it."
            )
        }
        let bytes = file.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(file.dropFirst(3)) : file
        let text = String(decoding: bytes, as: UTF8.self)
        if text.contains("BEGIN ENCRYPTED PRIVATE KEY") || text.contains("Proc-Type: 4,ENCRYPTED") {
            throw APNsError(
                .badKey,
                "The provider key is encrypted.",
                remedy: "Decrypt it: openssl pkey -in KEY.p8 -out PLAIN.p8"
            )
        }
        if text.contains("BEGIN"), !text.contains("PRIVATE KEY") {
            let what = text.contains("BEGIN CERTIFICATE") ? "a certificate" : "no private key"
            throw APNsError(.badKey, "The provider key's file holds \(what).", remedy: again)
        }
        guard text.contains("BEGIN") else {
            throw APNsError(.badKey, "The provider key's file is no PEM text.", remedy: again)
        }
        return bytes
    }

    private static var again: String {
        "Take the AuthKey_….p8 file that developer.apple.com gave for a key with Apple Push Notifications service."
    }
}
