import COpenSSL
public import FerryBytes

/// Who signs: a private key, its certificate, and the chain up to the root.
public struct Identity: Sendable {
    /// The certificate of the key.
    public let leaf: Certificate
    /// The certificates above the leaf, its issuer first, the root last; empty for a self-issued leaf.
    public let chain: [Certificate]
    let key: PrivateKey

    /// The team that the identity belongs to: the leaf's `OU`.
    public var team: String? { leaf.organizationalUnit }

    private init(leaf: Certificate, key: PrivateKey, others: [Certificate]) throws(CodeSignatureError) {
        guard key.isRSA || key.isEllipticCurve else {
            throw CodeSignatureError(
                .identity,
                "the key of “\(leaf.subject)” is neither RSA nor of an elliptic curve for ECDSA.",
                remedy: "Sign with an identity from Apple; its keys are RSA or P-256."
            )
        }
        self.leaf = leaf
        self.key = key
        chain = try Self.chain(above: leaf, from: others)
    }

    /// Opens a PKCS#12 file (RFC 7292), also one that is encrypted with RC2-40 or 3DES.
    ///
    /// - Parameter extra: certificates for the chain that the file may lack.
    public init(
        pkcs12: [UInt8],
        password: Secret,
        extra: [Certificate] = []
    ) throws(CodeSignatureError) {
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
        var others = extra
        for index in 0..<max(0, ferry_sk_X509_num(rawOthers)) {
            if let certificate = ferry_sk_X509_value(rawOthers, index) {
                others.append(Certificate(certificate))
            }
        }
        try self.init(leaf: Certificate(rawLeaf), key: key, others: others)
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

    /// Takes a certificate, its key and, possibly, its chain from PEM (RFC 7468).
    ///
    /// - Parameter certificates: one or more `CERTIFICATE` blocks; the first that fits the key is the leaf.
    /// - Parameter key: a `PRIVATE KEY`, `RSA PRIVATE KEY`, `EC PRIVATE KEY` or `ENCRYPTED PRIVATE KEY` block.
    public init(
        pemCertificates certificates: [UInt8],
        pemKey: [UInt8],
        password: Secret?,
        extra: [Certificate] = []
    ) throws(CodeSignatureError) {
        OpenSSL.loadProviders
        let keyBIO = OpenSSL.memory(pemKey)
        defer { BIO_free(keyBIO) }
        // The default callback takes its argument for the password; without one it would ask on the terminal.
        var text = Array((password?.revealed ?? "").utf8CString)
        ERR_clear_error()
        let rawKey = text.withUnsafeMutableBytes { PEM_read_bio_PrivateKey(keyBIO, nil, nil, $0.baseAddress) }
        guard let rawKey else {
            let encrypted = String(decoding: pemKey, as: UTF8.self).contains("ENCRYPTED")
            let reason = OpenSSL.lastReason()
            throw CodeSignatureError(
                encrypted ? .wrongPassword : .identity,
                encrypted
                    ? "the password does not open the private key." : "the private key cannot be read: \(reason).",
                remedy: encrypted ? "Check the password." : "Pass a PEM file with a PRIVATE KEY block."
            )
        }
        let key = PrivateKey(rawKey)
        let all = try Certificate.all(inPEM: certificates)
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
        try self.init(leaf: leaf, key: key, others: all.filter { $0 != leaf } + extra)
    }

    private static func chain(
        above leaf: Certificate,
        from others: [Certificate]
    ) throws(CodeSignatureError) -> [Certificate] {
        var chain: [Certificate] = []
        var last = leaf
        while !last.isSelfIssued {
            // A chain longer than ten is a loop of cross-signed certificates.
            guard chain.count < 10, let next = others.first(where: { last.isIssued(by: $0) && !chain.contains($0) })
            else {
                let place = last.issuerURL.map { " It can be had from \($0)." } ?? ""
                throw CodeSignatureError(
                    .chainIncomplete,
                    "the certificate of the issuer “\(last.issuer)” is missing, which “\(last.subject)” needs.",
                    remedy: "Pass it by --chain FILE, or export the .p12 with its whole chain." + place
                )
            }
            chain.append(next)
            last = next
        }
        return chain
    }
}

extension Certificate {
    /// All certificates in a file: PEM blocks, or one in DER.
    public static func all(inPEM bytes: [UInt8]) throws(CodeSignatureError) -> [Certificate] {
        if bytes.first == 0x30 { return [try Certificate(der: bytes)] }
        let bio = OpenSSL.memory(bytes)
        defer {
            BIO_free(bio)
            ERR_clear_error()
        }
        var all: [Certificate] = []
        while let certificate = PEM_read_bio_X509(bio, nil, nil, nil) {
            all.append(Certificate(certificate))
            X509_free(certificate)
        }
        guard !all.isEmpty else {
            throw CodeSignatureError(
                .identity,
                "there is no certificate in the file.",
                remedy: "Pass a PEM file with CERTIFICATE blocks, or one certificate in DER."
            )
        }
        return all
    }
}
