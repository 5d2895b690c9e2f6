import COpenSSL
import FerryBytes
import FerryPropertyList

/// The CMS message over a code directory (RFC 5652): detached, one signer, the chain inside.
///
/// Signed attributes: contentType, messageDigest, signingTime, and Apple's two for hash agility:
/// 1.2.840.113635.100.9.1, an OCTET STRING with the XML property list `{ cdhashes: [data] }`, each digest cut to 20 bytes,
/// and 1.2.840.113635.100.9.2, one `SEQUENCE { OBJECT IDENTIFIER, OCTET STRING }` with the full digest for each
/// code directory. Both are in the order primary, alternates.
public enum SignatureMessage {
    /// The digest of one code directory.
    public struct DirectoryDigest: Sendable, Hashable {
        /// How it was made.
        public var algorithm: HashAlgorithm
        /// All its bytes.
        public var digest: [UInt8]

        /// `CDHash`: the digest cut to 20 bytes.
        public var cut: [UInt8] { Array(digest.prefix(20)) }

        /// Hashes a whole code directory blob with its own algorithm.
        public init(of blob: [UInt8], _ algorithm: HashAlgorithm) {
            self.algorithm = algorithm
            digest = algorithm.digest(blob)
        }
    }

    static let plistAttribute = "1.2.840.113635.100.9.1"
    static let digestAttribute = "1.2.840.113635.100.9.2"

    /// Signs a code directory.
    ///
    /// - Parameter primary: the primary code directory, whole.
    /// - Parameter digests: of the primary and the alternates, in that order.
    /// - Parameter time: the signing time, in seconds since 1970.
    static func sign(
        _ primary: [UInt8],
        digests: [DirectoryDigest],
        by identity: Identity,
        at time: Int64
    ) throws(CodeSignatureError) -> [UInt8] {
        ERR_clear_error()
        let flags = UInt32(CMS_PARTIAL | CMS_DETACHED | CMS_BINARY | CMS_NOSMIMECAP)
        let message = CMS_sign(nil, nil, nil, nil, flags)
        defer { CMS_ContentInfo_free(message) }
        let signer = identity.leaf.withX509 { CMS_add1_signer(message, $0, identity.key.pointer, EVP_sha256(), flags) }
        guard let message, let signer else { throw failure("add the signer") }
        for certificate in identity.chain {
            guard certificate.withX509({ CMS_add1_cert(message, $0) }) == 1 else { throw failure("add the chain") }
        }
        try addTime(time, to: signer)
        try addAttribute(
            plistAttribute,
            type: V_ASN1_OCTET_STRING,
            values: [cdHashes(digests.map(\.cut))],
            to: signer
        )
        try addAttribute(
            digestAttribute,
            type: V_ASN1_SEQUENCE,
            values: digests.map {
                DER.element(0x30, $0.algorithm.objectIdentifier + DER.element(0x04, $0.digest))
            },
            to: signer
        )
        let content = OpenSSL.memory(primary)
        defer { BIO_free(content) }
        let signed = identity.key.signing { CMS_final(message, content, nil, UInt32(CMS_DETACHED | CMS_BINARY)) }
        guard signed == 1 else { throw failure("sign") }
        let output = BIO_new(BIO_s_mem())
        defer { BIO_free(output) }
        guard i2d_CMS_bio(output, message) == 1 else { throw failure("encode") }
        return OpenSSL.contents(output)
    }

    private static func failure(_ action: String) -> CodeSignatureError {
        CodeSignatureError(.signing, "OpenSSL could not \(action): \(OpenSSL.lastReason()).")
    }

    private static func cdHashes(_ digests: [[UInt8]]) -> [UInt8] {
        let list: PropertyList = .dictionary(["cdhashes": .array(digests.map { .data($0) })])
        return list.encoded(as: .xml)
    }

    /// Without this OpenSSL would take the time of the machine, which tests could not set.
    private static func addTime(_ time: Int64, to signer: OpaquePointer) throws(CodeSignatureError) {
        let value = ASN1_TIME_set(nil, time_t(time))
        defer { ASN1_STRING_free(value) }
        guard let value, let text = ASN1_STRING_get0_data(value),
            CMS_signed_add1_attr_by_NID(
                signer,
                NID_pkcs9_signingTime,
                ASN1_STRING_type(value),
                text,
                ASN1_STRING_length(value)
            ) == 1
        else { throw failure("add the signing time") }
    }

    /// One attribute; its values become one SET (two attributes of one type would be malformed, RFC 5652 §5.3).
    private static func addAttribute(
        _ identifier: String,
        type: Int32,
        values: [[UInt8]],
        to signer: OpaquePointer
    ) throws(CodeSignatureError) {
        let object = OBJ_txt2obj(identifier, 1)
        defer { ASN1_OBJECT_free(object) }
        guard let first = values.first,
            let attribute = X509_ATTRIBUTE_create_by_OBJ(nil, object, type, first, Int32(first.count))
        else { throw failure("make attribute \(identifier)") }
        defer { X509_ATTRIBUTE_free(attribute) }
        for value in values.dropFirst() {
            guard X509_ATTRIBUTE_set1_data(attribute, type, value, Int32(value.count)) == 1 else {
                throw failure("make attribute \(identifier)")
            }
        }
        guard CMS_signed_add1_attr(signer, attribute) == 1 else { throw failure("add attribute \(identifier)") }
    }
}
