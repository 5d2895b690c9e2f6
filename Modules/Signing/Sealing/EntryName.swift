/// A name, equal to another only byte by byte.
///
/// Swift's strings are equal where they look alike (`ü` in one letter or in two), which two entries of an archive may do.
struct EntryName: Hashable, Comparable, Sendable {
    let text: String

    init(_ text: String) {
        self.text = text
    }

    static func == (one: EntryName, other: EntryName) -> Bool {
        one.text.utf8.elementsEqual(other.text.utf8)
    }

    static func < (one: EntryName, other: EntryName) -> Bool {
        one.text.utf8.lexicographicallyPrecedes(other.text.utf8)
    }

    func hash(into hasher: inout Hasher) {
        for byte in text.utf8 {
            hasher.combine(byte)
        }
    }
}
