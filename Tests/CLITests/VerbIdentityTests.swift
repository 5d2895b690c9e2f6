import FerryBytes
import FerrySample
import Foundation
import TestKit
import Testing

/// An identity whose certificates name a server of this test's own: `alone.p12` holds the leaf, and nothing above it.
private struct Published: Sendable {
    let ferry: Command
    let pages: Pages
    let workshop: Workshop

    init() throws {
        ferry = try Command()
        pages = try Pages()
        workshop = try Workshop()
        let server = pages.server
        let access = "authorityInfoAccess=caIssuers;URI:"
        try workshop.issue("root", "/O=Test/CN=Root", extensions: [Workshop.authority])
        try workshop.issue(
            "inter",
            "/O=Test/OU=G3/CN=Relations",
            by: "root",
            extensions: [Workshop.authority, Workshop.relations, access + server.url("/root")]
        )
        try workshop.issue(
            "leaf",
            "/UID=U/CN=Apple Development: Ä (PERSON)/OU=MYTEAM/O=Test/C=US",
            by: "inter",
            key: "RSA",
            serial: 4711,
            extensions: Workshop.development + [
                access + server.url("/inter") + ",OCSP;URI:" + server.url("/ocsp")
            ]
        )
        pages.set("/inter", try workshop.file("inter.der"))
        pages.set("/root", try workshop.bundle(["root"]))
        try workshop.run([
            "pkcs12", "-export", "-inkey", "leaf.key", "-in", "leaf.pem", "-passout", "pass:" + Kit.password, "-out",
            "alone.p12",
        ])
    }

    var hands: [String] { [workshop.folder.path("alone.p12"), "--password-file", ferry.kit.path("password.txt")] }

    func profile(
        named name: String = "Mine",
        team: String = "MYTEAM",
        expires: Int64,
        _ certificates: [[UInt8]]
    ) throws
        -> [UInt8]
    {
        let now = Int64(Date().timeIntervalSince1970)
        let authority = try ThrowawayAuthority(notBefore: now - 1000, notAfter: now + 1_000_000)
        return try SampleProfile(
            name: name,
            team: team,
            certificates: certificates,
            creation: now - 100_000,
            expiration: expires
        ).signed(by: authority)
    }
}

@Suite(
    .serialized,
    .enabled(if: Python.exists && TestAuthority.exists, "python3 or openssl is missing"),
    .timeLimit(.minutes(10))
) struct `ferry identity` {
    @Test func `says of a certificate what openssl says`() async throws {
        let world = try Published()
        let shown = try await world.ferry.run(["identity"] + world.hands + ["--json"])
        #expect(shown.status == 0, "\(shown.errors)")
        #expect(try await Python.lines(shown.output) == 1)
        func field(_ option: String, _ more: [String] = []) throws -> String {
            let text = String(
                decoding: try world.workshop.run(["x509", "-in", "leaf.pem", "-noout", option] + more),
                as: UTF8.self
            )
            return text.split(separator: "=", maxSplits: 1).last.map {
                String($0).trimmingCharacters(in: .whitespacesAndNewlines)
            } ?? ""
        }
        func value(_ path: String) async throws -> String { try await Python.value(shown.output, path) }
        func digits(_ text: String) -> String { text.filter(\.isHexDigit).lowercased() }
        #expect(try await value("certificate.subject") == field("-subject", ["-nameopt", "oneline,utf8,-esc_msb"]))
        #expect(try await value("certificate.serial") == field("-serial"))
        #expect(try await value("certificate.sha1") == digits(field("-fingerprint", ["-sha1"])))
        #expect(try await value("certificate.sha256") == digits(field("-fingerprint", ["-sha256"])))
        #expect(
            try await value("certificate.notAfter")
                == field("-enddate", ["-dateopt", "iso_8601"]).replacing(" ", with: "T")
        )
        // Whole days: it was made for 3650 of them, a moment ago or in this very second.
        #expect(["3649", "3650"].contains(try await value("certificate.daysLeft")))
        #expect(try await value("name") == "Apple Development: Ä (PERSON)")
        #expect(try await value("team") == "MYTEAM")
        #expect(try await value("kind") == "Apple Development")
        #expect(try await value("mark") == "1.2.840.113635.100.6.1.2")
        #expect(try await value("key") == #"{"kind": "RSA 2048", "place": "file"}"#)
        #expect(try await value("encryption.key") == "AES-256-CBC")
        #expect(try await value("chain.0.commonName") == "Relations")
        #expect(try await value("chain.1.commonName") == "Root")
        #expect(try await value("isUsable") == "true")
        // The chain came from where the certificates say, and is kept.
        #expect(world.pages.asked == ["/inter", "/root"])
        let again = try await world.ferry.run(["identity"] + world.hands + ["--offline"])
        #expect(again.status == 0)
        #expect(world.pages.asked == ["/inter", "/root"])
        #expect(again.text.hasPrefix("Apple Development: Ä (PERSON)\n  kind          Apple Development\n"))
        #expect(again.text.contains("\n  chain         Relations, EC P-256, "))
    }

    @Test func `tells a chain that is not whole, and where the issuer is to be had`() async throws {
        let world = try Published()
        for more in [["--offline"], ["--offline", "--json"]] {
            let shown = try await world.ferry.run(["identity"] + world.hands + more)
            #expect(shown.status == 1)
            #expect(shown.text.contains("Get “Relations G3” from \(world.pages.server.url("/inter"))"))
        }
        // Half of it from a folder, the rest from the web.
        let folder = try TemporaryFolder()
        try folder.write(world.workshop.file("leaf.key"), to: "a.key")
        try folder.write(world.workshop.file("inter.der"), to: "b.cer")
        try folder.write(Array("read me".utf8), to: "README")
        try folder.write([], to: "sub/c.pem")
        let whole = try await world.ferry.run(["identity"] + world.hands + ["--chain", folder.path])
        #expect(whole.status == 0, "\(whole.errors)")
        #expect(world.pages.asked == ["/root"])
        let empty = try TemporaryFolder()
        let none = try await world.ferry.run(["identity"] + world.hands + ["--chain", empty.path])
        #expect(none.status == 1)
        #expect(none.errors.contains("there is no certificate in this folder"))
    }

    @Test(
        arguments: [
            ("good", 0, "✓ no, as of "), ("revoked:keyCompromise", 1, "✗ yes, since 2020-01-02, keyCompromise"),
            ("", 1, "✗ its authority does not know it"), ("silence", 1, "✗ not found out: "),
        ] as [(String, Int32, String)]
    )
    func `asks whether it was revoked`(state: String, status: Int32, words: String) async throws {
        let world = try Published()
        let workshop = world.workshop
        world.pages.set("/ocsp") { request in
            if state == "silence" { return HTTPServer.Response(200).with { $0.pauseAfter = 0 } }
            let answer = try? workshop.answer(
                request.body,
                issuer: "inter",
                signer: "inter",
                index: state.isEmpty ? [:] : [4711: state]
            )
            return HTTPServer.Response(200, body: answer ?? [])
        }
        let shown = try await world.ferry.run(
            ["identity"] + world.hands + ["--online", "--fetch-timeout", state == "silence" ? "1" : "30"]
        )
        #expect(shown.status == status, "\(shown.text)")
        #expect(shown.text.contains("\n  revoked       \(words)"), "\(shown.text)")
    }

    @Test func `says which profiles it fits, and why not the others`() async throws {
        let world = try Published()
        let (now, day) = (Int64(Date().timeIntervalSince1970), Int64(86400))
        let folder = try TemporaryFolder()
        let leaf = try world.workshop.file("leaf.der")
        try folder.write(world.profile(expires: now + day, [leaf]), to: "a.mobileprovision")
        try folder.write(world.profile(named: "Old", expires: now - day, [leaf]), to: "b.mobileprovision")
        try folder.write(
            world.profile(named: "Theirs", team: "OTHER", expires: now + day, [world.workshop.file("inter.der")]),
            to: "c.mobileprovision"
        )
        let shown = try await world.ferry.run(["identity"] + world.hands + ["--profile", folder.path])
        #expect(shown.status == 0)
        #expect(shown.text.contains("\n  ✓ Mine, \(folder.path("a.mobileprovision"))\n"))
        #expect(shown.text.contains("\n  ✗ Old, \(folder.path("b.mobileprovision"))\n      it expired at "))
        #expect(shown.text.contains("\n      the certificate that signs is not the one that it names.\n"))
        #expect(shown.text.contains("\n      it is of the team OTHER, and the certificate of MYTEAM."))
        try folder.write(Array("junk".utf8), to: "d.mobileprovision")
        let damaged = try await world.ferry.run(["identity"] + world.hands + ["--json", "--profile", folder.path])
        #expect(damaged.status == 1)
        #expect(try await Python.value(damaged.output, "profiles.0.matches") == "true")
        #expect(try await Python.value(damaged.output, "unreadableProfiles.0.path") == folder.path("d.mobileprovision"))
    }

    @Test func `takes PEM files, one file with all in it, and a certificate alone`() async throws {
        let ferry = try Command()
        let kit = ferry.kit
        let pieces = try await ferry.run(
            ["identity", kit.path("good.pem"), "--key", kit.path("good.key"), "--chain", kit.path("chain.pem")]
        )
        #expect(pieces.status == 0, "\(pieces.errors)")
        #expect(pieces.text.contains("key           EC P-256, belongs to the certificate"))
        let all =
            try kit.folder.read("chain.pem") + (try kit.folder.read("good.key")) + (try kit.folder.read("good.pem"))
        let whole = try ferry.home.write(all, to: "all.pem")
        let one = try await ferry.run(["identity", whole])
        #expect(one.status == 0, "\(one.errors)")
        #expect(one.text == pieces.text)
        let alone = try await ferry.run([
            "identity", "--certificate", kit.path("good.pem"), "--chain", kit.path("chain.pem"),
        ])
        #expect(alone.status == 0)
        #expect(alone.text.contains("the private key is not here"))
        let wrong = try await ferry.run([
            "identity", kit.path("good.pem"), "--key", whole, "--chain", kit.path("chain.pem"),
        ])
        #expect(wrong.status == 0)
        let other = try Published()
        let stranger = try await ferry.run(
            ["identity", kit.path("good.pem"), "--key", other.workshop.folder.path("leaf.key")]
        )
        #expect(stranger.status == 1)
        #expect(stranger.errors.contains("none of the 1 certificates belongs to the private key"))
    }

    @Test func `ends with 1 where it has expired`() async throws {
        let ferry = try Command()
        let shown = try await ferry.run(
            ["identity", ferry.kit.path("expired.p12"), "--password-file", ferry.kit.path("password.txt")]
        )
        #expect(shown.status == 1)
        #expect(shown.text.contains("✗ expired 10 days ago") || shown.text.contains("✗ expired 11 days ago"))
    }

    @Test(
        arguments: [
            ([], "FILE is missing"),
            (["a.p12", "--p12", "b.p12"], "FILE and --p12 exclude each other"),
            (["--p12", "b.p12", "--key", "k"], "--p12 and --key exclude each other"),
            (["a.p12", "--online", "--offline"], "--online and --offline exclude each other"),
            (["a.p12", "--fetch-timeout", "0"], "is not between 1 and 600"),
        ]
    )
    func `refuses what says nothing that can be done`(arguments: [String], words: String) async throws {
        let ferry = try Command()
        let shown = try await ferry.run(["identity"] + arguments)
        #expect(shown.status == 2)
        #expect(shown.errors.contains(words), "\(shown.errors)")
    }

    @Test func `shows no control characters of a stranger's`() async throws {
        let ferry = try Command()
        let workshop = try Workshop()
        try workshop.issue("evil", "/CN=\u{1B}[2J\u{7}me/OU=\u{1B}c", extensions: [Workshop.authority])
        let shown = try await ferry.run(["identity", workshop.folder.path("evil.pem")])
        #expect(!shown.text.contains("\u{1B}"))
        #expect(!shown.text.contains("\u{7}"))
        #expect(shown.text.contains("me"))
    }

    /// What signs fetches its chain the same way.
    @Test func `has the chain that ferry sign signs with`() async throws {
        let world = try Published()
        let now = Int64(Date().timeIntervalSince1970)
        let profile = try world.ferry.home.write(
            world.profile(expires: now + 86400, [world.workshop.file("leaf.der")]),
            to: "app.mobileprovision"
        )
        let output = try world.ferry.out("signed.ipa")
        let arguments =
            [
                "sign", world.ferry.kit.path("Harbour.ipa"), "-o", output, "--profile", profile, "--p12",
            ] + world.hands
        let offline = try await world.ferry.run(arguments + ["--offline"])
        #expect(offline.status == 1)
        #expect(offline.errors.contains("Get “Relations G3” from"))
        #expect(world.ferry.files(in: "out") == [])
        let signed = try await world.ferry.run(arguments)
        #expect(signed.status == 0, "\(signed.errors)")
        #expect(try await world.ferry.run(["verify", output]).status == 0)
    }
}
