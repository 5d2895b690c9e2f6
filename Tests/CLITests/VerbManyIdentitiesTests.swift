import Foundation
import TestKit
import Testing

extension ManyWorld {
    /// Two identities in a file beside the keys of one of them; `more` goes into the second.
    fileprivate func putIdentities(_ more: String = #""passwordFile": "../secret/other.txt""#) throws {
        let kit = ferry.kit
        let json = """
            [
                {"name": "acme", "p12": "\(kit.path("good.p12"))", "passwordEnvironment": "ACME",
                 "profiles": ["\(kit.path("good.mobileprovision"))"], "bundleID": "org.example.acme"},
                {"name": "other one", "p12": "other.p12", "profiles": ["other.mobileprovision"], \(more)}
            ]
            """
        try ferry.home.write(Array(json.utf8), to: "keys/all.json")
    }

    fileprivate func signForAll(
        _ arguments: [String],
        environment: [String: String] = ["ACME": Kit.password]
    ) async throws
        -> Tool.Result
    {
        let result = try await ferry.run(
            ["sign"] + arguments + ["--identities", "keys/all.json"],
            environment: environment
        )
        #expect(!result.text.contains(Self.otherPassword) && !result.errors.contains(Self.otherPassword))
        return result
    }

    /// Who signed the main executable, by the judgement of openssl.
    fileprivate func signer(of path: String) async throws -> String {
        let script = """
            import struct, sys, zipfile
            code = zipfile.ZipFile(sys.argv[1]).read("Payload/Harbour.app/Harbour")
            start = code.rfind(bytes.fromhex("fade0cc0"))
            for index in range(struct.unpack_from(">I", code, start + 8)[0]):
                kind, offset = struct.unpack_from(">II", code, start + 12 + 8 * index)
                length = struct.unpack_from(">I", code, start + offset + 4)[0]
                blob = code[start + offset : start + offset + length]
                if kind == 0: open("cd", "wb").write(blob)
                if kind == 0x10000: open("cms", "wb").write(blob[8:])
            """
        let folder = try TemporaryFolder()
        return try await onThread {
            let taken = try #require(Tool("python3")).run(["-c", script, ferry.home.path(path)], in: folder.path)
            #expect(taken.status == 0, "\(taken.errors)")
            let openssl = try #require(Tool("openssl"))
            let verified = try openssl.run(
                [
                    "cms", "-verify", "-noverify", "-inform", "DER", "-in", "cms", "-content", "cd", "-binary", "-out",
                    "/dev/null", "-signer", "signer.pem",
                ],
                in: folder.path
            )
            #expect(verified.status == 0, "\(verified.errors)")
            return try openssl.run(["x509", "-in", "signer.pem", "-noout", "-subject"], in: folder.path).text
        }
    }
}

@Suite(
    .serialized,
    .enabled(if: Python.exists && Tool("openssl") != nil, "python3 or openssl is not installed"),
    .timeLimit(.minutes(10))
)
struct `ferry sign for many` {
    @Test func `gives each identity archives with its own signature`() async throws {
        let world = try ManyWorld()
        try world.put("Harbour.ipa", as: "A.ipa")
        try world.put("Harbour.ipa", as: "B.ipa")
        try world.putIdentities()
        let signed = try await world.signForAll(["A.ipa", "B.ipa", "-o", "out", "--json"])
        #expect(signed.status == 0, "\(signed.errors)")
        #expect(
            try await judged(signed.output, "[x['identity'] for x in a]")
                == "['acme', 'other one', 'acme', 'other one']"
        )
        let identifiers = "[x['identifier'] for x in a][:2]"
        #expect(try await judged(signed.output, identifiers) == "['org.example.acme', 'com.example.harbour']")
        let outputs = ["acme/A.ipa", "acme/B.ipa", "other one/A.ipa", "other one/B.ipa"]
        #expect(world.ferry.files(in: "out").filter { $0.hasSuffix(".ipa") } == outputs)
        for path in outputs {
            try await world.checkRight("out/" + path)
            let team = path.hasPrefix("acme") ? "FERRYDEMO1" : "FERRYDEMO2"
            let subject = try await world.signer(of: "out/" + path)
            #expect(subject.contains("Apple Development: Ferry Demo (\(team))"), "\(path): \(subject)")
        }
    }

    @Test func `shows in its table who each is for`() async throws {
        let world = try ManyWorld()
        try world.put("Harbour.ipa", as: "A.ipa")
        try world.putIdentities()
        let signed = try await world.signForAll(["A.ipa", "-o", "out"])
        let lines = signed.text.split(separator: "\n")
        #expect(lines.first == "  ARCHIVE  IDENTITY   RESULT  IDENTIFIER           SIZE    OUTPUT")
        #expect(lines.dropFirst(2).first?.hasPrefix("✓ A.ipa    other one  signed  com.example.harbour  ") == true)
        #expect(signed.errors.contains("A.ipa for other one: version 1.2 (com.example.harbour)\n"), "\(signed.errors)")
    }

    @Test func `takes what the command line says for those that do not say it themselves`() async throws {
        let world = try ManyWorld()
        try world.put("Harbour.ipa", as: "A.ipa")
        let recipe = #"{"name": "Recipe", "bundleID": "org.example.recipe", "build": "5"}"#
        try world.ferry.home.write(Array(recipe.utf8), to: "keys/recipe.json")
        try world.putIdentities(#""passwordFile": "../secret/other.txt", "recipe": "recipe.json""#)
        let signed = try await world.signForAll(["A.ipa", "-o", "out", "--name", "Option", "--json"])
        #expect(signed.status == 0, "\(signed.errors)")
        let script = """
            import plistlib, sys, zipfile
            for path in sys.argv[1:]:
                info = plistlib.loads(zipfile.ZipFile(path).read("Payload/Harbour.app/Info.plist"))
                print(info["CFBundleDisplayName"], info["CFBundleIdentifier"], info["CFBundleVersion"] == "5")
            """
        let paths = ["out/acme/A.ipa", "out/other one/A.ipa"].map { world.ferry.home.path($0) }
        let read = try await onThread { try Tool("python3")?.run(["-c", script] + paths) }
        #expect(read?.text == "Option org.example.acme False\nOption org.example.recipe True\n")
    }

    @Test(
        arguments: [
            (
                #""password": "an0ther sécret""#,
                ["[1].password: a password does not stand in this file", "passwordFile"]
            ),
            (#""passwordFile": "none.txt""#, ["keys/none.txt: cannot open"]),
            (#""passwordEnvironment": "an0ther sécret""#, ["[1].passwordEnvironment: the environment has no variable"]),
            (#""passwordFile": "other.p12""#, ["keys/other.p12: the first line"]),
        ]
    )
    func `begins nothing where one identity cannot be used`(more: String, words: [String]) async throws {
        let world = try ManyWorld()
        try world.put("Harbour.ipa", as: "A.ipa")
        try world.putIdentities(more)
        let signed = try await world.signForAll(["A.ipa", "-o", "out"])
        #expect(signed.status == 1)
        for word in words { #expect(signed.errors.contains(word), "\(signed.errors)") }
        #expect(!FileManager.default.fileExists(atPath: world.ferry.home.path("out")))
    }

    @Test func `tells what is wrong with each identity at once`() async throws {
        let world = try ManyWorld()
        try world.put("Harbour.ipa", as: "A.ipa")
        try world.putIdentities(#""passwordFile": "none.txt""#)
        let signed = try await world.signForAll(["A.ipa", "-o", "out"], environment: ["ACME": "wrong"])
        #expect(signed.status == 1)
        #expect(signed.errors.hasPrefix("ferry: keys/all.json: 2 identities cannot be used:\n"), "\(signed.errors)")
        #expect(signed.errors.contains("• acme: \(world.ferry.kit.path("good.p12")): "))
        #expect(signed.errors.contains("• other one: keys/none.txt: cannot open"))
    }
}
