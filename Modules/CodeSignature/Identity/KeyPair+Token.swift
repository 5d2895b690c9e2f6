import COpenSSL
public import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension KeyPair {
    /// Takes a key in a token, which stays there, and its certificate.
    ///
    /// The drivers that OpenSSL loads for it stay until the process ends: a key may be the last user of one.
    ///
    /// - Parameter certificates: `nil` for the one that lies beside the key in the token, under the same name or id.
    /// - Parameter pin: what opens the token; `nil` or empty for none.
    public init(
        tokenKey uri: TokenURI,
        certificates: [Certificate]?,
        pin: Secret?,
        driver: TokenDriver = TokenDriver()
    ) throws(CodeSignatureError) {
        let token = try Token(driver, pin: pin)
        let key = try token.key(uri)
        if let certificates {
            try self.init(key: key, certificates: certificates)
        } else {
            try self.init(key: key, certificates: [try token.certificate(uri)])
        }
    }
}

extension Certificate {
    /// Takes a certificate out of a token.
    public init(
        inToken uri: TokenURI,
        pin: Secret?,
        driver: TokenDriver = TokenDriver()
    ) throws(CodeSignatureError) {
        self = try Token(driver, pin: pin).certificate(uri)
    }
}

/// A token as OpenSSL sees it: through a provider's store, or through an engine.
struct Token {
    private let pin: Secret?
    private let engine: UnsafeMutableRawPointer?
    private static let nameLibrary = "Name it by FERRY_PKCS11_MODULE, for instance /usr/lib/softhsm/libsofthsm2.so."

    init(_ driver: TokenDriver, pin: Secret?) throws(CodeSignatureError) {
        OpenSSL.loadProviders
        // Which provider, engine and module there are is said in openssl.cnf, or where OPENSSL_CONF points.
        OPENSSL_init_crypto(UInt64(OPENSSL_INIT_LOAD_CONFIG), nil)
        ERR_clear_error()
        self.pin = pin.flatMap { $0.revealed.isEmpty ? nil : $0 }
        if let provider = driver.provider {
            guard OSSL_PROVIDER_load(nil, provider) != nil else {
                throw Self.failure(
                    "OpenSSL's provider “\(provider)” cannot be loaded",
                    "Install it (Debian 13 has pkcs11-provider), or unset FERRY_OPENSSL_PROVIDER to use the engine."
                )
            }
            engine = nil
            return
        }
        guard let engine = ferry_ENGINE_by_id(driver.engine) else {
            throw Self.failure(
                "OpenSSL's engine “\(driver.engine)” cannot be loaded",
                "Install libengine-pkcs11-openssl, or name a provider by FERRY_OPENSSL_PROVIDER."
            )
        }
        if let module = driver.module, access(module, R_OK) != 0 {
            ferry_ENGINE_free(engine)
            throw CodeSignatureError(
                .token,
                "the token's library \(module) cannot be read: \(String(cString: strerror(errno))).",
                remedy: Self.nameLibrary
            )
        }
        // It would write to standard error what its errors say as well.
        _ = ferry_ENGINE_ctrl_cmd_string(engine, "QUIET", nil)
        if let module = driver.module {
            _ = ferry_ENGINE_ctrl_cmd_string(engine, "MODULE_PATH", module)
        }
        if let pin = self.pin {
            _ = ferry_ENGINE_ctrl_cmd_string(engine, "PIN", pin.revealed)
        }
        guard ferry_ENGINE_init(engine) == 1 else {
            ferry_ENGINE_free(engine)
            throw Self.failure("the token's library cannot be used", Self.nameLibrary)
        }
        self.engine = engine
    }

    func key(_ uri: TokenURI) throws(CodeSignatureError) -> PrivateKey {
        ERR_clear_error()
        let key: OpaquePointer?
        if let engine {
            // Without a method of its own the engine would ask for a PIN on the terminal.
            key = ferry_ENGINE_load_private_key(engine, uri.typed("private"), UI_null(), nil)
        } else {
            key = Self.first(in: uri.typed("private"), pin) { info in
                OSSL_STORE_INFO_get_type(info) == OSSL_STORE_INFO_PKEY ? OSSL_STORE_INFO_get1_PKEY(info) : nil
            }
        }
        guard let key else { throw missing("no private key is found under \(uri.path)") }
        ERR_clear_error()
        return PrivateKey(key, isInToken: true)
    }

    func certificate(_ uri: TokenURI) throws(CodeSignatureError) -> Certificate {
        ERR_clear_error()
        let found: OpaquePointer?
        if let engine {
            found = uri.typed("cert").withCString { text in
                // The parameters of libp11's command LOAD_CERT_CTRL.
                var parameters: (id: UnsafePointer<CChar>?, certificate: OpaquePointer?) = (text, nil)
                let done = withUnsafeMutablePointer(to: &parameters) {
                    ferry_ENGINE_ctrl_cmd(engine, "LOAD_CERT_CTRL", $0)
                }
                return done == 1 ? parameters.certificate : nil
            }
        } else {
            found = Self.first(in: uri.typed("cert"), pin) { info in
                OSSL_STORE_INFO_get_type(info) == OSSL_STORE_INFO_CERT ? OSSL_STORE_INFO_get1_CERT(info) : nil
            }
        }
        guard let found else { throw missing("no certificate is found under \(uri.path)") }
        defer { X509_free(found) }
        ERR_clear_error()
        return Certificate(found)
    }

    /// The first thing that `take` wants in what a provider has under an address; `file:` is one of the default provider's.
    static func first(
        in uri: String,
        _ pin: Secret?,
        _ take: (OpaquePointer) -> OpaquePointer?
    ) -> OpaquePointer? {
        var text = Array((pin?.revealed ?? "").utf8CString)
        return text.withUnsafeMutableBytes { pin in
            let method = UI_UTIL_wrap_read_pem_callback(
                { buffer, size, _, context in
                    guard let buffer, let pin = context?.assumingMemoryBound(to: CChar.self) else { return -1 }
                    var count: Int32 = 0
                    while count < size, pin[Int(count)] != 0 {
                        buffer[Int(count)] = pin[Int(count)]
                        count += 1
                    }
                    return count
                },
                0
            )
            defer { UI_destroy_method(method) }
            guard let store = OSSL_STORE_open_ex(uri, nil, nil, method, pin.baseAddress, nil, nil, nil) else {
                return nil
            }
            defer { OSSL_STORE_close(store) }
            while OSSL_STORE_eof(store) == 0, OSSL_STORE_error(store) == 0 {
                guard let info = OSSL_STORE_load(store) else { continue }
                defer { OSSL_STORE_INFO_free(info) }
                if let taken = take(info) { return taken }
            }
            return nil
        }
    }

    private func missing(_ what: String) -> CodeSignatureError {
        let reasons = OpenSSL.reasons()
        let isPIN = reasons.contains { $0.contains("PIN") }
        let reason = reasons.first ?? "OpenSSL gives no reason"
        return CodeSignatureError(
            isPIN ? .wrongPassword : .token,
            "\(what): \(reason).",
            remedy: isPIN
                ? "Check the PIN: a token locks itself after a few wrong ones."
                : "Check the token's name\(pin == nil ? ", whether it wants a PIN," : "") and its library, which "
                    + "FERRY_PKCS11_MODULE names; pkcs11-tool --list-objects --login shows what is there."
        )
    }

    private static func failure(_ what: String, _ remedy: String) -> CodeSignatureError {
        CodeSignatureError(.token, "\(what): \(OpenSSL.lastReason()).", remedy: remedy)
    }
}
