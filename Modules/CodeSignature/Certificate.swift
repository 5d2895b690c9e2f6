import COpenSSL
import FerryBytes

/// An X.509 certificate (RFC 5280), by its DER.
public struct Certificate: Sendable, Hashable {
    /// The whole certificate in DER.
    public let der: [UInt8]
    /// `subject.CN`, for instance `Apple Distribution: Name (TEAM)`.
    public let commonName: String?
    /// `subject.OU`, which is the team for Apple's identities.
    public let organizationalUnit: String?
    /// The subject on one line, for people.
    public let subject: String
    /// The issuer on one line, for people.
    public let issuer: String
    /// The start of its validity, in seconds since 1970.
    public let notBefore: Int64
    /// The end of its validity, in seconds since 1970.
    public let notAfter: Int64
    /// The serial number, big-endian.
    public let serialNumber: [UInt8]
    /// The "CA Issuers" address of its authority information access; `nil` without one.
    public let issuerURL: String?
    /// Whether subject and issuer are one.
    public var isSelfIssued: Bool { subjectDER == issuerDER }

    let subjectDER: [UInt8]
    let issuerDER: [UInt8]

    /// Parses DER.
    public init(der: [UInt8]) throws(CodeSignatureError) {
        let bio = OpenSSL.memory(der)
        defer { BIO_free(bio) }
        guard let certificate = d2i_X509_bio(bio, nil) else {
            throw CodeSignatureError(.identity, "a certificate cannot be read: \(OpenSSL.lastReason()).")
        }
        defer { X509_free(certificate) }
        self.init(certificate)
    }

    /// Copies what is needed out of OpenSSL's object, which stays the caller's.
    init(_ certificate: OpaquePointer) {
        der = Self.encoded { i2d_X509(certificate, $0) }
        let subjectName = X509_get_subject_name(certificate)
        let issuerName = X509_get_issuer_name(certificate)
        subjectDER = Self.encoded { i2d_X509_NAME(subjectName, $0) }
        issuerDER = Self.encoded { i2d_X509_NAME(issuerName, $0) }
        commonName = Self.text(subjectName, NID_commonName)
        organizationalUnit = Self.text(subjectName, NID_organizationalUnitName)
        subject = Self.line(subjectName)
        issuer = Self.line(issuerName)
        notBefore = Self.seconds(X509_get0_notBefore(certificate))
        notAfter = Self.seconds(X509_get0_notAfter(certificate))
        let serial = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nil)
        defer { BN_free(serial) }
        serialNumber = [UInt8](unsafeUninitializedCapacity: max(1, Int(BN_num_bits(serial) + 7) / 8)) { buffer, count in
            count = Int(BN_bn2bin(serial, buffer.baseAddress))
        }
        issuerURL = Self.accessAddress(certificate, NID_ad_ca_issuers)
    }

    /// Runs `body` with OpenSSL's object for this certificate.
    func withX509<Result>(_ body: (OpaquePointer?) throws -> Result) rethrows -> Result {
        let bio = OpenSSL.memory(der)
        defer { BIO_free(bio) }
        let certificate = d2i_X509_bio(bio, nil)
        defer { X509_free(certificate) }
        return try body(certificate)
    }

    /// Whether the certificate has an extension with this object identifier, in dotted form.
    public func hasExtension(_ identifier: String) -> Bool {
        let object = OBJ_txt2obj(identifier, 1)
        defer { ASN1_OBJECT_free(object) }
        return withX509 { X509_get_ext_by_OBJ($0, object, -1) >= 0 }
    }

    /// Whether `issuer`'s key signed this certificate.
    public func isIssued(by issuer: Certificate) -> Bool {
        guard issuerDER == issuer.subjectDER else { return false }
        defer { ERR_clear_error() }
        return withX509 { mine in
            issuer.withX509 { theirs in X509_verify(mine, X509_get0_pubkey(theirs)) == 1 }
        }
    }

    private static func encoded(
        _ encode: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) -> [UInt8] {
        let count = Int(encode(nil))
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            var cursor = buffer.baseAddress
            initialized = max(0, Int(encode(&cursor)))
        }
    }

    static func text(_ name: OpaquePointer?, _ kind: Int32) -> String? {
        let index = X509_NAME_get_index_by_NID(name, kind, -1)
        guard index >= 0, let data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, index)) else { return nil }
        var utf8: UnsafeMutablePointer<UInt8>?
        let count = ASN1_STRING_to_UTF8(&utf8, data)
        guard count >= 0, let utf8 else { return nil }
        defer { CRYPTO_free(utf8, #file, #line) }
        return String(decoding: UnsafeBufferPointer(start: utf8, count: Int(count)), as: UTF8.self)
    }

    private static func line(_ name: OpaquePointer?) -> String {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        let flags = ferry_XN_FLAG_ONELINE_UTF8
        X509_NAME_print_ex(bio, name, 0, flags)
        return String(decoding: OpenSSL.contents(bio), as: UTF8.self)
    }

    static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        let epoch = ASN1_TIME_set(nil, 0)
        defer { ASN1_STRING_free(epoch) }
        var days: Int32 = 0
        var seconds: Int32 = 0
        guard ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return 0 }
        return Int64(days) * 86400 + Int64(seconds)
    }

    /// The first address of that kind in the authority information access (RFC 5280 §4.2.2.1).
    static func accessAddress(_ certificate: OpaquePointer, _ method: Int32) -> String? {
        guard let access = X509_get_ext_d2i(certificate, NID_info_access, nil, nil) else { return nil }
        let descriptions = OpaquePointer(access)
        defer { AUTHORITY_INFO_ACCESS_free(descriptions) }
        for index in 0..<OPENSSL_sk_num(descriptions) {
            guard let raw = OPENSSL_sk_value(descriptions, index) else { continue }
            let description = raw.assumingMemoryBound(to: ACCESS_DESCRIPTION.self).pointee
            guard OBJ_obj2nid(description.method) == method,
                description.location.pointee.type == GEN_URI,
                let text = description.location.pointee.d.uniformResourceIdentifier,
                let data = ASN1_STRING_get0_data(text)
            else { continue }
            let bytes = UnsafeBufferPointer(start: data, count: Int(ASN1_STRING_length(text)))
            return String(decoding: bytes, as: UTF8.self)
        }
        return nil
    }
}
