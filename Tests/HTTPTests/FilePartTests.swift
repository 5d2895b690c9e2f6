import Testing

@testable import FerryHTTP

@Suite struct `What is sent of a file` {
    @Test(arguments: [
        ("bytes=0-0", FilePart.range(0..<1)), ("bytes=2-5", .range(2..<6)), ("bytes=5-", .range(5..<10)),
        ("bytes=-3", .range(7..<10)), ("bytes=-99", .range(0..<10)), ("bytes=4-99999999999999999999", .range(4..<10)),
        ("BYTES= 1-2 ", .range(1..<3)), ("bytes=10-", .unsatisfiable), ("bytes=10-12", .unsatisfiable),
        ("bytes=-0", .unsatisfiable), ("bytes=99999999999999999999-", .unsatisfiable),
        ("bytes=5-2", .whole), ("bytes=0-1,3-4", .whole), ("bytes=", .whole), ("bytes=-", .whole),
        ("lines=1-2", .whole),
        ("bytes=1", .whole), ("bytes=a-b", .whole), ("bytes=+1-2", .whole), ("bytes=1--2", .whole), ("", .whole),
        ("bytes=0-9223372036854775807", .range(0..<10)),
    ])
    func `is what the range asks for`(range: String, part: FilePart) {
        #expect(FilePart(method: "GET", headers: ["Range": range], count: 10, tag: "t") == part)
    }

    @Test func `is the whole for a range that belongs to another version`() {
        let headers: HeaderFields = ["Range": "bytes=1-2", "If-Range": "\"other\""]
        #expect(FilePart(method: "GET", headers: headers, count: 10, tag: "t") == .whole)
        let same: HeaderFields = ["Range": "bytes=1-2", "If-Range": "\"t\""]
        #expect(FilePart(method: "GET", headers: same, count: 10, tag: "t") == .range(1..<3))
    }

    @Test(arguments: [
        ("If-None-Match", "\"t\"", FilePart.unchanged), ("If-None-Match", "\"a\", W/\"t\"", .unchanged),
        ("If-None-Match", "*", .unchanged), ("If-None-Match", "\"a\"", .whole), ("If-Match", "\"t\"", .whole),
        ("If-Match", "\"a\"", .otherVersion), ("If-Match", "W/\"t\"", .otherVersion),
    ])
    func `depends on the version that the client has`(name: String, value: String, part: FilePart) {
        var headers: HeaderFields = [:]
        headers.append(name, value)
        #expect(FilePart(method: "GET", headers: headers, count: 10, tag: "t") == part)
    }

    @Test func `is nothing but the whole of an empty file`() {
        #expect(FilePart(method: "GET", headers: ["Range": "bytes=0-"], count: 0, tag: "t") == .unsatisfiable)
        #expect(FilePart(method: "GET", headers: ["Range": "bytes=-5"], count: 0, tag: "t") == .unsatisfiable)
        #expect(FilePart(method: "GET", headers: [:], count: 0, tag: "t") == .whole)
    }
}
