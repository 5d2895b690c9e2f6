import COpenSSL

/// How a PKCS#12 file (RFC 7292) is encrypted: by the names of the algorithms.
public struct PKCS12Protection: Sendable, Hashable {
    /// What encrypts the certificates: `RC2-40`, `3DES`, `AES-256-CBC`; `nil` where nothing does.
    public let certificates: String?
    /// What encrypts the key.
    public let key: String?
    /// The digest that the password is checked with: `SHA1`, `SHA256`.
    public let digest: String?

    /// What is said of encryption that protects little; empty where it is as it should be.
    public var warnings: [String] {
        var warnings: [String] = []
        if let certificates, Self.weak.contains(certificates) {
            warnings.append("its certificates are encrypted with \(certificates), which anybody can break")
        }
        if key == nil {
            warnings.append("its key is not encrypted")
        } else if let key, Self.weak.contains(key) {
            warnings.append("its key is encrypted with \(key), which anybody can break")
        } else if let key, Self.old.contains(key) {
            warnings.append("its key is encrypted with \(key), which is out of date")
        }
        return warnings
    }

    private static let weak: Set<String> = ["RC2-40", "RC4-40", "RC2-64", "DES"]
    private static let old: Set<String> = ["3DES", "2-key 3DES", "RC2-128", "RC4-128"]

    /// Looks at a container, without its password.
    init(_ container: OpaquePointer) {
        var certificates: String?
        var key: String?
        let safes = PKCS12_unpack_authsafes(container)
        defer {
            ferry_sk_PKCS7_pop_free(safes)
            ERR_clear_error()
        }
        for index in 0..<max(0, ferry_sk_PKCS7_num(safes)) {
            guard let safe = ferry_sk_PKCS7_value(safes, index) else { continue }
            switch OBJ_obj2nid(safe.pointee.type) {
            case NID_pkcs7_encrypted:
                guard let inner = safe.pointee.d.encrypted?.pointee.enc_data?.pointee else { continue }
                certificates = certificates ?? Self.name(UnsafePointer(inner.algorithm))
            case NID_pkcs7_data:
                key = key ?? Self.key(in: safe)
            default: continue
            }
        }
        self.certificates = certificates
        self.key = key
        var algorithm: UnsafePointer<X509_ALGOR>?
        PKCS12_get0_mac(nil, &algorithm, nil, nil, container)
        digest = algorithm.map { Self.shortName($0.pointee.algorithm) }
    }

    private static func key(in safe: UnsafeMutablePointer<PKCS7>) -> String? {
        let bags = PKCS12_unpack_p7data(safe)
        defer { ferry_sk_SAFEBAG_pop_free(bags) }
        for index in 0..<max(0, ferry_sk_SAFEBAG_num(bags)) {
            guard let bag = ferry_sk_SAFEBAG_value(bags, index),
                PKCS12_SAFEBAG_get_nid(bag) == NID_pkcs8ShroudedKeyBag,
                let shrouded = PKCS12_SAFEBAG_get0_pkcs8(bag)
            else { continue }
            var algorithm: UnsafePointer<X509_ALGOR>?
            X509_SIG_get0(shrouded, &algorithm, nil)
            return name(algorithm)
        }
        return nil
    }

    private static func name(_ algorithm: UnsafePointer<X509_ALGOR>?) -> String? {
        guard let algorithm else { return nil }
        switch OBJ_obj2nid(algorithm.pointee.algorithm) {
        case NID_pbe_WithSHA1And40BitRC2_CBC: return "RC2-40"
        case NID_pbe_WithSHA1And128BitRC2_CBC: return "RC2-128"
        case NID_pbe_WithSHA1And40BitRC4: return "RC4-40"
        case NID_pbe_WithSHA1And128BitRC4: return "RC4-128"
        case NID_pbe_WithSHA1And3_Key_TripleDES_CBC: return "3DES"
        case NID_pbe_WithSHA1And2_Key_TripleDES_CBC: return "2-key 3DES"
        case NID_pbeWithMD5AndDES_CBC, NID_pbeWithSHA1AndDES_CBC: return "DES"
        case NID_pbeWithMD5AndRC2_CBC, NID_pbeWithSHA1AndRC2_CBC: return "RC2-64"
        case NID_pbes2: return cipher(algorithm)
        default: return shortName(algorithm.pointee.algorithm)
        }
    }

    /// The cipher in the parameters of PBES2 (RFC 8018 §A.4).
    private static func cipher(_ algorithm: UnsafePointer<X509_ALGOR>) -> String {
        guard let parameter = algorithm.pointee.parameter, parameter.pointee.type == V_ASN1_SEQUENCE,
            let sequence = parameter.pointee.value.sequence, let data = ASN1_STRING_get0_data(sequence)
        else { return "PBES2" }
        var cursor: UnsafePointer<UInt8>? = data
        guard let both = d2i_PBE2PARAM(nil, &cursor, Int(ASN1_STRING_length(sequence))) else { return "PBES2" }
        defer { PBE2PARAM_free(both) }
        guard let encryption = both.pointee.encryption else { return "PBES2" }
        return shortName(encryption.pointee.algorithm)
    }

    private static func shortName(_ object: OpaquePointer?) -> String {
        guard let text = OBJ_nid2sn(OBJ_obj2nid(object)) else { return "an unknown algorithm" }
        return String(cString: text)
    }
}
