import FerryBytes
import FerryHTTP
import Foundation
import TestKit
import Testing

@testable import FerryOverTheAir

@Suite(.timeLimit(.minutes(5)), .enabled(if: AirServer.hasCurl, "\(AirServer.absent)"))
struct `A link for a phone` {
    @Test func `has 128 bits that nobody guesses`() throws {
        let secrets = (0..<100).map { _ in AirLink.newSecret() }
        #expect(Set(secrets).count == 100)
        #expect(secrets.allSatisfy { $0.utf8.count == 22 })
        let air = try AirServer()
        let link = try air.add()
        // Whoever sees the names of files has no link.
        #expect(try air.folder.contents().allSatisfy { !$0.contains(link.secret) })
    }

    @Test func `opens a page with the app's name, its size and the way to install it`() async throws {
        let air = try AirServer(publicURL: "https://ferry.example/")
        let link = try air.add()
        let page = try await air.curl("/i/\(link.secret)/", ["-i"]).text
        #expect(page.contains("<h1>Harbour</h1>") && page.contains("Version 1.2"))
        let manifest = "https%3A%2F%2Fferry.example%2Fi%2F\(link.secret)%2Fmanifest.plist"
        #expect(page.contains("href=\"itms-services://?action=download-manifest&amp;url=\(manifest)\""))
        #expect(
            page.contains("Waiting for the phone") && page.contains("2023-11-14T23:13:20Z")
                && page.contains("Open this page in Safari")
        )
        #expect(page.contains("Referrer-Policy: no-referrer") && page.contains("default-src 'none'"))
        #expect(try await air.status("/i/\(link.secret)") == "308")
        for file in ["../../i/page.css", "../page.js", "qr.svg", "state", "icon512.png"] {
            #expect(file == "state" || page.contains("\"\(file)\""))
            let path = try #require(URL(string: file, relativeTo: URL(string: "http://h/i/\(link.secret)/"))).path
            #expect(try await air.status(path) == "200")
        }
    }

    @Test func `gives a manifest that others read`() async throws {
        let air = try AirServer(publicURL: "https://ferry.example")
        let link = try air.add()
        let manifest = try await air.curl("/i/\(link.secret)/manifest.plist").output
        let read = try PropertyListSerialization.propertyList(from: Data(manifest), format: nil) as? NSDictionary
        let base = "https://ferry.example/i/\(link.secret)/"
        let expected: NSDictionary = [
            "items": [
                [
                    "assets": [
                        ["kind": "software-package", "url": base + "app.ipa"],
                        ["kind": "display-image", "url": base + "icon57.png", "needs-shine": false],
                        ["kind": "full-size-image", "url": base + "icon512.png", "needs-shine": false],
                    ],
                    "metadata": [
                        "bundle-identifier": "com.example.harbour", "bundle-version": "1.2", "kind": "software",
                        "title": "Harbour",
                    ],
                ]
            ]
        ]
        #expect(read == expected)
        for (program, arguments) in [
            (
                "python3",
                ["-c", "import plistlib,sys; print(plistlib.load(sys.stdin.buffer)['items'][0]['metadata']['title'])"]
            ),
            ("plistutil", ["-i", "-", "-f", "xml"]),
        ] {
            guard let tool = Tool(program) else { continue }
            let result = try tool.run(arguments, input: manifest)
            #expect(result.status == 0 && result.text.contains("Harbour"), "\(program): \(result.errors)")
        }
    }

    @Test func `gives icons of the sizes that iOS asks for`() async throws {
        let air = try AirServer()
        let link = try air.add()
        for side in [57, 512] {
            let png = try await air.curl("/i/\(link.secret)/icon\(side).png").output
            // IHDR: width and height, big-endian.
            #expect(png.count > 24 && Array(png[..<8]) == [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
            let number = { (at: Int) in png[at..<at + 4].reduce(0) { $0 << 8 | Int($1) } }
            #expect(number(16) == side && number(20) == side)
            if let tool = Tool("pngcheck") {
                let path = try air.folder.write(png, to: "icon.png")
                #expect(try tool.run([path]).status == 0)
            }
        }
    }

    @Test func `tells how much was sent, each byte once`() async throws {
        let air = try AirServer()
        let link = try air.add()
        let bytes = try air.folder.read("Harbour.ipa")
        #expect(air.book.state(of: link.secret)?.step == .waiting)
        _ = try await air.curl("/i/\(link.secret)/manifest.plist")
        #expect(air.book.state(of: link.secret)?.step == .asked)
        let states = air.book.states(of: link.secret)
        let half = bytes.count / 2
        for _ in 0..<3 {
            let part = try await air.curl("/i/\(link.secret)/app.ipa", ["-r", "0-\(half - 1)"])
            #expect(part.output == Array(bytes[..<half]))
        }
        for await state in states where state.sentBytes == half {
            #expect(state.step == .sending && state.percent == half * 100 / bytes.count)
            break
        }
        let rest = try await air.curl("/i/\(link.secret)/app.ipa", ["-r", "\(half - 10)-"])
        #expect(rest.output == Array(bytes[(half - 10)...]))
        for await state in air.book.states(of: link.secret) where state.step == .delivered { break }
        #expect(try await air.curl("/i/\(link.secret)/state").text.contains(#""step":"delivered""#))
        #expect(try await air.curl("/i/\(link.secret)/app.ipa").output == bytes)
    }

    @Test func `is installed once the app has said so, and only then`() async throws {
        let air = try AirServer()
        let link = try air.add()
        _ = try await air.curl("/i/\(link.secret)/app.ipa")
        for await state in air.book.states(of: link.secret) where state.step == .delivered { break }
        for _ in 0..<2 { #expect(try await air.status("/i/\(link.secret)/installed", ["-X", "POST"]) == "204") }
        #expect(air.book.state(of: link.secret)?.step == .installed)
        #expect(air.reported.all.map(\.install) == ["one"])
        #expect(try await air.status("/i/\(link.secret)/installed") == "405")
    }

    @Test func `is over after its time, and when it is revoked`() async throws {
        let air = try AirServer()
        let (short, long) = (try air.add(install: "a", seconds: 60), try air.add(install: "b"))
        air.date.advance(59)
        #expect(try await air.status("/i/\(short.secret)/app.ipa") == "200")
        air.date.advance(1)
        for path in ["", "manifest.plist", "app.ipa", "icon57.png", "state", "qr.svg"] {
            #expect(try await air.status("/i/\(short.secret)/\(path)") == "410")
        }
        #expect(try await air.curl("/i/\(short.secret)/").text.contains("expired"))
        #expect(air.book.revoke(long.secret))
        #expect(!air.book.revoke(long.secret))
        #expect(try await air.curl("/i/\(long.secret)/").text.contains("revoked"))
        air.book.sweep()
        #expect(try air.folder.contents().filter { $0.hasPrefix("links/") } == ["links/links.json"])
        air.date.advance(LinkBook.memory + 1)
        air.book.sweep()
        #expect(try await air.status("/i/\(short.secret)/") == "404")
        #expect(try await air.status("/i/AAAAAAAAAAAAAAAAAAAAAA/") == "404")
    }

    @Test(arguments: ["../links.json", "%2e%2e/links.json", "..%2flinks.json", "app.ipa%00", "links.json"])
    func `leads nowhere else`(path: String) async throws {
        let air = try AirServer()
        let link = try air.add()
        #expect(["400", "404"].contains(try await air.status("/i/\(link.secret)/\(path)")))
    }

    @Test func `outlives the server`() async throws {
        let air = try AirServer()
        let link = try air.add()
        _ = try await air.curl("/i/\(link.secret)/manifest.plist")
        await air.server.stop(within: .zero)
        air.book.beginStop()
        let next = try AirServer(in: air.folder)
        #expect(next.book.link(of: "one")?.secret == link.secret)
        #expect(try await next.curl("/i/\(link.secret)/").text.contains("The phone has asked"))
        #expect(try await next.curl("/i/\(link.secret)/app.ipa").output == air.folder.read("Harbour.ipa"))
        let renewed = try #require(try next.book.renew("one", seconds: 60))
        #expect(try await next.status("/i/\(link.secret)/") == "410")
        #expect(try await next.curl("/i/\(renewed.secret)/app.ipa").output == air.folder.read("Harbour.ipa"))
    }

    @Test func `believes a proxy that is trusted, and nobody else`() async throws {
        let forwarded = ["-H", "X-Forwarded-Proto: https", "-H", "X-Forwarded-Host: shown.example"]
        let trusting = try AirServer(proxies: ["127.0.0.1"])
        let link = try trusting.add()
        #expect(
            try await trusting.curl("/i/\(link.secret)/manifest.plist", forwarded).text
                .contains("<string>https://shown.example/i/")
        )
        let careful = try AirServer()
        let other = try careful.add()
        let text = try await careful.curl("/i/\(other.secret)/manifest.plist", forwarded).text
        #expect(text.contains("<string>http://127.0.0.1:\(careful.server.address.port)/i/"))
        let odd = try await careful.curl("/i/\(other.secret)/manifest.plist", ["-H", "Host: a\"<b>"]).text
        #expect(!odd.contains("<b>") && !odd.contains("&lt;b"))
    }
}
