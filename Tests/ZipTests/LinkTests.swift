import FerryBytes
import FerryZip
import TestKit
import Testing

@Suite struct `A symbolic link` {
    private func check(_ links: [(String, String)]) -> ZipError? {
        failure(
            Result { () throws(ZipError) in
                var builder = ZipBuilder()
                builder.addFile("Payload/A.app/real.txt", [1])
                for (name, target) in links {
                    builder.addLink(name, to: target)
                }
                guard let bytes = try? builder.bytes() else { return }
                let source = MemorySource(bytes)
                let directory = try ZipDirectory(source)
                #expect(directory.entries.count == links.count + 1)
                try directory.checkLinks(in: source)
            }
        )
    }

    @Test(arguments: [
        [("Payload/A.app/l", "real.txt")],
        [("Payload/A.app/sub/l", "../real.txt"), ("Payload/A.app/sub/top", "..")],
        [("Payload/A.app/l", "./x//y/../nowhere")],
        [("Payload/A.app/one", "two"), ("Payload/A.app/two", "deep/er"), ("Payload/A.app/three", "one/../x")],
        [("Symbols/l", "x"), ("l", "Payload/A.app")],
    ])
    func `may lead anywhere in its app`(links: [(String, String)]) {
        #expect(check(links) == nil)
    }

    @Test(
        arguments: [
            (
                [("Payload/A.app/out", "../../../../etc/passwd")],
                "Payload/A.app/out: The symbolic link to ../../../../etc/passwd leads out of Payload/A.app."
            ),
            (
                [("Payload/A.app/out", "/etc/passwd")],
                "Payload/A.app/out: The symbolic link to /etc/passwd leads out of Payload/A.app."
            ),
            (
                [("Payload/A.app/out", "../B.app/x")],
                "Payload/A.app/out: The symbolic link to ../B.app/x leads out of Payload/A.app."
            ),
            ([("Payload/A.app/out", "..")], "Payload/A.app/out: The symbolic link to .. leads out of Payload/A.app."),
            ([("Payload/l", "../x")], "Payload/l: The symbolic link to ../x leads out of Payload."),
            ([("l", "../x")], "l: The symbolic link to ../x leads out of the archive."),
            // Textually inside, but `d/..` is not where it seems.
            (
                [("Payload/A.app/s/d", "."), ("Payload/A.app/s/out", "d/../..")],
                "Payload/A.app/s/out: The symbolic link to d/../.. leads out of Payload/A.app."
            ),
            (
                [("Payload/A.app/a", "b"), ("Payload/A.app/b", "a")],
                "Payload/A.app/a: The symbolic link to b goes in circles within Payload/A.app."
            ),
        ] as [([(String, String)], String)]
    )
    func `may not lead out of it`(links: [(String, String)], says: String) {
        let error = check(links)
        #expect(error?.code == .escapingLink)
        #expect(error?.message == says)
    }

    // A combining accent behind a slash makes one letter with it; to a file system the two are apart.
    @Test func `is followed by bytes, not by letters`() throws {
        let accent = "\u{301}"
        #expect(check([("Payload/A.app/d/l", "../\(accent)x")]) == nil)
        #expect(check([("Payload/A.app/d/l", "../\(accent)x/../..")])?.code == .escapingLink)

        var builder = ZipBuilder()
        builder.addLink("Payload/A.app/l", to: "real")
        builder.addFile("Payload/A.app/l/\(accent)x", [1])
        #expect(failure(Surgery.read(try builder.bytes()))?.code == .escapingLink)
    }

    @Test func `may have nothing beneath it`() throws {
        for isFirst in [true, false] {
            var builder = ZipBuilder()
            if isFirst { builder.addLink("Payload/A.app/l", to: "real") }
            builder.addFile("Payload/A.app/l/x", [1])
            if !isFirst { builder.addLink("Payload/A.app/l", to: "real") }
            let error = failure(Surgery.read(try builder.bytes()))
            #expect(error?.code == .escapingLink)
            #expect(
                error?.message
                    == (isFirst
                        ? "Payload/A.app/l/x: The entry lies beneath the symbolic link Payload/A.app/l."
                        : "Payload/A.app/l: Other entries lie beneath this symbolic link.")
            )
        }
    }

    @Test(arguments: [[], [0x61, 0, 0x62], [0xFF, 0xFE]] as [[UInt8]])
    func `has a target that is a path`(target: [UInt8]) throws {
        var builder = ZipBuilder()
        builder.add("l", 0o120777, Deflate.encode(target))
        let error = failure(Surgery.read(try builder.bytes()))
        #expect(error?.message == "l: The target of the symbolic link is no path.")
    }

    @Test func `has a target that is not endless`() throws {
        var builder = ZipBuilder()
        builder.addLink("l", to: String(repeating: "x", count: 4097))
        let error = failure(Surgery.read(try builder.bytes()))
        #expect(error?.message == "l: The target of the symbolic link has 4097 bytes, more than 4096.")
    }
}
