import COpenSSL
import FerryPropertyList

extension SignatureMessage {
    /// What a message says whose signature is right.
    public struct Verified: Sendable {
        /// The signer's certificate.
        public let signer: Certificate
        /// All certificates inside, the signer's too, in no order.
        public let certificates: [Certificate]
        /// When it was signed, in seconds since 1970; `nil` where it does not say.
        public let signingTime: Int64?
        /// The `cdhashes` of Apple's first attribute; `nil` where it is missing.
        public let cdHashes: [[UInt8]]?
        /// The DER values of Apple's second attribute; `nil` where it is missing.
        public let digestValues: [[UInt8]]?

        /// Whether the chain from the signer up to a self-issued certificate is inside.
        public var hasWholeChain: Bool {
            var last = signer
            for _ in 0..<10 {
                if last.isSelfIssued { return true }
                guard let next = certificates.first(where: { last.isIssued(by: $0) }) else { return false }
                last = next
            }
            return false
        }
    }

    /// Checks that `message` is a signature over `primary` by the signer whose certificate it holds.
    ///
    /// Whether that certificate is to be trusted is another question: the provisioning profile answers it.
    public static func verify(
        _ message: ArraySlice<UInt8>,
        over primary: [UInt8]
    ) throws(CodeSignatureError) -> Verified {
        ERR_clear_error()
        let input = OpenSSL.memory(message)
        defer {
            BIO_free(input)
            ERR_clear_error()
        }
        guard let cms = d2i_CMS_bio(input, nil) else {
            throw CodeSignatureError(.message, "the CMS cannot be read: \(OpenSSL.lastReason()).")
        }
        defer { CMS_ContentInfo_free(cms) }
        // Of bytes in memory CMS_verify makes a copy, which it loses where the message is malformed; behind a filter it does not
        // know them for that.
        let bytes = OpenSSL.memory(primary)
        BIO_ctrl(bytes, BIO_C_SET_BUF_MEM_EOF_RETURN, 0, nil)
        let content = BIO_push(BIO_new(BIO_f_null()), bytes)
        defer { BIO_free_all(content) }
        let flags = UInt32(CMS_NO_SIGNER_CERT_VERIFY | CMS_BINARY)
        guard CMS_verify(cms, nil, nil, content, nil, flags) == 1 else {
            throw CodeSignatureError(
                .message,
                "the CMS is no signature over this code directory: \(OpenSSL.lastReason())."
            )
        }
        let signers = CMS_get0_signers(cms)
        defer { ferry_sk_X509_free(signers) }
        guard let signers, let signer = ferry_sk_X509_value(signers, 0),
            let info = ferry_sk_SignerInfo_value(CMS_get0_SignerInfos(cms), 0)
        else {
            throw CodeSignatureError(.message, "the CMS has no signer.")
        }
        let all = CMS_get1_certs(cms)
        defer { ferry_sk_X509_pop_free(all) }
        return Verified(
            signer: Certificate(signer),
            certificates: (0..<max(0, ferry_sk_X509_num(all))).compactMap {
                ferry_sk_X509_value(all, $0).map { Certificate($0) }
            },
            signingTime: signingTime(info),
            cdHashes: cdHashes(info),
            digestValues: attributeValues(digestAttribute, V_ASN1_SEQUENCE, in: info)
        )
    }

    private static func attributeValues(_ identifier: String, _ type: Int32, in info: OpaquePointer) -> [[UInt8]]? {
        let object = OBJ_txt2obj(identifier, 1)
        defer { ASN1_OBJECT_free(object) }
        let index = CMS_signed_get_attr_by_OBJ(info, object, -1)
        guard index >= 0, let attribute = CMS_signed_get_attr(info, index) else { return nil }
        return (0..<X509_ATTRIBUTE_count(attribute)).compactMap { place in
            guard let value = X509_ATTRIBUTE_get0_type(attribute, place), value.pointee.type == type,
                let string = value.pointee.value.asn1_string, let data = ASN1_STRING_get0_data(string)
            else { return nil }
            return Array(UnsafeBufferPointer(start: data, count: Int(ASN1_STRING_length(string))))
        }
    }

    private static func cdHashes(_ info: OpaquePointer) -> [[UInt8]]? {
        guard let plist = attributeValues(plistAttribute, V_ASN1_OCTET_STRING, in: info)?.first,
            case .array(let items)? = try? PropertyList.parse(plist).value["cdhashes"]
        else { return nil }
        return items.compactMap { item in
            guard case .data(let digest) = item else { return nil }
            return digest
        }
    }

    private static func signingTime(_ info: OpaquePointer) -> Int64? {
        let index = CMS_signed_get_attr_by_NID(info, NID_pkcs9_signingTime, -1)
        guard index >= 0, let attribute = CMS_signed_get_attr(info, index),
            let value = X509_ATTRIBUTE_get0_type(attribute, 0),
            // A signer may put anything there, and a boolean's value is no pointer.
            value.pointee.type == V_ASN1_UTCTIME || value.pointee.type == V_ASN1_GENERALIZEDTIME,
            let time = value.pointee.value.utctime
        else { return nil }
        return Certificate.seconds(time)
    }
}
