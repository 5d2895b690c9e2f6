import FerryAppBundle
import FerryPropertyList
import Testing

@Suite struct `An app's icon files` {
    private func icons(_ keys: PropertyList.Dictionary, _ files: [String]) throws -> [String] {
        try InfoPlist(bytes: PropertyList.dictionary(keys).encoded(as: .binary)).iconFiles(among: files)
    }

    private static func primary(_ names: PropertyList...) -> PropertyList {
        ["CFBundlePrimaryIcon": ["CFBundleIconFiles": .array(names)]]
    }

    /// What Xcode 15 makes of an asset catalogue for iPhone and iPad.
    private static let ofXcode: PropertyList.Dictionary = [
        "CFBundleIcons": [
            "CFBundlePrimaryIcon": ["CFBundleIconFiles": ["AppIcon60x60"], "CFBundleIconName": "AppIcon"]
        ],
        "CFBundleIcons~ipad": [
            "CFBundlePrimaryIcon": [
                "CFBundleIconFiles": ["AppIcon60x60", "AppIcon76x76"], "CFBundleIconName": "AppIcon",
            ]
        ],
    ]

    @Test func `are those that Xcode names`() throws {
        let files = ["Assets.car", "AppIcon76x76@2x~ipad.png", "AppIcon60x60@2x.png", "Info.plist"]
        #expect(try icons(Self.ofXcode, files) == ["AppIcon60x60@2x.png", "AppIcon76x76@2x~ipad.png"])
    }

    @Test func `are none where only a catalogue has them`() throws {
        #expect(try icons(Self.ofXcode, ["Assets.car", "Info.plist", "logo.png"]) == [])
        #expect(try icons([:], []) == [])
    }

    @Test(
        arguments: [
            // The key of today before those of before, whatever is larger.
            (
                ["CFBundleIcons": primary("New40x40"), "CFBundleIconFiles": ["Old"], "CFBundleIconFile": "Oldest"],
                ["Oldest@3x.png", "Old@3x.png", "New40x40.png"], ["New40x40.png", "Old@3x.png", "Oldest@3x.png"]
            ),
            (
                ["CFBundleIcons~ipad": primary("Pad-76"), "CFBundleIconFile": "Icon.png"],
                ["Icon.png", "Pad-76@2x~ipad.png"], ["Pad-76@2x~ipad.png", "Icon.png"]
            ),
            // Of one key the one with most pixels.
            (
                ["CFBundleIcons": primary("AppIcon20x20", "AppIcon29x29", "AppIcon60x60")],
                ["AppIcon20x20@3x.png", "AppIcon29x29@3x.png", "AppIcon60x60@2x.png", "AppIcon60x60@3x.png"],
                ["AppIcon60x60@3x.png", "AppIcon60x60@2x.png", "AppIcon29x29@3x.png", "AppIcon20x20@3x.png"]
            ),
            (
                ["CFBundleIconFiles": ["Icon.png", "Icon@2x.png", "Icon-72.png", "Icon-Small.png"]],
                ["Icon.png", "Icon-72.png", "Icon@2x.png", "Icon-Small@2x.png"],
                ["Icon-Small@2x.png", "Icon@2x.png", "Icon-72.png", "Icon.png"]
            ),
            // With and without the ending, in whatever case, with a scale or an idiom of its own.
            (["CFBundleIconFile": "icon"], ["ICON@2X.PNG", "Icons.png"], ["ICON@2X.PNG"]),
            (["CFBundleIconFile": "Icon.PNG"], ["icon.png"], ["icon.png"]),
            (["CFBundleIconFiles": ["A@2x"]], ["A.png", "A@2x.png", "A@3x.png"], ["A@2x.png"]),
            (["CFBundleIconFiles": ["A~ipad.png"]], ["A.png", "A@2x~ipad.png", "A~ipad.png"], ["A~ipad.png"]),
            (
                ["CFBundleIconFile": "A"], ["A~ipad.png", "A~iphone.png", "A.png"],
                ["A.png", "A~iphone.png", "A~ipad.png"]
            ),
            (["CFBundleIconFile": "A"], ["A~ipad@2x.png", "A@2x~ipad.png"], ["A@2x~ipad.png", "A~ipad@2x.png"]),
            (["CFBundleIconFiles": ["Icon-83.5x83.5"]], ["Icon-83.5x83.5@2x~ipad.png"], ["Icon-83.5x83.5@2x~ipad.png"]),
            // A primary icon that is a name itself, and lists that are something else.
            (["CFBundleIcons": ["CFBundlePrimaryIcon": "A"]], ["A.png"], ["A.png"]),
            (["CFBundleIcons": ["CFBundlePrimaryIcon": ["CFBundleIconFiles": "A"]]], ["A.png"], ["A.png"]),
            (
                ["CFBundleIcons": 7, "CFBundleIconFiles": [7, ["A"], "B"], "CFBundleIconFile": true], ["B.png"],
                ["B.png"]
            ),
            (["CFBundleIcons": ["CFBundlePrimaryIcon": [["A"]]]], ["A.png"], []),
            // Without a key, as the first systems did.
            ([:], ["Icon@2x.png", "Icon.png", "Icon-72.png"], ["Icon@2x.png", "Icon.png"]),
            // In a folder, and elsewhere.
            (["CFBundleIconFile": "art/A"], ["A.png", "art/A@2x.png"], ["art/A@2x.png"]),
            (["CFBundleIconFile": "A"], ["PlugIns/W.appex/A.png", "A.icns", "A.png/b"], []),
            // Odd names.
            (
                ["CFBundleIconFiles": ["", ".png", "@2x", "~ipad", "99999999999999999999"]], ["@2x.png", "a.png"],
                ["@2x.png"]
            ),
        ] as [(PropertyList.Dictionary, [String], [String])]
    )
    func `are looked for as iOS does`(keys: PropertyList.Dictionary, files: [String], expected: [String]) throws {
        #expect(try icons(keys, files) == expected)
        // The archive's order does not matter.
        #expect(try icons(keys, files.reversed()) == expected)
    }

    @Test func `are looked for by a bounded number of names`() throws {
        let names = (0..<100_000).map { PropertyList.string("A\($0)") }
        #expect(try icons(["CFBundleIconFiles": .array(names)], ["A99.png", "A100.png"]) == ["A99.png"])
    }
}
