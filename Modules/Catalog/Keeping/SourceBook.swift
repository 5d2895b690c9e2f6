import FerryBytes
import FerryPropertyList
import FerryWeb

/// The sources that somebody gave a name: the file `sources.json`, `{"sources": [{"name": …, "url": …}]}`.
public struct SourceBook: Sendable, Hashable {
    /// One of them.
    public struct Entry: Sendable, Hashable {
        /// Its name.
        public let name: String
        /// Its http or https URL; it may hold a token.
        public let url: String

        /// The URL for people: without a name, a password, and what follows `?`.
        public var shownURL: String { WebAddress.shown(url) }
    }

    /// The most that are kept.
    public static let maximumCount = 1000
    /// The longest file that is read.
    public static let maximumBytes = 8 << 20
    /// Words that no source may be called, for they mean something else where a name may stand.
    static let reserved = ["add", "list", "remove"]

    /// All of them, in the order in which they were added.
    public private(set) var entries: [Entry] = []

    /// A book without sources.
    public init() {}

    /// Reads the file; `path` is for messages.
    public init(json: [UInt8], path: String) throws(CatalogError) {
        let root: PropertyList
        do {
            root = try PropertyList.parse(
                json: json,
                limits: PropertyList.Limits(
                    maximumByteCount: Self.maximumBytes,
                    maximumDepth: 8,
                    maximumValueCount: 20 * Self.maximumCount
                )
            )
        } catch {
            throw CatalogError(.name, "\(path): \(error.message)", remedy: error.remedy)
        }
        guard let list = root["sources"]?.array, list.count <= Self.maximumCount else {
            throw CatalogError(
                .name,
                "\(path): this holds no list “sources”, or one of more than \(Self.maximumCount).",
                remedy: "Correct or remove the file."
            )
        }
        for (index, value) in list.enumerated() {
            guard let name = value["name"]?.string, let url = value["url"]?.string else {
                throw CatalogError(
                    .name,
                    "\(path): sources[\(index)] has no name, or no url.",
                    remedy: "Correct or remove the file."
                )
            }
            do {
                try add(name, url)
            } catch {
                throw CatalogError(.name, "\(path): sources[\(index)]: \(error.message)", remedy: error.remedy)
            }
        }
    }

    /// The bytes of the file.
    public var json: [UInt8] {
        var text = Array("{\"sources\": [".utf8)
        for (index, entry) in entries.enumerated() {
            text += Array((index == 0 ? "\n  " : ",\n  ").utf8)
            text += JSONLine.text(["name": .string(entry.name), "url": .string(entry.url)])
        }
        return text + Array((entries.isEmpty ? "]}\n" : "\n]}\n").utf8)
    }

    /// The URL of a name; `nil` where there is none.
    public func url(named name: String) -> String? {
        entries.first { $0.name == name }?.url
    }

    /// Whether a text could be a name: letters, digits, `-` and `_`, at most 64.
    public static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && !text.hasPrefix("-")
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    /// Adds a source, by its URL or a link to it.
    public mutating func add(_ name: String, _ address: String) throws(CatalogError) {
        guard Self.isName(name), !Self.reserved.contains(name) else {
            throw CatalogError(
                .name,
                "“\(name.prefix(80).printable)” can be no source's name.",
                remedy: "A name has letters, digits, - and _, and is none of \(Self.reserved.joined(separator: ", "))."
            )
        }
        let url = try SourceLink.url(address)
        if let entry = entries.first(where: { $0.name == name }) {
            if entry.url == url { return }
            throw CatalogError(
                .name,
                "There is a source “\(name)” already: \(entry.shownURL).",
                remedy: "Take another name, or remove it first: ferry source remove \(name)"
            )
        }
        guard entries.count < Self.maximumCount else {
            throw CatalogError(.name, "There are \(Self.maximumCount) sources, the most that are kept.")
        }
        entries.append(Entry(name: name, url: url))
    }

    /// Removes a source.
    public mutating func remove(_ name: String) throws(CatalogError) {
        guard let place = entries.firstIndex(where: { $0.name == name }) else { throw unknown(name) }
        entries.remove(at: place)
    }

    /// What to throw for a name that is none.
    public func unknown(_ name: String) -> CatalogError {
        let near = name.utf8.count <= 128 ? suggestion(for: name, among: entries.map(\.name)) : nil
        return CatalogError(
            .name,
            "There is no source “\(name.prefix(80).printable)”.",
            remedy: near.map { "Did you mean \($0)?" } ?? "ferry source list shows those that there are."
        )
    }
}
