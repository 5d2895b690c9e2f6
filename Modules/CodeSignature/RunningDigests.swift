import COpenSSL

/// SHA-1 and SHA-256 of content whose end is not known yet.
///
/// A value: a copy goes on by itself. It can be kept as bytes and taken up again later, which OpenSSL's `EVP` cannot; so
/// its older functions are used.
public struct RunningDigests: Sendable {
    private var sha1 = SHA_CTX()
    private var sha256 = SHA256_CTX()

    /// Begins with no content.
    public init() {
        ferry_SHA1_Init(&sha1)
        ferry_SHA256_Init(&sha256)
    }

    /// Joins two that took the same content, one for each hash.
    public init(sha1 one: RunningDigests, sha256 other: RunningDigests) {
        sha1 = one.sha1
        sha256 = other.sha256
    }

    /// Adds content to one hash alone; for ``init(sha1:sha256:)``.
    public mutating func update(_ bytes: UnsafeRawBufferPointer, _ algorithm: HashAlgorithm) {
        switch algorithm {
        case .sha1: ferry_SHA1_Update(&sha1, bytes.baseAddress, bytes.count)
        case .sha256: ferry_SHA256_Update(&sha256, bytes.baseAddress, bytes.count)
        }
    }

    /// What both hashes take in turn, so that the second finds it in the processor's cache.
    private static let pieceBytes = 32 << 10

    /// Adds content.
    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(Self.pieceBytes))
            ferry_SHA1_Update(&sha1, piece.baseAddress, piece.count)
            ferry_SHA256_Update(&sha256, piece.baseAddress, piece.count)
            rest = rest.dropFirst(piece.count)
        }
    }

    /// Adds content.
    public mutating func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// The digests of all that was added.
    public func finish() -> Digests {
        var (sha1, sha256) = (sha1, sha256)
        return Digests(
            sha1: [UInt8](unsafeUninitializedCapacity: HashAlgorithm.sha1.size) { buffer, count in
                ferry_SHA1_Final(buffer.baseAddress, &sha1)
                count = HashAlgorithm.sha1.size
            },
            sha256: [UInt8](unsafeUninitializedCapacity: HashAlgorithm.sha256.size) { buffer, count in
                ferry_SHA256_Final(buffer.baseAddress, &sha256)
                count = HashAlgorithm.sha256.size
            }
        )
    }

    /// The digests of all that was added and then `tail`.
    public func finish(with tail: [UInt8]) -> Digests {
        var whole = self
        whole.update(tail)
        return whole.finish()
    }

    /// The state as bytes, for ``init(saved:)`` on the same kind of machine.
    public var saved: [UInt8] {
        withUnsafeBytes(of: sha1, Array.init) + withUnsafeBytes(of: sha256, Array.init)
    }

    /// Takes up a state again; `nil` for bytes that cannot be one.
    public init?(saved: ArraySlice<UInt8>) {
        let sha1Bytes = MemoryLayout<SHA_CTX>.size
        guard saved.count == sha1Bytes + MemoryLayout<SHA256_CTX>.size else { return nil }
        saved.withUnsafeBytes { bytes in
            sha1 = bytes.loadUnaligned(as: SHA_CTX.self)
            sha256 = bytes.loadUnaligned(fromByteOffset: sha1Bytes, as: SHA256_CTX.self)
        }
        // OpenSSL writes to where `num` says. `Nl` counts bits, and both took the same content.
        let pending = (sha1.Nl >> 3) & 63
        guard sha1.num == pending, sha256.num == pending, sha1.Nl == sha256.Nl, sha1.Nh == sha256.Nh,
            sha256.md_len == UInt32(HashAlgorithm.sha256.size)
        else { return nil }
    }
}
