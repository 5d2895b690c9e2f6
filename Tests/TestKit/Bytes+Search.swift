#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension [UInt8] {
    /// Whether this text is somewhere in the bytes, in UTF-8.
    ///
    /// As fast without optimization as with it, unlike a search that is generic: the bytes may be a whole archive.
    public func has(_ text: String) -> Bool {
        let text = Array(text.utf8)
        guard let first = text.first else { return true }
        return withUnsafeBytes { all in
            var rest = UnsafeRawBufferPointer(all)
            while rest.count >= text.count, let start = rest.baseAddress,
                let found = memchr(start, Int32(first), rest.count - text.count + 1)
            {
                if memcmp(found, text, text.count) == 0 { return true }
                rest = UnsafeRawBufferPointer(rebasing: rest[(UnsafeRawPointer(found) - start + 1)...])
            }
            return false
        }
    }
}
