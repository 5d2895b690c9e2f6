import Foundation
import TestKit
import Testing

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry sign` {
    @Test func `signs what ferry verify finds right, and says so in JSON`() async throws {
        let ferry = try Command()
        let output = try ferry.out("signed.ipa")
        let signed = try await ferry.run(
            ["sign", ferry.kit.path("Harbour.ipa"), "-o", output] + ferry.kit.hands() + [
                "--bundle-id", "org.example.mine", "--json",
            ]
        )
        #expect(signed.status == 0)
        #expect(signed.errors == "")
        #expect(try await Python.lines(signed.output) == 1)
        #expect(try await Python.value(signed.output, "identifier") == "org.example.mine")
        #expect(try await Python.value(signed.output, "output") == output)
        #expect(try await Python.value(signed.output, "signedFiles") == "5")
        #expect(try await Python.value(signed.output, "warnings") == "[]")
        let length = try FileManager.default.attributesOfItem(atPath: output)[.size] as? Int
        #expect(try await Python.value(signed.output, "bytes") == length.map { "\($0)" })
        let verified = try await ferry.run(["verify", output])
        #expect(verified.status == 0)
        // The one warning is for its authority, which is not Apple's.
        #expect(verified.text.hasSuffix("✓ \(output): no fault, 1 warning\n"))
        #expect(ferry.files(in: "out") == ["signed.ipa"])
    }

    @Test func `says for people what became of it`() async throws {
        let ferry = try Command()
        let output = try ferry.out("signed.ipa")
        let signed = try await ferry.run(
            ["sign", ferry.kit.path("Harbour.ipa"), "-o", output] + ferry.kit.hands() + [
                "--bundle-id", "org.example.mine",
            ]
        )
        #expect(signed.status == 0)
        #expect(signed.text.hasPrefix("Signed 5 files as org.example.mine: \(output), "))
        #expect(signed.text.contains("\n  com.example.harbour → org.example.mine\n"))
        #expect(signed.text.contains("\n  com.example.harbour.widget → org.example.mine.widget\n"))
    }

    @Test(arguments: ["file", "input", "environment", "crlf"])
    func `takes its password from where one keeps it`(source: String) async throws {
        let ferry = try Command()
        let output = try ferry.out("signed.ipa")
        var arguments = [
            "sign", ferry.kit.path("Harbour.ipa"), "-o", output, "--p12", ferry.kit.path("good.p12"), "--profile",
            ferry.kit.path("good.mobileprovision"),
        ]
        var (input, environment) = ("", [String: String]())
        switch source {
        case "file": arguments += ["--password-file", ferry.kit.path("password.txt")]
        case "input":
            arguments += ["--password-file", "-"]
            input = Kit.password
        case "crlf":
            arguments += ["--password-file", "-"]
            input = Kit.password + "\r\nmore\r\n"
        default: environment["FERRY_P12_PASSWORD"] = Kit.password
        }
        let signed = try await ferry.run(arguments, input: input, environment: environment)
        #expect(signed.status == 0, "\(signed.errors)")
        #expect(try await ferry.run(["verify", output]).status == 0)
    }

    @Test(
        arguments: [
            (["--certificate", "good.pem", "--key", "good.key", "--chain", "chain.pem"], "a certificate and its key"),
            (["--p12", "alone.p12", "--chain", "chain.pem", "--password-file", "password.txt"], "an identity alone"),
        ]
    )
    func `takes an identity in pieces`(identity: [String], _: String) async throws {
        let ferry = try Command()
        let output = try ferry.out("signed.ipa")
        let pieces = identity.map { $0.hasPrefix("--") ? $0 : ferry.kit.path($0) }
        let signed = try await ferry.run(
            ["sign", ferry.kit.path("Harbour.ipa"), "-o", output] + pieces + [
                "--profile", ferry.kit.path("good.mobileprovision"),
            ]
        )
        #expect(signed.status == 0, "\(signed.errors)")
        #expect(try await ferry.run(["verify", output]).status == 0)
    }

    @Test func `names an identity that lacks its chain, and what to do`() async throws {
        let ferry = try Command()
        let signed = try await ferry.run(
            ["sign", ferry.kit.path("Harbour.ipa"), "-o", try ferry.out("x.ipa")] + ferry.kit.hands("alone")
        )
        #expect(signed.status == 1 || signed.status == 3)
        #expect(signed.errors.contains("--chain"))
        #expect(ferry.files(in: "out") == [])
    }

    @Test func `says that a password is wrong, and where to give the right one`() async throws {
        let ferry = try Command()
        let signed = try await ferry.run([
            "sign", ferry.kit.path("Harbour.ipa"), "-o", try ferry.out("x.ipa"), "--p12", ferry.kit.path("good.p12"),
            "--password-file", ferry.kit.path("wrong.txt"), "--profile", ferry.kit.path("good.mobileprovision"),
        ])
        #expect(signed.status == 1)
        #expect(signed.text == "")
        #expect(signed.errors.hasPrefix("ferry: \(ferry.kit.path("good.p12")): "))
        #expect(signed.errors.contains("password"))
        #expect(signed.errors.split(separator: "\n").count >= 2)
        #expect(ferry.files(in: "out") == [])
    }

    @Test(
        arguments: [
            ("expired", "Harbour.ipa", 3, "expired"),
            ("good", "page.ipa", 3, "page.ipa"),
            ("good", "missing.ipa", 1, "missing.ipa"),
        ] as [(String, String, Int32, String)]
    )
    func `writes nothing where it refuses`(hands: String, input: String, status: Int32, word: String) async throws {
        let ferry = try Command()
        let signed = try await ferry.run(
            ["sign", ferry.kit.path(input), "-o", try ferry.out("x.ipa")] + ferry.kit.hands(hands)
        )
        #expect(signed.status == status, "\(signed.errors)")
        #expect(signed.text == "")
        #expect(signed.errors.contains(word), "\(signed.errors)")
        #expect(signed.errors.split(separator: "\n").count >= 2, "\(signed.errors)")
        #expect(ferry.files(in: "out") == [])
    }

    @Test func `says as JSON why it refuses`() async throws {
        let ferry = try Command()
        let signed = try await ferry.run(
            ["sign", ferry.kit.path("page.ipa"), "-o", try ferry.out("x.ipa"), "--json"] + ferry.kit.hands()
        )
        #expect(signed.status == 3)
        #expect(signed.text == "")
        #expect(try await Python.value(Array(signed.errors.utf8), "error.code") == "refused")
        #expect(try await !Python.value(Array(signed.errors.utf8), "error.remedy").isEmpty)
    }

    @Test func `names a profile that is not there`() async throws {
        let ferry = try Command()
        let signed = try await ferry.run([
            "sign", ferry.kit.path("Harbour.ipa"), "-o", try ferry.out("x.ipa"), "--p12", ferry.kit.path("good.p12"),
            "--password-file", ferry.kit.path("password.txt"), "--profile", "nowhere.mobileprovision",
        ])
        #expect(signed.status == 1)
        #expect(signed.errors.contains("nowhere.mobileprovision: cannot open"))
        #expect(ferry.files(in: "out") == [])
    }

    // Root may write everywhere but there.
    @Test(arguments: ["/sys/ferry.ipa", "/nowhere/at/all/x.ipa"])
    func `names a folder that cannot be written to`(output: String) async throws {
        let ferry = try Command()
        let signed = try await ferry.run(["sign", ferry.kit.path("Harbour.ipa"), "-o", output] + ferry.kit.hands())
        #expect(signed.status == 1)
        #expect(signed.errors.contains(output), "\(signed.errors)")
    }

    @Test(arguments: ["sign", "download"]) func `never takes the place of a pipe`(verb: String) async throws {
        let ferry = try Command()
        let pipe = try ferry.out("pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let input = ferry.kit.path("Harbour.ipa")
        let result = try await ferry.run([verb, input, "-o", pipe] + (verb == "sign" ? ferry.kit.hands() : []))
        #expect(result.status == 1)
        #expect(result.errors.contains("\(pipe): cannot replace what is no regular file"), "\(result.errors)")
        let type = try FileManager.default.attributesOfItem(atPath: pipe)[.type] as? FileAttributeType
        #expect(type != .typeRegular)
        try FileManager.default.removeItem(atPath: pipe)
    }

    @Test func `replaces an older output only when the new one stands`() async throws {
        let ferry = try Command()
        let output = try ferry.out("x.ipa")
        try ferry.home.write(Array("old".utf8), to: "out/x.ipa")
        let refused = try await ferry.run(
            ["sign", ferry.kit.path("page.ipa"), "-o", output] + ferry.kit.hands()
        )
        #expect(refused.status == 3)
        #expect(try ferry.home.read("out/x.ipa") == Array("old".utf8))
        let signed = try await ferry.run(["sign", ferry.kit.path("Harbour.ipa"), "-o", output] + ferry.kit.hands())
        #expect(signed.status == 0)
        #expect(try await ferry.run(["verify", output]).status == 0)
    }

    @Test(
        arguments: [
            [], ["sign"], ["sign", "a.ipa"], ["sign", "a.ipa", "-o", "b.ipa"], ["sgin"],
            ["sign", "a.ipa", "-o", "b.ipa", "--p12", "x", "--key", "y"], ["verify", "--what"], ["install", "a.ipa"],
            ["install", "a.ipa", "--to", "cloud", "--p12", "x", "--profile", "y"], ["bench", "a", "--runs", "0"],
            ["sign", "a.ipa", "-o", "b.ipa", "--p12", "x", "--password", "geheim"], ["completion", "fish"],
        ]
    )
    func `takes a wrong command line for what it is`(arguments: [String]) async throws {
        let ferry = try Command()
        let result = try await ferry.run(arguments)
        #expect(result.status == 2)
        #expect(result.text == "")
        #expect(!result.errors.isEmpty)
        #expect(!result.errors.contains("geheim"))
    }

    @Test func `leaves nothing after ctrl-C`() async throws {
        let ferry = try Command()
        let output = try ferry.out("x.ipa")
        let arguments = ["sign", ferry.kit.path("Heavy.ipa"), "-o", output] + ferry.kit.hands()
        let result = try await stop(ferry, arguments, with: SIGINT)
        #expect(result.status == 130)
        #expect(result.errors.contains("cancelled") || result.errors.contains("Cancelled"), "\(result.errors)")
        #expect(ferry.files(in: "out") == [])
        ferry.checkSecrets(result.text, result.errors)
    }

    @Test func `leaves nothing after a kill`() async throws {
        let ferry = try Command()
        let output = try ferry.out("x.ipa")
        let arguments = ["sign", ferry.kit.path("Heavy.ipa"), "-o", output] + ferry.kit.hands()
        let result = try await stop(ferry, arguments, with: SIGKILL)
        #expect(result.status == -SIGKILL)
        #expect(ferry.files(in: "out") == [])
        ferry.checkSecrets(result.text, result.errors)
    }

    /// Stops it while its output is open.
    private func stop(_ ferry: Command, _ arguments: [String], with signal: Int32) async throws -> Running.End {
        try await onThread {
            let running = try ferry.start(arguments)
            let isOpen = running.waits { running.hasOpen(ferry.home.path("out") + "/") }
            let result = try running.end(with: signal)
            #expect(isOpen, "it ended before: \(result.errors)")
            return result
        }
    }
}
