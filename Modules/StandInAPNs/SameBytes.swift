#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

// The stand-in must not be what a benchmark measures: these take the place of `elementsEqual`, which goes byte by byte.

extension UnsafeBufferPointer<UInt8> {
    /// Whether these are the bytes of `text`.
    func isSame(_ text: StaticString) -> Bool {
        guard let baseAddress, count == text.utf8CodeUnitCount else { return isEmpty && text.utf8CodeUnitCount == 0 }
        return memcmp(baseAddress, text.utf8Start, count) == 0
    }
}

extension ArraySlice<UInt8> {
    /// Whether these are the bytes of `text`.
    func isSame(_ text: StaticString) -> Bool { withUnsafeBufferPointer { $0.isSame(text) } }

    /// Whether these are the bytes of `other`.
    func isSame(_ other: [UInt8]) -> Bool {
        guard count == other.count else { return false }
        return withUnsafeBytes { mine in
            other.withUnsafeBytes { theirs in
                guard let one = mine.baseAddress, let two = theirs.baseAddress else { return true }
                return memcmp(one, two, count) == 0
            }
        }
    }
}
