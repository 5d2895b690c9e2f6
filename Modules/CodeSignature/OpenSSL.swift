import COpenSSL
import FerryBytes

/// Shared pieces of calling OpenSSL.
enum OpenSSL {
    /// Loads the "legacy" provider for RC2-40 and 3DES PKCS#12 files, and "default", which loading any other one by
    /// name would leave out. Once a process.
    static let loadProviders: Void = {
        OSSL_PROVIDER_load(nil, "default")
        OSSL_PROVIDER_load(nil, "legacy")
        ERR_clear_error()
    }()

    /// A memory BIO with a copy of `bytes` (`BIO_new_mem_buf` would keep a pointer that dies with the call).
    static func memory(_ bytes: some Collection<UInt8>) -> OpaquePointer? {
        let bio = BIO_new(BIO_s_mem())
        let copy = Array(bytes)
        var written = 0
        if !copy.isEmpty {
            BIO_write_ex(bio, copy, copy.count, &written)
        }
        return bio
    }

    /// Everything that is left in a memory BIO.
    static func contents(_ bio: OpaquePointer?) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16384)
        while true {
            var got = 0
            guard BIO_read_ex(bio, &buffer, buffer.count, &got) == 1, got > 0 else { return bytes }
            bytes += buffer[..<got]
        }
    }

    /// The reason of the last error on this thread, for the end of a sentence; the queue is emptied.
    static func lastReason() -> String {
        reasons().last ?? "OpenSSL gives no reason"
    }

    /// The reasons of all errors on this thread, the innermost first; the queue is emptied.
    static func reasons() -> [String] {
        var reasons: [String] = []
        while true {
            let code = ERR_get_error()
            guard code != 0 else { return reasons }
            if let text = ERR_reason_error_string(code) {
                reasons.append(String(cString: text))
            }
        }
    }
}
