import COpenSSL
public import FerryBytes

/// A private key and its certificate, with what other certificates came along; with its whole chain it is an ``Identity``.
///
/// The key may lie in memory or in a token, which signs by itself and never gives it away.
public struct KeyPair: Sendable {
    /// The certificate of the key.
    public let leaf: Certificate
    /// The other certificates of the same file, in no order.
    public let others: [Certificate]
    /// How the file that it came from is encrypted; `nil` for anything but PKCS#12.
    public let protection: PKCS12Protection?
    let key: PrivateKey

    /// Whether the key lies in a token.
    public var isInToken: Bool { key.isInToken }

    init(
        leaf: Certificate,
        key: PrivateKey,
        others: [Certificate],
        protection: PKCS12Protection? = nil
    ) throws(CodeSignatureError) {
        guard key.isRSA || key.isEllipticCurve else {
            throw CodeSignatureError(
                .identity,
                "the key of “\(leaf.subject)” is neither RSA nor of an elliptic curve for ECDSA.",
                remedy: "Sign with an identity from Apple; its keys are RSA or P-256."
            )
        }
        self.leaf = leaf
        self.key = key
        self.others = others
        self.protection = protection
    }

    /// Of `certificates` the first that was issued for `key` is the leaf.
    init(key: PrivateKey, certificates all: [Certificate]) throws(CodeSignatureError) {
        let leaf = all.first { certificate in
            certificate.withX509 { X509_check_private_key($0, key.pointer) == 1 }
        }
        ERR_clear_error()
        guard let leaf else {
            throw CodeSignatureError(
                .identity,
                "none of the \(all.count) certificates belongs to the private key.",
                remedy: "Pass the certificate that was issued for this key."
            )
        }
        try self.init(leaf: leaf, key: key, others: all.filter { $0 != leaf })
    }
}

extension KeyPair {
    /// Opens a PKCS#12 file (RFC 7292), also one that is encrypted with RC2-40 or 3DES.
    public init(pkcs12: [UInt8], password: Secret) throws(CodeSignatureError) {
        OpenSSL.loadProviders
        let bio = OpenSSL.memory(pkcs12)
        defer { BIO_free(bio) }
        ERR_clear_error()
        guard let container = d2i_PKCS12_bio(bio, nil) else {
            ERR_clear_error()
            throw CodeSignatureError(
                .identity,
                "it is no PKCS#12 file.",
                remedy:
                    "Export the identity from Keychain Access as .p12, or pass PEM files by --certificate and --key."
            )
        }
        defer { PKCS12_free(container) }
        let rounds = KeyDerivation.rounds(ofPKCS12: container, password: password.revealed)
        guard rounds <= KeyDerivation.roundLimit else { throw KeyDerivation.tooMuch(rounds) }
        var rawKey: OpaquePointer?
        var rawLeaf: OpaquePointer?
        var rawOthers: OpaquePointer?
        guard PKCS12_parse(container, password.revealed, &rawKey, &rawLeaf, &rawOthers) == 1 else {
            throw Self.refusal(container, password)
        }
        defer {
            X509_free(rawLeaf)
            ferry_sk_X509_pop_free(rawOthers)
        }
        guard let rawKey else {
            throw CodeSignatureError(
                .identity,
                "the PKCS#12 file holds no private key.",
                remedy: "Export the certificate together with its key (in Keychain Access: open it and choose both)."
            )
        }
        let key = PrivateKey(rawKey)
        guard let rawLeaf else {
            throw CodeSignatureError(
                .identity,
                "the PKCS#12 file holds no certificate for its key.",
                remedy: "Export the certificate together with its key."
            )
        }
        try self.init(
            leaf: Certificate(rawLeaf),
            key: key,
            others: (0..<max(0, ferry_sk_X509_num(rawOthers))).compactMap { index in
                ferry_sk_X509_value(rawOthers, index).map { Certificate($0) }
            },
            protection: PKCS12Protection(container)
        )
    }

    private static func refusal(_ container: OpaquePointer, _ password: Secret) -> CodeSignatureError {
        let reason = OpenSSL.lastReason()
        guard PKCS12_mac_present(container) == 1 else {
            return CodeSignatureError(
                .identity,
                "the PKCS#12 file holds no check of its password (MAC), without which it is not opened.",
                remedy: "Export the identity again, with a password."
            )
        }
        let fits =
            PKCS12_verify_mac(container, password.revealed, -1) == 1
            || (password.revealed.isEmpty && PKCS12_verify_mac(container, nil, 0) == 1)
        ERR_clear_error()
        guard fits else {
            return CodeSignatureError(
                .wrongPassword,
                "the password does not open the PKCS#12 file.",
                remedy: "Check the password file, FERRY_P12_PASSWORD, or what you typed."
            )
        }
        return CodeSignatureError(.identity, "the PKCS#12 file cannot be read: \(reason).")
    }

    /// Takes a certificate, its key and, possibly, its chain from PEM (RFC 7468) or DER.
    ///
    /// - Parameter certificates: one or more `CERTIFICATE` blocks; the first that fits the key is the leaf.
    /// - Parameter key: a `PRIVATE KEY`, `RSA PRIVATE KEY`, `EC PRIVATE KEY` or `ENCRYPTED PRIVATE KEY` block, wherever it
    ///   stands in the file; both parameters may be the same file.
    public init(
        pemCertificates certificates: [UInt8],
        pemKey: [UInt8],
        password: Secret?
    ) throws(CodeSignatureError) {
        let key = try Self.key(inPEM: pemKey, password)
        try self.init(key: key, certificates: try Certificate.all(inPEM: certificates))
    }

    private static func key(inPEM bytes: [UInt8], _ password: Secret?) throws(CodeSignatureError) -> PrivateKey {
        OpenSSL.loadProviders
        let rounds = KeyDerivation.rounds(inPEM: PEMText.withoutMark(bytes))
        guard rounds <= KeyDerivation.roundLimit else { throw KeyDerivation.tooMuch(rounds) }
        let bio = OpenSSL.memory(PEMText.withoutMark(bytes))
        defer { BIO_free(bio) }
        // The default callback takes its argument for the password; without one it would ask on the terminal.
        var text = Array((password?.revealed ?? "").utf8CString)
        ERR_clear_error()
        let raw =
            bytes.first == 0x30
            ? d2i_PrivateKey_bio(bio, nil)
            : text.withUnsafeMutableBytes { PEM_read_bio_PrivateKey(bio, nil, nil, $0.baseAddress) }
        guard let raw else {
            let encrypted = PEMText.isEncrypted(bytes)
            let reason = OpenSSL.lastReason()
            throw CodeSignatureError(
                encrypted ? .wrongPassword : .identity,
                encrypted
                    ? "the password does not open the private key." : "the private key cannot be read: \(reason).",
                remedy: encrypted ? "Check the password." : "Pass a PEM file with a PRIVATE KEY block."
            )
        }
        ERR_clear_error()
        return PrivateKey(raw)
    }
}

/// What can be seen in a text with PEM blocks (RFC 7468) without reading them.
public enum PEMText {
    /// Whether there is a block at all.
    public static func isIn(_ bytes: [UInt8]) -> Bool { contains("-----BEGIN ", bytes) }

    /// Whether a key in it needs a password: `ENCRYPTED PRIVATE KEY`, or the older `Proc-Type: 4,ENCRYPTED`.
    public static func isEncrypted(_ bytes: [UInt8]) -> Bool {
        contains("-----BEGIN ENCRYPTED PRIVATE KEY", bytes) || contains("4,ENCRYPTED", bytes)
    }

    /// Whether there is a private key in it, encrypted or not.
    public static func holdsKey(_ bytes: [UInt8]) -> Bool { contains("PRIVATE KEY-----", bytes) }

    private static func contains(_ word: String, _ bytes: [UInt8]) -> Bool {
        bytes.firstRange(of: Array(word.utf8)) != nil
    }

    /// The text without the byte order mark that editors on Windows put before it.
    static func withoutMark(_ bytes: [UInt8]) -> ArraySlice<UInt8> {
        bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? bytes.dropFirst(3) : bytes[...]
    }
}
