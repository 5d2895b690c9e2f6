/// The path of a request, taken apart and clean.
///
/// Escapes are undone once, after the path was cut at its slashes. What could mean another place to whoever goes on with
/// it is refused: `.` and `..`, a slash, a backslash, a control character or a NUL, escaped or not, and what is no UTF-8.
package struct RequestPath: Sendable, Hashable {
    /// As it was sent, without the query.
    package let raw: String
    /// Its parts without escapes; `/a/b/` has an empty one at the end, `/` has just that.
    package let segments: [String]

    /// Reads a path; throws what is wrong with it, in a sentence.
    package init(_ raw: String) throws(PathProblem) {
        guard raw.utf8.first == UInt8(ascii: "/") else {
            throw PathProblem(text: "The path of a request has to begin with a slash.")
        }
        self.raw = raw
        var segments: [String] = []
        for part in raw.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = part.withoutEscapes() else {
                throw PathProblem(text: "The path of the request has an escape that stands for no text.")
            }
            guard segment != ".", segment != ".." else {
                throw PathProblem(text: "The path of the request leads elsewhere with “\(segment)”.")
            }
            guard segment.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f && $0 != 0x2f && $0 != 0x5c }) else {
                throw PathProblem(
                    text: "The path of the request has a slash, a backslash or a control character in a name."
                )
            }
            segments.append(segment)
        }
        self.segments = segments
    }

    /// The path without escapes. No segment has a slash in it, so nothing is lost.
    package var text: String { "/" + segments.joined(separator: "/") }
}

/// What is wrong with a path.
package struct PathProblem: Error, Hashable {
    /// A sentence.
    package let text: String
}

extension Collection<UInt8> {
    /// The text with each `%41` as what it stands for; `nil` for half an escape, and for what is no UTF-8.
    func withoutEscapes() -> String? {
        guard contains(UInt8(ascii: "%")) else { return String(validating: self, as: UTF8.self) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        var rest = makeIterator()
        while let byte = rest.next() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.next()?.hexDigit, let low = rest.next()?.hexDigit else { return nil }
            bytes.append(high << 4 | low)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var hexDigit: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}
