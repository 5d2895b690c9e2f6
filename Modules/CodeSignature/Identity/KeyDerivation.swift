import COpenSSL

/// How much work a file asks for before its password opens it.
///
/// PKCS#12 and PKCS#8 say how often a password is hashed, as protection against guessing. A file may say two thousand
/// million, and OpenSSL would hash for hours.
enum KeyDerivation {
    /// The most rounds that a file may ask for, all its parts together: a few seconds. Bouncy Castle has the same limit
    /// (`org.bouncycastle.pkcs12.max_it_count`); Keychain Access and OpenSSL ask for a few thousand.
    static let roundLimit = 5_000_000

    /// What is thrown where a file asks for more.
    static func tooMuch(_ rounds: Int) -> CodeSignatureError {
        CodeSignatureError(
            .identity,
            "its password would have to be hashed \(rounds == .max ? "without end" : "\(rounds) times"), "
                + "more than \(roundLimit).",
            remedy: "Export the identity again; programs ask for a few thousand rounds."
        )
    }

    /// The rounds of a container's check of its password and of everything in it that is encrypted, as far as the password
    /// reaches.
    static func rounds(ofPKCS12 container: OpaquePointer, password: String) -> Int {
        let safes = PKCS12_unpack_authsafes(container)
        defer {
            ferry_sk_PKCS7_pop_free(safes)
            ERR_clear_error()
        }
        var salt: UnsafePointer<ASN1_OCTET_STRING>?
        var count: UnsafePointer<ASN1_INTEGER>?
        PKCS12_get0_mac(nil, nil, &salt, &count, container)
        var total = count.map { number($0) } ?? (salt == nil ? 0 : 1)
        var encrypted: [UnsafeMutablePointer<PKCS7>] = []
        for index in 0..<max(0, ferry_sk_PKCS7_num(safes)) {
            guard let safe = ferry_sk_PKCS7_value(safes, index) else { continue }
            switch OBJ_obj2nid(safe.pointee.type) {
            case NID_pkcs7_encrypted:
                encrypted.append(safe)
                let algorithm = safe.pointee.d.encrypted?.pointee.enc_data?.pointee.algorithm
                total = sum(total, rounds(of: UnsafePointer(algorithm)))
            case NID_pkcs7_data:
                let bags = PKCS12_unpack_p7data(safe)
                total = sum(total, rounds(ofBags: bags, depth: 0))
                ferry_sk_SAFEBAG_pop_free(bags)
            default: continue
            }
        }
        // Only what asks for little is opened, to look for encrypted keys within.
        guard total <= roundLimit else { return total }
        // As PKCS12_parse has it, an empty password may also stand for none.
        let isNone = password.isEmpty && PKCS12_verify_mac(container, nil, 0) == 1
        for safe in encrypted where total <= roundLimit {
            let bags = isNone ? PKCS12_unpack_p7encdata(safe, nil, 0) : PKCS12_unpack_p7encdata(safe, password, -1)
            total = sum(total, rounds(ofBags: bags, depth: 0))
            ferry_sk_SAFEBAG_pop_free(bags)
        }
        return total
    }

    /// The rounds of the encrypted keys among bags, and among the bags that these hold.
    private static func rounds(ofBags bags: OpaquePointer?, depth: Int) -> Int {
        var total = 0
        for index in 0..<max(0, ferry_sk_SAFEBAG_num(bags)) {
            guard let bag = ferry_sk_SAFEBAG_value(bags, index) else { continue }
            switch PKCS12_SAFEBAG_get_nid(bag) {
            case NID_pkcs8ShroudedKeyBag:
                var algorithm: UnsafePointer<X509_ALGOR>?
                PKCS12_SAFEBAG_get0_pkcs8(bag).map { X509_SIG_get0($0, &algorithm, nil) }
                total = sum(total, rounds(of: algorithm))
            case NID_safeContentsBag where depth < 32:
                total = sum(total, rounds(ofBags: PKCS12_SAFEBAG_get0_safes(bag), depth: depth + 1))
            case NID_safeContentsBag: return .max
            default: continue
            }
        }
        return total
    }

    /// The rounds of every encrypted key in a text with PEM blocks.
    static func rounds(inPEM text: ArraySlice<UInt8>) -> Int {
        let bio = OpenSSL.memory(text)
        defer { BIO_free(bio) }
        var total = 0
        var name: UnsafeMutablePointer<CChar>?
        var header: UnsafeMutablePointer<CChar>?
        var data: UnsafeMutablePointer<UInt8>?
        var count = 0
        while PEM_read_bio(bio, &name, &header, &data, &count) == 1 {
            defer {
                CRYPTO_free(name, #file, #line)
                CRYPTO_free(header, #file, #line)
                CRYPTO_free(data, #file, #line)
            }
            var cursor = UnsafePointer(data)
            guard let shrouded = d2i_X509_SIG(nil, &cursor, count) else { continue }
            defer { X509_SIG_free(shrouded) }
            var algorithm: UnsafePointer<X509_ALGOR>?
            X509_SIG_get0(shrouded, &algorithm, nil)
            total = sum(total, rounds(of: algorithm))
        }
        ERR_clear_error()
        return total
    }

    /// The rounds that an algorithm's parameters name: PKCS#5 v1 and PKCS#12 (RFC 7292 §B), or PBES2 with PBKDF2 or scrypt
    /// (RFC 8018 §A.4, RFC 7914 §7). 0 where there are none to read; OpenSSL then does nothing either.
    private static func rounds(of algorithm: UnsafePointer<X509_ALGOR>?) -> Int {
        guard let algorithm else { return 0 }
        guard OBJ_obj2nid(algorithm.pointee.algorithm) == NID_pbes2 else {
            return read(algorithm, d2i_PBEPARAM, PBEPARAM_free) { number($0.pointee.iter) } ?? 0
        }
        let found = read(algorithm, d2i_PBE2PARAM, PBE2PARAM_free) { both -> Int? in
            guard let derivation = both.pointee.keyfunc else { return nil }
            if OBJ_obj2nid(derivation.pointee.algorithm) == NID_id_scrypt {
                return read(derivation, d2i_SCRYPT_PARAMS, SCRYPT_PARAMS_free) { scrypt in
                    let parts = [
                        scrypt.pointee.costParameter, scrypt.pointee.blockSize, scrypt.pointee.parallelizationParameter,
                    ]
                    return parts.reduce(1) { product($0, number($1)) }
                }
            }
            return read(derivation, d2i_PBKDF2PARAM, PBKDF2PARAM_free) { number($0.pointee.iter) }
        }
        return found.flatMap { $0 } ?? 0
    }

    /// Reads an algorithm's parameters, which are a SEQUENCE.
    private static func read<Parameters, Value>(
        _ algorithm: UnsafePointer<X509_ALGOR>,
        _ decode: (
            UnsafeMutablePointer<UnsafeMutablePointer<Parameters>?>?, UnsafeMutablePointer<UnsafePointer<UInt8>?>?, Int
        ) -> UnsafeMutablePointer<Parameters>?,
        _ free: (UnsafeMutablePointer<Parameters>?) -> Void,
        _ body: (UnsafeMutablePointer<Parameters>) -> Value
    ) -> Value? {
        guard let parameter = algorithm.pointee.parameter, parameter.pointee.type == V_ASN1_SEQUENCE,
            let sequence = parameter.pointee.value.sequence
        else { return nil }
        var cursor = ASN1_STRING_get0_data(sequence)
        guard let parameters = decode(nil, &cursor, Int(ASN1_STRING_length(sequence))) else { return nil }
        defer { free(parameters) }
        return body(parameters)
    }

    /// A count; `Int.max` for one that is below zero or has more than 63 bits, which no file means.
    private static func number(_ integer: UnsafePointer<ASN1_INTEGER>?) -> Int {
        guard let integer else { return 0 }
        var value: Int64 = 0
        guard ASN1_INTEGER_get_int64(&value, integer) == 1, value >= 0 else { return .max }
        return Int(value)
    }

    private static func sum(_ one: Int, _ two: Int) -> Int {
        let (sum, overflow) = one.addingReportingOverflow(two)
        return overflow ? .max : sum
    }

    private static func product(_ one: Int, _ two: Int) -> Int {
        let (product, overflow) = one.multipliedReportingOverflow(by: two)
        return overflow ? .max : product
    }
}
