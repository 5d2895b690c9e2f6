import COpenSSL

extension Certificate {
    /// More than any authority publishes in one file.
    static let maximumCount = 1000

    /// All certificates in a file: PEM blocks, one in DER, or a PKCS#7 bundle (RFC 2315) in either.
    public static func all(inPEM bytes: [UInt8]) throws(CodeSignatureError) -> [Certificate] {
        if bytes.first == 0x30 { return try all(inDER: bytes) }
        let bio = OpenSSL.memory(PEMText.withoutMark(bytes))
        defer {
            BIO_free(bio)
            ERR_clear_error()
        }
        var all: [Certificate] = []
        while all.count < maximumCount, let certificate = PEM_read_bio_X509(bio, nil, nil, nil) {
            all.append(Certificate(certificate))
            X509_free(certificate)
        }
        if all.isEmpty {
            let again = OpenSSL.memory(PEMText.withoutMark(bytes))
            defer { BIO_free(again) }
            if let bundle = PEM_read_bio_PKCS7(again, nil, nil, nil) {
                defer { PKCS7_free(bundle) }
                all = certificates(in: bundle)
            }
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

    private static func all(inDER bytes: [UInt8]) throws(CodeSignatureError) -> [Certificate] {
        do throws(CodeSignatureError) {
            return [try Certificate(der: bytes)]
        } catch {
            let bio = OpenSSL.memory(bytes)
            defer {
                BIO_free(bio)
                ERR_clear_error()
            }
            guard let bundle = d2i_PKCS7_bio(bio, nil) else { throw error }
            defer { PKCS7_free(bundle) }
            let all = certificates(in: bundle)
            guard !all.isEmpty else { throw error }
            return all
        }
    }

    private static func certificates(in bundle: UnsafeMutablePointer<PKCS7>) -> [Certificate] {
        guard OBJ_obj2nid(bundle.pointee.type) == NID_pkcs7_signed,
            let stack = bundle.pointee.d.sign?.pointee.cert
        else { return [] }
        return (0..<min(Int32(maximumCount), max(0, ferry_sk_X509_num(stack)))).compactMap { index in
            ferry_sk_X509_value(stack, index).map { Certificate($0) }
        }
    }
}
