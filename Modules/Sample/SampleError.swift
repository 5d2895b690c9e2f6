import FerryBytes

/// Why something for a demonstration could not be made.
package struct SampleError: ExplainedError, Equatable {
    /// What kind of trouble it is.
    package enum Code: String, Sendable {
        /// OpenSSL refused to make a key, a certificate, a PKCS#12 file or a message.
        case openSSL
    }

    /// What kind of trouble it is.
    package let code: Code
    /// What could not be made.
    package let message: String
    /// What helps.
    package let remedy: String?

    init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }
}
