import TestKit
import Testing

@testable import ferry

/// Drives bash's completion function in a bash of its own.
@Suite(.enabled(if: Tool("bash") != nil, "bash is not installed")) struct `Completion in bash` {
    /// What is offered for `words`, the last of which is being typed, in a folder with a few files.
    private func offers(_ words: [String]) throws -> [String] {
        let bash = try #require(Tool("bash"))
        let folder = try TemporaryFolder()
        for name in ["a.ipa", "b c.ipa", "dev.p12", "one.mobileprovision", "two.mobileprovision", "sub/d.ipa"] {
            try folder.write([], to: name)
        }
        let script = try folder.write(Array(BashCompletion.script(for: .ferry).utf8), to: ".completion")
        let driver = """
            source '\(script)' || exit
            COMP_WORDBREAKS=$' \\t\\n"\\'@><=;|&(:'
            COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMP_LINE="$*"
            _ferry ferry
            ((${#COMPREPLY[@]})) && printf '%s\\n' "${COMPREPLY[@]}"
            exit 0
            """
        let result = try bash.run(["--norc", "-c", driver, "bash"] + words, in: folder.path)
        #expect(result.status == 0)
        #expect(result.errors == "")
        return result.text.split(separator: "\n").map(String.init).sorted()
    }

    @Test(
        arguments: [
            (["ferry", "in"], ["inspect", "install"]),
            (["ferry", "id"], ["identity"]),
            (["ferry", "--v"], ["--version"]),
            (["ferry", "sign", "--p"], ["--p12", "--page-size", "--password-file", "--pro-motion", "--profile"]),
            (
                ["ferry", "sign", "-"],
                [
                    "--add", "--adhoc", "--app-version", "--appearance", "--build", "--bundle-id", "--certificate",
                    "--chain",
                    "--devices", "--document-browser", "--drop-app-clips", "--drop-extensions", "--drop-watch-apps",
                    "--entitlements", "--entitlements-mode", "--fetch-timeout", "--file-sharing",
                    "--foreign-extensions", "--full-screen",
                    "--game-mode", "--help", "--icon", "--identities", "--inject", "--inject-by", "--inject-weak",
                    "--jobs",
                    "--json", "--keep-extensions", "--key", "--list", "--min-os", "--name", "--no-cache", "--offline",
                    "--only-modify",
                    "--output", "--p12", "--page-size", "--password-file", "--pro-motion", "--profile", "--recipe",
                    "--remove", "--remove-dylib", "--remove-placeholders", "--remove-store-files",
                    "--remove-supported-devices", "--remove-url-schemes", "--rename-dylib", "--reporter", "--set",
                    "--skip-existing", "--stop-at-first-failure", "--unique-id", "--unset", "--unsign", "--verify",
                    "-h",
                    "-o",
                ]
            ),
            (["ferry", "sign", ""], ["a.ipa", "b c.ipa", "sub"]),
            (["ferry", "sign", "b"], ["b c.ipa"]),
            (["ferry", "sign", "a.ipa", "--p12", ""], ["dev.p12", "sub"]),
            (["ferry", "sign", "a.ipa", "--p12", "dev.p12", "--ver"], ["--verify"]),
            (["ferry", "sign", "a.ipa", "--p12", "=", "d"], ["dev.p12"]),
            (["ferry", "sign", "a.ipa", "--p12", "="], ["dev.p12", "sub"]),
            (["ferry", "sign", "a.ipa", "--profile", "one.mobileprovision", "t"], ["two.mobileprovision"]),
            (["ferry", "sign", "--profile", "one.mobileprovision", "--", "a"], ["a.ipa"]),
            (["ferry", "sign", "--profile", "=", "one.mobileprovision", "a"], ["a.ipa"]),
            (["ferry", "sign", "-o", "a.ipa", "b"], ["b c.ipa"]),
            (["ferry", "sign", "--page-size", ""], ["16384", "4096"]),
            (["ferry", "sign", "--foreign-extensions", "=", "re"], ["reparent"]),
            (["ferry", "install", "a.ipa", "--to", ""], ["device", "device:", "folder:", "ota"]),
            (["ferry", "install", "a.ipa", "--to", "folder", ":"], ["sub"]),
            (["ferry", "install", "a.ipa", "--to", "=", "folder", ":", "s"], ["sub"]),
            (["ferry", "install", "a.ipa", "--reporter", "j"], ["json:", "json:-"]),
            (["ferry", "install", "a.ipa", "--reporter", "json", ":", "a"], ["a.ipa"]),
            (["ferry", "install", "https", "://example.com/a.ipa", "--js"], ["--json"]),
            (["ferry", "demo", "--keep", ""], ["sub"]),
            (["ferry", "demo", ""], ["--fast", "--help", "--keep", "--reporter", "-h"]),
            (["ferry", "bench", "a.ipa", "--runs", ""], []),
            (["ferry", "bench", ""], ["a.ipa", "apns", "b c.ipa", "download", "serve", "sub"]),
            (["ferry", "bench", "ap"], ["apns"]),
            (["ferry", "bench", "apns", "--st"], ["--streams"]),
            (["ferry", "bench", "apns", "--serve", ""], ["sub"]),
            (["ferry", "completion", ""], ["bash", "zsh"]),
            (["ferry", "help", "d"], ["demo", "devices", "download"]),
            (["ferry", "identity", ""], ["dev.p12", "sub"]),
            (["ferry", "identity", "dev.p12", "--o"], ["--offline", "--online"]),
            (["ferry", "profile", "one.mobileprovision", "t"], ["two.mobileprovision"]),
            (["ferry", "source", ""], ["add", "list", "remove", "sub"]),
            (["ferry", "source", "l"], ["list"]),
            (["ferry", "source", "add", "games", "--un"], ["--unchecked"]),
            (["ferry", "source", "games", "--s"], ["--search"]),
            (["ferry", "updates", ""], ["sub"]),
            (["ferry", "install", "com.example.a", "--allow-mismatch", ""], ["size", "version"]),
            (["ferry", "nonsense", "x"], []),
        ] as [([String], [String])]
    )
    func `offers what may come next`(words: [String], expected: [String]) throws {
        #expect(try offers(words) == expected)
    }

    @Test func `is a script that bash understands`() throws {
        let bash = try #require(Tool("bash"))
        let result = try bash.run(["-n"], input: Array(BashCompletion.script(for: .ferry).utf8))
        #expect(result.status == 0)
        #expect(result.errors == "")
    }
}

@Suite(.enabled(if: Tool("zsh") != nil, "zsh is not installed")) struct `Completion in zsh` {
    @Test func `is a script that zsh understands`() throws {
        let zsh = try #require(Tool("zsh"))
        let folder = try TemporaryFolder()
        let script = try folder.write(Array(ZshCompletion.script(for: .ferry).utf8), to: "_ferry")
        let result = try zsh.run(["-n", script])
        #expect(result.status == 0)
        #expect(result.errors == "")
    }
}

@Suite struct `The completion script` {
    @Test(arguments: ["bash", "zsh"]) func `names every verb and every option`(shell: String) async {
        let recording = Recording()
        let code = await Program.ferry.run(["completion", shell], console: recording.console(), environment: [:])
        #expect(code == .done)
        for verb in Program.ferry.verbs {
            #expect(recording.output.contains(verb.name))
            for option in verb.allOptions {
                #expect(recording.output.contains(option.name))
            }
        }
    }
}
