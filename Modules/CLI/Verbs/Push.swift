/// `ferry push`: one push to a Live Activity, by hand.
enum Push {
    static let verb = Verb(
        name: "push",
        summary: "send one push to a Live Activity, and say what APNs answered",
        discussion: """
            Makes the same body as the reporter does, sheds what does not fit into 4 KB, and says what was left out. \
            STATE is the content state as JSON; docs/live-activity.md has its keys. Without --state it shows one \
            download at 41 %.

            The key, the app and the server come from CONFIG, the file of --reporter apns:CONFIG.
            """,
        examples: [
            .init(
                purpose: "Start an activity",
                command: "ferry push --config phone.json --to 80a1…f3 --event start --title Ferry --body 'Installing'"
            ),
            .init(
                purpose: "Update it with a state of one's own",
                command: "ferry push --config phone.json --to 41c0…9d --event update --state state.json"
            ),
            .init(
                purpose: "Only show what would be sent",
                command: "ferry push --config phone.json --to 41c0…9d --event end --dry-run"
            ),
        ],
        options: [
            Option(
                name: "--config",
                value: "FILE",
                kind: .file(["json"]),
                isRequired: true,
                help: "key, app and server: the reporter's file"
            ),
            Option(
                name: "--to",
                value: "TOKEN",
                isRequired: true,
                help: "the token: for starts with --event start, else the activity's own"
            ),
            Option(
                name: "--event",
                value: "EVENT",
                kind: .choice(["start", "update", "end"]),
                isRequired: true,
                help: "what happens to the activity"
            ),
            Option(
                name: "--state",
                value: "FILE",
                kind: .file(["json"]),
                help: "the content state; - reads standard input"
            ),
            Option(
                name: "--title",
                value: "TEXT",
                help: "the alert's title; a start without a title and a body is silent"
            ),
            Option(name: "--body", value: "TEXT", help: "the alert's text"),
            Option(
                name: "--priority",
                value: "N",
                kind: .choice(["5", "10"]),
                help: "5 for numbers that moved, 10 at once; by default 10"
            ),
            Option(
                name: "--dismiss-after",
                value: "SECONDS",
                kind: .number(0...14_400),
                help: "end: how long the last state stays on the lock screen; 0 takes it away at once"
            ),
            Option(name: "--dry-run", help: "print the body and send nothing"),
            .json,
        ],
        run: run
    )
}
