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

    /// Takes a key pair with the chain of its certificate, which must be whole: nothing is ever signed without it.
    public init(_ pair: KeyPair, chain: CertificateChain) throws(CodeSignatureError) {
        precondition(chain.leaf == pair.leaf, "the chain is another certificate's")
        if let missing = chain.missing { throw missing.error() }
        leaf = pair.leaf
        key = pair.key
        self.chain = chain.issuers
    }

    /// Takes a key pair with the chain that can be made of what came with it and of `extra`.
    public init(_ pair: KeyPair, extra: [Certificate] = []) throws(CodeSignatureError) {
        try self.init(pair, chain: CertificateChain(of: pair.leaf, from: pair.others + extra))
    }

    /// Opens a PKCS#12 file (RFC 7292), also one that is encrypted with RC2-40 or 3DES.
    ///
    /// - Parameter extra: certificates for the chain that the file may lack.
    public init(
        pkcs12: [UInt8],
        password: Secret,
        extra: [Certificate] = []
    ) throws(CodeSignatureError) {
        try self.init(KeyPair(pkcs12: pkcs12, password: password), extra: extra)
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
        try self.init(
            KeyPair(pemCertificates: certificates, pemKey: pemKey, password: password),
            extra: extra
        )
    }
}
