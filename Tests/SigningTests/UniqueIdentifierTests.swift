import FerryAppBundle
import FerryPropertyList
import FerrySigning
import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Hands.usable && Outside.python != nil, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `A part of its own in an identifier` {
    /// Asks Python for the part, from how the guide describes it.
    private func part(of identifier: String) async throws -> String {
        let script =
            "import hashlib,base64,sys; d=hashlib.sha256(sys.argv[1].encode()+b'\\0'+sys.argv[2].encode()).digest();"
            + "print('x'+base64.b32encode(d)[:5].decode().lower())"
        let python = Tool(path: Outside.python?.path ?? "")
        return try await onThread {
            try String(python.run(["-c", script, identifier, TestAuthority.team]).text.dropLast())
        }
    }

    private func sign(
        _ wish: SigningRecipe.UniqueID?,
        asks: Bool,
        application: String = "*",
        id: String? = nil,
        _ desk: Desk
    ) async throws -> SignedArchive {
        var options = try Hands.options()
        options.profiles = [try Hands.profile(application, asksForOwnIdentifier: asks)]
        options.recipe.uniqueID = wish
        options.recipe.bundleIdentifier = id
        return try await desk.sign(options)
    }

    @Test(arguments: [nil, .auto, .always, .never] as [SigningRecipe.UniqueID?], [false, true])
    func `is there where the profile asks for it, or somebody insists`(
        wish: SigningRecipe.UniqueID?,
        asks: Bool
    ) async throws {
        let desk = try Desk(.sample())
        let signed = try await sign(wish, asks: asks, desk)
        let isThere = wish == .always || (wish == .auto && asks)
        let expected = isThere ? "com.peer.bench." + (try await part(of: "com.peer.bench")) : "com.peer.bench"
        #expect(signed.identifier == expected)
        let seen =
            "[p(x + 'Info.plist')['CFBundleIdentifier'] for x in ['', 'PlugIns/W.appex/', 'Frameworks/F.framework/']]"
        #expect(try await Outside.ask(desk.output, seen) == "[\"\(expected)\", \"\(expected).w\", \"com.peer.f\"]")
        #expect(try await desk.faults() == [])
    }

    @Test func `is the same for one app and team, and comes once`() async throws {
        let desk = try Desk(.sample())
        let first = try await sign(.always, asks: false, desk)
        let again = try Desk(desk.folder.read("out/out.ipa"))
        let second = try await sign(.always, asks: false, again)
        #expect(second.identifier == first.identifier)
        let renamed = try await sign(.always, asks: false, id: "org.mine", try Desk(.sample()))
        #expect(renamed.identifier == "org.mine." + (try await part(of: "com.peer.bench")))
        let other = try await sign(
            .always,
            asks: false,
            try Desk(.sample { $0.add("Payload/A.app", id: "com.peer.other") })
        )
        #expect(other.identifier == "com.peer.other." + (try await part(of: "com.peer.other")))
    }

    @Test func `is left out where the profile is for one identifier, which is told`() async throws {
        let desk = try Desk(
            .sample {
                $0["Payload/A.app/PlugIns/W.appex/Info.plist"] = nil;
                $0.entries.removeAll { $0.name.contains("W.appex") }
            }
        )
        let signed = try await sign(.auto, asks: true, application: "com.peer.bench", desk)
        #expect(signed.identifier == "com.peer.bench")
        #expect(signed.warnings.contains { $0.contains("PPQCheck") })
    }
}
