import FerryBytes

extension PropertyList {
    /// Values under keys, in the order in which they were put in.
    ///
    /// Keys are told apart by their bytes: two spellings of `ü` are two files in an archive, and two keys here.
    /// Equality does not look at the order.
    public struct Dictionary: Sendable {
        fileprivate var entries: [Entry] = []
        /// Where each key lies in `entries`; empty while there are few, which are searched faster one by one.
        private var places: [ExactText: Int] = [:]
        private static let indexedFrom = 12

        fileprivate struct Entry: Sendable {
            let key: ExactText
            var value: PropertyList
        }

        /// A dictionary without entries.
        public init() {}

        /// How many entries there are.
        public var count: Int { entries.count }

        /// Whether there is no entry.
        public var isEmpty: Bool { entries.isEmpty }

        /// The keys, in order.
        public var keys: [String] { entries.map(\.key.text) }

        /// The values, in the order of their keys.
        public var values: [PropertyList] { entries.map(\.value) }

        /// The value under a key.
        ///
        /// A new key goes to the end, a known one keeps its place; setting `nil` removes it.
        public subscript(key: String) -> PropertyList? {
            get {
                guard let place = place(of: ExactText(key)) else { return nil }
                return entries[place].value
            }
            set {
                let wanted = ExactText(key)
                switch (place(of: wanted), newValue) {
                case (let place?, let value?): entries[place].value = value
                case (let place?, nil): remove(at: place)
                case (nil, let value?): append(wanted, value)
                case (nil, nil): break
                }
            }
        }

        /// The value at the end of a path of keys; setting one makes the dictionaries on the way.
        public subscript(path path: String...) -> PropertyList? {
            get { value(at: path[...]) }
            set { set(newValue, at: path[...]) }
        }

        /// The same entries in the order of their keys' UTF-8 bytes.
        public func sorted() -> Dictionary {
            var sorted = Dictionary()
            for entry in entries.sorted(by: { $0.key < $1.key }) { sorted.append(entry.key, entry.value) }
            return sorted
        }

        /// Adds an entry unless the key is there; says whether it did.
        mutating func insert(_ value: PropertyList, forNew key: String) -> Bool {
            let wanted = ExactText(key)
            guard place(of: wanted) == nil else { return false }
            append(wanted, value)
            return true
        }

        private func place(of key: ExactText) -> Int? {
            places.isEmpty ? entries.firstIndex { $0.key == key } : places[key]
        }

        private mutating func append(_ key: ExactText, _ value: PropertyList) {
            entries.append(Entry(key: key, value: value))
            if !places.isEmpty {
                places[key] = entries.count - 1
            } else if entries.count >= Self.indexedFrom {
                index()
            }
        }

        private mutating func remove(at place: Int) {
            entries.remove(at: place)
            if !places.isEmpty { index() }
        }

        private mutating func index() {
            places.removeAll(keepingCapacity: true)
            for (place, entry) in entries.enumerated() { places[entry.key] = place }
        }

        private func value(at path: ArraySlice<String>) -> PropertyList? {
            guard let first = path.first, let value = self[first] else { return nil }
            return path.count == 1 ? value : value.dictionary?.value(at: path.dropFirst())
        }

        private mutating func set(_ value: PropertyList?, at path: ArraySlice<String>) {
            guard let first = path.first else { return }
            guard path.count > 1 else {
                self[first] = value
                return
            }
            let inner = self[first]?.dictionary
            guard inner != nil || value != nil else { return }
            var changed = inner ?? Dictionary()
            changed.set(value, at: path.dropFirst())
            self[first] = .dictionary(changed)
        }
    }
}

extension PropertyList.Dictionary: Hashable {
    /// Whether both have the same keys with equal values, in whatever order.
    public static func == (one: Self, other: Self) -> Bool {
        one.count == other.count && one.entries.allSatisfy { other[$0.key.text] == $0.value }
    }

    /// Hashes the entries without their order.
    public func hash(into hasher: inout Hasher) {
        var mixed = 0
        for entry in entries {
            var own = Hasher()
            own.combine(entry.key)
            own.combine(entry.value)
            mixed ^= own.finalize()
        }
        hasher.combine(mixed)
    }
}

extension PropertyList.Dictionary: Sequence {
    /// Walks the entries in order.
    public struct Iterator: IteratorProtocol {
        fileprivate var entries: IndexingIterator<[Entry]>
        fileprivate typealias Entry = PropertyList.Dictionary.Entry

        /// The next key with its value.
        public mutating func next() -> (key: String, value: PropertyList)? {
            entries.next().map { ($0.key.text, $0.value) }
        }
    }

    /// Walks the entries in order.
    public func makeIterator() -> Iterator { Iterator(entries: entries.makeIterator()) }

    /// The number of entries.
    public var underestimatedCount: Int { count }
}

extension PropertyList.Dictionary: ExpressibleByDictionaryLiteral {
    /// Keeps the order written; of a repeated key the last value stays.
    public init(dictionaryLiteral elements: (String, PropertyList)...) {
        self.init()
        for (key, value) in elements { self[key] = value }
    }
}

extension PropertyList.Dictionary: CustomStringConvertible {
    /// The entries in order, for whoever looks at a failed test.
    public var description: String {
        isEmpty ? "[:]" : "[" + map { "\($0.key): \($0.value)" }.joined(separator: ", ") + "]"
    }
}
