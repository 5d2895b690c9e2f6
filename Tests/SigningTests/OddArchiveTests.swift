import FerryCodeSignature
import FerryPropertyList
import FerrySigning
import Foundation
import TestKit
import Testing

/// A sound app that is odd in one way.
private struct Oddity: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let archive: Archive
    /// How many files of code there are.
    let code: Int
    /// Whether the judge can read it at all.
    let isJudged: Bool

    init(_ name: String, code: Int = 4, isJudged: Bool = true, _ change: (inout Archive) -> Void) {
        testDescription = name
        archive = .sample(change)
        self.code = code
        self.isJudged = isJudged
    }

    private static func library(_ seed: UInt64) -> [UInt8] {
        TinyMachO {
            $0.fileType = 6
            $0.seed = seed
        }.bytes
    }

    static let all: [Oddity] = [
        Oddity("a combining mark right after a slash", code: 6) {
            $0["Payload/A.app/\u{301}x.txt"] = [1]
            $0["Payload/A.app/sub/\u{301}y.txt"] = [2]
            $0["Payload/A.app/\u{301}z.dylib"] = library(9)
            $0["Payload/A.app/_CodeSignature/\u{301}old.txt"] = [3]
            $0.add(
                "Payload/A.app/PlugIns/\u{301}V.appex",
                id: "com.peer.bench.v",
                code: TinyMachO { $0.seed = 8 }.bytes
            )
        },
        Oddity("an app in Watch with its own extension and framework", code: 7) {
            $0.add("Payload/A.app/Watch/W.app", id: "com.peer.bench.watch", ["WKWatchKitApp": true])
            $0.add("Payload/A.app/Watch/W.app/PlugIns/E.appex", id: "com.peer.bench.watch.e")
            $0.add(
                "Payload/A.app/Watch/W.app/PlugIns/E.appex/Frameworks/G.framework",
                id: "com.peer.g",
                code: library(7)
            )
        },
        Oddity("frameworks in an extension", code: 6) {
            $0.add("Payload/A.app/PlugIns/W.appex/Frameworks/G.framework", id: "com.peer.g", code: library(7))
            $0.add(
                "Payload/A.app/PlugIns/W.appex/Frameworks/G.framework/Frameworks/H.framework",
                id: "com.peer.h",
                code: library(8)
            )
        },
        Oddity("a universal executable for iOS 10, one slice signed before") {
            $0["Payload/A.app/A"] = TinyMachO.fat([
                TinyMachO {
                    $0.is64Bit = false
                    $0.cpuType = 12
                    $0.cpuSubtype = 9
                    $0.minimumOS = 10 << 16
                    $0.textSize = 0x2000
                }.bytes,
                TinyMachO {
                    $0.minimumOS = 10 << 16
                    $0.signatureRoom = 0x3000
                }.bytes,
            ])
        },
        Oddity("a universal executable with 64-bit offsets") {
            $0["Payload/A.app/A"] = TinyMachO.fat(
                [TinyMachO().bytes, TinyMachO { $0.cpuSubtype = 2 }.bytes],
                wide: true
            )
        },
        Oddity("an executable of one page to the byte") {
            $0["Payload/A.app/A"] =
                TinyMachO {
                    $0.textSize = 0x4000
                    $0.linkEditSize = 0x4000
                }.bytes
        },
        Oddity("object files and a script, which are resources") {
            $0["Payload/A.app/a.o"] = TinyMachO { $0.fileType = 1 }.bytes
            $0["Payload/A.app/run.sh"] = Array("#!/bin/sh\n".utf8)
        },
        Oddity("a library that is cut, sealed as a resource", isJudged: false) {
            $0["Payload/A.app/cut.dylib"] = Array(library(5)[..<200])
        },
        Oddity("a Java class, which has a universal file's magic number") {
            $0["Payload/A.app/A.class"] = [0xCA, 0xFE, 0xBA, 0xBE, 0, 0, 0, 52] + [UInt8](repeating: 7, count: 99)
        },
        Oddity("names that are long, empty-looking or full of signs") {
            for name in [
                "x".padding(toLength: 250, withPad: "x", startingAt: 0), " ", "~", "a\\b", "$(rm -rf)", "\u{202E}gpj",
                "日本語.txt", "ملف", "🇩🇪",
            ] {
                $0["Payload/A.app/n/" + name] = Array(name.utf8)
            }
        },
        Oddity("entries of folders, with and without their permissions") {
            $0.entries.insert(.init(name: "Payload/", mode: 0o40755, bytes: []), at: 0)
            $0.entries.insert(.init(name: "Payload/A.app/", mode: 0o40700, bytes: []), at: 1)
            $0.entries.append(.init(name: "Payload/A.app/empty/", mode: 0o40755, bytes: []))
        },
    ]
}

@Suite(.enabled(if: Hands.usable, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `An odd app` {
    @Test(arguments: Oddity.all)
    private func `is signed like any other`(oddity: Oddity) async throws {
        let desk = try Desk(oddity.archive)
        var options = try Hands.options()
        options.verification = .full
        let signed = try await desk.sign(options)
        #expect(signed.signedFileCount == oddity.code)
        #expect(try await desk.faults() == [])
        // Nothing but code, Info.plists, profiles and seals is another.
        let output = try Archive(path: desk.output)
        for entry in oddity.archive.entries
        where !entry.name.utf8.elementsEqual("Payload/A.app/_CodeSignature/\u{301}old.txt".utf8) {
            let bytes = try #require(output[entry.name], "\(entry.name)")
            let isCode =
                entry.bytes.starts(with: [0xCF, 0xFA]) || entry.bytes.starts(with: [0xCE, 0xFA])
                || entry.bytes.starts(with: [0xCA, 0xFE])
            if !isCode { #expect(bytes == entry.bytes, "\(entry.name)") }
            #expect(output.entries.first { $0.name.utf8.elementsEqual(entry.name.utf8) }?.mode == entry.mode)
        }
        #expect(!output.entries.contains { $0.name.contains("old.txt") })
        if Oracle.exists, oddity.isJudged {
            let faults = try Oracle.faults(
                desk.output,
                original: desk.input,
                id: "com.peer.bench",
                team: TestAuthority.team
            )
            #expect(faults == [])
        }
    }

    @Test func `that has a bundle among its old signatures loses it with them`() async throws {
        let desk = try Desk(.sample { $0.add("Payload/A.app/_CodeSignature/X.appex", id: "com.peer.bench.x") })
        let signed = try await desk.sign(try Hands.options())
        #expect(!signed.bundles.contains { $0.path.contains("X.appex") })
        #expect(try await desk.faults() == [])
        #expect(try !Archive(path: desk.output).entries.contains { $0.name.contains("X.appex") })
    }

    @Test(arguments: ["embedded.mobileprovision", "_CodeSignature", "_CodeSignature/CodeResources"])
    func `that has a link where a file of the signature goes gets the file`(name: String) async throws {
        let desk = try Desk(
            .sample {
                $0.entries.append(.init(name: "Payload/A.app/" + name, mode: 0o120777, bytes: Array("a.txt".utf8)))
            }
        )
        try await desk.sign(try Hands.options())
        #expect(try await desk.faults() == [])
        let output = try Archive(path: desk.output)
        for name in ["Payload/A.app/embedded.mobileprovision", "Payload/A.app/_CodeSignature/CodeResources"] {
            #expect(output.entries.first { $0.name == name }?.mode == 0o100644)
        }
    }

    @Test func `with a new identifier and name of profile carries it everywhere`() async throws {
        let desk = try Desk(try #require(Oddity.all.first { $0.testDescription.contains("in Watch") }).archive)
        var options = try Hands.options()
        options.bundleIdentifier = "org.new"
        let signed = try await desk.sign(options)
        #expect(
            signed.bundles.filter { $0.profile != nil }.map(\.identifier).sorted()
                == ["org.new", "org.new.w", "org.new.watch", "org.new.watch.e"]
        )
        #expect(try await desk.faults() == [])
    }

    @Test func `whose library begins with a combining mark is made out to its name`() async throws {
        let desk = try Desk(try #require(Oddity.all.first).archive)
        try await desk.sign(try Hands.options())
        let code = try await Hands.signer.inspect(desk.output).code
        let library = code.first { $0.path.utf8.elementsEqual("Payload/A.app/\u{301}z.dylib".utf8) }
        #expect(library?.images.first?.signature?.identifier == "\u{301}z")
    }

    @Test func `with two names that a device takes for one is refused`() async throws {
        // A device's file system goes by what names look like, so one of the two would be lost.
        let place = "Payload/A.app/sub/"
        let desk = try Desk(
            .sample {
                $0.entries.append(.init(name: place + "u\u{308}.txt", bytes: [1]))
                $0.entries.append(.init(name: place + "\u{FC}.txt", bytes: [2]))
            }
        )
        let error = await #expect(throws: SignError.self) { try await desk.sign(try Hands.options()) }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("twice") == true)
        #expect(try desk.leftovers() == [])
    }
}
