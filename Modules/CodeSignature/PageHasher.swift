/// The code slots of a code directory.
public enum PageHasher {
    /// Hashes page by page; the last page ends with the code.
    ///
    /// - Parameter code: everything before the signature.
    /// - Parameter pageSize: bytes a page; zero for one page without an end.
    /// - Returns: the digests one after the other.
    public static func slots(
        of code: UnsafeRawBufferPointer,
        pageSize: Int,
        with digester: borrowing Digester
    ) -> [UInt8] {
        let size = digester.algorithm.size
        let pages = CodeDirectory.pageCount(codeLimit: code.count, pageSize: pageSize)
        let step = pageSize > 0 ? pageSize : max(1, code.count)
        return [UInt8](unsafeUninitializedCapacity: pages * size) { buffer, count in
            let output = UnsafeMutableRawBufferPointer(buffer)
            for page in 0..<pages {
                let start = page * step
                digester.update(UnsafeRawBufferPointer(rebasing: code[start..<min(start + step, code.count)]))
                digester.finish(into: UnsafeMutableRawBufferPointer(rebasing: output[(page * size)...]))
            }
            count = pages * size
        }
    }
}
