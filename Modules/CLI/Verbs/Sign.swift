/// `ferry sign`: re-signs one archive.
enum Sign {
    static let verb = Verb(
        name: "sign",
        summary: "re-sign an archive",
        discussion: """
            First plans everything: bundle ids, profiles, entitlements, room for signatures, what is encrypted or \
            expired. Where the plan cannot stand it says every reason at once, writes nothing, and ends with exit code 3.

            --profile takes all files up to the next option, so IN goes before it.

            What may be changed on the way is under its own headings below, and in docs/recipe.md, where it can be had \
            from a file. ferry inspect --plan shows what the same options would do, and writes nothing.
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
                purpose: "As a recipe says",
                command: "ferry sign In.ipa -o Out.ipa --p12 dev.p12 --profile wild.mobileprovision --recipe mine.json"
            ),
        ],
        positionals: [Positional(name: "IN", kind: .file(["ipa"]), help: "the archive to sign")],
        options: [
            Option(
                name: "--output",
                short: "-o",
                value: "FILE",
                kind: .file(["ipa"]),
                isRequired: true,
                help: "where the signed archive goes"
            )
        ] + .signingOrNot + [.reporter, .json],
        alternatives: [Option].signatureAlternatives,
        environment: .identity,
        run: run
    )
}
