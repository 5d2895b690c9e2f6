import FerryPropertyList
import Testing

@Suite struct `A damaged property list` {
    @Test(.timeLimit(.minutes(10)), arguments: [PropertyList.Format.xml, .binary])
    func `is refused wherever it is cut`(format: PropertyList.Format) {
        let bytes = everyKind.encoded(as: format)
        // XML may do without its last line feed.
        let whole = format == .xml ? bytes.count - 1 : bytes.count
        for count in 0..<whole {
            #expect(throws: PropertyListError.self, "cut at \(count)") { try PropertyList.parse(bytes[..<count]) }
        }
    }

    @Test(.timeLimit(.minutes(10)), arguments: [PropertyList.Format.xml, .binary])
    func `never traps whichever byte is changed`(format: PropertyList.Format) {
        let bytes = everyKind.encoded(as: format)
        var understood = 0
        for index in bytes.indices {
            for change: UInt8 in [0x01, 0x10, 0x20, 0x80, 0xFF] {
                var damaged = bytes
                damaged[index] ^= change
                guard let value = try? PropertyList.parse(damaged).value else { continue }
                understood += 1
                // What is understood can be written again, and says the same.
                let again = try? PropertyList.parse(value.encoded(as: .binary)).value
                #expect(again?.encoded(as: .xml) == value.encoded(as: .xml), "byte \(index) changed by \(change)")
            }
        }
        #expect(understood > 0)
        #expect(understood < bytes.count * 5)
    }
}
