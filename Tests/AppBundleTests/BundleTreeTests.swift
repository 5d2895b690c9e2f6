import FerryAppBundle
import FerryPropertyList
import Testing

@Suite struct `A bundle tree` {
    @Test func `finds every bundle at any depth, and signs the deepest first`() throws {
        let files = app {
            $0.add("Payload/A.app/Watch/W.app", id: "com.peer.bench.w", ["WKWatchKitApp": true])
            $0.add("Payload/A.app/Watch/W.app/PlugIns/E.APPEX", id: "com.peer.bench.w.e")
            $0.add("Payload/A.app/Frameworks/F.framework", id: "org.f")
            $0.add("Payload/A.app/Watch/W.app/PlugIns/E.APPEX/Frameworks/G.framework", id: "org.g")
            $0["Payload/A.app/Res/Kit.bundle/x.txt"] = [1]
        }
        let tree = try files.tree()
        #expect(
            tree.bundles.map(\.path) == [
                "Payload/A.app", "Payload/A.app/Frameworks/F.framework", "Payload/A.app/Res/Kit.bundle",
                "Payload/A.app/Watch/W.app", "Payload/A.app/Watch/W.app/PlugIns/E.APPEX",
                "Payload/A.app/Watch/W.app/PlugIns/E.APPEX/Frameworks/G.framework",
            ]
        )
        #expect(
            tree.root.deepestFirst().map(\.name) == ["F.framework", "G.framework", "E.APPEX", "W.app", "A.app"]
        )
        let extensions = try #require(tree.bundle(at: "Payload/A.app/Watch/W.app/PlugIns/E.APPEX"))
        #expect(extensions.kind == .appExtension)
        #expect(extensions.container == "Payload/A.app/Watch/W.app")
        #expect(extensions.executable == "Payload/A.app/Watch/W.app/PlugIns/E.APPEX/A")
        #expect(tree.bundle(at: "Payload/A.app/Frameworks/F.framework")?.container == "Payload/A.app")
        #expect(tree.root.container == nil)
        #expect(tree.problems().isEmpty)
        #expect(tree.warnings.isEmpty)
    }
}
