import FerryBytes
import FerryZip
import Foundation
import TestKit
import Testing

@Suite struct `An archive made from nothing` {
    @Test func `comes back as it went in`() throws {
        var builder = ZipBuilder()
        builder.addFolder("Payload")
        builder.addFile("Payload/a.txt", Array(repeating: 0x61, count: 10_000))
        builder.addFile("Payload/b.bin", [1, 2, 3], mode: 0o755)
        builder.addLink("Payload/c", to: "a.txt")
        let source = MemorySource(try builder.bytes())

        let directory = try ZipDirectory(source)
        #expect(directory.entries.map(\.name) == ["Payload/", "Payload/a.txt", "Payload/b.bin", "Payload/c"])
        #expect(directory.entries.map(\.unixMode) == [0o40755, 0o100644, 0o100755, 0o120777])
        #expect(directory.entries.map(\.method) == [.stored, .deflated, .stored, .stored])
        let inflater = Inflater()
        #expect(try inflater.contents(of: directory.entries[1], in: source) == Array(repeating: 0x61, count: 10_000))
        #expect(try inflater.contents(of: directory.entries[2], in: source) == [1, 2, 3])
        #expect(try directory.linkTarget(of: directory.entries[3], in: source) == "a.txt")
        try directory.checkLinks(in: source)
    }
}
