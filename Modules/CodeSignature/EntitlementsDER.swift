public import FerryPropertyList

/// Entitlements in DER, as iOS 15 and later want them beside the XML.
///
/// ```
/// [APPLICATION 16] { INTEGER 1, [16] { SEQUENCE { UTF8String key, value }, … } }
/// value: BOOLEAN | INTEGER | UTF8String | SEQUENCE OF value | [16] { SEQUENCE { key, value }, … }
/// ```
///
/// Keys are sorted by their bytes. Source: what Apple's codesign writes since 2021 (CoreEntitlements, version 1).
public enum EntitlementsDER {
    /// How deep entitlements may be nested.
    public static let depthLimit = 32

    /// The DER of `entitlements`; throws where a value is a real, a date or data, naming its key.
    public static func encoded(_ entitlements: PropertyList.Dictionary) throws(CodeSignatureError) -> [UInt8] {
        DER.element(0x70, DER.integer(1) + (try mapping(entitlements, path: "", depth: 0)))
    }

    private static func mapping(
        _ dictionary: PropertyList.Dictionary,
        path: String,
        depth: Int
    ) throws(CodeSignatureError) -> [UInt8] {
        var content: [UInt8] = []
        let pairs = dictionary.map { (key: Array($0.key.utf8), name: $0.key, value: $0.value) }
        for pair in pairs.sorted(by: { $0.key.lexicographicallyPrecedes($1.key) }) {
            let inner = try value(pair.value, path: path.isEmpty ? pair.name : path + "." + pair.name, depth: depth + 1)
            content += DER.element(0x30, DER.element(0x0C, pair.key) + inner)
        }
        return DER.element(0xB0, content)
    }

    private static func value(
        _ value: PropertyList,
        path: String,
        depth: Int
    ) throws(CodeSignatureError) -> [UInt8] {
        guard depth <= depthLimit else {
            throw CodeSignatureError(.entitlement, "the entitlement \(path) is nested more than \(depthLimit) deep.")
        }
        switch value {
        case .boolean(let flag): return DER.element(0x01, [flag ? 0xFF : 0])
        case .integer(let number): return DER.integer(number)
        case .string(let text): return DER.element(0x0C, Array(text.utf8))
        case .array(let items):
            var content: [UInt8] = []
            for item in items {
                content += try self.value(item, path: path, depth: depth + 1)
            }
            return DER.element(0x30, content)
        case .dictionary(let inner): return try mapping(inner, path: path, depth: depth + 1)
        case .unsigned, .real, .date, .data, .uid:
            throw CodeSignatureError(
                .entitlement,
                "the entitlement \(path) is \(value.kindName), which cannot be written in DER.",
                remedy: "Give it as a boolean, an integer, a string, an array or a dictionary."
            )
        }
    }

    /// The entitlements that `bytes` say; throws for the old version 0 form too.
    public static func decoded(_ bytes: ArraySlice<UInt8>) throws(CodeSignatureError) -> PropertyList.Dictionary {
        do {
            var outer = DER.Reader(bytes)
            let (tag, content) = try outer.next()
            guard tag == 0x70, outer.isAtEnd else {
                throw malformed(
                    tag == 0x31
                        ? "they are in the version 0 form that Apple wrote until 2021" : "their outer tag is \(tag)"
                )
            }
            var inner = DER.Reader(content)
            let version = try inner.next()
            let map = try inner.next()
            guard version.tag == 2, Array(version.content) == [1], map.tag == 0xB0, inner.isAtEnd else {
                throw malformed("they are not of version 1")
            }
            return try dictionary(map.content, depth: 0)
        } catch let error as CodeSignatureError {
            throw error
        } catch {
            throw malformed("\(error)")
        }
    }

    private static func malformed(_ why: String) -> CodeSignatureError {
        CodeSignatureError(.malformed, "the DER entitlements cannot be read: \(why).")
    }

    private static func dictionary(_ content: ArraySlice<UInt8>, depth: Int) throws -> PropertyList.Dictionary {
        var reader = DER.Reader(content)
        var dictionary = PropertyList.Dictionary()
        var last: [UInt8]?
        while !reader.isAtEnd {
            let pair = try reader.next()
            guard pair.tag == 0x30 else { throw malformed("an entry has tag \(pair.tag)") }
            var parts = DER.Reader(pair.content)
            let (keyTag, key) = try parts.next()
            guard keyTag == 0x0C, last.map({ $0.lexicographicallyPrecedes(key) }) ?? true else {
                throw malformed("the keys are not sorted")
            }
            last = Array(key)
            let (tag, content) = try parts.next()
            guard parts.isAtEnd else { throw malformed("an entry has more than a key and a value") }
            dictionary[String(decoding: key, as: UTF8.self)] = try value(tag, content, depth: depth + 1)
        }
        return dictionary
    }

    private static func value(_ tag: UInt8, _ content: ArraySlice<UInt8>, depth: Int) throws -> PropertyList {
        guard depth <= depthLimit * 2 else { throw malformed("they are nested too deep") }
        switch tag {
        case 0x01:
            guard content.count == 1 else { throw malformed("a boolean has \(content.count) bytes") }
            return .boolean(content.first != 0)
        case 0x02:
            guard (1...8).contains(content.count), let lead = content.first else { throw malformed("a number is long") }
            if content.count > 1, let next = content.dropFirst().first,
                (lead == 0 && next < 0x80) || (lead == 0xFF && next >= 0x80)
            {
                throw malformed("a number is not in its shortest form")
            }
            return .integer(content.reduce(lead >= 0x80 ? -1 : 0) { $0 << 8 | Int64($1) })
        case 0x0C: return .string(String(decoding: content, as: UTF8.self))
        case 0x30:
            var reader = DER.Reader(content)
            var items: [PropertyList] = []
            while !reader.isAtEnd {
                let (tag, content) = try reader.next()
                items.append(try value(tag, content, depth: depth + 1))
            }
            return .array(items)
        case 0xB0: return .dictionary(try dictionary(content, depth: depth + 1))
        default: throw malformed("a value has tag \(tag)")
        }
    }
}
