import COpenSSL

/// Says why a handshake failed.
enum HandshakeFailure {
    /// Reads what OpenSSL knows.
    static func reason(_ ssl: OpaquePointer, _ endpoint: APNsEndpoint) -> Link.Failure {
        let verdict = SSL_get_verify_result(ssl)
        if verdict != Int(X509_V_OK) {
            ERR_clear_error()
            let why = String(cString: X509_verify_cert_error_string(verdict))
            return Link.Failure(
                error: APNsError(
                    .certificate,
                    "The certificate of \(endpoint) is not trusted: \(why).",
                    remedy: remedy(verdict)
                ),
                isFinal: true
            )
        }
        let code = ERR_peek_last_error()
        if ferry_ERR_GET_REASON(code) == SSL_R_TLSV1_ALERT_NO_APPLICATION_PROTOCOL {
            ERR_clear_error()
            return noHTTP2(endpoint)
        }
        let why = code == 0 ? "the server closed the connection" : OpenSSL.lastReason()
        return Link.Failure(
            error: APNsError(.connection, "No secure connection to \(endpoint): \(why)."),
            isFinal: false
        )
    }

    /// The server does not speak HTTP/2.
    static func noHTTP2(_ endpoint: APNsEndpoint) -> Link.Failure {
        Link.Failure(
            error: APNsError(
                .badAnswer,
                "\(endpoint) does not speak HTTP/2.",
                remedy: "Check the host and port; something on the way may answer in APNs' place."
            ),
            isFinal: true
        )
    }

    private static func remedy(_ verdict: Int) -> String {
        switch Int32(verdict) {
        case X509_V_ERR_CERT_NOT_YET_VALID, X509_V_ERR_CERT_HAS_EXPIRED:
            "Check this machine's clock."
        case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
            "Check the host; something on the way may answer in APNs' place."
        default:
            "Install the system's certificates (ca-certificates), or name a file of trusted ones."
        }
    }
}
