import FerrySample
import Foundation
import TestKit
import Testing

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry download` {
    @Test(arguments: [true, false]) func `checks the SHA-256 that is given`(isRight: Bool) async throws {
        let ferry = try Command()
        let file = ServedFile(try ferry.kit.folder.read("Harbour.ipa"))
        let server = try HTTPServer { file.answer($0) }
        let sum = try await onThread { try Tool("sha256sum")?.run([ferry.kit.path("Harbour.ipa")]).text.prefix(64) }
        let right = String(try #require(sum))
        let wanted = isRight ? right : String(right.reversed())
        let output = try ferry.out("x.ipa")
        let result = try await ferry.run(["download", server.url(), "-o", output, "--sha256", wanted, "--json"])
        #expect(result.status == (isRight ? 0 : 1), "\(result.errors)")
        if isRight {
            #expect(try await Python.value(result.output, "sha256") == right)
            #expect(try await Python.value(result.output, "path") == output)
            #expect(try ferry.home.read("out/x.ipa") == file.bytes)
        } else {
            #expect(result.text == "")
            #expect(try await Python.value(Array(result.errors.utf8), "error.code") == "checksumMismatch")
            #expect(ferry.files(in: "out") == [])
        }
    }

    @Test func `leaves nothing where the server says no`() async throws {
        let ferry = try Command()
        let server = try HTTPServer { _ in .init(404) }
        let result = try await ferry.run(["download", server.url("/x?token=geheim"), "-o", try ferry.out("x.ipa")])
        #expect(result.status == 1)
        #expect(result.errors.contains("404"))
        #expect(!result.errors.contains("geheim"))
        #expect(ferry.files(in: "out") == [])
    }

    @Test func `sends along what files say, and asks a mirror where the address fails`() async throws {
        let ferry = try Command()
        let bytes = try ferry.kit.folder.read("Harbour.ipa")
        let mirror = try HTTPServer { ServedFile(bytes).answer($0) }
        let server = try HTTPServer { _ in .init(404) }
        try ferry.home.write(Array("# ours\n\nX-Team: 7\r\nAccept:  a/b\n".utf8), to: "headers")
        try ferry.home.write(Array("t0ken\n".utf8), to: "token")
        let result = try await ferry.run([
            "download", server.url(), "--mirror", mirror.url(), "-o", try ferry.out("x.ipa"), "--header-file",
            ferry.home.path("headers"), "--bearer-file", ferry.home.path("token"), "--connections", "4",
            "--limit-rate", "500M",
        ])
        #expect(result.status == 0, "\(result.errors)")
        #expect(try ferry.home.read("out/x.ipa") == bytes)
        let sent = try #require(server.exchanges.first?.request.headers)
        #expect(sent["x-team"] == "7" && sent["accept"] == "a/b" && sent["authorization"] == "Bearer t0ken")
        let there = try #require(mirror.exchanges.first?.request.headers)
        #expect(there["x-team"] == nil && there["authorization"] == nil && there["accept"] == "a/b")
    }

    @Test(
        arguments: [
            (["--limit-rate", "fast"], "“fast” is no number of bytes a second"),
            (["--limit-rate", "0"], "“0” is no number of bytes a second"),
            (["--limit-rate", "9999999999G"], "is no number of bytes a second"),
            (["--connections", "17"], "is not between 1 and 16"), (["--bearer-file", "/nonexistent"], "/nonexistent"),
            (["--netrc-file", "/nonexistent"], "/nonexistent"), (["--header-file", "/dev/null", "--x"], "--x"),
        ] as [([String], String)]
    )
    func `refuses options that make no sense before it asks anybody`(options: [String], message: String) async throws {
        let ferry = try Command()
        let server = try HTTPServer { _ in .init(500) }
        let result = try await ferry.run(["download", server.url(), "-o", try ferry.out("x.ipa")] + options)
        #expect(result.status != 0)
        #expect(result.errors.contains(message), "\(result.errors)")
        #expect(server.exchanges.isEmpty)
    }
}

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry verify and inspect` {
    @Test func `tell of every fault`() async throws {
        let ferry = try Command()
        let path = ferry.kit.path("Harbour.ipa")
        let result = try await ferry.run(["verify", path, "--json"])
        #expect(result.status == 1)
        #expect(try await Python.lines(result.output) == 1)
        #expect(try await Python.value(result.output, "isRight") == "false")
        #expect(try await !Python.value(result.output, "faults.0.code").isEmpty)
        #expect(try await !Python.value(result.output, "faults.0.message").isEmpty)
        let text = try await ferry.run(["verify", path])
        #expect(text.status == 1)
        #expect(text.text.split(separator: "\n").last?.hasPrefix("\(path): ") == true)
        #expect(!text.text.contains("\u{1B}"))
    }

    @Test func `find what is right right`() async throws {
        let ferry = try Command()
        let output = try ferry.out("x.ipa")
        _ = try await ferry.run(["sign", ferry.kit.path("Harbour.ipa"), "-o", output] + ferry.kit.hands())
        let result = try await ferry.run(["verify", output, "--json"])
        #expect(result.status == 0)
        #expect(try await Python.value(result.output, "isRight") == "true")
        // Whose authority is no root of Apple's, which is worth a warning.
        #expect(try await Python.value(result.output, "faults.0.code") == "foreign-authority")
        #expect(!result.text.contains(#""isWarning":false"#))
    }

    @Test(
        arguments: [
            ("verify", "page.ipa", 1), ("verify", "missing.ipa", 1), ("inspect", "page.ipa", 1),
            ("inspect", "missing.ipa", 1),
        ] as [(String, String, Int32)]
    )
    func `say what is no archive`(verb: String, name: String, status: Int32) async throws {
        let ferry = try Command()
        let result = try await ferry.run([verb, ferry.kit.path(name)])
        #expect(result.status == status)
        // What is wrong with an archive is what verify was asked for.
        let isResult = verb == "verify" && name == "page.ipa"
        #expect((isResult ? result.text : result.errors).contains(name))
        #expect((isResult ? result.errors : result.text) == "")
    }

    @Test func `list what is inside, in JSON`() async throws {
        let ferry = try Command()
        let result = try await ferry.run(["inspect", ferry.kit.path("Harbour.ipa"), "--json"])
        #expect(result.status == 0)
        #expect(try await Python.lines(result.output) == 1)
        #expect(try await Python.value(result.output, "path") == ferry.kit.path("Harbour.ipa"))
        for key in ["byteCount", "entryCount", "unpackedByteCount", "bundles.0.path", "code.0.images.0.architecture"] {
            #expect(try await !Python.value(result.output, key).isEmpty)
        }
        #expect(result.text.contains(#""identifier":"com.example.harbour""#))
    }

    @Test func `write the app's icon where that was asked for`() async throws {
        let ferry = try Command()
        let output = try ferry.out("icon.png")
        let path = ferry.kit.path("Harbour.ipa")
        let result = try await ferry.run(["inspect", path, "--icon-to", output])
        #expect(result.status == 0, "\(result.errors)")
        #expect(result.text.contains("com.example.harbour"))
        // The sample's are plain already.
        #expect(try ferry.home.read("out/icon.png") == SampleIcon.at3x)
    }

    @Test(
        .enabled(if: SharedFolder.exists, "\(SharedFolder.absent)"),
        .enabled(if: Tool("pngcheck") != nil, "pngcheck is not there")
    )
    func `write a plain icon of a crushed one`() async throws {
        let ferry = try Command()
        var app = SampleApp()
        app.approximateBytes = 200_000
        let crushed = [UInt8](try Data(contentsOf: URL(fileURLWithPath: SharedFolder.corpus("cgbi-2.png"))))
        app.extraFiles = [.init(SampleApp.path + "/AppIcon60x60@3x.png", crushed)]
        let path = try ferry.home.write(app.archive(level: 1), to: "crushed.ipa")
        let output = try ferry.out("icon.png")
        #expect(try await ferry.run(["inspect", path, "--icon-to", output]).status == 0)
        let pngcheck = try #require(Tool("pngcheck"))
        let before = try await onThread { try pngcheck.run([SharedFolder.corpus("cgbi-2.png")]) }
        #expect(before.status != 0)
        let result = try await onThread { try pngcheck.run([output]) }
        #expect(result.status == 0)
        #expect(result.text.contains("(40x40, 32-bit RGB+alpha, non-interlaced"))
    }

    @Test func `say that an app has no icon`() async throws {
        let ferry = try Command()
        var app = SampleApp()
        app.approximateBytes = 200_000
        app.parts.remove(.icons)
        let path = try ferry.home.write(app.archive(level: 1), to: "bare.ipa")
        let output = try ferry.out("icon.png")
        let result = try await ferry.run(["inspect", path, "--icon-to", output])
        #expect(result.status == 1)
        #expect(result.text == "")
        #expect(
            result.errors == """
                ferry: \(path): the app has no icon as a file of its own.
                       Leave out --icon; its icons may be in Assets.car, which is not read.

                """
        )
        #expect(ferry.files(in: "out") == [])
    }

    @Test(arguments: [["help"], ["inspect", "Harbour.ipa", "--json"]])
    func `fail where their result cannot be written`(words: [String]) async throws {
        let ferry = try Command()
        let environment = ferry.environment
        let shell = try #require(Tool("sh"))
        let folder = ferry.kit.folder.path
        let result = try await onThread {
            try shell.run(
                ["-c", #""$@" > /dev/full"#, "sh", Command.path] + words,
                in: folder,
                environment: environment
            )
        }
        #expect(result.status == 1)
        #expect(result.errors.hasPrefix("ferry: standard output: cannot write: No space left on device.\n"))
    }

    @Test(arguments: ["head -1", "true"]) func `do not mind who stops reading`(reader: String) async throws {
        let ferry = try Command()
        let path = ferry.kit.path("Harbour.ipa")
        let environment = ferry.environment
        let bash = try #require(Tool("bash"))
        for verb in ["inspect", "help"] {
            let script = #""$@" | "# + reader + #"; exit ${PIPESTATUS[0]}"#
            let result = try await onThread {
                try bash.run(
                    ["-c", script, "bash", Command.path, verb] + (verb == "help" ? [] : [path]),
                    environment: environment
                )
            }
            #expect(result.status == 0)
            #expect(result.errors == "")
        }
    }
}

@Suite(.serialized, .enabled(if: Python.exists, "python3 is not installed"), .timeLimit(.minutes(10)))
struct `ferry demo and bench` {
    @Test func `show the whole way with nothing prepared`() async throws {
        let ferry = try Command()
        let folder = ferry.home.path("demo")
        let clock = ContinuousClock()
        let start = clock.now
        let result = try await ferry.run(["demo", "--fast", "--keep", folder])
        #expect(result.status == 0, "\(result.errors)")
        #expect(start.duration(to: clock.now) < .seconds(120))
        #expect(result.text.contains("every signature, seal and profile: no fault"))
        #expect(try await ferry.run(["verify", folder + "/Harbour-signed.ipa"]).status == 0)
        #expect(ferry.files(in: "demo/apps/net.example.pier/Harbour.app").contains("Info.plist"))
        #expect(ferry.files(in: "demo/work") == [])
    }

    @Test func `leave standard output to JSON lines where they are asked for`() async throws {
        let ferry = try Command()
        let result = try await ferry.run(
            ["demo", "--fast", "--keep", ferry.home.path("demo"), "--reporter", "json:-"]
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await Python.lines(result.output) >= 6)
        #expect(result.errors.contains("every signature, seal and profile: no fault"))
    }

    @Test func `measure signing, beside another command`() async throws {
        let ferry = try Command()
        let result = try await ferry.run(
            ["bench", ferry.kit.path("Harbour.ipa")] + ferry.kit.hands() + [
                "--runs", "1", "--archives", "2", "--json", "--against", "cp=cp {in} {out}",
            ]
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await Python.lines(result.output) == 1)
        let length = try ferry.kit.folder.read("Harbour.ipa").count
        #expect(try await Python.value(result.output, "inputBytes") == "\(length)")
        #expect(try await Python.value(result.output, "runs") == "1")
        let names = [
            "planning", "sealing", "repacking", "verifying", "placing", "first", "known", "after the last byte",
            "2 one by one", "2 at once",
            "cp",
        ]
        for (index, name) in names.enumerated() {
            #expect(try await Python.value(result.output, "rows.\(index).name") == name)
        }
        #expect(try await Python.value(result.output, "rows.10.output") == "\(length)")
        #expect(try await Python.value(result.output, "rows.10.failures") == "0")
    }

    @Test func `count the other's failures`() async throws {
        let ferry = try Command()
        let result = try await ferry.run(
            ["bench", ferry.kit.path("Harbour.ipa")] + ferry.kit.hands() + ["--runs", "2", "--against", "no=false"]
        )
        #expect(result.status == 1)
        #expect(result.text.contains("\nno"))
        #expect(result.text.contains("failed"))
    }

    @Test(arguments: [nil, "100"]) func `measure pushes, and lose none`(goawayEvery: String?) async throws {
        let ferry = try Command()
        let result = try await ferry.run(
            ["bench", "apns", "--requests", "1000", "--streams", "20", "--runs", "1", "--json"]
                + (goawayEvery.map { ["--goaway-every", $0] } ?? [])
        )
        #expect(result.status == 0, "\(result.errors)")
        #expect(try await Python.lines(result.output) == 1)
        #expect(try await Python.value(result.output, "requests") == "1000")
        #expect(try await Python.value(result.output, "lost") == "0")
        #expect(try await Python.value(result.output, "duplicates") == "0")
        #expect(try await Python.value(result.output, "rows.0.name") == "sendAll")
        #expect(try await Python.value(result.output, "rows.1.name") == "send")
        // The last GOAWAY comes with the last push: another connection is needed only where a push is left.
        if goawayEvery != nil {
            let connections = try await Python.value(result.output, "rows.0.connections")
            #expect(["10", "11"].contains(connections))
        }
    }

    @Test func `explain a verb of two words`() async throws {
        let ferry = try Command()
        let page = try await ferry.run(["help", "bench", "apns"])
        #expect(page.status == 0)
        #expect(page.text.contains("ferry bench apns [OPTIONS]"))
        #expect(try await ferry.run(["bench", "apns", "--help"]).text == page.text)
        #expect(try await ferry.run(["bench", "apns", "extra"]).status == 2)
        #expect(try await ferry.run(["help", "bench", "nonsense"]).status == 2)
    }

    @Test(arguments: ["bash", "zsh"]) func `are completed by a script`(shell: String) async throws {
        let ferry = try Command()
        let result = try await ferry.run(["completion", shell])
        #expect(result.status == 0)
        #expect(result.errors == "")
        for verb in ["sign", "install", "download", "verify", "inspect", "demo", "bench"] {
            #expect(result.text.contains(verb))
        }
        guard let tool = Tool(shell) else { return }
        let checked = try await onThread { try tool.run(["-n"], input: result.output) }
        #expect(checked.status == 0)
        #expect(checked.errors == "")
    }
}
