import FerryBytes
import FerryPropertyList
import Testing

/// A binary property list from its objects' bytes; one-byte offsets and references unless told otherwise.
private func file(
    _ objects: [[UInt8]],
    root: UInt64 = 0,
    offsetSize: Int = 1,
    referenceSize: UInt8 = 1,
    count: UInt64? = nil,
    table: UInt64? = nil
) -> [UInt8] {
    var bytes = Array("bplist00".utf8)
    var offsets: [Int] = []
    for object in objects {
        offsets.append(bytes.count)
        bytes += object
    }
    let start = UInt64(bytes.count)
    for offset in offsets {
        for index in (0..<offsetSize).reversed() { bytes.append(UInt8(truncatingIfNeeded: offset >> (index * 8))) }
    }
    bytes += [0, 0, 0, 0, 0, 0, UInt8(truncatingIfNeeded: offsetSize), referenceSize]
    bytes.append(count ?? UInt64(objects.count), .big)
    bytes.append(root, .big)
    bytes.append(table ?? start, .big)
    return bytes
}

private func text(_ string: String) -> [UInt8] { [0x50 | UInt8(string.utf8.count)] + Array(string.utf8) }

@Suite struct `A binary reader` {
    @Test(
        arguments: [
            ([0x08], false), ([0x09], true), ([0x10, 0xFF], 255), ([0x11, 0xFF, 0xFF], 65535),
            ([0x12, 0xFF, 0xFF, 0xFF, 0xFF], 4_294_967_295),
            ([0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE], -2),
            ([0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 0], .unsigned(1 << 63)),
            ([0x14, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7], 7),
            (
                [0x14, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
                -1
            ),
            ([0x22, 0x3F, 0, 0, 0], 0.5), ([0x23, 0xBF, 0xF0, 0, 0, 0, 0, 0, 0], -1.0),
            (
                [0x33, 0x41, 0xD0, 0, 0, 0, 0, 0, 0],
                .date(PropertyListDate(secondsSince2001: 1_073_741_824))
            ),
            ([0x42, 1, 2], .data([1, 2])), ([0x4F, 0x10, 0x02, 9, 8], .data([9, 8])), ([0x40], .data([])),
            ([0x52, 0x68, 0x69], "hi"), ([0x62, 0xD8, 0x3D, 0xDE, 0x00], "😀"), ([0x72, 0xC3, 0xA9], "é"),
            ([0x80, 5], .uid(5)), ([0x82, 1, 0, 0], .uid(65536)), ([0xA0], []), ([0xD0], [:]),
        ] as [([UInt8], PropertyList)]
    )
    func `understands`(object: [UInt8], expected: PropertyList) throws {
        let (value, format) = try PropertyList.parse(file([object]))
        #expect(value == expected)
        #expect(format == .binary)
    }

    @Test(arguments: 1...8) func `takes offsets and references of every size`(size: Int) throws {
        let reference = [UInt8](repeating: 0, count: size - 1)
        let objects = [[0xD1] + reference + [1] + reference + [2], text("k"), text("v")]
        let bytes = file(objects, offsetSize: size, referenceSize: UInt8(size))
        #expect(try PropertyList.parse(bytes).value == ["k": "v"])
    }

    @Test(
        arguments: [
            ([[0x00]], "a null"), ([[0x0F]], "a fill byte"), ([[0xC0]], "a set"), ([[0xB0]], "a set"),
            ([[0x01]], "a set"), ([[0x15]], "more than 16 bytes"), ([[0x20]], "begins no object"),
            ([[0x90]], "begins no object"), ([[0xE0]], "begins no object"), ([[0x88]], "begins no object"),
            ([[0x13, 1]], "does not end before"), ([[0x45, 1]], "does not end before"),
            ([[0x5F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]], "does not end before"),
            ([[0x6F, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]], "does not end"),
            ([[0xAF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]], "does not end"),
            ([[0xDF, 0x13, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]], "does not end"),
            ([[0x5F, 0x13, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF]], "too large"),
            ([[0x4F, 0x50]], "a count is no integer"), ([[0x51, 0xC3]], "no ASCII"),
            ([[0x61, 0xD8, 0x00]], "no UTF-16"),
            ([[0x71, 0xC3]], "no UTF-8"), ([[0x33, 0x7F, 0xF8, 0, 0, 0, 0, 0, 0]], "a date is no number"),
            (
                [[0x14, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]], "does not fit"
            ),
            ([[0xA1, 9]], "object 9 of 1"), ([[0xA1, 0]], "contains itself"),
            ([[0xA1, 1], [0xA1, 0]], "contains itself"), ([[0xD1, 1, 0], [0x51, 0x6B]], "contains itself"),
            ([[0xD1, 1, 1], [0x09]], "a boolean stands where a key"),
            ([[0xD2, 1, 1, 2, 2], [0x51, 0x6B], [0x09]], "comes twice"),
        ] as [([[UInt8]], String)]
    )
    func `refuses`(objects: [[UInt8]], says: String) {
        let error = #expect(throws: PropertyListError.self) { try PropertyList.parse(file(objects)) }
        #expect(error?.code == .malformed)
        #expect(error?.message.contains(says) == true, "\(error?.message ?? "")")
    }

    @Test(
        arguments: [
            file([[0x09]], root: 1), file([[0x09]], count: 0), file([[0x09]], count: .max),
            file([[0x09]], count: 1 << 40), file([[0x09]], table: 8), file([[0x09]], table: .max),
            file([[0x09]], table: 1000), file([[0x09]], offsetSize: 0), file([[0x09]], referenceSize: 0),
            file([[0x09]], referenceSize: 9), file([[0x09]], root: .max), Array("bplist00".utf8),
            Array("bplist00".utf8) + [UInt8](repeating: 0, count: 32),
            Array("bplist00".utf8) + [UInt8](repeating: 0xFF, count: 33),
        ]
    )
    func `refuses a trailer that lies`(bytes: [UInt8]) {
        #expect(throws: PropertyListError.self) { try PropertyList.parse(bytes) }
    }

    @Test(.timeLimit(.minutes(10))) func `counts what shared objects come to`() {
        // 2^60 strings in 62 objects.
        let doubling = (0..<60).map { [0xA2, UInt8($0 + 1), UInt8($0 + 1)] }
        let error = #expect(throws: PropertyListError.self) { try PropertyList.parse(file(doubling + [text("x")])) }
        #expect(error?.code == .tooMuch)

        // A thousand times the same megabyte, which shares its bytes here but not in what is written.
        let megabyte = [0x4F, 0x12, 0x00, 0x10, 0x00, 0x00] + [UInt8](repeating: 7, count: 1 << 20)
        let list = [0xAF, 0x11, 0x03, 0xE8] + [UInt8](repeating: 1, count: 1000)
        let heavy = #expect(throws: PropertyListError.self) {
            try PropertyList.parse(file([list, megabyte], offsetSize: 4))
        }
        #expect(heavy?.code == .tooMuch)
    }

    @Test func `shares what is shared within reason`() throws {
        let shared = file([[0xA2, 1, 1], [0xA2, 2, 2], text("x")])
        #expect(try PropertyList.parse(shared).value == [["x", "x"], ["x", "x"]])
    }

    @Test func `goes only so deep, also through objects met before`() throws {
        let chain = { (depth: Int) -> [[UInt8]] in
            (0..<depth).map { index in
                index == depth - 1 ? [0xA0] : [0xA1, UInt8((index + 1) >> 8), UInt8((index + 1) & 0xFF)]
            }
        }
        _ = try PropertyList.parse(file(chain(128), offsetSize: 2, referenceSize: 2))
        for depth in [129, 5000] {
            let error = #expect(throws: PropertyListError.self) {
                try PropertyList.parse(file(chain(depth), offsetSize: 2, referenceSize: 2))
            }
            #expect(error?.code == .tooMuch)
        }
        // The root names the chain's second half first, so that it is known when the first half reaches it.
        var objects = chain(160)
        objects.append([0xA2, 0, 80, 0, 0])
        #expect(throws: PropertyListError.self) {
            try PropertyList.parse(file(objects, root: 160, offsetSize: 2, referenceSize: 2))
        }
    }
}
