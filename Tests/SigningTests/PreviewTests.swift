import FerryAppBundle
import FerryPropertyList
import FerrySigning
import Foundation
import TestKit
import Testing

@Suite(.enabled(if: Hands.usable && Outside.python != nil, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `A preview` {
    private let recipe = #"""
        {"bundleID": "org.mine", "name": "Mine", "version": "2.0", "set": {"New.Key": 1, "S.appex:NSExtension.Rules": []},
         "unset": ["CFBundleName"], "dropAppClips": true, "remove": ["a.txt"], "add": {"new.txt": "f"}}
        """#

    private func request(_ desk: Desk) throws -> SigningRequest {
        try desk.folder.write([1], to: "f")
        var options = try Hands.options()
        options.recipe = try SigningRecipe(json: Array(recipe.utf8), folder: desk.folder.path)
        return SigningRequest(input: desk.input, output: desk.output, options: options)
    }

    @Test func `says what signing then does`() async throws {
        let desk = try Desk(.rich())
        let request = try request(desk)
        let preview = try await Hands.signer.preview(request)
        #expect(try desk.leftovers() == [])
        let app = try #require(preview.bundles.first)
        #expect(app.oldIdentifier == "com.peer.bench")
        #expect(app.identifier == "org.mine")
        #expect(app.profile == "Test *")
        #expect(
            app.infoPlist.map(\.key) == [
                "CFBundleDisplayName", "CFBundleIdentifier", "CFBundleName", "CFBundleShortVersionString", "New",
            ]
        )
        #expect(app.infoPlist.map(\.new) == ["Mine", "org.mine", nil, "2.0", ["Key": 1]])
        #expect(app.entitlements?["application-identifier"] == .string(TestAuthority.team + ".org.mine"))
        let share = try #require(preview.bundles.first { $0.path.hasSuffix("S.appex") })
        #expect(
            share.infoPlist.map(\.key) == ["CFBundleIdentifier", "CFBundleShortVersionString", "NSExtension.Rules"]
        )
        #expect(preview.bundles.filter(\.isDropped).map(\.path) == ["Payload/A.app/AppClips/K.app"])
        #expect(preview.addedFiles == ["Payload/A.app/new.txt"])
        #expect(preview.removedFiles == ["Payload/A.app/AppClips/K.app", "Payload/A.app/a.txt"])
        #expect(preview.changedFiles.count == 5)

        // What was said is what came, as others read it.
        _ = try await Hands.signer.sign(request).archive
        for bundle in preview.bundles where !bundle.isDropped && bundle.kind != "framework" {
            for change in bundle.infoPlist where change.key.contains("CFBundle") {
                let seen = try await Outside.ask(
                    desk.output,
                    "p('Info.plist').get('\(change.key)')",
                    app: bundle.path + "/"
                )
                #expect(seen == (change.new?.string.map { "\"\($0)\"" } ?? "null"))
            }
        }
    }

    @Test func `refuses as signing does, with every reason`() async throws {
        let desk = try Desk(.rich())
        var request = try request(desk)
        request.options.recipe.removedFiles = ["A"]
        request.options.recipe.droppedExtensions = .some(["nobody"])
        let error = await #expect(throws: SignError.self) { try await Hands.signer.preview(request) }
        #expect(error?.code == .refused)
        #expect(error?.reasons.count == 2)
    }
}

@Suite(.enabled(if: Hands.usable, "\(TestAuthority.absent)"), .timeLimit(.minutes(10)))
struct `Where entitlements come from` {
    private static let health = "com.apple.developer.healthkit"
    private static let game = "com.apple.developer.game-center"

    /// An app that asks for one thing that its profile grants and one that it does not.
    private func desk() async throws -> Desk {
        let first = try Desk(.sample())
        var options = try Hands.options()
        options.profiles = [try Hands.profile(granting: [Self.health, "com.apple.developer.siri"])]
        options.entitlements = [Self.health: true, "com.apple.developer.siri": true]
        try await first.sign(options)
        return try Desk(first.folder.read("out/out.ipa"))
    }

    @Test(arguments: [
        (EntitlementsMode.app, [health], ["com.apple.developer.siri"]),
        (.profile, [game, health], ["com.apple.developer.siri"]),
        (.file, [], [health, "com.apple.developer.siri"]),
    ])
    private func `is for people to say`(mode: EntitlementsMode, given: [String], dropped: [String]) async throws {
        let desk = try await desk()
        var options = try Hands.options()
        options.profiles = [try Hands.profile(granting: [Self.health, Self.game])]
        options.recipe.entitlementsMode = mode
        let signed = try await desk.sign(options)
        let entitlements = try #require(try await Hands.signer.inspect(desk.output).bundles.first?.entitlements)
        #expect(
            entitlements.keys.filter { $0.hasPrefix("com.apple.developer") && !$0.hasSuffix("team-identifier") }
                .sorted() == given
        )
        #expect(entitlements["keychain-access-groups"] == [.string(TestAuthority.team + ".com.peer.bench")])
        #expect(signed.bundles.last?.droppedEntitlements.keys.sorted() == dropped)
        #expect(try await desk.faults() == [])
    }

    @Test func `may be a file for each bundle`() async throws {
        let desk = try Desk(.sample())
        let list = PropertyList.dictionary([Self.health: true])
        try desk.folder.write(list.encoded(as: .xml), to: "w.plist")
        var options = try Hands.options()
        options.profiles = [try Hands.profile(granting: [Self.health, Self.game])]
        options.recipe.entitlements = [
            "com.peer.bench.w": .file(desk.folder.path("w.plist")), "app": .inline([Self.health: true]),
        ]
        options.bundleEntitlements = ["A.app": [Self.game: true]]
        try await desk.sign(options)
        let bundles = try await Hands.signer.inspect(desk.output).bundles
        let byID = Dictionary(uniqueKeysWithValues: bundles.map { ($0.identifier ?? "", $0.entitlements) })
        #expect(byID["com.peer.bench.w"]??[Self.health] == true)
        #expect(byID["com.peer.bench"]??[Self.game] == true)
        #expect(byID["com.peer.bench"]??[Self.health] == nil)
        #expect(try await desk.faults() == [])
    }
}
