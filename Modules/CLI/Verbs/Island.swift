/// `ferry island`: the one Live Activity on a phone: how it stands, and what the phone has to say.
enum Island {
    static let verb = Verb(
        name: "island",
        summary: "look after the Live Activity on a phone",
        discussion: """
            “status” shows how the activity stands and why, which tokens are known, and the last decisions.

            “token” takes what the phone's app reports: the token for starts, an activity's own token, and what became \
            of an activity. It reaches the process that drives the island within a second, or the next one that does.

            CONFIG is the file of --reporter apns:CONFIG.
            """,
        examples: [
            .init(purpose: "How it stands", command: "ferry island status phone.json"),
            .init(
                purpose: "The token by which activities are started",
                command: "ferry island token phone.json --push-to-start 80a1…f3"
            ),
            .init(
                purpose: "An activity is there, with its own token",
                command: "ferry island token phone.json --activity 5F1B… --update 41c0…9d"
            ),
        ],
        positionals: [
            Positional(
                name: "WHAT",
                kind: .forms([
                    .init(text: "status", summary: "how it stands"),
                    .init(text: "token", summary: "what the phone reports"),
                ]),
                help: "what to do"
            ),
            Positional(name: "CONFIG", kind: .file(["json"]), help: "whose island: the reporter's file"),
        ],
        options: [
            Option(name: "--push-to-start", value: "HEX", help: "token: the one for starts"),
            Option(name: "--activity", value: "ID", help: "token: which activity the next three are about"),
            Option(name: "--update", value: "HEX", help: "token: the activity's own"),
            Option(name: "--dismissed", help: "token: the activity left the screen"),
            Option(name: "--ended", help: "token: the activity ended"),
            Option(
                name: "--seen",
                value: "SEQ",
                kind: .number(1...500_000_000),
                help: "token: the number of the state that the widget drew last"
            ),
            Option(
                name: "--allowed",
                value: "YES",
                kind: .choice(["yes", "no"]),
                help: "token: whether Settings allow Live Activities"
            ),
            Option(
                name: "--lines",
                value: "N",
                kind: .number(0...1000),
                standard: "10",
                help: "status: how many decisions to show"
            ),
            .json,
        ],
        run: run
    )
}
