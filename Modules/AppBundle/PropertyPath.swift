public import FerryPropertyList

/// Where a value stands in a property list: `NSExtension.NSExtensionAttributes.WKAppBundleIdentifier`.
///
/// Keys and places in arrays (from 0) are parted by dots; `\.` is a dot in a key, `\\` a backslash.
public struct PropertyPath: Sendable, Hashable, CustomStringConvertible {
    /// The keys and places, in order; at least one.
    public let parts: [String]

    /// The deepest path that is taken.
    public static let maximumDepth = 32

    /// Reads a path.
    public init(_ text: String) throws(AppBundleError) {
        var parts: [String] = [""]
        var isEscaped = false
        for character in text.unicodeScalars {
            if isEscaped {
                parts[parts.count - 1].unicodeScalars.append(character)
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else if character == "." {
                parts.append("")
            } else {
                parts[parts.count - 1].unicodeScalars.append(character)
            }
        }
        guard !isEscaped, !parts.contains(""), parts.count <= Self.maximumDepth else {
            let what =
                parts.count > Self.maximumDepth
                ? "it has more than \(Self.maximumDepth) parts"
                : isEscaped ? "it ends in a backslash" : "one of its parts is empty"
            throw AppBundleError(
                .keyPath,
                text.isEmpty ? "“”" : text,
                "this is no path of keys: \(what).",
                remedy: "Write it like NSExtension.NSExtensionAttributes; a dot within a key is written \\."
            )
        }
        self.parts = parts
    }

    /// The path as it is written.
    public var description: String {
        parts.map { part in
            part.unicodeScalars.map { $0 == "." || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
        }.joined(separator: ".")
    }
}

extension PropertyList {
    /// The value at the end of a path; `nil` where there is none.
    public subscript(at path: PropertyPath) -> PropertyList? {
        path.parts.reduce(self) { value, part in
            switch value {
            case .dictionary(let dictionary)?: dictionary[part]
            case .array(let elements)?: Int(part).flatMap { elements.indices.contains($0) ? elements[$0] : nil }
            default: nil
            }
        }
    }

    /// Puts a value at the end of a path.
    ///
    /// Dictionaries that are missing on the way are made. A place in an array must be there, or be the next: its count adds
    /// an element.
    public mutating func set(_ value: PropertyList, at path: PropertyPath) throws(AppBundleError) {
        try set(value, at: path.parts[...], of: path)
    }

    /// Removes what is at the end of a path; says whether there was anything.
    @discardableResult
    public mutating func remove(at path: PropertyPath) -> Bool {
        guard self[at: path] != nil else { return false }
        remove(at: path.parts[...])
        return true
    }

    private mutating func set(
        _ value: PropertyList,
        at parts: ArraySlice<String>,
        of path: PropertyPath
    ) throws(AppBundleError) {
        guard let part = parts.first else {
            self = value
            return
        }
        let rest = parts.dropFirst()
        let made = PropertyList.dictionary([:])
        switch self {
        case .dictionary(var dictionary):
            var inner = dictionary[part] ?? made
            try inner.set(value, at: rest, of: path)
            dictionary[part] = inner
            self = .dictionary(dictionary)
        case .array(var elements):
            guard let index = Int(part), index >= 0, index <= elements.count else {
                throw AppBundleError(
                    .keyPath,
                    path.description,
                    "“\(part)” is no place in the array there, which has \(elements.count) elements.",
                    remedy: "Give a number from 0; \(elements.count) adds one at the end."
                )
            }
            var inner = index < elements.count ? elements[index] : made
            try inner.set(value, at: rest, of: path)
            if index < elements.count { elements[index] = inner } else { elements.append(inner) }
            self = .array(elements)
        default:
            throw AppBundleError(
                .keyPath,
                path.description,
                "there is \(kindName) before “\(part)”, not a dictionary or an array.",
                remedy: "Set the whole of it, or unset it first."
            )
        }
    }

    private mutating func remove(at parts: ArraySlice<String>) {
        guard let part = parts.first else { return }
        let rest = parts.dropFirst()
        switch self {
        case .dictionary(var dictionary):
            if rest.isEmpty {
                dictionary[part] = nil
            } else if var inner = dictionary[part] {
                inner.remove(at: rest)
                dictionary[part] = inner
            }
            self = .dictionary(dictionary)
        case .array(var elements):
            guard let index = Int(part), elements.indices.contains(index) else { return }
            if rest.isEmpty { elements.remove(at: index) } else { elements[index].remove(at: rest) }
            self = .array(elements)
        default: break
        }
    }
}
