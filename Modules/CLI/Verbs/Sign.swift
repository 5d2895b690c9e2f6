/// `ferry sign`: re-signs archives.
enum Sign {
    static let verb = Verb(
        name: "sign",
        summary: "re-sign archives",
        discussion: """
            First plans everything: bundle ids, profiles, entitlements, room for signatures, what is encrypted or \
            expired. Where the plan cannot stand it says every reason at once, writes nothing, and ends with exit code 3.

            Several archives, a folder of them, --list or --identities: then -o is a folder. What fails does not keep the \
            others; the end is a table, and the exit code 3 if all that failed were refused, else 1. See docs/many.md.

            --profile takes all files up to the next option, so IN goes before it.

            What may be changed on the way is under its own headings below, and in docs/recipe.md, where it can be had \
            from a file. ferry inspect --plan shows what the same options would do, and writes nothing.

            What is learnt of an archive is kept, so that signing it again takes little: see ferry help cache.
            """,
        examples: [
            .init(
                purpose: "With an identity and one profile for each bundle",
                command:
                    "ferry sign In.ipa -o Out.ipa --p12 dev.p12 --profile app.mobileprovision share.mobileprovision"
            ),
            .init(
                purpose: "Under a new id, the password from a password store",
                command: "ferry sign In.ipa -o Out.ipa --p12 dev.p12 --password-file <(pass show ferry) "
                    + "--profile wild.mobileprovision --bundle-id com.example.mine"
            ),
            .init(
                purpose: "With another name and icon, without extensions, under an id that is nobody else's",
                command: "ferry sign In.ipa -o Out.ipa --p12 dev.p12 --profile wild.mobileprovision --name Mine "
                    + "--icon icon.png --drop-extensions all --unique-id always"
            ),
            .init(
                purpose: "With keys of the Info.plist set and taken out, also of an extension",
                command: "ferry sign In.ipa -o Out.ipa --p12 dev.p12 --profile wild.mobileprovision "
                    + "--set UIStatusBarHidden=true --set com.example.share:NSExtension.Title=Mine "
                    + "--unset UISupportedDevices"
            ),
            .init(
                purpose: "With files added and removed, and entitlements of one extension",
                command: "ferry sign In.ipa -o Out.ipa --p12 dev.p12 --profile wild.mobileprovision "
                    + "--add Frameworks/libExtra.dylib=libExtra.dylib --remove Sounds "
                    + "--entitlements com.example.share=share.entitlements"
            ),
            .init(
                purpose: "With a tweak in the app, and a library in every extension too",
                command: "ferry sign In.ipa -o Out.ipa --p12 dev.p12 --profile wild.mobileprovision "
                    + "--inject tweak.deb --inject all=libExtra.dylib"
            ),
            .init(
                purpose: "Without a library that it loads, and signed by nobody",
                command: "ferry sign In.ipa -o Out.ipa --adhoc --remove-dylib libOld.dylib"
            ),
            .init(
                purpose: "All archives of a folder into another, without those that are done already",
                command: "ferry sign incoming -o signed --p12 dev.p12 --profile wild.mobileprovision --skip-existing"
            ),
            .init(
                purpose: "Each archive for each identity of a list, into signed/NAME/",
                command: "ferry sign A.ipa B.ipa -o signed --identities teams.json --json"
            ),
            .init(
                purpose: "As a recipe says",
                command: "ferry sign In.ipa -o Out.ipa --p12 dev.p12 --profile wild.mobileprovision --recipe mine.json"
            ),
        ],
        positionals: [
            Positional(
                name: "IN",
                kind: .file(["ipa"]),
                help: "the archive to sign; or several, or folders with archives",
                repeats: true,
                isSparedBy: ["--list"]
            )
        ],
        options: [
            Option(
                name: "--output",
                short: "-o",
                value: "FILE",
                kind: .file(["ipa"]),
                isRequired: true,
                help: "where the signed archive goes; a folder, for several"
            )
        ] + [Option].signingOrNot.map(sparedByIdentities) + [Option].many.map { $0.under(OptionGroup.many) }
            + [.noCache, .reporter, .json],
        alternatives: [Option].signatureAlternatives + [[Option.identities.name]],
        environment: .identity,
        run: run
    )

    /// What each identity of a list may have of its own need not be given for all.
    private static func sparedByIdentities(_ option: Option) -> Option {
        var option = option
        if option.isRequired { option.isSparedBy.append(Option.identities.name) }
        return option
    }
}
