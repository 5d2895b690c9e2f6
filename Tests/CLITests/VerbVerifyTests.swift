import FerryBytes
import Foundation
import TestKit
import Testing

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry verify` {
    /// The sample, signed.
    private static func signed(_ ferry: Command, _ more: [String] = []) async throws -> String {
        let output = try ferry.out("signed.ipa")
        let result = try await ferry.run(
            ["sign", ferry.kit.path("Harbour.ipa"), "-o", output] + ferry.kit.hands() + more
        )
        #expect(result.status == 0, "\(result.errors)")
        return output
    }

    private static func codes(_ result: Tool.Result) async throws -> String {
        let script =
            "import json,sys; print(*sorted({f['code'] for f in json.load(sys.stdin)['faults'] if not f['isWarning']}))"
        let found = try await onThread { try Tool("python3")?.run(["-c", script], input: result.output) }
        return found?.text.trimmingCharacters(in: .whitespacesAndNewlines) ?? ""
    }

    @Test(
        arguments: [
            ([], "", 0), (["--os", "15"], "", 0), (["--platform", "iOS"], "", 0),
            (["--device", "00008110-FFFFFFFFFFFFFFFF"], "device-not-in-profile", 1),
            (["--os", "12.4"], "system-too-old", 1), (["--platform", "tvOS"], "wrong-platform", 1),
        ] as [([String], String, Int32)]
    )
    func `asks what the device asks`(options: [String], codes: String, status: Int32) async throws {
        let ferry = try Command()
        let path = try await Self.signed(ferry)
        let result = try await ferry.run(["verify", path, "--json"] + options)
        #expect(result.status == status)
        #expect(try await Self.codes(result) == codes)
        #expect(try await Python.value(result.output, "isRight") == (status == 0 ? "true" : "false"))
    }

    @Test func `says what iOS answers, in both forms`() async throws {
        let ferry = try Command()
        let path = try await Self.signed(ferry)
        let text = try await ferry.run(["verify", path, "--os", "12"])
        #expect(text.text.contains("\n  iOS says: DeviceOSVersionTooLow\n"))
        #expect(text.text.contains("It needs 15.0, and the device has 12.0."))
        let data = try await ferry.run(["verify", path, "--os", "12", "--json"])
        #expect(data.text.contains(#""systemAnswer":"DeviceOSVersionTooLow""#))
    }

    @Test(.enabled(if: Tool("unzip") != nil, "unzip is not installed"))
    func `takes a folder, and a file of code`() async throws {
        let ferry = try Command()
        let path = try await Self.signed(ferry)
        let folder = try ferry.out("disk")
        let unpacked = try await onThread { try Tool("unzip")?.run(["-q", path, "-d", folder]).status }
        #expect(unpacked == 0)
        for path in ["/Payload/Harbour.app", "/Payload/Harbour.app/Harbour", ""] {
            let result = try await ferry.run(["verify", folder + path])
            #expect(result.status == 0, "\(result.text)")
        }
        try Data([1]).write(to: URL(fileURLWithPath: folder + "/Payload/Harbour.app/extra"))
        let result = try await ferry.run(["verify", folder + "/Payload/Harbour.app"])
        #expect(result.status == 1)
        #expect(result.text.contains("✗ Harbour.app/extra: The file is not in the seal. (file-not-sealed)\n"))
        #expect(
            result.text.contains("  iOS says: 0xe8008017 A signed resource has been added, modified, or deleted.\n")
        )
    }

    @Test func `compares two archives, in both forms`() async throws {
        let ferry = try Command()
        let before = ferry.kit.path("Harbour.ipa")
        let after = try await Self.signed(ferry, ["--bundle-id", "org.other", "--name", "Pier"])
        let text = try await ferry.run(["verify", after, "--compare", before])
        #expect(text.status == 0)
        #expect(text.errors == "")
        let lines = text.text.split(separator: "\n").map { $0.split(separator: " ").joined(separator: " ") }
        #expect(lines.first == "\(after): what is other than in \(before)")
        for line in [
            "Payload/Harbour.app", "id com.example.harbour → org.other", "CFBundleDisplayName Harbour → Pier",
            "Payload/Harbour.app/Harbour (arm64)", "Added", "Changed",
        ] {
            #expect(lines.contains(line), "\(line)")
        }
        let data = try await ferry.run(["verify", after, "--compare", before, "--json"])
        #expect(data.status == 0)
        #expect(try await Python.lines(data.output) == 1)
        #expect(try await Python.value(data.output, "bundles.0.identifier") == "org.other")
        #expect(try await Python.value(data.output, "bundles.0.oldIdentifier") == "com.example.harbour")
        #expect(try await Python.value(data.output, "before") == before)
        let same = try await ferry.run(["verify", after, "--compare", after])
        #expect(same.text == "\(after): the same as \(after)\n")
    }

    @Test(
        arguments: [
            (["a.ipa", "--os", "x"], "--os: “x” is no version."),
            (["a.ipa", "--platform", "Windows"], "--platform"),
            (["a.ipa", "--compare", "b.ipa", "--os", "17"], "--os asks for a check, and --compare checks nothing."),
            (["a.ipa", "--compare", "b.ipa", "--device", "x"], "--device asks for a check"),
        ]
    )
    func `refuses what cannot be meant`(arguments: [String], message: String) async throws {
        let ferry = try Command()
        let result = try await ferry.run(["verify"] + arguments)
        #expect(result.status == 2)
        #expect(result.errors.contains(message))
        #expect(result.text == "")
    }

    @Test func `of two apps says which one cannot be read`() async throws {
        let ferry = try Command()
        let (good, page) = (ferry.kit.path("Harbour.ipa"), ferry.kit.path("page.ipa"))
        for arguments in [[good, "--compare", page], [page, "--compare", good], [good, "--compare", page + "x"]] {
            let result = try await ferry.run(["verify"] + arguments)
            #expect(result.status == 1)
            #expect(result.errors.contains("page.ipa"))
        }
    }
}
