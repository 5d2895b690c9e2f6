import FerryAppBundle
import FerryBytes
import FerryPropertyList
import FerryWeb

/// Collects what is wrong with a source, up to a number.
struct ProblemList {
    private(set) var problems: [AppSource.Problem] = []
    private(set) var furtherCount = 0
    private let limit: Int

    init(limit: Int) {
        self.limit = limit
    }

    mutating func add(_ problem: AppSource.Problem) {
        if problems.count < limit { problems.append(problem) } else { furtherCount += 1 }
    }
}

/// Reads the fields of one object, each in the forms that are in use; what is in none of them is told and left out.
///
/// An empty text, and what stands for `null`, is as though the field were not there.
struct FieldReader {
    /// The object.
    let object: PropertyList.Dictionary
    /// Which entry of the source it belongs to.
    let entry: String
    /// What stands before its fields' names: `versions[1].`.
    let prefix: String
    let limits: SourceLimits
    /// What relative addresses start from.
    let base: WebAddress?

    /// A problem with a field of the object.
    func problem(_ key: String, _ reason: String, _ loss: AppSource.Problem.Loss = .field) -> AppSource.Problem {
        AppSource.Problem(entry: entry, field: prefix + key, reason: reason, loss: loss)
    }

    /// A text of one line: a name, an identifier, a version. Numbers are taken as they are written.
    func name(_ key: String, _ problems: inout ProblemList) -> String? {
        text(key, limit: limits.maximumNameBytes, &problems).map { $0.trimmed }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A long text; of one in several languages the English one, else the first.
    func about(_ key: String, _ problems: inout ProblemList) -> String? {
        if case .dictionary(let languages)? = object[key] {
            let texts = ["en", "en-US"].compactMap { languages[$0] } + languages.values
            return texts.lazy.compactMap(\.string).first { !$0.isEmpty && $0.utf8.count <= limits.maximumTextBytes }
        }
        return text(key, limit: limits.maximumTextBytes, &problems)
    }

    private func text(_ key: String, limit: Int, _ problems: inout ProblemList) -> String? {
        guard let value = object[key], !value.isNothing else { return nil }
        guard let text = value.plainText else {
            problems.add(problem(key, "expected a text, found \(value.found)"))
            return nil
        }
        guard text.utf8.count <= limit else {
            problems.add(problem(key, "it has \(text.utf8.count) bytes, more than \(limit)"))
            return nil
        }
        return text
    }

    /// An address of the web as a whole URL.
    func address(_ key: String, _ problems: inout ProblemList) -> String? {
        guard let text = name(key, &problems) else { return nil }
        switch url(text) {
        case .success(let url): return url
        case .failure(let fault):
            problems.add(problem(key, fault.reason))
            return nil
        }
    }

    struct Fault: Error {
        let reason: String
    }

    /// `text` as a whole URL; a relative one starts from where the source is.
    func url(_ text: String) -> Result<String, Fault> {
        var shown: String { WebAddress.shown(String(text.prefix(200))) }
        guard let address = WebAddress(text) else {
            guard let base, let whole = base.resolving(text), whole.isOfTheWeb else {
                return .failure(
                    Fault(reason: "“\(shown)” is no whole URL" + (base == nil ? "" : ", nor one from here"))
                )
            }
            return .success(whole.url)
        }
        guard address.isOfTheWeb else {
            return .failure(Fault(reason: "“\(shown)” is neither http nor https"))
        }
        // As it is, for it may have a name and password in it; libcurl also understands `https:/host`, and others do not.
        return .success(text.lowercased().hasPrefix(address.scheme + "://") ? text : address.url)
    }

    /// A flag, as `true`, `1` or their texts.
    func flag(_ key: String) -> Bool {
        switch object[key] {
        case .boolean(let flag)?: flag
        case .integer(let number)?: number == 1
        case .string(let text)?: text.lowercased() == "true"
        default: false
        }
    }

    /// A number of bytes, as a number or as digits; 0 stands for a size that nobody filled in.
    func byteCount(_ key: String, _ problems: inout ProblemList) -> Int64? {
        guard let value = object[key], !value.isNothing else { return nil }
        let count: Int64? =
            switch value {
            case .integer(let number): number
            // A size that went through a program without integers.
            case .real(let number): Int64(exactly: number)
            case .string(let text): Int64(text.trimmed)
            default: nil
            }
        guard let count, count >= 0 else {
            problems.add(problem(key, "expected a number of bytes, found \(value.found)"))
            return nil
        }
        return count == 0 ? nil : count
    }

    /// A date in one of the forms of ``PublishedDate``.
    func date(_ key: String, _ problems: inout ProblemList) -> PropertyListDate? {
        guard let value = object[key], !value.isNothing else { return nil }
        let date: PropertyListDate? =
            switch value {
            case .string(let text): PublishedDate.date(text.trimmed)
            case .integer(let number): PublishedDate.date(Double(number))
            case .real(let number): PublishedDate.date(number)
            default: nil
            }
        if date == nil { problems.add(problem(key, "expected a date, found \(value.found)")) }
        return date
    }

    /// A system's version, as a text or a number, also as `iOS 15.0+`.
    func system(_ key: String, _ problems: inout ProblemList) -> SystemVersion? {
        guard let value = object[key], !value.isNothing else { return nil }
        let digits = value.plainText?.drop { !$0.isASCII || !$0.isNumber }.prefix {
            $0.isASCII && $0.isNumber || $0 == "."
        }
        guard let digits, let version = SystemVersion(String(digits)) else {
            problems.add(problem(key, "expected the version of a system, found \(value.found)"))
            return nil
        }
        return version
    }

    /// The elements of a list; `nil` where there is none.
    func list(_ key: String, _ problems: inout ProblemList) -> [PropertyList]? {
        guard let value = object[key], !value.isNothing else { return nil }
        guard case .array(let elements) = value else {
            problems.add(problem(key, "expected a list, found \(value.found)"))
            return nil
        }
        return elements
    }
}

extension WebAddress {
    fileprivate var isOfTheWeb: Bool { scheme == "https" || scheme == "http" }
}

extension PropertyList {
    /// Whether it says nothing: an empty text, or what stands for `null`.
    var isNothing: Bool {
        switch self {
        case .string(let text): text.isEmpty || text.trimmed.isEmpty
        case .dictionary(let dictionary): dictionary.isEmpty
        default: false
        }
    }

    /// The text, or a number as text; `nil` for anything else.
    fileprivate var plainText: String? {
        switch self {
        case .string(let text): text
        case .integer(let number): "\(number)"
        case .unsigned(let number): "\(number)"
        case .real(let number) where number.isFinite:
            number == number.rounded() ? "\(Int64(number.clamped))" : "\(number)"
        default: nil
        }
    }

    /// What it is, for a message.
    var found: String {
        switch self {
        case .string(let text): "the text “\((text.count > 60 ? text.prefix(60) + "…" : text[...]).printable)”"
        case .integer(let number): "the number \(number)"
        case .unsigned(let number): "the number \(number)"
        case .real(let number): "the number \(number)"
        case .boolean(let flag): "\(flag)"
        case .dictionary(let dictionary) where dictionary.isEmpty: "nothing"
        case .dictionary: "an object"
        case .array: "a list"
        default: kindName
        }
    }
}

extension Double {
    /// The nearest that a 64-bit integer can be.
    fileprivate var clamped: Double { Swift.min(Swift.max(self, -9e18), 9e18) }
}

extension StringProtocol {
    /// Without spaces, tabs and line ends around it.
    var trimmed: String {
        let isPlain: (Character?) -> Bool = { $0?.asciiValue.map { $0 > 0x20 && $0 < 0x7F } ?? false }
        if isPlain(first), isPlain(last) { return String(self) }
        let isSpace: (Character) -> Bool = { $0.isWhitespace || $0.isNewline }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return ""
        }
        return String(self[first...last])
    }
}
