import FerrySigning
import Foundation
import TestKit
import Testing

@testable import ferry

@Suite struct `What is written down of a command line` {
    private func invocation(_ given: [String: [String]]) -> Invocation {
        Invocation(
            program: .ferry,
            arguments: ParsedArguments(Install.verb, given: given),
            console: Recording().console(),
            environment: [:]
        )
    }

    /// A file's path from the folder that the tests run in, and from the root.
    private func paths(_ path: String) -> (relative: String, absolute: String) {
        let depth = FileManager.default.currentDirectoryPath.split(separator: "/").count
        return (String(repeating: "../", count: depth) + path.dropFirst(), path)
    }

    private func given(_ folder: TemporaryFolder, isRelative: Bool) -> [String: [String]] {
        func path(_ name: String) -> String {
            isRelative ? paths(folder.path(name)).relative : folder.path(name)
        }
        return [
            "SOURCE": [path("A.ipa")], "--to": ["folder:" + path("apps")], "--p12": [path("dev.p12")],
            "--profile": [path("a.mobileprovision"), path("b.mobileprovision")], "--recipe": [path("recipe.json")],
            "--entitlements": ["com.example.a=" + path("a.plist")], "--inject": ["all=" + path("tweak.dylib")],
            "--add": ["x/y.txt=" + path("y.txt")], "--keep": [path("kept.ipa")], "--name": ["Ha/rbour"],
            "--password-file": [path("password.txt")], "--reporter": ["terminal"], "--json": [],
        ]
    }

    private static let files = [
        "dev.p12", "a.mobileprovision", "b.mobileprovision", "recipe.json", "a.plist", "tweak.dylib", "y.txt",
    ]

    private func filled() throws -> TemporaryFolder {
        let folder = try TemporaryFolder()
        for name in Self.files { try folder.write(Array(name.utf8), to: name) }
        return folder
    }

    private func options(_ folder: TemporaryFolder) -> SigningOptions {
        var options = SigningOptions(.adHoc)
        options.recipe.injections = [.init(folder.path("tweak.dylib"), into: .all, isWeak: false)]
        options.recipe.addedFiles = [.init(path: "x/y.txt", source: folder.path("y.txt"))]
        return options
    }

    @Test func `has absolute paths, and neither reporters nor what is not an option of the install`() throws {
        let folder = try filled()
        let options = try invocation(given(folder, isRelative: true)).recordedOptions()
        #expect(
            Set(options.keys)
                == Set(given(folder, isRelative: true).keys).subtracting(["SOURCE", "--reporter", "--json"])
        )
        for (name, values) in options where name != "--name" {
            for value in values {
                let path = value.split(separator: "=").last.map(String.init) ?? value
                let bare = path.hasPrefix("folder:") ? String(path.dropFirst(7)) : path
                #expect(bare.hasPrefix("/"), "\(name): \(value)")
                #expect(
                    URL(fileURLWithPath: bare).standardized.path.hasPrefix(folder.url.standardized.path),
                    "\(name): \(value)"
                )
            }
        }
        #expect(options["--name"] == ["Ha/rbour"])
        // Written down once more, as when it is gone on with, it is the same.
        #expect(try invocation(options).recordedOptions() == options)
    }

    @Test(arguments: ["--password-file", "--bearer-file", "--header-file", "--netrc-file"])
    func `has the paths of files with secrets, where they outlive the process`(option: String) throws {
        #expect(try invocation([option: ["/etc/token"]]).recordedOptions() == [option: ["/etc/token"]])
        #expect(try invocation([option: ["/dev/fd/63"]]).recordedOptions() == [:])
    }

    @Test func `has the mirrors whose addresses are no secret`() throws {
        let mirrors = [
            "https://a.example/A.ipa?x=1", "https://b.example/A.ipa?token=1", "https://me:pw@c.example/A.ipa",
        ]
        #expect(try invocation(["--mirror": mirrors]).recordedOptions() == ["--mirror": [mirrors[0]]])
        #expect(try invocation(["--mirror": [mirrors[1]]]).recordedOptions() == [:])
    }

    @Test(arguments: ["-", "/dev/fd/63", "/proc/self/fd/3"])
    func `has no password file that is gone with the process`(path: String) throws {
        #expect(try invocation(["--password-file": [path]]).recordedOptions() == [:])
    }

    @Test func `stands for the same signature when it is gone on with`() throws {
        let folder = try filled()
        let first = invocation(given(folder, isRelative: true))
        let second = invocation(try first.recordedOptions())
        let fingerprint = try #require(try first.signingFingerprint(options(folder)))
        #expect(try second.signingFingerprint(options(folder)) == fingerprint)
    }

    @Test(arguments: files) func `stands for another signature once a file is another`(name: String) throws {
        let folder = try filled()
        let invocation = invocation(given(folder, isRelative: false))
        let before = try #require(try invocation.signingFingerprint(options(folder)))
        try folder.write(Array("another".utf8), to: name)
        #expect(try invocation.signingFingerprint(options(folder)) != before)
        try FileManager.default.removeItem(atPath: folder.path(name))
        #expect(try invocation.signingFingerprint(options(folder)) == nil)
    }

    @Test func `stands for another signature once an option is another`() throws {
        let folder = try filled()
        var given = given(folder, isRelative: false)
        let before = try #require(try invocation(given).signingFingerprint(options(folder)))
        given["--name"] = ["Pier"]
        #expect(try invocation(given).signingFingerprint(options(folder)) != before)
        given["--name"] = ["Ha/rbour"]
        given["--password-file"] = ["/elsewhere"]
        #expect(try invocation(given).signingFingerprint(options(folder)) == before)
    }
}
