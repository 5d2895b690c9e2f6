import FerryBytes
import TestKit
import Testing

@testable import FerryAPNs

@Suite(.enabled(if: Tool("openssl") != nil, "openssl is not installed"), .serialized)
struct `A provider key's file` {
    /// Runs openssl with `arguments` and gives what it wrote to `out`.
    private static func made(_ commands: [[String]]) throws -> [UInt8] {
        let openssl = try #require(Tool("openssl"))
        let folder = try TemporaryFolder()
        for command in commands {
            let result = try openssl.run(command, in: folder.path)
            guard result.status == 0 else { throw ToolFailure(result.errors) }
        }
        return try folder.read("out")
    }

    private static let plain = ["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", "key"]

    private func key(_ file: [UInt8]) throws -> ProviderKey {
        try ProviderKey(p8: file, keyID: "ABC123DEFG", teamID: "TEAM123456")
    }

    @Test func `is read as Apple gives it, with the line ends of Windows, and with a byte order mark`() throws {
        let file = try Self.made([Self.plain, ["pkey", "-in", "key", "-out", "out"]])
        _ = try key(file)
        _ = try key(Array(String(decoding: file, as: UTF8.self).replacing("\n", with: "\r\n").utf8))
        _ = try key([0xEF, 0xBB, 0xBF] + file)
        _ = try ProviderKey(
            p8: Secret(String(decoding: file, as: UTF8.self)),
            keyID: "ABC123DEFG",
            teamID: "TEAM123456"
        )
    }

    @Test(
        arguments: [
            (
                [plain, ["pkcs8", "-topk8", "-in", "key", "-out", "out", "-passout", "pass:x"]],
                "The provider key is encrypted.", "Decrypt it: openssl pkey -in KEY.p8 -out PLAIN.p8"
            ),
            (
                [["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-384", "-out", "out"]],
                "The provider key is on the curve secp384r1, and APNs takes P-256.", nil
            ),
            (
                [["genpkey", "-algorithm", "RSA", "-out", "out"]],
                "The provider key is an RSA key, and APNs takes elliptic ones (P-256).", nil
            ),
            (
                [["genpkey", "-algorithm", "ED25519", "-out", "out"]],
                "The provider key is of another kind, and APNs takes elliptic ones (P-256).", nil
            ),
            (
                [plain, ["req", "-x509", "-key", "key", "-subj", "/CN=x", "-out", "out"]],
                "The provider key's file holds a certificate.", nil
            ),
            (
                [plain, ["pkey", "-in", "key", "-pubout", "-out", "out"]],
                "The provider key's file holds no private key.", nil
            ),
            (
                [plain, ["pkey", "-in", "key", "-outform", "DER", "-out", "out"]],
                "The provider key's file is no PEM text.", nil
            ),
        ] as [([[String]], String, String?)]
    )
    func `of another kind is refused, and named`(commands: [[String]], message: String, remedy: String?) throws {
        let file = try Self.made(commands)
        let error = #expect(throws: APNsError.self) { try key(file) }
        #expect(error?.code == .badKey)
        #expect(error?.message == message)
        #expect(error?.remedy == remedy ?? Self.again)
    }

    @Test func `that is empty, too long, in UTF-16 or cut short is refused`() throws {
        let file = try Self.made([Self.plain, ["pkey", "-in", "key", "-out", "out"]])
        let wide: [UInt8] = file.reduce(into: [0xFF, 0xFE]) { $0 += [$1, 0] }
        for (bytes, message) in [
            ([], "The provider key's file is empty."),
            (Array(repeating: 0x20, count: 65_537), "The provider key's file has 65537 bytes, and keys are short."),
            (wide, "The provider key's file is in UTF-16."),
        ] as [([UInt8], String)] {
            let error = #expect(throws: APNsError.self) { try key(bytes) }
            #expect(error?.message == message)
        }
        // The last line end may be missing.
        for length in 1..<file.count - 1 {
            #expect(throws: APNsError.self) { try key(Array(file[..<length])) }
        }
    }

    @Test(arguments: [
        ("abc123defg", "TEAM123456", "key id"), ("ABC123DEFG", "TEAM12345", "team id"), ("", "", "key id"),
    ])
    func `with ids that are none is refused`(keyID: String, teamID: String, name: String) throws {
        let error = #expect(throws: APNsError.self) { try ProviderKey(p8: [1], keyID: keyID, teamID: teamID) }
        #expect(error?.message.hasPrefix("The \(name) “") == true)
        #expect(error?.message.hasSuffix("” is not ten capital letters and digits.") == true)
    }

    private static let again =
        "Take the AuthKey_….p8 file that developer.apple.com gave for a key with Apple Push Notifications service."
}

@Suite struct `A push request` {
    @Test(arguments: ["", "abc", "zz", "aa bb", String(repeating: "a", count: 1026), "ａａ"])
    func `with a token that is none is refused`(token: String) {
        let error = #expect(throws: APNsError.self) {
            try PushRequest(token: token, topic: World.topic, priority: .five, payload: [1])
        }
        #expect(error?.code == .badRequest)
    }

    @Test(arguments: [2, 64, 160, 1024])
    func `takes a token of any length`(digits: Int) throws {
        let token = String(repeating: "aF", count: digits / 2)
        #expect(try PushRequest(token: token, topic: World.topic, priority: .five, payload: [1]).token == token)
    }

    @Test(arguments: ["", "app.example", "app\r\nx: y.push-type.liveactivity", " .push-type.liveactivity"])
    func `with a topic that is none for a Live Activity is refused`(topic: String) {
        #expect(throws: APNsError.self) { try PushRequest(token: "aa", topic: topic, priority: .five, payload: [1]) }
    }

    @Test(arguments: ["", String(repeating: "c", count: 65), "a b", "é", "a\nb"])
    func `with a collapse id that no header may have is refused`(id: String) {
        #expect(throws: APNsError.self) {
            try PushRequest(token: "aa", topic: World.topic, priority: .five, payload: [1], collapseID: id)
        }
    }

    @Test(arguments: ["", "1", "0f1e2d3c4b5a69788796a5b4c3d2e1f0", "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1g0"])
    func `with an id that is no UUID is refused`(id: String) {
        #expect(throws: APNsError.self) {
            try PushRequest(token: "aa", topic: World.topic, priority: .five, payload: [1], id: id)
        }
    }

    @Test func `gets an id of its own, of version 4`() throws {
        let ids = try (0..<1000).map { _ in try World.push().id }
        #expect(Set(ids).count == 1000)
        for id in ids {
            let characters = Array(id)
            #expect(PushID.isValid(id) && characters[14] == "4" && "89ab".contains(characters[19]))
        }
    }

    @Test func `over the limit is refused with how much`() throws {
        let most = Array(repeating: UInt8(0x20), count: 4096)
        _ = try PushRequest(token: "aa", topic: World.topic, priority: .five, payload: most)
        let error = #expect(throws: APNsError.self) {
            try PushRequest(token: "aa", topic: World.topic, priority: .five, payload: most + [0])
        }
        #expect(error?.code == .tooLarge)
        #expect(error?.message == "The payload has 4097 bytes, 1 more than APNs takes.")
        #expect(throws: APNsError.self) {
            try PushRequest(token: "aa", topic: World.topic, priority: .five, payload: [])
        }
        #expect(throws: APNsError.self) {
            try PushRequest(token: "aa", topic: World.topic, priority: .five, payload: [1], expiration: -1)
        }
    }
}

@Suite struct `A date` {
    /// By `date -u -d @SECONDS '+%a, %d %b %Y %T GMT'`, coreutils 9.1.
    @Test(
        arguments: [
            (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (1_750_000_000, "Sun, 15 Jun 2025 15:06:40 GMT"),
            (1_835_308_799, "Sun, 27 Feb 2028 23:59:59 GMT"), (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
            (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
        ] as [(Int64, String)]
    )
    func `of HTTP is read, and written for people`(seconds: Int64, text: String) throws {
        #expect(CalendarText.seconds(httpDate: text) == seconds)
        let months = ["Jan": "01", "Feb": "02", "Mar": "03", "Jun": "06", "Nov": "11", "Dec": "12"]
        let parts = text.split(separator: " ").map(String.init)
        let month = try #require(months[parts[2]])
        #expect(CalendarText.utc(seconds) == "\(parts[3])-\(month)-\(parts[1]) \(parts[4]) UTC")
    }

    @Test(
        arguments: [
            "", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49 GMT",
            "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 99999 08:49:37 GMT", "Sun, 06 Nov 1994 -8:49:37 GMT",
        ]
    )
    func `in another form is none`(text: String) {
        #expect(CalendarText.seconds(httpDate: text) == nil)
    }
}
