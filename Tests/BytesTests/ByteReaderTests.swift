import FerryBytes
import Testing

@Suite struct `A byte reader` {
    private let reader = ByteReader([0x01, 0x02, 0x03, 0x04, 0x05])

    @Test func `reads integers in both orders`() throws {
        #expect(try reader.integer(at: 1, as: UInt32.self, .big) == 0x0203_0405)
        #expect(try reader.integer(at: 1, as: UInt32.self, .little) == 0x0504_0302)
    }

    @Test(arguments: [(-1, 0), (2, 4), (6, 0), (5, 1), (0, -1), (Int.max, 1), (1, Int.max), (Int.min, 4)])
    func `refuses a place that is not there`(offset: Int, count: Int) {
        #expect(throws: OutOfBounds.self) { try reader.bytes(at: offset, count: count) }
    }

    @Test func `says where it ended and by how much`() {
        let error = #expect(throws: OutOfBounds.self) { try reader.integer(at: 2, as: UInt32.self, .big) }
        #expect(error?.description == "4 bytes are needed at offset 0x2, but only 3 are there")
    }

    @Test func `counts from the start of a slice`() throws {
        let slice = ByteReader([9, 9, 1, 2][2...])
        #expect(try slice.integer(at: 0, as: UInt16.self, .big) == 0x0102)
    }

    @Test func `finds text up to its zero byte only`() throws {
        #expect(try ByteReader([0x61, 0x62, 0, 0x63]).text(at: 0) == "ab")
        #expect(throws: OutOfBounds.self) { try ByteReader([0x61, 0x62]).text(at: 0) }
        #expect(throws: OutOfBounds.self) { try ByteReader([0x61]).text(at: 9) }
    }
}

@Suite struct `Bytes that are written` {
    @Test func `come back as they went in`() throws {
        var bytes: [UInt8] = []
        bytes.append(UInt32(0xFADE_0CC0), .big)
        bytes.append(UInt16(7), .little)
        bytes.pad(to: 8)
        bytes.store(UInt16(9), at: 6, .big)
        #expect(bytes == [0xFA, 0xDE, 0x0C, 0xC0, 7, 0, 0, 9])
    }

    @Test(arguments: [("00ff", [0, 255]), ("", []), ("A0b1", [0xA0, 0xB1])] as [(String, [UInt8])])
    func `have a form in hexadecimal`(text: String, bytes: [UInt8]) {
        #expect([UInt8](hex: text) == bytes)
        #expect(bytes.hex == text.lowercased())
    }

    @Test(arguments: ["0", "0g", "é0"]) func `are not made of what is no hexadecimal`(text: String) {
        #expect([UInt8](hex: text) == nil)
    }
}

@Suite struct `A secret` {
    @Test func `never shows its text`() {
        let secret = Secret("hunter2")
        var dumped = ""
        dump(secret, to: &dumped)
        #expect("\(secret)" == "‹hidden›")
        #expect(String(reflecting: secret) == "‹hidden›")
        #expect(!dumped.contains("hunter2"))
        #expect(secret.revealed == "hunter2")
    }
}
