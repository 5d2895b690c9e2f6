import FerryAppBundle
import FerryPropertyList
import Testing

private let own: PropertyList.Dictionary = [
    "application-identifier": "TEAM123456.com.new.id", "com.apple.developer.team-identifier": "TEAM123456",
    "get-task-allow": false, "keychain-access-groups": ["TEAM123456.com.new.id"],
]

/// A plan for one key: what the app asks for, what the profile grants.
private func plan(
    _ key: String,
    asks: PropertyList?,
    grants: PropertyList?,
    override: PropertyList.Dictionary? = nil
) throws -> EntitlementsPlan {
    var content = profileContent("*")
    content[path: "Entitlements", key] = grants
    let profile = try ProvisioningProfile(bytes: PropertyList.dictionary(content).encoded(as: .binary))
    var requested: PropertyList.Dictionary = [
        "application-identifier": "OLDTEAM000.com.peer.bench", "com.apple.developer.team-identifier": "OLDTEAM000",
    ]
    requested[key] = asks
    return .plan(
        requested: requested,
        profile: profile,
        newIdentifier: "com.new.id",
        oldIdentifier: "com.peer.bench",
        renames: ["com.peer.bench": "com.new.id", "com.peer.bench.share": "com.new.id.share"],
        override: override
    )
}

@Suite struct `An entitlements plan` {
    @Test(arguments: ["com.new.id", "*", "com.new.*"])
    func `of an app that never was signed is what every app has`(pattern: String) throws {
        let plan = EntitlementsPlan.plan(requested: nil, profile: try profile(pattern), newIdentifier: "com.new.id")
        #expect(plan.entitlements == own)
        #expect(plan.entitlements.keys == own.keys)
        #expect(plan.dropped.isEmpty)
        #expect(plan.warnings.isEmpty)
    }

    @Test func `has no key that the profile lacks`() throws {
        let bare = try profile("com.new.id", ["Entitlements": ["application-identifier": "TEAM123456.com.new.id"]])
        for requested in [nil, [:], own] as [PropertyList.Dictionary?] {
            let plan = EntitlementsPlan.plan(requested: requested, profile: bare, newIdentifier: "com.new.id")
            #expect(plan.entitlements == ["application-identifier": "TEAM123456.com.new.id"])
        }
    }

    @Test(arguments: [(true, true), (false, false), (nil, nil)] as [(Bool?, Bool?)])
    func `lets a debugger in only where the profile does`(granted: Bool?, expected: Bool?) throws {
        for asked in [nil, true, false] as [Bool?] {
            let plan = try plan(
                "get-task-allow",
                asks: asked.map { .boolean($0) },
                grants: granted.map { .boolean($0) }
            )
            #expect(plan.entitlements["get-task-allow"]?.bool == expected)
            #expect((plan.dropped["get-task-allow"] != nil) == (asked == true && granted == nil))
        }
    }

    @Test func `names the app by the profile's prefix, which may be another than the team's`() throws {
        let old = try profile(
            "x",
            [
                "Entitlements": [
                    "application-identifier": "SEED000000.*", "com.apple.developer.team-identifier": "TEAM123456",
                    "keychain-access-groups": ["SEED000000.*"],
                ]
            ]
        )
        let plan = EntitlementsPlan.plan(requested: nil, profile: old, newIdentifier: "com.new.id")
        #expect(
            plan.entitlements == [
                "application-identifier": "SEED000000.com.new.id",
                "com.apple.developer.team-identifier": "TEAM123456",
                "keychain-access-groups": ["SEED000000.com.new.id"],
            ]
        )
    }

    private static let keychain = "keychain-access-groups"
    private static let groups = "com.apple.security.application-groups"

    /// Key, what is asked for, what the profile grants, what comes of it.
    @Test(
        arguments: [
            ("x", true, true, true), ("x", false, true, false), ("x", false, false, false),
            ("x", "a", "a", "a"), ("x", "a", "*", "a"), ("x", "a.b", "a.*", "a.b"), ("x", "b", ["a", "b"], "b"),
            ("x", ["a", "b"], ["b", "c"], ["b"]), ("x", ["a", "b"], "*", ["a", "b"]), ("x", [], ["a"], []),
            ("x", [], [], []), ("x", ["a.b", "c"], ["a.*"], ["a.b"]), ("x", 5, 5, 5),
            ("x", ["k": 1], ["k": 1], ["k": 1]),
            ("x", "OLDTEAM000.com.peer.bench", "TEAM123456.*", "TEAM123456.com.new.id"),
            ("x", "OLDTEAM000.*", "TEAM123456.*", "TEAM123456.com.new.id"),
            ("x", ["OLDTEAM000.*"], ["TEAM123456.*"], ["TEAM123456.*"]),
            ("x", ["iCloud.com.peer.bench", "iCloud.org.x"], ["iCloud.com.new.id"], ["iCloud.com.new.id"]),
            ("x", ["applinks:*.example.com"], "*", ["applinks:*.example.com"]),
            ("x", ["com.peer.benchmark"], "*", ["com.peer.benchmark"]),
            ("aps-environment", "development", "production", "production"),
            ("aps-environment", "production", "production", "production"),
            (
                "com.apple.developer.icloud-container-environment", "Production", ["Development", "Production"],
                "Production"
            ),
            ("com.apple.developer.icloud-container-environment", "Development", "Production", "Production"),
            (keychain, ["OLDTEAM000.com.peer.bench"], ["TEAM123456.*"], ["TEAM123456.com.new.id"]),
            (
                keychain, ["OLDTEAM000.com.peer.bench.share", "OLDTEAM000.shared"], ["TEAM123456.*"],
                ["TEAM123456.com.new.id.share", "TEAM123456.shared"]
            ),
            (keychain, ["OLDTEAM000.*"], ["TEAM123456.*"], ["TEAM123456.com.new.id"]),
            (
                keychain, ["OLDTEAM000.*", "com.apple.token"], ["TEAM123456.*", "com.apple.token"],
                ["TEAM123456.com.new.id", "com.apple.token"]
            ),
            (keychain, ["THIRD00000.x"], ["TEAM123456.*"], ["TEAM123456.com.new.id"]),
            (keychain, [], ["TEAM123456.*"], ["TEAM123456.com.new.id"]),
            (keychain, nil, ["TEAM123456.*"], ["TEAM123456.com.new.id"]),
            (keychain, true, ["TEAM123456.*"], ["TEAM123456.com.new.id"]),
            (groups, ["group.com.peer.bench"], ["group.com.peer.bench"], ["group.com.peer.bench"]),
            (groups, ["group.com.peer.bench"], ["group.com.new.id", "group.x"], ["group.com.new.id"]),
            (groups, ["group.com.peer.bench"], ["group.x"], ["group.x"]),
            (groups, ["group.a", "group.b"], ["group.b", "group.c"], ["group.b"]),
        ] as [(String, PropertyList?, PropertyList, PropertyList)]
    )
    func `gives what is asked for as far as it is granted`(
        key: String,
        asks: PropertyList?,
        grants: PropertyList,
        expected: PropertyList
    ) throws {
        #expect(try plan(key, asks: asks, grants: grants).entitlements[key] == expected)
    }

    @Test(
        arguments: [
            ("x", true, nil, "the profile does not grant it"), ("x", true, false, "the profile says no to it"),
            ("x", "a", true, "a string was asked for, and the profile grants a boolean"),
            ("x", true, ["a"], "a boolean was asked for, and the profile grants an array"),
            ("x", 1, true, "an integer was asked for, and the profile grants a boolean"),
            ("x", ["a"], "a", "an array was asked for, and the profile grants a string"),
            ("x", "a", "b", "“a” is not granted, only b"), ("x", "a", ["b", "c"], "“a” is not granted, only b, c"),
            ("x", "a", [], "“a” is not granted, only nothing"),
            ("x", ["a"], ["b"], "the profile grants nothing that was asked for in it"),
            ("x", [["k": 1]], ["b"], "the profile grants nothing that was asked for in it"),
            ("x", 1, 2, "the profile grants another value"),
            ("aps-environment", true, "production", "a boolean was asked for, and the profile grants a string"),
            (groups, ["group.a"], [], "the profile grants no app group"),
            (groups, "group.a", ["group.a"], "a string was asked for, and the profile grants an array"),
            (keychain, ["OLDTEAM000.x"], nil, "the profile does not grant it"),
        ] as [(String, PropertyList, PropertyList?, String)]
    )
    func `drops the rest and says why`(key: String, asks: PropertyList, grants: PropertyList?, reason: String) throws {
        let plan = try plan(key, asks: asks, grants: grants)
        #expect(plan.dropped == [key: reason])
        #expect(plan.entitlements[key] == nil)
    }

    @Test func `tells what it leaves out or changes within a key`() throws {
        #expect(
            try plan("x", asks: ["a", "b", 1], grants: ["b"]).warnings == [
                "x: “a” is not granted and is left out", "x: an integer in it is not granted and is left out",
            ]
        )
        #expect(
            try plan("aps-environment", asks: "development", grants: "production").warnings == [
                "aps-environment: “development” becomes “production”, as the profile says"
            ]
        )
        #expect(
            try plan(Self.keychain, asks: ["OLDTEAM000.shared"], grants: ["TEAM123456.*"]).warnings == [
                "keychain-access-groups: “TEAM123456.shared” is shared with every app of the team that asks for it"
            ]
        )
        #expect(try plan(Self.keychain, asks: ["OLDTEAM000.com.peer.bench"], grants: ["TEAM123456.*"]).warnings == [])
        #expect(
            try plan(Self.groups, asks: ["group.a"], grants: ["group.x"]).warnings == [
                "com.apple.security.application-groups: group.a is not granted; it becomes group.x"
            ]
        )
    }

    @Test(arguments: ["com.one", "com.two"]) func `lets two apps of a team share nothing by a pattern`(
        id: String
    ) throws {
        // What careless signers leave in an app: the profile's own entitlements.
        let wild = try profile("*")
        let plan = EntitlementsPlan.plan(requested: wild.entitlements, profile: wild, newIdentifier: id)
        #expect(plan.entitlements["application-identifier"] == .string("TEAM123456." + id))
        #expect(plan.entitlements["keychain-access-groups"] == [.string("TEAM123456." + id)])
        #expect(!"\(plan.entitlements)".contains("*"))
    }

    @Test func `is replaced by entitlements that are given, with Xcode's variables filled in`() throws {
        let override: PropertyList.Dictionary = [
            "keychain-access-groups": ["$(AppIdentifierPrefix)$(CFBundleIdentifier)", "$(TeamIdentifierPrefix)x"],
            "application-identifier": "TEAM123456.*", "x": true,
        ]
        let plan = try plan("x", asks: "ignored", grants: true, override: override)
        #expect(
            plan.entitlements == [
                "application-identifier": "TEAM123456.com.new.id",
                "com.apple.developer.team-identifier": "TEAM123456",
                "keychain-access-groups": ["TEAM123456.com.new.id", "TEAM123456.x"], "x": true,
            ]
        )
        #expect(plan.problems.isEmpty)
        #expect(plan.dropped.isEmpty)
        #expect(plan.warnings == ["application-identifier: it is TEAM123456.com.new.id, whatever was asked for"])
    }

    @Test(
        arguments: [
            (true, nil, "the profile does not grant it"), (true, false, "the profile says no to it"),
            (["a", "b"], ["a"], "“b” is not granted, only a"), ("a", "b", "“a” is not granted, only b"),
            (["a"], "a", "an array was asked for, and the profile grants a string"),
            ([1], ["a"], "an integer in it is not granted"), (1, 2, "the profile grants another value"),
        ] as [(PropertyList, PropertyList?, String)]
    )
    func `is refused where it is replaced by what the profile does not grant`(
        given: PropertyList,
        grants: PropertyList?,
        reason: String
    ) throws {
        let plan = try plan("x", asks: nil, grants: grants, override: ["x": given])
        #expect(plan.problems.map(\.message) == ["com.new.id: the entitlement x cannot be given: \(reason)."])
        #expect(plan.entitlements["x"] == given)
    }

    @Test func `comes in the order of its keys, whatever the order asked in`() throws {
        let keys = ["z", "b", "aps-environment", "m"]
        var entitlements: PropertyList.Dictionary = ["application-identifier": "TEAM123456.*"]
        for key in keys { entitlements[key] = true }
        let profile = try profile("x", ["Entitlements": .dictionary(entitlements)])
        var requested = PropertyList.Dictionary()
        for key in keys.reversed() { requested[key] = true }
        let plan = EntitlementsPlan.plan(requested: requested, profile: profile, newIdentifier: "a.b")
        #expect(plan.entitlements.keys == plan.entitlements.keys.sorted())
        #expect(plan.dropped.keys.sorted() == ["aps-environment"])
    }
}
