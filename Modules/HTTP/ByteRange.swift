import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What is sent of a file, by the conditions and the range of a request.
///
/// Source: RFC 9110 §13 and §14. Several ranges are answered with the whole, which §14.2 allows.
enum FilePart: Hashable {
    /// 200.
    case whole
    /// 206.
    case range(Range<Int>)
    /// 304: the client has it already.
    case unchanged
    /// 412: the client wants another one.
    case otherVersion
    /// 416: no byte of what was asked for is there.
    case unsatisfiable

    init(_ request: Request, count: Int, tag: String) {
        self.init(method: request.method, headers: request.headers, count: count, tag: tag)
    }

    init(method: String, headers: HeaderFields, count: Int, tag: String) {
        let quoted = "\"\(tag)\""
        if let wanted = headers["If-Match"], !Self.names(wanted, quoted, weakly: false) {
            self = .otherVersion
        } else if let known = headers["If-None-Match"], Self.names(known, quoted, weakly: true) {
            self = .unchanged
        } else if method == "GET", let range = headers["Range"], headers.all("Range").count == 1,
            headers["If-Range"].map({ $0 == quoted }) ?? true
        {
            self = Self.part(range, count: count)
        } else {
            self = .whole
        }
    }

    /// `*`, or a list of tags with this one among them.
    private static func names(_ list: String, _ quoted: String, weakly: Bool) -> Bool {
        list.utf8.split(separator: UInt8(ascii: ",")).contains { part in
            let tag = String(Substring(part)).trimmed
            return tag == "*" || tag == quoted || (weakly && tag == "W/" + quoted)
        }
    }

    /// A range that cannot be understood is left aside, as §14.2 wants it.
    private static func part(_ text: String, count: Int) -> FilePart {
        guard let equals = text.firstIndex(of: "="), String(text[..<equals]).isSameToken(as: "bytes") else {
            return .whole
        }
        let ends = String(text[text.index(after: equals)...]).trimmed
            .split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2 else { return .whole }
        switch (number(ends[0]), number(ends[1])) {
        case (.some(let first), .some(let last)):
            guard first <= last else { return .whole }
            return first < count ? .range(first..<min(count, last == .max ? last : last + 1)) : .unsatisfiable
        case (.some(let first), nil):
            guard ends[1].isEmpty else { return .whole }
            return first < count ? .range(first..<count) : .unsatisfiable
        case (nil, .some(let length)):
            guard ends[0].isEmpty else { return .whole }
            return length > 0 && count > 0 ? .range(max(0, count - length)..<count) : .unsatisfiable
        case (nil, nil):
            return .whole
        }
    }

    /// Digits alone; what is beyond every file is the largest number.
    private static func number(_ text: Substring) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text) ?? .max
    }
}

extension String {
    /// Without blanks and tabs around it.
    var trimmed: String {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}

extension FileSource {
    /// Which file it is, how long, and when its bytes were last changed.
    var contentTag: String {
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return String(count, radix: 16) }
        #if canImport(Darwin)
        let changed = status.st_mtimespec
        #else
        let changed = status.st_mtim
        #endif
        return [Int(truncatingIfNeeded: status.st_ino), count, Int(changed.tv_sec), Int(changed.tv_nsec)]
            .map { String($0, radix: 16) }.joined(separator: "-")
    }
}
