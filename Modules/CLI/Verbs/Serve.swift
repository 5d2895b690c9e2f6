import FerryHTTP

/// `ferry serve`: installs by a control API and a dashboard.
enum Serve {
    static let verb = Verb(
        name: "serve",
        summary: "take installs from browsers and programs, and show them how far each is",
        discussion: """
            Serves a dashboard, and an API for programs (docs/api.md) that adds installs, holds them and tells what happens. \
            Whoever may do so has a token: “ferry token add” makes one. As long as there is none, an address with a token \
            for this run alone is printed.

            With --to ota, which is what it does where nothing else is said, each app gets a link that a phone opens in \
            Safari (docs/serving.md). With an identity, apps are signed on the way; without one, they are installed as \
            they are. Installs are remembered: what was under way when the server ended goes on with its next start.

            It listens on this machine alone. For others, put it behind a server with TLS and give --public-url, or give it \
            a certificate.
            """,
        examples: [
            .init(
                purpose: "On this machine, signing into a folder",
                command:
                    "ferry serve --to folder:apps --p12 dev.p12 --password-file pw.txt --profile wild.mobileprovision"
            ),
            .init(
                purpose: "For phones in this network, with an authority of its own",
                command: "ferry serve --p12 dev.p12 --password-file pw.txt --profile dev.mobileprovision "
                    + "--listen 0.0.0.0:8470 --host 192.168.1.5 --local-ca"
            ),
            .init(
                purpose: "For others, with a certificate of its own",
                command:
                    "ferry serve --to folder:apps --listen 0.0.0.0:8470 --tls-certificate cert.pem --tls-key key.pem "
                    + "--host ferry.example.com"
            ),
            .init(
                purpose: "Behind a server that is https://ferry.example.com",
                command: "ferry serve --to folder:apps --public-url https://ferry.example.com"
            ),
        ],
        options: [Option].signing.map(\.spared) + [
            Option(
                name: "--to",
                value: "TARGET",
                kind: .forms(TargetChoice.forms),
                standard: "ota",
                help: "where apps go"
            )
        ] + ServingPlace.options + [
            Option(
                name: "--upload-limit",
                value: "MB",
                kind: .number(1...1_000_000),
                standard: "4295",
                help: "how long an archive may be that is sent, in megabytes"
            ),
            Option(name: "--pages", value: "DIR", kind: .folder, help: "serve the dashboard's files from there"),
            .noCache,
            .reporter,
        ] + .downloading + .netrc,
        alternatives: [Option].identityAlternatives,
        sparesAlternatives: true,
        environment: .identity,
        run: run
    )
}

extension Option {
    /// The same, which need not be given.
    fileprivate var spared: Option {
        var option = self
        option.isRequired = false
        return option
    }
}

/// `ferry token`: who may use a server.
enum Token {
    static let verb = Verb(
        name: "token",
        summary: "say who may use ferry serve",
        discussion: """
            Roles: admin may do everything, viewer may look, device may report what a phone sees. Of a token only its \
            SHA-256 is kept, in $XDG_STATE_HOME/ferry/server/tokens.json. A running server heeds changes at once.
            """,
        examples: [.init(purpose: "Which there are", command: "ferry token")],
        options: [.json],
        run: runList
    )

    static let add = Verb(
        name: "token add",
        summary: "make a token, which is shown once",
        examples: [
            .init(purpose: "For a display on the wall", command: "ferry token add wall viewer"),
            .init(purpose: "For a program that adds installs", command: "ferry token add ci admin"),
        ],
        positionals: [
            Positional(name: "NAME", kind: .text, help: "what to call it"),
            Positional(
                name: "ROLE",
                kind: .forms([
                    .init(text: "admin", summary: "everything"),
                    .init(text: "viewer", summary: "looking"),
                    .init(text: "device", summary: "a phone's reports"),
                ]),
                help: "what its holder may do"
            ),
        ],
        options: [.json],
        run: runAdd
    )

    static let remove = Verb(
        name: "token remove",
        summary: "end a token",
        examples: [.init(purpose: "End it", command: "ferry token remove wall")],
        positionals: [Positional(name: "NAME", kind: .text, help: "what it is called")],
        options: [.json],
        run: runRemove
    )

    static let list = Verb(
        name: "token list",
        summary: "show which tokens there are",
        examples: [.init(purpose: "All of them", command: "ferry token list")],
        options: [.json],
        run: runList
    )
}
