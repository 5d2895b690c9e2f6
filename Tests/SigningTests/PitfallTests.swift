import FerrySigning
import Foundation
import TestKit
import Testing

/// What people met with other tools: an app that makes for it, and what Python must read in the output.
private struct Pitfall: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let archive: Archive
    /// Whether the profile lets a debugger in.
    let debug: Bool
    /// Expressions and what each comes to.
    let seen: [(expression: String, value: String)]

    init(
        _ name: String,
        debug: Bool = false,
        _ seen: [(String, String)],
        _ change: (inout Archive) -> Void = { _ in }
    ) {
        testDescription = name
        archive = .sample(change)
        self.debug = debug
        self.seen = seen
    }

    private static let everySeal =
        "[unsealed(x) for x in ['', 'PlugIns/W.appex/', 'Frameworks/F.framework/']]"

    static let all: [Pitfall] = [
        Pitfall(
            "the profile is written before the seal, which has every file of every bundle",
            [
                (everySeal, "[[], [], []]"),
                (
                    "['embedded.mobileprovision' in p(x + '_CodeSignature/CodeResources')['files2'] "
                        + "for x in ['', 'PlugIns/W.appex/']]",
                    "[true, true]"
                ),
                ("b('embedded.mobileprovision') == b('PlugIns/W.appex/embedded.mobileprovision')", "true"),
            ]
        ),
        Pitfall(
            "the flag of a main binary is on every executable, and on nothing else",
            [
                (
                    "[segments(x)[0][2] for x in ['A', 'PlugIns/W.appex/A', 'Frameworks/F.framework/A', 'x.dylib']]",
                    "[1, 1, 0, 0]"
                )
            ]
        ),
        Pitfall(
            "unsigned pages are allowed where a debugger is let in",
            debug: true,
            [("[segments(x)[0][2] for x in ['A', 'PlugIns/W.appex/A', 'x.dylib']]", "[17, 17, 0]")]
        ),
        Pitfall(
            "each slice has its own limit, also the one that was never signed",
            [("segments('A')", "[[12288, 12288, 1], [4096, 4096, 1]]"), (everySeal, "[[], [], []]")]
        ) {
            $0["Payload/A.app/A"] = TinyMachO.fat([
                TinyMachO {
                    $0.textSize = 0x3000
                    $0.signatureRoom = 0x3000
                }.bytes,
                TinyMachO { $0.cpuSubtype = 2 }.bytes,
            ])
        },
        Pitfall(
            "a placeholder and a stub for the watch have no executable",
            [
                (
                    "[sorted(n for n in names if n.endswith(x)) for x in ['P.app/Info.plist', 'S.app/A']]",
                    #"[["Payload/A.app/com.apple.WatchPlaceholder/P.app/Info.plist"], []]"#
                ),
                (everySeal, "[[], [], []]"),
            ]
        ) {
            $0.add("Payload/A.app/com.apple.WatchPlaceholder/P.app", id: "com.peer.bench.watchkitapp", code: nil)
            $0.add("Payload/A.app/PlugIns/W.appex/_WatchKitStub/S.app", id: "com.peer.bench.w.stub", code: nil)
        },
        Pitfall(
            "a framework without Info.plist, or without executable, is resources",
            [
                ("[b('Frameworks/N.framework/x.txt')[0], b('Frameworks/M.framework/x.txt')[0]]", "[1, 2]"),
                ("[n for n in names if 'N.framework/_' in n or 'M.framework/_' in n]", "[]"),
                (everySeal, "[[], [], []]"),
            ]
        ) {
            $0["Payload/A.app/Frameworks/N.framework/x.txt"] = [1]
            $0.add("Payload/A.app/Frameworks/M.framework", id: "com.peer.m", code: nil)
            $0["Payload/A.app/Frameworks/M.framework/x.txt"] = [2]
        },
        Pitfall(
            "a link stays a link",
            [
                ("[mode('link'), b('link').decode()]", #"["0o120777", "a.txt"]"#),
                ("p('_CodeSignature/CodeResources')['files2']['link']", #"{"symlink": "a.txt"}"#),
            ]
        ),
        Pitfall(
            "names keep their colons, spaces, signs and letters",
            [
                (
                    "sorted(n[len(app) + 2:] for n in names if n.startswith(app + 'n/'))",
                    #"[" lead", "a&b<c>", "a:b.txt", "trail ", "ü.txt", "データ"]"#
                ),
                (everySeal, "[[], [], []]"),
            ]
        ) {
            for name in ["a:b.txt", "trail ", " lead", "a&b<c>", "データ", "\u{FC}.txt"] {
                $0["Payload/A.app/n/" + name] = Array(name.utf8)
            }
        },
        Pitfall(
            "what a Mac leaves behind is left out",
            [("[n for n in names if '.DS_Store' in n or '__MACOSX' in n or n.startswith('Payload/._')]", "[]")]
        ) {
            for name in ["Payload/.DS_Store", "__MACOSX/Payload/._A.app", ".DS_Store", "Payload/A.app/.DS_Store"] {
                $0[name] = [1]
            }
        },
    ]
}

@Suite(.enabled(if: Hands.usable && Outside.python != nil, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `What people met with other tools` {
    @Test(arguments: Pitfall.all)
    private func `does not come of it`(pitfall: Pitfall) async throws {
        let desk = try Desk(pitfall.archive)
        var options = try Hands.options()
        if pitfall.debug { options.profiles = [try Hands.profile(debug: true)] }
        try await desk.sign(options)
        for (expression, value) in pitfall.seen {
            #expect(try await Outside.ask(desk.output, expression) == value, "\(expression)")
        }
        #expect(try await desk.faults() == [])
    }

    @Test func `makes what Windows packed runnable`() async throws {
        let desk = try Desk(
            .sample { $0.entries.append(.init(name: "Payload/A.app/empty/", mode: 0o40755, bytes: [])) }
        )
        let script = """
            import sys, zipfile
            old = zipfile.ZipFile(sys.argv[1])
            with zipfile.ZipFile(sys.argv[2], 'w', zipfile.ZIP_DEFLATED) as new:
                for entry in old.infolist():
                    if entry.filename.endswith('/link'): continue
                    info = zipfile.ZipInfo(entry.filename, entry.date_time)
                    info.create_system, info.external_attr = 0, 0x10 if entry.is_dir() else 0x20
                    new.writestr(info, old.read(entry))
            """
        let python = try #require(Outside.python)
        let (input, windows) = (desk.input, desk.folder.path("windows.ipa"))
        let made = try await onThread { try python.run(["-c", script, input, windows]) }
        try #require(made.status == 0, "\(made.errors)")
        let second = try Desk(desk.folder.read("windows.ipa"))
        try await second.sign(try Hands.options())
        let modes = "[mode(x) for x in ['A', 'PlugIns/W.appex/A', 'x.dylib', 'a.txt', 'Info.plist', 'empty/']]"
        #expect(
            try await Outside.ask(second.output, modes)
                == #"["0o100755", "0o100755", "0o100755", "0o100644", "0o100644", "0o40755"]"#
        )
        #expect(try await second.faults() == [])
    }
}
