import COpenSSL

/// What an authority says of a certificate that it issued.
public enum RevocationStatus: Sendable, Hashable {
    /// It is not revoked. The answer was made at the first time, and a newer one comes at the second.
    case good(since: Int64, until: Int64?)
    /// It was revoked, at a time in seconds since 1970; the reason is one of RFC 5280 §5.3.1, as `keyCompromise`.
    case revoked(at: Int64, reason: String?)
    /// The authority knows of no such certificate.
    case unknown
}

/// Asks by OCSP (RFC 6960) whether a certificate was revoked: makes the question, and judges the answer.
///
/// ```
/// OCSPRequest ::= SEQUENCE { tbsRequest { requestList { CertID { SHA-1, issuerNameHash, issuerKeyHash, serialNumber } } } }
/// ```
///
/// The hash is SHA-1 because responders need not know another one (RFC 5019 §2.1.1); it only names the certificate.
public struct RevocationQuestion: Sendable {
    /// How far clocks may differ, in seconds.
    static let clockTolerance: Int64 = 300
    /// How old an answer may be that does not say when it ends.
    static let longestAge: Int64 = 86400

    /// The request in DER.
    public let bytes: [UInt8]
    private let certificate: Certificate
    private let issuer: Certificate

    /// Asks about `certificate`.
    ///
    /// - Parameter nonce: random bytes that the answer must repeat if it has any; Apple's responders have none.
    public init(
        about certificate: Certificate,
        issuedBy issuer: Certificate,
        nonce: [UInt8]? = nil
    ) throws(CodeSignatureError) {
        self.certificate = certificate
        self.issuer = issuer
        let request = OCSP_REQUEST_new()
        defer { OCSP_REQUEST_free(request) }
        let id = Self.identifier(certificate, issuer)
        guard let request, let id, OCSP_request_add0_id(request, id) != nil else {
            OCSP_CERTID_free(id)
            throw Self.failure("the question cannot be made: \(OpenSSL.lastReason()).")
        }
        if var nonce {
            OCSP_request_add1_nonce(request, &nonce, Int32(nonce.count))
        }
        var encoded: UnsafeMutablePointer<UInt8>?
        let count = i2d_OCSP_REQUEST(request, &encoded)
        defer { CRYPTO_free(encoded, #file, #line) }
        guard count > 0, let encoded else {
            throw Self.failure("the question cannot be encoded: \(OpenSSL.lastReason()).")
        }
        bytes = Array(UnsafeBufferPointer(start: encoded, count: Int(count)))
    }

    private static func identifier(_ certificate: Certificate, _ issuer: Certificate) -> OpaquePointer? {
        certificate.withX509 { mine in issuer.withX509 { OCSP_cert_to_id(EVP_sha1(), mine, $0) } }
    }

    private static func failure(_ what: String, _ remedy: String? = nil) -> CodeSignatureError {
        CodeSignatureError(.revocation, what, remedy: remedy ?? "Ask again later; the responder is the authority's.")
    }

    /// Judges an answer at a time, in seconds since 1970.
    ///
    /// It counts if the issuer signed it, or somebody whom the issuer appointed for this (RFC 6960 §4.2.2.2), if it is about
    /// this certificate, and if it is neither from the future nor out of date.
    public func status(in answer: [UInt8], at now: Int64) throws(CodeSignatureError) -> RevocationStatus {
        ERR_clear_error()
        defer { ERR_clear_error() }
        let parsed = answer.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_OCSP_RESPONSE(nil, &cursor, buffer.count)
        }
        guard let response = parsed else {
            throw Self.failure("the answer is none of OCSP: \(OpenSSL.lastReason()).")
        }
        defer { OCSP_RESPONSE_free(response) }
        let state = OCSP_response_status(response)
        guard state == OCSP_RESPONSE_STATUS_SUCCESSFUL else {
            let text = OCSP_response_status_str(Int(state)).map { String(cString: $0) } ?? "\(state)"
            throw Self.failure("the responder does not answer: \(text).")
        }
        guard let basic = OCSP_response_get1_basic(response) else {
            throw Self.failure("the answer cannot be read: \(OpenSSL.lastReason()).")
        }
        defer { OCSP_BASICRESP_free(basic) }
        try checkNonce(basic)
        try checkSignature(basic, at: now)
        return try status(basic, at: now)
    }

    private func checkNonce(_ basic: OpaquePointer) throws(CodeSignatureError) {
        let request = bytes.withUnsafeBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return d2i_OCSP_REQUEST(nil, &cursor, buffer.count)
        }
        defer { OCSP_REQUEST_free(request) }
        // 0: both have one, and they differ. A missing one is allowed: most responders answer from a store.
        guard OCSP_check_nonce(request, basic) != 0 else {
            throw Self.failure(
                "the answer is to another question (its nonce differs).",
                "Somebody between here and the responder may be repeating old answers."
            )
        }
    }

    private func checkSignature(_ basic: OpaquePointer, at now: Int64) throws(CodeSignatureError) {
        // The issuer is all that is trusted, for it is what vouches for the certificate too.
        let store = X509_STORE_new()
        defer { X509_STORE_free(store) }
        let parameters = X509_STORE_get0_param(store)
        X509_VERIFY_PARAM_set_flags(parameters, UInt(X509_V_FLAG_PARTIAL_CHAIN))
        X509_VERIFY_PARAM_set_time(parameters, time_t(now))
        let others = ferry_sk_X509_new()
        defer { ferry_sk_X509_pop_free(others) }
        issuer.withX509 { certificate in
            guard let certificate else { return }
            X509_STORE_add_cert(store, certificate)
            X509_up_ref(certificate)
            if ferry_sk_X509_push(others, certificate) <= 0 { X509_free(certificate) }
        }
        guard OCSP_basic_verify(basic, others, store, 0) == 1 else {
            throw Self.failure(
                "the answer is not signed by the authority, nor by whom it appointed: \(OpenSSL.lastReason()).",
                "Something between here and the responder answers in its place; do not trust it."
            )
        }
    }

    private func status(_ basic: OpaquePointer, at now: Int64) throws(CodeSignatureError) -> RevocationStatus {
        let id = Self.identifier(certificate, issuer)
        defer { OCSP_CERTID_free(id) }
        var status: Int32 = 0
        var reason: Int32 = -1
        var revoked, this, next: UnsafeMutablePointer<ASN1_GENERALIZEDTIME>?
        guard OCSP_resp_find_status(basic, id, &status, &reason, &revoked, &this, &next) == 1, let this else {
            throw Self.failure("the answer is about another certificate.")
        }
        let since = Certificate.seconds(this)
        let until = next.map { Certificate.seconds($0) }
        guard since <= now + Self.clockTolerance else {
            throw Self.failure("the answer is from the future.", "Check this machine's clock.")
        }
        guard now <= (until ?? since + Self.longestAge) + Self.clockTolerance else {
            throw Self.failure("the answer is out of date.", "Check this machine's clock, and ask again later.")
        }
        switch status {
        case V_OCSP_CERTSTATUS_GOOD: return .good(since: since, until: until)
        case V_OCSP_CERTSTATUS_REVOKED:
            return .revoked(
                at: revoked.map { Certificate.seconds($0) } ?? since,
                reason: reason < 0 ? nil : OCSP_crl_reason_str(Int(reason)).map { String(cString: $0) }
            )
        default: return .unknown
        }
    }
}
