import COpenSSL
public import FerryBytes

/// A hash that code directories are made with.
public enum HashAlgorithm: UInt8, Sendable, Hashable, CaseIterable {
    // The raw values are `CS_HASHTYPE_SHA1` and `CS_HASHTYPE_SHA256` of XNU's `cs_blobs.h`.
    case sha1 = 1
    case sha256 = 2

    /// The number of bytes of a digest.
    public var size: Int { self == .sha1 ? 20 : 32 }

    /// The object identifier in DER, tag and length included (RFC 5754, RFC 3370).
    var objectIdentifier: [UInt8] {
        switch self {
        case .sha1: [0x06, 0x05, 0x2B, 0x0E, 0x03, 0x02, 0x1A]
        case .sha256: [0x06, 0x09, 0x60, 0x86, 0x48, 0x01, 0x65, 0x03, 0x04, 0x02, 0x01]
        }
    }
}

/// A hash in the making; fed in pieces, finished once, then ready for the next.
///
/// Owned by one worker at a time. OpenSSL's algorithm is looked up once a digester: a look-up a digest costs more than
/// hashing a page.
public struct Digester: ~Copyable, @unchecked Sendable {
    // Unchecked, as the compiler cannot see into OpenSSL: there is one owner (not copyable), and nothing is shared.

    /// The hash it makes.
    public let algorithm: HashAlgorithm
    private let context: OpaquePointer
    private let implementation: OpaquePointer?

    /// Begins an empty hash.
    public init(_ algorithm: HashAlgorithm) {
        self.algorithm = algorithm
        implementation = EVP_MD_fetch(nil, algorithm == .sha1 ? "SHA1" : "SHA256", nil)
        guard let implementation, let context = EVP_MD_CTX_new(),
            EVP_DigestInit_ex2(context, implementation, nil) == 1
        else {
            preconditionFailure("OpenSSL has no \(algorithm): its default provider is not there")
        }
        self.context = context
    }

    deinit {
        EVP_MD_CTX_free(context)
        EVP_MD_free(implementation)
    }

    /// Adds bytes.
    public func update(_ bytes: UnsafeRawBufferPointer) {
        guard let base = bytes.baseAddress, !bytes.isEmpty else { return }
        EVP_DigestUpdate(context, base, bytes.count)
    }

    /// Adds bytes.
    public func update(_ bytes: [UInt8]) {
        bytes.withUnsafeBytes { update($0) }
    }

    /// Gives the digest and begins anew.
    public func finish() -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: algorithm.size) { buffer, count in
            finish(into: UnsafeMutableRawBufferPointer(buffer))
            count = algorithm.size
        }
    }

    /// Writes the digest to the start of `buffer` and begins anew.
    public func finish(into buffer: UnsafeMutableRawBufferPointer) {
        precondition(buffer.count >= algorithm.size, "a buffer as large as the digest")
        var written: UInt32 = 0
        EVP_DigestFinal_ex(context, buffer.bindMemory(to: UInt8.self).baseAddress, &written)
        EVP_DigestInit_ex2(context, implementation, nil)
    }
}

extension HashAlgorithm {
    /// The digest of some bytes.
    public func digest(_ bytes: [UInt8]) -> [UInt8] {
        bytes.withUnsafeBytes { digest($0) }
    }

    /// The digest of some bytes.
    public func digest(_ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        let digester = Digester(self)
        digester.update(bytes)
        return digester.finish()
    }

    /// The digest of all bytes of a source, read piece by piece; throws what reading throws.
    public func digest(of source: some ByteSource) throws -> [UInt8] {
        let digester = Digester(self)
        let pieceBytes = min(max(source.count, 1), 1 << 20)
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceBytes, alignment: 16)
        defer { buffer.deallocate() }
        for offset in stride(from: 0, to: source.count, by: pieceBytes) {
            let piece = UnsafeMutableRawBufferPointer(rebasing: buffer[..<min(pieceBytes, source.count - offset)])
            try source.read(at: offset, into: piece)
            digester.update(UnsafeRawBufferPointer(piece))
        }
        return digester.finish()
    }
}

/// The digests of one piece of content under the algorithms that are wanted.
public struct Digests: Sendable, Hashable {
    /// SHA-1, 20 bytes.
    public var sha1: [UInt8]
    /// SHA-256, 32 bytes.
    public var sha256: [UInt8]

    /// Keeps both.
    public init(sha1: [UInt8], sha256: [UInt8]) {
        self.sha1 = sha1
        self.sha256 = sha256
    }

    /// Hashes `bytes` both ways.
    public init(of bytes: [UInt8]) {
        self.init(sha1: HashAlgorithm.sha1.digest(bytes), sha256: HashAlgorithm.sha256.digest(bytes))
    }

    /// The digest under one algorithm.
    public subscript(algorithm: HashAlgorithm) -> [UInt8] {
        algorithm == .sha1 ? sha1 : sha256
    }
}
