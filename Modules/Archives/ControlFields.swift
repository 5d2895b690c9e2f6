import FerryBytes

/// The fields of a package's control file: `Name: value` a line, and lines after it that begin with a blank go on with it.
/// Source: deb-control(5).
public struct ControlFields: Sendable, Equatable {
    /// How many fields there may be.
    static let fieldLimit = 256

    private let fields: [String: String]

    /// Reads a control file; the fields of the first paragraph count.
    public init(_ bytes: [UInt8]) throws(ArchiveError) {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw ArchiveError(.malformed, "The package's control file is not written in UTF-8.")
        }
        var fields: [String: String] = [:]
        var current: String?
        // Lines end in a line feed, with a carriage return before it where somebody's editor was from Windows.
        for line in text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false) {
            let line = line.last == "\r" ? line.dropLast() : line
            if line.isEmpty {
                if fields.isEmpty { continue } else { break }
            }
            if let first = line.first, first == " " || first == "\t" {
                if let current { fields[current, default: ""] += "\n" + Self.trimmed(line) }
                continue
            }
            guard let colon = line.firstIndex(of: ":"), colon > line.startIndex else {
                throw ArchiveError(.malformed, "A line of the package's control file has no colon.")
            }
            let name = String(String.UnicodeScalarView(line[..<colon])).lowercased()
            guard fields.count < Self.fieldLimit, fields[name] == nil else {
                throw ArchiveError(.malformed, "The package's control file has a field twice, or too many of them.")
            }
            fields[name] = Self.trimmed(line[line.index(after: colon)...])
            current = name
        }
        self.fields = fields
    }

    private static func trimmed(_ text: Substring.UnicodeScalarView) -> String {
        var text = text
        while let first = text.first, first == " " || first == "\t" { text = text.dropFirst() }
        while let last = text.last, last == " " || last == "\t" { text = text.dropLast() }
        return String(text)
    }

    /// A field by its name, in letters of either case; `nil` where it is not there.
    public subscript(name: String) -> String? { fields[name.lowercased()] }

    /// The package's identifier, for instance `com.example.tweak`.
    public var package: String? { self["Package"] }
    /// Its version.
    public var version: String? { self["Version"] }
    /// Its name for people.
    public var name: String? { self["Name"] }
    /// `iphoneos-arm`, or `iphoneos-arm64` where it is made for jailbreaks without access to the root.
    public var architecture: String? { self["Architecture"] }

    /// The identifiers of the packages that it depends on, without versions; the first of alternatives.
    public var dependencies: [String] {
        let lists = [self["Pre-Depends"], self["Depends"]].compactMap { $0 }
        return lists.flatMap { $0.split(separator: ",") }.compactMap { dependency in
            dependency.split { " \t\n(|".contains($0) }.first.map(String.init)
        }
    }
}
