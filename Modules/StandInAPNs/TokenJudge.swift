import COpenSSL

/// Judges provider tokens as Apple does: signature, ids, age, and how often new ones come.
struct TokenJudge {
    /// After how many seconds a token is too old.
    static let ageLimit: Int64 = 3600
    /// In how many seconds only so many new ones may come.
    static let updateSpan: Int64 = 1200

    private let publicKey: [UInt8]
    /// What is known of tokens that were well-formed: when they were made.
    private var known: [[UInt8]: Int64] = [:]
    private var last: (text: [UInt8], issuedAt: Int64)?
    private var updates: [Int64] = []
    /// Different tokens that came.
    private(set) var count = 0

    private let updateLimit: Int

    init(publicKey: [UInt8], updateLimit: Int) {
        self.publicKey = publicKey
        self.updateLimit = updateLimit
    }

    /// Why the header `authorization` is refused; `nil` where it is not.
    mutating func fault(_ header: ArraySlice<UInt8>, now: Int64) -> (Int, String)? {
        guard !header.isEmpty else { return (403, "MissingProviderToken") }
        guard let issuedAt = issueTime(header, now) else { return (403, "InvalidProviderToken") }
        if issuedAt == .max { return (429, "TooManyProviderTokenUpdates") }
        let age = now - issuedAt
        if age > Self.ageLimit { return (403, "ExpiredProviderToken") }
        return age < -60 ? (403, "InvalidProviderToken") : nil
    }

    /// When it was made; `nil` for one that is not valid, the greatest number for one that comes too soon.
    private mutating func issueTime(_ header: ArraySlice<UInt8>, _ now: Int64) -> Int64? {
        if let last, header.isSame(last.text) { return last.issuedAt }
        let text = Array(header)
        if let issuedAt = known[text] {
            last = (text, issuedAt)
            return issuedAt
        }
        guard let issuedAt = read(text) else { return nil }
        updates.removeAll { $0 <= now - Self.updateSpan }
        guard updates.count < updateLimit else { return .max }
        updates.append(now)
        count += 1
        known[text] = issuedAt
        last = (text, issuedAt)
        return issuedAt
    }

    private func read(_ header: [UInt8]) -> Int64? {
        guard header.starts(with: "bearer ".utf8) else { return nil }
        let parts = header.dropFirst(7).split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let head = Self.decode(parts[0]), let claims = Self.decode(parts[1]),
            let signature = Self.decode(parts[2]), signature.count == 64,
            let headJSON = JSONCheck(head[...], wanted: ["alg", "kid"]),
            let claimsJSON = JSONCheck(claims[...], wanted: ["iss", "iat"]),
            headJSON.strings["alg"] == "ES256", headJSON.strings["kid"] == StandInCredentials.keyID,
            claimsJSON.strings["iss"] == StandInCredentials.teamID,
            // An integer, written as one.
            let issuedAt = claimsJSON.numbers["iat"], issuedAt.allSatisfy(\.isNumber), let seconds = Int64(issuedAt),
            isSigned(Array(parts[0] + [UInt8(ascii: ".")] + parts[1]), signature)
        else { return nil }
        return seconds
    }

    private func isSigned(_ message: [UInt8], _ raw: [UInt8]) -> Bool {
        let signature = ECDSA_SIG_new()
        defer { ECDSA_SIG_free(signature) }
        guard
            ECDSA_SIG_set0(signature, BN_bin2bn(Array(raw[..<32]), 32, nil), BN_bin2bn(Array(raw[32...]), 32, nil)) == 1
        else { return false }
        var encoded = [UInt8](repeating: 0, count: 80)
        let length = encoded.withUnsafeMutableBufferPointer { buffer in
            var place = buffer.baseAddress
            return i2d_ECDSA_SIG(signature, &place)
        }
        let key = publicKey.withUnsafeBufferPointer { buffer in
            var place = buffer.baseAddress
            return d2i_PUBKEY(nil, &place, buffer.count)
        }
        defer { EVP_PKEY_free(key) }
        let context = EVP_MD_CTX_new()
        defer { EVP_MD_CTX_free(context) }
        defer { ERR_clear_error() }
        return EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1
            && EVP_DigestVerify(context, encoded, Int(length), message, message.count) == 1
    }

    /// Base64 with the alphabet for URLs and without padding; `nil` for anything else.
    private static func decode(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        guard text.count % 4 != 1 else { return nil }
        var bytes: [UInt8] = []
        var word: UInt32 = 0
        var bits: UInt32 = 0
        for digit in text {
            let value: UInt8
            switch digit {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"): value = digit - 65
            case UInt8(ascii: "a")...UInt8(ascii: "z"): value = digit - 71
            case UInt8(ascii: "0")...UInt8(ascii: "9"): value = digit + 4
            case UInt8(ascii: "-"): value = 62
            case UInt8(ascii: "_"): value = 63
            default: return nil
            }
            word = word << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: word >> bits))
            }
        }
        return bytes
    }
}
