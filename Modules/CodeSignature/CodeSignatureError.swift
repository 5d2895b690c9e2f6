public import FerryBytes

/// Why a signature, a seal, an identity or an entitlement could not be read or made.
public struct CodeSignatureError: ExplainedError, Equatable {
    /// What kind of trouble it is.
    public enum Code: String, Sendable {
        /// A blob or a code directory does not hold together.
        case malformed
        /// An entitlement has a value that cannot be written.
        case entitlement
        /// The password does not open the PKCS#12 file.
        case wrongPassword
        /// A key or certificate file cannot be read.
        case identity
        /// A certificate between the leaf and its root is missing.
        case chainIncomplete
        /// A key or certificate in a token (PKCS#11) cannot be had.
        case token
        /// An answer about a certificate's revocation (OCSP) is of no use.
        case revocation
        /// OpenSSL refused to sign.
        case signing
        /// A message (CMS) cannot be read.
        case message
        /// A seal (CodeResources) cannot be read.
        case seal
        /// Our own layout did not come out as computed.
        case room
    }

    /// What kind of trouble it is.
    public let code: Code
    /// What is wrong and where.
    public let message: String
    /// What helps.
    public let remedy: String?

    init(_ code: Code, _ message: String, remedy: String? = nil) {
        self.code = code
        self.message = message
        self.remedy = remedy
    }
}
