import COpenSSL

/// Shared pieces of calling OpenSSL.
enum OpenSSL {
    /// Loads the "legacy" provider for RC2-40, and "default", which loading any other one by name would leave out. Once a
    /// process.
    static let loadProviders: Void = {
        OSSL_PROVIDER_load(nil, "default")
        OSSL_PROVIDER_load(nil, "legacy")
        ERR_clear_error()
    }()

    /// A memory BIO with a copy of `bytes` (`BIO_new_mem_buf` would keep a pointer that dies with the call).
    static func memory(_ bytes: [UInt8]) -> OpaquePointer? {
        let bio = BIO_new(BIO_s_mem())
        var written = 0
        if !bytes.isEmpty {
            BIO_write_ex(bio, bytes, bytes.count, &written)
        }
        return bio
    }

    /// What `write` puts into a new memory BIO.
    static func output(_ action: String, _ write: (OpaquePointer?) -> Int32) throws(SampleError) -> [UInt8] {
        let bio = BIO_new(BIO_s_mem())
        defer { BIO_free(bio) }
        guard write(bio) == 1 else { throw failure(action) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            var got = 0
            guard BIO_read_ex(bio, &buffer, buffer.count, &got) == 1, got > 0 else { return bytes }
            bytes += buffer[..<got]
        }
    }

    /// The error for an action that failed, with the last reason on this thread; the queue is emptied.
    static func failure(_ action: String) -> SampleError {
        var reason = "it gives no reason"
        while true {
            let code = ERR_get_error()
            guard code != 0 else { break }
            if let text = ERR_reason_error_string(code) {
                reason = String(cString: text)
            }
        }
        return SampleError(.openSSL, "OpenSSL could not \(action): \(reason).")
    }

    /// Runs `body` with OpenSSL's object for a certificate in DER.
    static func withCertificate<Result>(
        _ der: [UInt8],
        _ body: (OpaquePointer) throws(SampleError) -> Result
    ) throws(SampleError) -> Result {
        let bio = memory(der)
        defer { BIO_free(bio) }
        guard let certificate = d2i_X509_bio(bio, nil) else { throw failure("read a certificate") }
        defer { X509_free(certificate) }
        return try body(certificate)
    }
}
