#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension StringProtocol {
    /// Whether the text begins with `prefix`, byte by byte.
    ///
    /// `hasPrefix` goes by letters: to it `/` followed by a combining accent does not begin with `/`.
    @inlinable
    package func beginsExactly(with prefix: some StringProtocol) -> Bool {
        let fast: Bool?? = utf8.withContiguousStorageIfAvailable { own in
            prefix.utf8.withContiguousStorageIfAvailable { wanted in
                own.count >= wanted.count && UnsafeRawBufferPointer(own).begins(with: UnsafeRawBufferPointer(wanted))
            }
        }
        return (fast ?? nil) ?? utf8.starts(with: prefix.utf8)
    }

    /// The parts of a path between its slashes, without empty ones; told apart byte by byte, as a file system does it.
    package var pathParts: [String] {
        utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
    }

    /// The text without its first bytes, as many as `prefix` has.
    package func dropping(_ prefix: some StringProtocol) -> String {
        String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the first bytes are those of `prefix`, which is no longer.
    @usableFromInline
    func begins(with prefix: UnsafeRawBufferPointer) -> Bool {
        guard let own = baseAddress, let wanted = prefix.baseAddress else { return prefix.isEmpty }
        return ferryCompare(own, wanted, prefix.count) == 0
    }
}

/// Text that is compared byte by byte.
///
/// Swift's strings are equal where they look alike (`ü` in one letter or in two), which two names in an archive may do.
package struct ExactText: Sendable, Hashable, Comparable {
    /// The text itself.
    package let text: String

    /// Compares `text` by its bytes.
    @inlinable
    package init(_ text: String) {
        self.text = text
    }

    /// Whether both have the same bytes.
    @inlinable
    package static func == (one: ExactText, other: ExactText) -> Bool {
        one.text.utf8.count == other.text.utf8.count && one.text.beginsExactly(with: other.text)
    }

    /// The order of the bytes, the shorter of two that begin alike first.
    @inlinable
    package static func < (one: ExactText, other: ExactText) -> Bool {
        let fast: Bool?? = one.text.utf8.withContiguousStorageIfAvailable { own in
            other.text.utf8.withContiguousStorageIfAvailable { others in
                guard let first = own.baseAddress, let second = others.baseAddress else {
                    return own.count < others.count
                }
                let order = ferryCompare(first, second, min(own.count, others.count))
                return order < 0 || order == 0 && own.count < others.count
            }
        }
        return (fast ?? nil) ?? one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    /// Hashes the bytes.
    @inlinable
    package func hash(into hasher: inout Hasher) {
        let hashed: Void? = text.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if hashed == nil {
            for byte in text.utf8 { hasher.combine(byte) }
        }
        hasher.combine(UInt8(0xFF))
    }
}

/// The C library's `memcmp`, for code that other modules take in.
@usableFromInline
func ferryCompare(_ one: UnsafeRawPointer, _ other: UnsafeRawPointer, _ count: Int) -> Int32 {
    memcmp(one, other, count)
}
