/// The headings of options in help.
enum OptionGroup {
    static let identity = "Identity and profiles"
    static let names = "Identifiers and entitlements"
    static let app = "Changes to the app"
    static let contents = "Extensions and files"
    static let keys = "Single keys"
    static let libraries = "Injection and libraries"
}

extension Option {
    /// The same under a heading of help.
    func under(_ group: String) -> Option {
        var option = self
        option.group = group
        return option
    }

    /// The same where it need not be given if nobody signs.
    var sparedWithoutIdentity: Option {
        var option = self
        option.isSparedBy = [Option.adHoc, .unsign, .onlyModify].map(\.name)
        return option
    }

    /// `--recipe FILE`: changes from a file.
    static let recipe = Option(
        name: "--recipe",
        value: "FILE",
        kind: .file(["json"]),
        help: "changes from a file, see docs/recipe.md; what is given beside it wins"
    )

    private static func onOff(_ name: String, _ help: String) -> Option {
        Option(name: name, value: "on|off", kind: .choice(["on", "off"]), help: help)
    }

    fileprivate static let appEdits: [Option] = [
        .recipe,
        Option(name: "--name", value: "NAME", help: "the name below the icon, in every language"),
        Option(
            name: "--app-version",
            value: "VERSION",
            help: "the version that people see, of the app and all extensions"
        ),
        Option(name: "--build", value: "BUILD", help: "the version of the build, of the app and all extensions"),
        Option(name: "--min-os", value: "VERSION", help: "the oldest system that installs it; the code's own stays"),
        Option(
            name: "--devices",
            value: "KIND",
            kind: .choice(["iphone", "ipad", "tv", "watch", "mac", "vision"]),
            count: .list,
            help: "the kinds of devices that it is for"
        ),
        Option(
            name: "--icon",
            value: "FILE",
            kind: .file(["png"]),
            help: "a square PNG, best of 1024 pixels, for the icon in every size that the app declares"
        ),
        Option(
            name: "--remove-url-schemes",
            value: "SCHEME",
            count: .list,
            help: "addresses that no longer open it; all for all"
        ),
        Option(name: "--remove-supported-devices", help: "take out the list of devices that the App Store put in"),
        onOff("--file-sharing", "whether its files can be seen"),
        onOff("--document-browser", "whether it is a browser of documents"),
        onOff("--full-screen", "whether it always fills the screen"),
        onOff("--pro-motion", "whether it may draw 120 times a second on phones"),
        onOff("--game-mode", "whether it is a game to the system"),
        Option(
            name: "--appearance",
            value: "HOW",
            kind: .choice(["light", "dark", "automatic"]),
            help: "light or dark, whatever the device is set to"
        ),
    ]

    fileprivate static let keyEdits: [Option] = [
        Option(
            name: "--set",
            value: "KEY=VALUE",
            count: .repeated,
            help:
                "a value in the Info.plist: KEY is a path such as A.B.0, with BUNDLE: before it for another bundle's; "
                + "VALUE is true, 5, 1.5, JSON, date:…, data:… or text"
        ),
        Option(name: "--unset", value: "KEY", count: .repeated, help: "a key of the Info.plist that goes"),
    ]

    fileprivate static let contentEdits: [Option] = [
        Option(
            name: "--drop-extensions",
            value: "ID",
            count: .list,
            help: "extensions to leave out, by id or folder's name; all for all"
        ),
        Option(name: "--keep-extensions", value: "ID", count: .list, help: "the only extensions to keep"),
        Option(name: "--drop-watch-apps", help: "leave apps for the watch out"),
        Option(name: "--drop-app-clips", help: "leave app clips out"),
        .foreignExtensions,
        Option(
            name: "--add",
            value: "PATH=FILE",
            count: .repeated,
            help: "put a file or folder into the app, at that path below its folder"
        ),
        Option(name: "--remove", value: "PATH", count: .repeated, help: "take a file or folder out of the app"),
        Option(name: "--remove-placeholders", help: "take out what stands for a watch app"),
        Option(name: "--remove-store-files", help: "take out SC_Info, iTunesMetadata.plist and their kin"),
    ]

    fileprivate static let libraryEdits: [Option] = [
        Option(
            name: "--inject",
            value: "[BUNDLE=]FILE",
            kind: .file(["dylib", "deb", "zip", "framework"]),
            count: .repeated,
            help:
                "put a .dylib, .framework, .deb or .zip into the app and have it loaded: by the app, or by the extension "
                + "with that id or folder's name; all= for the app and every extension"
        ),
        Option(name: "--inject-weak", help: "have the app start without what is injected, if that cannot be loaded"),
        Option(
            name: "--inject-by",
            value: "NAME",
            kind: .forms([
                .init(text: "rpath", summary: "@rpath/NAME"),
                .init(text: "executable-path", summary: "from its own place"),
            ]),
            standard: "rpath",
            help: "how the load commands call it"
        ),
        Option(
            name: "--remove-dylib",
            value: "NAME",
            count: .repeated,
            help: "have the app and its extensions load that library no longer; NAME is its path or the last part of it"
        ),
        Option(
            name: "--rename-dylib",
            value: "NAME=PATH",
            count: .repeated,
            help: "have the app and its extensions load that library by another path"
        ),
    ]

    fileprivate static let nameEdits: [Option] = [
        .bundleID,
        Option(
            name: "--unique-id",
            value: "WHEN",
            kind: .forms([
                .init(text: "auto", summary: "if the profile has PPQCheck"),
                .init(text: "always"),
                .init(text: "never"),
            ]),
            help: "give the id a part of its own, the same for one app and team"
        ),
        Option(
            name: "--entitlements",
            value: "[BUNDLE=]FILE",
            kind: .file(["plist", "entitlements", "xml"]),
            count: .repeated,
            help: "entitlements of the app, or of the bundle with that id, instead of what it had cut down to what its "
                + "profile allows"
        ),
        Option(
            name: "--entitlements-mode",
            value: "FROM",
            kind: .forms([
                .init(text: "profile", summary: "all that it allows"),
                .init(text: "app", summary: "what it had, cut down"),
                .init(text: "file", summary: "only what --entitlements gives"),
            ]),
            standard: "app",
            help: "where the entitlements of all others come from"
        ),
    ]
}

extension [Option] {
    /// What may be changed in an app: the same for every verb that signs.
    static let edits: [Option] =
        Option.nameEdits.map { $0.under(OptionGroup.names) }
        + Option.appEdits.map { $0.under(OptionGroup.app) }
        + Option.keyEdits.map { $0.under(OptionGroup.keys) }
        + Option.contentEdits.map { $0.under(OptionGroup.contents) }
        + Option.libraryEdits.map { $0.under(OptionGroup.libraries) }
}
