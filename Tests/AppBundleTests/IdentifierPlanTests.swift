import FerryAppBundle
import FerryPropertyList
import Testing

private let plugIns = "Payload/A.app/PlugIns/"

/// The identifier that each bundle has once the changes are made, by path below the app.
private func identifiers(_ tree: BundleTree, _ plan: IdentifierPlan) -> [String: String?] {
    var found: [String: String?] = [:]
    for bundle in tree.bundles where bundle.path != tree.root.path {
        found[String(bundle.path.dropFirst(tree.root.path.count + 1))] =
            (plan.changes[bundle.path] ?? bundle.info).identifier
    }
    return found
}

@Suite struct `An identifier plan` {
    @Test(
        arguments: [
            ("com.peer.bench.w", "com.new.id.w", false),
            ("com.peer.bench.com.peer.bench.w", "com.new.id.com.peer.bench.w", false),
            ("com.peer.benchmark.w", "com.new.id.w", true),
            ("org.other.widget", "com.new.id.widget", true),
            ("x.com.peer.bench.w", "com.new.id.w", true),
            ("com.peer.bench", "com.new.id.bench", true),
            ("widget", "com.new.id.widget", true),
            ("com.new.id.w", "com.new.id.w", false),
        ]
    )
    func `puts an extension below its host`(old: String, new: String, isTold: Bool) throws {
        let tree = try app { $0.add(plugIns + "W.appex", id: old) }.tree()
        let plan = IdentifierPlan.plan(tree, newIdentifier: "com.new.id")
        #expect(identifiers(tree, plan) == ["PlugIns/W.appex": new])
        #expect(plan.changes["Payload/A.app"]?.identifier == "com.new.id")
        #expect(plan.identifiers == ["Payload/A.app": "com.new.id", plugIns + "W.appex": new])
        #expect(plan.warnings.map(\.path) == (isTold ? [plugIns + "W.appex"] : []))
        #expect(plan.problems.isEmpty)
    }

    @Test func `changes nothing when nothing is asked for and all is well`() throws {
        let files = app {
            $0.add(plugIns + "W.appex", id: "com.peer.bench.w")
            $0.add("Payload/A.app/Frameworks/F.framework", id: "org.f")
        }
        for identifier in [nil, "com.peer.bench"] {
            let plan = IdentifierPlan.plan(try files.tree(), newIdentifier: identifier)
            #expect(plan.changes.isEmpty)
            #expect(plan.warnings.isEmpty)
        }
    }

    @Test func `re-parents a foreign extension even when no identifier is asked for`() throws {
        let plan = IdentifierPlan.plan(try app { $0.add(plugIns + "W.appex", id: "org.other.widget") }.tree())
        #expect(plan.changes.mapValues(\.identifier) == [plugIns + "W.appex": "com.peer.bench.widget"])
        #expect(
            plan.warnings.map(\.message) == [
                "its identifier org.other.widget is not below com.peer.bench as it must be; "
                    + "it becomes com.peer.bench.widget"
            ]
        )
    }

    @Test func `goes by the nearest container at every depth`() throws {
        let files = app {
            $0.add("Payload/A.app/Watch/W.app", id: "com.peer.bench.watchkitapp")
            $0.add("Payload/A.app/Watch/W.app/PlugIns/E.appex", id: "com.peer.bench.ext")
            $0.add("Payload/A.app/AppClips/C.app", id: "com.peer.bench.Clip")
            $0.add("Payload/A.app/Extensions/X.appex", id: "org.x.y")
            $0.add("Payload/A.app/Extensions/X.appex/PlugIns/Z.appex", id: "org.x.y.inner.z")
            $0.add("Payload/A.app/Frameworks/F.framework", id: "com.peer.bench.kit")
            $0.add("Payload/A.app/Frameworks/F.framework/PlugIns/P.appex", id: "com.peer.bench.p")
        }
        let tree = try files.tree()
        #expect(
            identifiers(tree, .plan(tree, newIdentifier: "com.new.id")) == [
                "Watch/W.app": "com.new.id.watchkitapp",
                "Watch/W.app/PlugIns/E.appex": "com.new.id.watchkitapp.ext",
                "AppClips/C.app": "com.new.id.Clip",
                "Extensions/X.appex": "com.new.id.y",
                "Extensions/X.appex/PlugIns/Z.appex": "com.new.id.y.inner.z",
                "Frameworks/F.framework": "com.peer.bench.kit",
                "Frameworks/F.framework/PlugIns/P.appex": "com.new.id.p",
            ]
        )
    }

    @Test func `keeps re-parented identifiers apart from each other and from all others`() throws {
        let files = app {
            $0.add(plugIns + "A.appex", id: "org.one.widget")
            $0.add(plugIns + "B.appex", id: "org.two.widget")
            $0.add(plugIns + "Z.appex", id: "com.peer.bench.widget")
        }
        let tree = try files.tree()
        let plan = IdentifierPlan.plan(tree, newIdentifier: "com.new.id")
        #expect(
            identifiers(tree, plan) == [
                "PlugIns/A.appex": "com.new.id.widget-2", "PlugIns/B.appex": "com.new.id.widget-3",
                "PlugIns/Z.appex": "com.new.id.widget",
            ]
        )
        #expect(plan.problems.isEmpty)
    }

    @Test func `refuses two bundles of one identifier`() throws {
        let files = app {
            $0.add(plugIns + "A.appex", id: "com.peer.bench.w")
            $0.add(plugIns + "B.appex", id: "com.peer.bench.w")
        }
        let plan = IdentifierPlan.plan(try files.tree())
        #expect(plan.problems.map(\.code) == [.identifierTaken])
        #expect(plan.problems.map(\.path) == [plugIns + "B.appex"])
    }

    @Test func `treats foreign extensions as it is told`() throws {
        let files = app {
            $0.add(plugIns + "W.appex", id: "org.other.widget")
            $0.add(plugIns + "W.appex/PlugIns/I.appex", id: "org.other.widget.i")
        }
        let tree = try files.tree()
        let keep = IdentifierPlan.plan(tree, newIdentifier: "com.new.id", foreign: .keep)
        #expect(keep.changes.keys.sorted() == ["Payload/A.app"])
        #expect(keep.warnings.map(\.path) == [plugIns + "W.appex"])
        let drop = IdentifierPlan.plan(tree, newIdentifier: "com.new.id", foreign: .drop)
        #expect(drop.dropped == [plugIns + "W.appex"])
        #expect(drop.changes.keys.sorted() == ["Payload/A.app"])
        #expect(drop.identifiers.keys.sorted() == ["Payload/A.app"])
        let fail = IdentifierPlan.plan(tree, newIdentifier: "com.new.id", foreign: .fail)
        #expect(fail.problems.map(\.code) == [.identifierForeign])
        #expect(
            fail.problems.first?.message
                == plugIns + "W.appex: its identifier org.other.widget is not below its host's, com.new.id."
        )
    }

    @Test func `changes the keys by which watch apps find their companions`() throws {
        let files = app {
            $0.add(
                "Payload/A.app/Watch/W.app",
                id: "com.peer.bench.watchkitapp",
                ["WKCompanionAppBundleIdentifier": "com.peer.bench", "Kept": 1],
                as: .xml
            )
            $0.add(
                "Payload/A.app/Watch/W.app/PlugIns/E.appex",
                id: "com.peer.bench.watchkitapp.ext",
                [
                    "NSExtension": [
                        "NSExtensionAttributes": ["WKAppBundleIdentifier": "com.peer.bench.watchkitapp", "x": 1],
                        "NSExtensionPointIdentifier": "com.apple.watchkit",
                    ]
                ]
            )
        }
        let plan = IdentifierPlan.plan(try files.tree(), newIdentifier: "com.new.id")
        let watch = try #require(plan.changes["Payload/A.app/Watch/W.app"])
        #expect(watch.companionIdentifier == "com.new.id")
        #expect(watch.format == .xml)
        #expect(watch.dictionary["Kept"] == 1)
        let inner = try #require(plan.changes["Payload/A.app/Watch/W.app/PlugIns/E.appex"])
        #expect(
            inner.dictionary["NSExtension"] == [
                "NSExtensionAttributes": ["WKAppBundleIdentifier": "com.new.id.watchkitapp", "x": 1],
                "NSExtensionPointIdentifier": "com.apple.watchkit",
            ]
        )
    }

    @Test func `finds the watch app of an old extension by its old identifier`() throws {
        let files = app {
            $0.add(
                plugIns + "E.appex",
                id: "com.peer.bench.ext",
                ["NSExtension": ["NSExtensionAttributes": ["WKAppBundleIdentifier": "org.odd.watch"]]]
            )
            $0.add(
                plugIns + "E.appex/W.app",
                id: "org.odd.watch",
                ["WKCompanionAppBundleIdentifier": "org.gone", "WKWatchKitApp": true]
            )
        }
        let plan = IdentifierPlan.plan(try files.tree(), newIdentifier: "com.new.id")
        #expect(plan.changes[plugIns + "E.appex"]?.watchAppIdentifier == "com.new.id.ext.watch")
        #expect(plan.changes[plugIns + "E.appex/W.app"]?.identifier == "com.new.id.ext.watch")
        #expect(plan.changes[plugIns + "E.appex/W.app"]?.companionIdentifier == "com.new.id")
    }

    @Test func `takes a file provider's group from its profile`() throws {
        let files = app {
            $0.add(
                plugIns + "F.appex",
                id: "com.peer.bench.files",
                ["NSExtension": ["NSExtensionFileProviderDocumentGroup": "group.com.peer.bench"]]
            )
        }
        let tree = try files.tree()
        let granted = IdentifierPlan.plan(tree, newIdentifier: "com.new.id") { request in
            #expect(request.identifier == "com.new.id.files")
            #expect(request.renames["com.peer.bench"] == "com.new.id")
            return request.group == "group.com.peer.bench" ? "group.com.new.id" : nil
        }
        #expect(granted.changes[plugIns + "F.appex"]?.fileProviderGroup == "group.com.new.id")
        #expect(granted.warnings.isEmpty)
        let none = IdentifierPlan.plan(tree) { _ in nil }
        #expect(none.changes.isEmpty)
        #expect(none.warnings.map(\.path) == [plugIns + "F.appex"])
        #expect(IdentifierPlan.plan(tree).warnings.isEmpty)
    }

    @Test(
        arguments: [
            "", ".", "com..x", ".com", "com.", "com.a b", "com.*", "*", "com.a_b", "com/a", "com.ü", "com.a\n",
            String(repeating: "a", count: 256),
        ]
    )
    func `refuses what no bundle identifier can be`(identifier: String) throws {
        let plan = IdentifierPlan.plan(try app().tree(), newIdentifier: identifier)
        #expect(plan.problems.map(\.code) == [.identifierIllegal])
        #expect(plan.changes.isEmpty)
    }

    @Test func `goes through with an identifier that continues the old one`() throws {
        let tree = try app { $0.add(plugIns + "W.appex", id: "com.peer.bench.w") }.tree()
        let plan = IdentifierPlan.plan(tree, newIdentifier: "com.peer.bench.copy-2")
        #expect(plan.identifiers[plugIns + "W.appex"] == "com.peer.bench.copy-2.w")
        #expect(
            plan.renames == ["com.peer.bench": "com.peer.bench.copy-2", "com.peer.bench.w": "com.peer.bench.copy-2.w"]
        )
    }
}
