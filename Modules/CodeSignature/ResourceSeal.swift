import FerryBytes
import FerryPropertyList

/// The seal of a bundle: `_CodeSignature/CodeResources`, the digest of every file that is not the main executable.
///
/// A property list of `files` (paths → SHA-1, as data or `{ hash, optional }`), `files2` (paths →
/// `{ hash2: SHA-256, hash: SHA-1 where the code has both, optional }` or `{ symlink }`), and the rules of both.
/// Source: libsecurity_codesigning `resources.cpp`.
public struct ResourceSeal: Sendable {
    /// What the seal says of a file.
    public struct Entry: Sendable, Hashable {
        /// The SHA-1.
        public var sha1: [UInt8]?
        /// The SHA-256; only in `files2`.
        public var sha256: [UInt8]?
        /// Where a symbolic link points; only in `files2`.
        public var linkTarget: String?
        /// Whether the file may be missing.
        public var isOptional = false
        /// Whether it stands for code with a signature of its own (macOS only), which has other keys.
        public var isNestedCode = false
    }

    /// A file that is there.
    public enum Content: Sendable, Hashable {
        /// Its digests.
        case file(Digests)
        /// Where a symbolic link points.
        case link(target: String)
    }

    /// What a seal says of its files, by path; two spellings of `ü` are two files.
    public struct Entries: Sendable, Hashable {
        private var entries: [ExactText: Entry] = [:]

        /// How many there are.
        public var count: Int { entries.count }

        /// All of them, in no order.
        public var all: [(path: String, entry: Entry)] {
            entries.map { ($0.key.text, $0.value) }
        }

        /// What the seal says of the file at a path.
        public internal(set) subscript(path: String) -> Entry? {
            get { entries[ExactText(path)] }
            set { entries[ExactText(path)] = newValue }
        }
    }

    /// `files`.
    public let files: Entries
    /// `files2`.
    public let files2: Entries
    /// `rules`.
    public let rules: ResourceRules
    /// `rules2`; `nil` in a seal of before 2013.
    public let rules2: ResourceRules?

    /// Where a seal lies in its bundle.
    public static let path = "_CodeSignature/CodeResources"

    /// Whether a file never belongs into a seal: the signature itself.
    public static func isSignaturePart(_ path: String) -> Bool {
        path.beginsExactly(with: "_CodeSignature/") || path.beginsExactly(with: "_MASReceipt/")
            || path == "CodeResources"
            || path == "_CodeSignature" || path == "_MASReceipt"
    }

    /// Makes the seal of an iOS bundle and gives its bytes.
    ///
    /// - Parameter contents: every file and link below the bundle's folder, by path from there, without the main
    ///   executable; what belongs to the signature is left out here.
    /// - Parameter includesSHA1: whether `files2` has SHA-1 too, for code with two code directories.
    public static func encoded(_ contents: [(path: String, content: Content)], includesSHA1: Bool) -> [UInt8] {
        var files = PropertyList.Dictionary()
        var files2 = PropertyList.Dictionary()
        let sorted = contents.filter { !isSignaturePart($0.path) }
            .sorted { ExactText($0.path) < ExactText($1.path) }
        for (path, content) in sorted {
            if let kind = ResourceRules.version1.kind(of: path), kind != .omitted, case .file(let digests) = content {
                files[path] =
                    kind == .optional
                    ? .dictionary(["hash": .data(digests.sha1), "optional": .boolean(true)]) : .data(digests.sha1)
            }
            guard let kind = ResourceRules.version2.kind(of: path), kind != .omitted else { continue }
            var entry = PropertyList.Dictionary()
            switch content {
            case .link(let target): entry["symlink"] = .string(target)
            case .file(let digests):
                if includesSHA1 {
                    entry["hash"] = .data(digests.sha1)
                }
                entry["hash2"] = .data(digests.sha256)
            }
            if kind == .optional {
                entry["optional"] = .boolean(true)
            }
            files2[path] = .dictionary(entry)
        }
        let seal: PropertyList = .dictionary([
            "files": .dictionary(files),
            "files2": .dictionary(files2),
            "rules": ResourceRules.version1.propertyList,
            "rules2": ResourceRules.version2.propertyList,
        ])
        return seal.encoded(as: .xml)
    }

    /// Parses a seal, XML or binary.
    public init(parsing bytes: [UInt8]) throws(CodeSignatureError) {
        let root: PropertyList
        do {
            root = try PropertyList.parse(bytes).value
        } catch {
            throw CodeSignatureError(.seal, "the seal is no property list: \(error.message)")
        }
        guard case .dictionary(let seal) = root, let rules = seal["rules"] else {
            throw CodeSignatureError(.seal, "the seal lacks its rules.")
        }
        files = try Self.entries(seal["files"])
        files2 = try Self.entries(seal["files2"])
        self.rules = try ResourceRules(rules)
        if let rules2 = seal["rules2"] {
            self.rules2 = try ResourceRules(rules2)
        } else {
            rules2 = nil
        }
    }

    private static func entries(_ value: PropertyList?) throws(CodeSignatureError) -> Entries {
        guard case .dictionary(let paths)? = value else {
            guard value == nil else { throw CodeSignatureError(.seal, "the seal's list of files is no dictionary.") }
            return Entries()
        }
        var entries = Entries()
        for (path, value) in paths {
            var entry = Entry()
            switch value {
            case .data(let sha1): entry.sha1 = sha1
            case .dictionary(let details):
                if case .data(let sha1)? = details["hash"] { entry.sha1 = sha1 }
                if case .data(let sha256)? = details["hash2"] { entry.sha256 = sha256 }
                if case .string(let target)? = details["symlink"] { entry.linkTarget = target }
                entry.isOptional = details["optional"] == .boolean(true)
                entry.isNestedCode = details["cdhash"] != nil || details["requirement"] != nil
            default:
                throw CodeSignatureError(.seal, "the seal's entry for “\(path)” is neither data nor a dictionary.")
            }
            entries[path] = entry
        }
        return entries
    }
}
