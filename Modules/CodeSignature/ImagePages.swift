/// The bytes of an image, or only its end with the digests of the pages before that.
///
/// What was hashed once need not be read again to check a signature over it.
public struct ImagePages: Sendable {
    /// Where ``end`` begins: a multiple of ``pageSize``, or 0.
    public let start: Int
    /// All bytes from ``start`` on.
    public let end: ArraySlice<UInt8>
    /// Bytes a page of what is known; 0 where nothing is.
    public let pageSize: Int
    /// The digests of the pages before ``start``, one after the other, for each algorithm.
    public let slots: [HashAlgorithm: [UInt8]]

    /// All bytes.
    public init(_ bytes: ArraySlice<UInt8>) {
        start = 0
        end = bytes
        pageSize = 0
        slots = [:]
    }

    /// The end of an image whose pages before `start` have these digests.
    public init(end: [UInt8], from start: Int, pageSize: Int, slots: [HashAlgorithm: [UInt8]]) {
        precondition(start >= 0 && pageSize > 0 && start.isMultiple(of: pageSize), "the end begins with a page")
        self.start = start
        self.end = end[...]
        self.pageSize = pageSize
        self.slots = slots
    }

    /// How many bytes the image has.
    var count: Int { start + end.count }

    /// The digests of all pages up to `codeLimit`; `nil` where they are known for other pages or another algorithm.
    func slots(_ algorithm: HashAlgorithm, pageSize: Int, codeLimit: Int) -> [UInt8]? {
        var known: [UInt8] = []
        if start > 0 {
            guard pageSize == self.pageSize, codeLimit >= start, let slots = slots[algorithm] else { return nil }
            known = slots
        }
        return known
            + end.prefix(codeLimit - start).withUnsafeBytes { code in
                PageHasher.slots(of: code, pageSize: pageSize, with: Digester(algorithm))
            }
    }
}
