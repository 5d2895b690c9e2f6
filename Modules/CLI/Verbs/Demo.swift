/// `ferry demo`: the main job with nothing prepared.
enum Demo {
    static let verb = Verb(
        name: "demo",
        summary: "show the whole way with an app and an identity made on the spot",
        discussion: """
            Makes a throw-away identity, profiles and a sample app, serves the app on 127.0.0.1, downloads, re-signs \
            and installs it into a folder, and checks the result. It needs no device, no account and no network.
            """,
        examples: [
            .init(purpose: "Watch it", command: "ferry demo"),
            .init(purpose: "Keep what it makes, to look at it", command: "ferry demo --fast --keep demo"),
        ],
        options: [
            Option(
                name: "--keep",
                value: "DIR",
                kind: .folder,
                help: "keep everything that was made in this folder"
            ),
            Option(name: "--fast", help: "serve the app as fast as can be, instead of at the speed of a phone"),
            .reporter,
        ],
        run: run
    )
}
