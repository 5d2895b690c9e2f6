import COpenSSL

/// Shared pieces of calling OpenSSL.
enum OpenSSL {
    /// A memory BIO with a copy of `bytes` (`BIO_new_mem_buf` would keep a pointer that dies with the call).
    static func memory(_ bytes: [UInt8]) -> OpaquePointer? {
        let bio = BIO_new(BIO_s_mem())
        var written = 0
        if !bytes.isEmpty {
            BIO_write_ex(bio, bytes, bytes.count, &written)
        }
        return bio
    }

    /// Everything that is left in a memory BIO.
    static func contents(_ bio: OpaquePointer?) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var got = 0
            guard BIO_read_ex(bio, &buffer, buffer.count, &got) == 1, got > 0 else { return bytes }
            bytes += buffer[..<got]
        }
    }

    /// The reason of the last error on this thread, for the end of a sentence; the queue is emptied.
    static func lastReason() -> String {
        var reason = "OpenSSL gives no reason"
        while true {
            let code = ERR_get_error()
            guard code != 0 else { return reason }
            if let text = ERR_reason_error_string(code) {
                reason = String(cString: text)
            }
        }
    }
}
