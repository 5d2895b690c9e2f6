import CCurl
import FerryWeb

extension DownloadCourse.Failure {
    /// What libcurl's error means, and whether it can pass.
    init(_ code: CURLcode, detail: String, address: WebAddress) {
        let reason = detail.trimmed.isEmpty ? String(cString: curl_easy_strerror(code)) : detail.trimmed
        let shown = address.shown
        func failure(_ kind: DownloadError.Code, _ what: String, _ remedy: String, canPass: Bool = false) -> Self {
            Self(error: DownloadError(kind, "\(shown): \(what) (\(reason)).", remedy: remedy), canPass: canPass)
        }
        switch code {
        case CURLE_URL_MALFORMAT:
            self = failure(.badURL, "the address cannot be understood", "Check the address.")
        case CURLE_UNSUPPORTED_PROTOCOL:
            // The scheme was checked before; what is left is an answer that is none, as of HTTP/0.9.
            self = failure(.badAnswer, "the server does not speak HTTP", "Check the address and its port.")
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            self = failure(
                .nameNotFound,
                "the host's name has no address",
                "Check the name, and whether this machine is on the net.",
                canPass: true
            )
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CERTPROBLEM:
            self = failure(
                .certificate,
                "the server's certificate is not trusted",
                "Check this machine's date, and whether a proxy stands between; a private authority needs its CA file."
            )
        case CURLE_OPERATION_TIMEDOUT:
            self = failure(
                .timedOut,
                "the server stayed silent",
                "Try again later; what has arrived is kept.",
                canPass: true
            )
        default:
            self = failure(
                .connection,
                "the connection failed",
                "Check whether this machine is on the net; what has arrived is kept.",
                canPass: true
            )
        }
    }
}
