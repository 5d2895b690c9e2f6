import COpenSSL

/// What every connection of a client trusts and speaks: TLS 1.2 or later, HTTP/2 by ALPN.
final class TLSContext: Sendable {
    /// The `SSL_CTX`, as a number because a pointer is not Sendable; OpenSSL allows its use from any thread.
    private let address: UInt

    /// Reads the trusted certificates; `nil` means the system's. Throws ``APNsError/Code/badConfiguration``.
    init(caFile: String?) throws(APNsError) {
        guard let context = SSL_CTX_new(TLS_client_method()) else {
            throw APNsError(.badConfiguration, "OpenSSL cannot be started: \(OpenSSL.lastReason()).")
        }
        address = UInt(bitPattern: context)
        ferry_SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION)
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nil)
        SSL_CTX_set_alpn_protos(context, [2, UInt8(ascii: "h"), UInt8(ascii: "2")], 3)
        ferry_SSL_CTX_set_mode(context, ferry_SSL_partial_writes)
        // Several records with one read: answers come in bursts.
        ferry_SSL_CTX_set_read_ahead(context, 1)
        SSL_CTX_set_default_read_buffer_len(context, 64 << 10)
        if let caFile {
            guard SSL_CTX_load_verify_locations(context, caFile, nil) == 1 else {
                throw APNsError(
                    .badConfiguration,
                    "\(caFile): no certificates can be read: \(OpenSSL.lastReason()).",
                    remedy: "Give a file of certificates in PEM."
                )
            }
        } else {
            SSL_CTX_set_default_verify_paths(context)
        }
        ERR_clear_error()
    }

    deinit {
        SSL_CTX_free(OpaquePointer(bitPattern: address))
    }

    /// A new client side of a connection over `descriptor`, which checks that the certificate is `host`'s.
    func connection(over descriptor: Int32, to host: String) -> OpaquePointer? {
        guard let ssl = SSL_new(OpaquePointer(bitPattern: address)) else { return nil }
        // A name goes into the hello; an address must not (RFC 6066 §3), and is looked up in another part of the certificate.
        let isAddress = X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host) == 1
        ERR_clear_error()
        let isNamed = isAddress || (SSL_set1_host(ssl, host) == 1 && ferry_SSL_set_server_name(ssl, host) == 1)
        guard isNamed, SSL_set_fd(ssl, descriptor) == 1 else {
            SSL_free(ssl)
            return nil
        }
        SSL_set_connect_state(ssl)
        return ssl
    }
}
