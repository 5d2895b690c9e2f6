import FerryBytes
import FerryPropertyList

/// Which apps a tweak says that it is for: the property list beside its library.
///
/// `{ Filter = { Bundles = ( "com.example.app" ); Executables = ( App ); }; }`, as XML, binary, or in the form of OpenStep that
/// tweaks are mostly written with.
public struct TweakFilter: Sendable, Hashable {
    /// Identifiers of apps, or of frameworks that apps load.
    public let bundles: [String]
    /// Names of executables.
    public let executables: [String]

    /// Names of bundles and executables that a filter has.
    public init(bundles: [String], executables: [String] = []) {
        self.bundles = bundles
        self.executables = executables
    }

    /// Reads a filter; `nil` for what is none.
    package init?(_ bytes: [UInt8]) {
        let limits = PropertyList.Limits(maximumByteCount: 1 << 20, maximumDepth: 32, maximumValueCount: 10_000)
        if let (list, _) = try? PropertyList.parse(bytes, limits: limits) {
            let filter = list["Filter"]
            func names(_ key: String) -> [String] { filter?[key]?.array?.compactMap(\.string) ?? [] }
            self.init(bundles: names("Bundles"), executables: names("Executables"))
        } else {
            var reader = OpenStepReader(bytes)
            guard case .dictionary(let list) = reader.document() else { return nil }
            guard case .dictionary(let filter) = list["Filter"] else { return nil }
            self.init(bundles: filter["Bundles"]?.names ?? [], executables: filter["Executables"]?.names ?? [])
        }
    }

    /// Whether the tweak is for an app. One that names a framework is for each app that loads it, and UIKit is loaded by
    /// all; one that names nothing is for all.
    public func matches(identifier: String, executable: String?) -> Bool {
        if bundles.isEmpty && executables.isEmpty { return true }
        let everywhere = ["com.apple.uikit", "com.apple.foundation", "com.apple.corefoundation", "com.apple.security"]
        return bundles.contains { $0 == identifier || everywhere.contains($0.lowercased()) }
            || executables.contains { $0 == executable }
    }
}

/// Property lists as NeXT wrote them: `{ key = value; }`, `( value, value )`, `"text"`, `text`, and comments as in C.
private struct OpenStepReader {
    indirect enum Value {
        case text(String)
        case array([Value])
        case dictionary([String: Value])

        /// The texts of an array.
        var names: [String] {
            guard case .array(let values) = self else { return [] }
            return values.compactMap { if case .text(let text) = $0 { text } else { nil } }
        }
    }

    private let bytes: [UInt8]
    private var place = 0
    private static let depthLimit = 32

    init(_ bytes: [UInt8]) {
        self.bytes = bytes.count <= 1 << 20 ? bytes : []
    }

    /// The one value in the file; `nil` where it is none.
    mutating func document() -> Value? {
        guard let value = value(0) else { return nil }
        skip()
        return place == bytes.count ? value : nil
    }

    private mutating func value(_ depth: Int) -> Value? {
        skip()
        guard depth < Self.depthLimit, place < bytes.count else { return nil }
        if take("{") { return dictionary(depth) }
        if take("(") { return array(depth) }
        return text().map { .text($0) }
    }

    private mutating func dictionary(_ depth: Int) -> Value? {
        var values: [String: Value] = [:]
        while true {
            skip()
            if take("}") { return .dictionary(values) }
            guard let key = text() else { return nil }
            skip()
            guard take("="), let value = value(depth + 1) else { return nil }
            skip()
            values[key] = value
            // The last one may lack it.
            if !take(";"), place >= bytes.count || bytes[place] != UInt8(ascii: "}") { return nil }
        }
    }

    private mutating func array(_ depth: Int) -> Value? {
        var values: [Value] = []
        while true {
            skip()
            if take(")") { return .array(values) }
            guard let value = value(depth + 1) else { return nil }
            values.append(value)
            skip()
            if !take(","), place >= bytes.count || bytes[place] != UInt8(ascii: ")") { return nil }
        }
    }

    private mutating func text() -> String? {
        let quote = UInt8(ascii: "\"")
        var text: [UInt8] = []
        if place < bytes.count, bytes[place] == quote {
            place += 1
            while place < bytes.count, bytes[place] != quote {
                if bytes[place] == UInt8(ascii: "\\"), place + 1 < bytes.count { place += 1 }
                text.append(bytes[place])
                place += 1
            }
            guard place < bytes.count else { return nil }
            place += 1
        } else {
            while place < bytes.count, !Self.ends.contains(bytes[place]) {
                text.append(bytes[place])
                place += 1
            }
            if text.isEmpty { return nil }
        }
        return String(validating: text, as: UTF8.self)
    }

    /// What ends a text without quotes.
    private static let ends = Set(" \t\r\n{}()=;,\"".utf8)

    private mutating func take(_ letter: Unicode.Scalar) -> Bool {
        guard place < bytes.count, bytes[place] == UInt8(ascii: letter) else { return false }
        place += 1
        return true
    }

    /// Passes blanks and comments.
    private mutating func skip() {
        while place < bytes.count {
            let rest = bytes[place...]
            if [0x20, 0x09, 0x0A, 0x0D].contains(bytes[place]) {
                place += 1
            } else if rest.starts(with: "//".utf8) {
                place = rest.firstIndex(of: 0x0A) ?? bytes.count
            } else if rest.starts(with: "/*".utf8) {
                var end = place + 2
                while end + 1 < bytes.count, !bytes[end...].starts(with: "*/".utf8) { end += 1 }
                place = min(end + 2, bytes.count)
            } else {
                return
            }
        }
    }
}
