import FerryBytes
import FerrySample
import Foundation
import TestKit
import Testing

@testable import ferry

/// A command with archives of its own, and a second identity, of the team FERRYDEMO2.
struct ManyWorld: Sendable {
    static let otherPassword = "an0ther sécret"
    let ferry: Command

    init() throws {
        ferry = try Command()
        let (now, day) = (Int64(Date().timeIntervalSince1970), Int64(86400))
        let other = try ThrowawayIdentity(team: "FERRYDEMO2", notBefore: now - day, notAfter: now + 300 * day)
        let profile = try SampleProfile(
            team: other.team,
            certificates: [other.leafDER],
            creation: now - day,
            expiration: now + 200 * day
        ).signed(by: other.authority)
        try ferry.home.write(other.p12(password: Secret(Self.otherPassword)), to: "keys/other.p12")
        try ferry.home.write(profile, to: "keys/other.mobileprovision")
        try ferry.home.write(Array(Self.otherPassword.utf8), to: "secret/other.txt")
    }

    /// Puts an archive of the kit below the home, and gives its path.
    @discardableResult
    func put(_ name: String, as path: String) throws -> String {
        try ferry.home.write(ferry.kit.folder.read(name), to: path)
    }

    /// Two good archives with a web page between them.
    func putThree() throws {
        try put("Harbour.ipa", as: "in/A.ipa")
        try put("page.ipa", as: "in/B.ipa")
        try put("Harbour.ipa", as: "in/C.ipa")
        try put("page.ipa", as: "in/notes.txt")
        try put("page.ipa", as: "in/.hidden.ipa")
    }

    func sign(_ arguments: [String], input: String = "") async throws -> Tool.Result {
        try await ferry.run(["sign"] + arguments + ferry.kit.hands(), input: input)
    }

    /// Whether `ferry verify` finds no fault in each.
    func checkRight(_ paths: String...) async throws {
        for path in paths {
            let verified = try await ferry.run(["verify", ferry.home.path(path)])
            #expect(verified.status == 0, "\(path): \(verified.text)\(verified.errors)")
        }
    }
}

/// What Python makes of the report `r`.
func judged(_ report: [UInt8], _ expression: String) async throws -> String {
    let script = "import json, sys; r = json.loads(sys.stdin.read()); a = r['archives']; print(eval(sys.argv[1]))"
    let result = try await onThread { try Tool("python3")?.run(["-c", script, expression], input: report) }
    #expect(result?.status == 0, "\(result?.errors ?? "") in \(String(decoding: report, as: UTF8.self))")
    return result?.text.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
}

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry sign of many` {
    @Test func `signs a folder into another, whatever fails in between`() async throws {
        let world = try ManyWorld()
        try world.putThree()
        let signed = try await world.sign(["in", "-o", "some/out/"])
        #expect(signed.status == 3)
        let lines = signed.text.split(separator: "\n").map(String.init)
        #expect(lines[0] == "  ARCHIVE  RESULT   IDENTIFIER           SIZE    OUTPUT")
        #expect(lines[1].hasPrefix("✓ A.ipa    signed   com.example.harbour  "))
        #expect(lines[1].hasSuffix("  some/out/A.ipa"))
        #expect(lines[2] == "✗ B.ipa    refused  in/B.ipa: The file is no zip archive but a web page or XML.")
        #expect(lines[3].hasPrefix("✓ C.ipa    signed   com.example.harbour  "))
        #expect(lines[4].hasPrefix("2 signed, 1 failed in "))
        #expect(lines.count == 5)
        #expect(signed.errors.contains("\n3 apps: 2 signed, 1 failed\n"))
        #expect(world.ferry.files(in: "some/out") == ["A.ipa", "C.ipa"])
        try await world.checkRight("some/out/A.ipa", "some/out/C.ipa")
    }

    @Test func `reports each in the form of one, with every reason`() async throws {
        let world = try ManyWorld()
        try world.putThree()
        let one = try await world.sign(["in/A.ipa", "-o", "one.ipa", "--json"])
        let signed = try await world.sign(["in", "-o", "out", "--json"])
        #expect(signed.status == 3)
        #expect(signed.errors == "")
        #expect(try await Python.lines(signed.output) == 1)
        let counts = "[r[k] for k in ['signed', 'skipped', 'failed', 'cancelled']]"
        #expect(try await judged(signed.output, counts) == "[2, 0, 1, 0]")
        #expect(try await judged(signed.output, "[x['result'] for x in a]") == "['signed', 'refused', 'signed']")
        #expect(try await judged(signed.output, "a[0]['archive'], a[0]['output']") == "('in/A.ipa', 'out/A.ipa')")
        #expect(try await judged(signed.output, "all(x['seconds'] > 0 for x in a) and r['seconds'] > 0") == "True")
        let own = "sorted(set(a[0]) - {'archive', 'result', 'seconds'})"
        #expect(try await Python.value(one.output, "bundles") == Python.value(signed.output, "archives.0.bundles"))
        #expect(
            try await judged(signed.output, own)
                == "['bundles', 'bytes', 'identifier', 'output', 'signedFiles', 'warnings']"
        )
        #expect(try await judged(signed.output, "a[1]['error']['code'], 'output' in a[1]") == "('refused', False)")
        let reason = "a[1]['error']['reasons'][0]"
        #expect(
            try await judged(signed.output, reason + "['message']")
                == "in/B.ipa: The file is no zip archive but a web page or XML."
        )
        #expect(try await judged(signed.output, reason + "['remedy']").hasPrefix("Check that it is an .ipa"))
    }

    @Test(
        arguments: [
            (["A.ipa"], 0), (["A.ipa", "page.ipa"], 3), (["A.ipa", "missing.ipa"], 1),
            (["missing.ipa", "page.ipa", "A.ipa"], 1), (["page.ipa"], 3),
        ] as [([String], Int32)]
    )
    func `ends with 3 if all that failed were refused, else with 1`(inputs: [String], status: Int32) async throws {
        let world = try ManyWorld()
        try world.put("Harbour.ipa", as: "A.ipa")
        try world.put("page.ipa", as: "page.ipa")
        let signed = try await world.sign(inputs + ["-o", "out/"])
        #expect(signed.status == status, "\(signed.errors)")
        // A folder that was made for nothing goes.
        #expect(world.ferry.files(in: "out") == (inputs.contains("A.ipa") ? ["A.ipa"] : []))
        #expect(FileManager.default.fileExists(atPath: world.ferry.home.path("out")) == inputs.contains("A.ipa"))
    }

    @Test(
        arguments: [
            ("a.ipa\nb.ipa", ["a.ipa", "b.ipa"]), ("a.ipa\r\n\r\n b.ipa\r\n", ["a.ipa", " b.ipa"]),
            ("\u{FEFF}a.ipa\r\nb.ipa", ["a.ipa", "b.ipa"]), ("\u{FEFF}# of today\na.ipa", ["a.ipa"]),
            ("\u{FEFF}", []), ("", []), (" \t\r\n#a.ipa\n", []),
        ] as [(String, [String])]
    )
    func `reads a list as any editor writes it`(text: String, paths: [String]) throws {
        #expect(try Invocation.lines(of: Array(text.utf8), "list") == paths)
    }

    @Test(arguments: [[0xFF, 0xFE, 0x61, 0], [0x61, 0x0A, 0x62, 0], [0xEF, 0xBB]] as [[UInt8]])
    func `reads no list that is no text`(bytes: [UInt8]) {
        let error = #expect(throws: InputError.self) { try Invocation.lines(of: bytes, "list") }
        #expect(error?.message.hasPrefix("list: line \(bytes.contains(0x0A) ? 2 : 1) is not UTF-8 text") == true)
    }

    @Test func `takes a list from standard input`() async throws {
        let world = try ManyWorld()
        try world.put("Harbour.ipa", as: "in/A.ipa")
        try world.put("Harbour.ipa", as: "in/B b.ipa")
        let list = "# what came today\n\nin/A.ipa\r\n  \t\nin/B b.ipa"
        let signed = try await world.sign(["--list", "-", "-o", "out", "--json"], input: list)
        #expect(signed.status == 0, "\(signed.errors)")
        #expect(try await judged(signed.output, "[x['archive'] for x in a]") == "['in/A.ipa', 'in/B b.ipa']")
        #expect(world.ferry.files(in: "out") == ["A.ipa", "B b.ipa"])
    }

    @Test(
        arguments: [
            (["in/A.ipa", "more/A.ipa", "-o", "out"], 2, "in/A.ipa and more/A.ipa would both become out/A.ipa"),
            (["in/A.ipa", "in", "-o", "out"], 2, "in/A.ipa is there twice"),
            (["in", "-o", "in"], 2, "in/A.ipa is one of the archives to sign"),
            (["in/A.ipa", "-o", "./in/"], 2, "./in/A.ipa is one of the archives to sign"),
            (["more/B.ipa", "in/A.ipa", "-o", "link"], 2, "link/A.ipa is one of the archives to sign"),
            (["in", "-o", "more/B.ipa"], 1, "more/B.ipa: this is a file, and several archives need a folder."),
            (["in", "-o", "more/B.ipa/x"], 1, "more/B.ipa/x: cannot create: Not a directory."),
            (["empty", "-o", "out"], 1, "empty: there is no .ipa in this folder."),
            (["missing", "more", "-o", "out", "--list", "none"], 1, "none: cannot open"),
            (["--list", "empty.txt", "-o", "out"], 1, "empty.txt: it names no archive."),
            (["--list", "bytes.txt", "-o", "out"], 1, "bytes.txt: line 2 is not UTF-8 text."),
            (["in", "-o", "out", "--jobs", "65"], 2, "--jobs: “65” is not between 1 and 64."),
        ] as [([String], Int32, String)]
    )
    func `begins nothing where it cannot do all`(arguments: [String], status: Int32, words: String) async throws {
        let world = try ManyWorld()
        try world.put("Harbour.ipa", as: "in/A.ipa")
        try world.put("Harbour.ipa", as: "more/A.ipa")
        try world.put("Harbour.ipa", as: "more/B.ipa")
        try world.ferry.home.write([], to: "empty/notes.txt")
        try world.ferry.home.write(Array("# nothing\n".utf8), to: "empty.txt")
        try world.ferry.home.write(Array("in/A.ipa\nin/".utf8) + [0xFF, 0x0A], to: "bytes.txt")
        try FileManager.default.createSymbolicLink(atPath: world.ferry.home.path("link"), withDestinationPath: "in")
        let before = try world.ferry.home.read("in/A.ipa")
        let signed = try await world.sign(arguments)
        #expect(signed.status == status, "\(signed.errors)")
        #expect(signed.text == "")
        #expect(signed.errors.contains(words), "\(signed.errors)")
        #expect(signed.errors.split(separator: "\n").count >= 2, "\(signed.errors)")
        #expect(try world.ferry.home.read("in/A.ipa") == before)
        #expect(!FileManager.default.fileExists(atPath: world.ferry.home.path("out")))
    }

    @Test func `does not read standard input for two things`() async throws {
        let world = try ManyWorld()
        let signed = try await world.ferry.run([
            "sign", "--list", "-", "-o", "out", "--p12", "x.p12", "--password-file", "-", "--profile", "x",
        ])
        #expect(signed.status == 2)
        #expect(signed.errors.contains("--list - and --password-file - both read standard input."))
    }

    @Test func `leaves outputs that are newer than their archives`() async throws {
        let world = try ManyWorld()
        try world.put("Harbour.ipa", as: "in/A.ipa")
        try world.put("Harbour.ipa", as: "in/B.ipa")
        #expect(try await world.sign(["in", "-o", "out"]).status == 0)
        let before = try world.ferry.home.read("out/A.ipa")
        let old = Date(timeIntervalSinceNow: -1000)
        try FileManager.default.setAttributes(
            [.modificationDate: old],
            ofItemAtPath: world.ferry.home.path("out/B.ipa")
        )
        let again = try await world.sign(["in", "-o", "out", "--skip-existing", "--json"])
        #expect(again.status == 0)
        #expect(try await judged(again.output, "[x['result'] for x in a]") == "['skipped', 'signed']")
        #expect(try await judged(again.output, "a[0]['output'], r['skipped']") == "('out/A.ipa', 1)")
        #expect(try world.ferry.home.read("out/A.ipa") == before)
        let third = try await world.sign(["in", "-o", "out", "--skip-existing"])
        #expect(third.text.contains("\n· B.ipa    skipped                    out/B.ipa\n"), "\(third.text)")
        #expect(third.text.contains("\n2 skipped in "))
    }

    @Test func `begins no more after a failure where that is wanted`() async throws {
        let world = try ManyWorld()
        try world.put("page.ipa", as: "in/A.ipa")
        try world.put("Harbour.ipa", as: "in/B.ipa")
        let signed = try await world.sign(["in", "-o", "out", "--jobs", "1", "--stop-at-first-failure"])
        #expect(signed.status == 3)
        #expect(signed.text.contains("\n✗ B.ipa    not begun\n1 failed, 1 cancelled in "), "\(signed.text)")
        #expect(world.ferry.files(in: "out") == [])
    }

    @Test func `reports the same whether one or four are signed at once`() async throws {
        let world = try ManyWorld()
        try world.putThree()
        try world.put("Harbour.ipa", as: "in/D.ipa")
        // An elliptic signature's length is a matter of chance.
        let plain = "json.dumps([{k: x[k] for k in x if k not in ('seconds', 'bytes')} for x in a], sort_keys=True)"
        var reports: [String] = []
        for jobs in ["1", "4"] {
            let signed = try await world.sign(["in", "-o", "out", "--jobs", jobs, "--json"])
            #expect(signed.status == 3)
            reports.append(try await judged(signed.output, plain))
        }
        #expect(reports[0] == reports[1])
        #expect(reports[0].contains("out/D.ipa"))
    }

    @Test func `leaves nothing half-written after ctrl-C, and says how far it came`() async throws {
        let world = try ManyWorld()
        try world.put("Harbour.ipa", as: "A.ipa")
        for name in ["B", "C", "D"] {
            try FileManager.default.createSymbolicLink(
                atPath: world.ferry.home.path("\(name).ipa"),
                withDestinationPath: world.ferry.kit.path("Heavy.ipa")
            )
        }
        let out = world.ferry.home.path("out")
        let arguments = ["sign", "A.ipa", "B.ipa", "C.ipa", "D.ipa", "-o", out, "--jobs", "2", "--json"]
        let result = try await onThread {
            let running = try world.ferry.start(arguments + world.ferry.kit.hands())
            // The first is done, and others are being written.
            let isThere = running.waits {
                FileManager.default.fileExists(atPath: out + "/A.ipa") && running.hasOpen(out + "/")
            }
            let result = try running.end(with: SIGINT)
            #expect(isThere, "it ended before: \(result.errors)")
            return result
        }
        #expect(result.status == 130)
        world.ferry.checkSecrets(result.text, result.errors)
        let report = Array(result.text.utf8)
        let names = try await judged(report, "[x['output'][-5:] for x in a if x['result'] == 'signed']")
        #expect(names.contains("A.ipa") && !names.contains("D.ipa"))
        #expect(try await judged(report, "r['signed'] + r['cancelled'], r['failed']") == "(4, 0)")
        let files = world.ferry.files(in: "out")
        #expect("\(files.map { "'\($0)'" }.joined(separator: ", "))" == names.dropFirst().dropLast())
        for file in files { try await world.checkRight("out/" + file) }
    }
}
