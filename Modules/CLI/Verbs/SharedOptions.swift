extension Option {
    /// `--json`: the result, and errors, as data.
    static let json = Option(name: "--json", help: "print the result, and any error, as one line of JSON")

    /// `--profile FILE...`: provisioning profiles.
    static let profile = Option(
        name: "--profile",
        value: "FILE",
        kind: .file(["mobileprovision"]),
        count: .list,
        isRequired: true,
        help: "provisioning profiles; each bundle gets the one that fits it best"
    )

    /// `--adhoc`: signed by nobody.
    static let adHoc = Option(
        name: "--adhoc",
        help:
            "sign without an identity (CS_ADHOC), for simulators and for devices that ask for none; a profile is optional"
    )

    /// `--unsign`: without signatures.
    static let unsign = Option(name: "--unsign", help: "take signatures, seals and profiles out, and sign nothing")

    /// `--only-modify`: changed and not signed.
    static let onlyModify = Option(
        name: "--only-modify",
        help: "make the changes and sign nothing; old signatures stay, though they do not fit what was changed"
    )

    /// `--bundle-id ID`: a new bundle id.
    static let bundleID = Option(
        name: "--bundle-id",
        value: "ID",
        help: "the app's new bundle id; those of its extensions follow"
    )

    /// `--foreign-extensions WISH`: what becomes of extensions whose id is not under the app's.
    static let foreignExtensions = Option(
        name: "--foreign-extensions",
        value: "WISH",
        kind: .forms([
            .init(text: "reparent", summary: "put it there"),
            .init(text: "keep", summary: "as it is"),
            .init(text: "drop", summary: "leave the extension out"),
            .init(text: "fail"),
        ]),
        standard: "reparent",
        help: "what to do with an extension whose id is not under its app's"
    )

    /// `--page-size BYTES`: the page size of signatures.
    static let pageSize = Option(
        name: "--page-size",
        value: "BYTES",
        kind: .choice(["4096", "16384"]),
        help: "the page size of signatures, if not what the app had"
    )

    /// `--no-cache`: nothing that is known of archives.
    static let noCache = Option(
        name: "--no-cache",
        help: "read all of the archive, also if it was signed before, and keep nothing of what is learnt"
    )

    /// `--sha256 HEX`: what the archive's digest must be.
    static let sha256 = Option(
        name: "--sha256",
        value: "HEX",
        kind: .hexadecimal(digits: 64),
        help: "the SHA-256 that the download must have"
    )

    /// `--reporter WHERE`: who is told how far it is.
    static let reporter = Option(
        name: "--reporter",
        value: "WHERE",
        kind: .forms([
            .init(text: "terminal"),
            .init(text: "json:", rest: .file),
            .init(text: "json:-", summary: "JSON lines on standard output"),
            .init(text: "apns:", rest: .file, summary: "a phone's Live Activity"),
            .init(text: "exec:", rest: .program, summary: "a program of yours that reads JSON lines"),
        ]),
        count: .repeated,
        help: "where to show how far it is"
    )
}

extension [Option] {
    /// With what to sign, and how: the same for every verb that signs and installs.
    static let signing: [Option] = (identity + [.profile]).map { $0.under(OptionGroup.identity) } + changes

    /// The same where nobody has to sign.
    static let signingOrNot: [Option] =
        (identity + [.profile.sparedWithoutIdentity, .adHoc, .unsign, .onlyModify]).map {
            $0.under(OptionGroup.identity)
        } + changes

    /// What is changed on the way, and how the result is checked.
    private static let changes: [Option] =
        edits + [
            .pageSize,
            Option(
                name: "--verify",
                value: "HOW",
                kind: .forms([
                    .init(text: "standard", summary: "read back all that is new"),
                    .init(text: "full", summary: "read back everything"),
                ]),
                standard: "standard",
                help: "how the result is checked"
            ),
        ]
}
