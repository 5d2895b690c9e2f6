import FerryBytes
import Testing

@testable import ferry

@Suite struct `A wrong command line` {
    @Test(
        arguments: [
            ("", .missingArgument, "WALL is missing: what to paint.", ""),
            ("a --outptu x", .unknownOption, "--outptu is no option of ferry paint.", "Did you mean --output? "),
            ("a --out x", .unknownOption, "--out is no option of ferry paint.", "Did you mean --output? "),
            ("a --qwertz", .unknownOption, "--qwertz is no option of ferry paint.", ""),
            ("a -x", .unknownOption, "-x is no option of ferry paint.", ""),
            ("a -qx", .unknownOption, "-x (in -qx) is no option of ferry paint.", ""),
            ("a -note x", .unknownOption, "-note is no option of ferry paint.", "Did you mean --note? "),
            ("a --o=x", .unknownOption, "--o is no option of ferry paint.", ""),
            ("a --output", .missingValue, "--output needs a value (FILE).", ""),
            ("a -o", .missingValue, "-o needs a value (FILE).", ""),
            ("a -qo", .missingValue, "-o needs a value (FILE).", ""),
            (
                "a -o --quick", .missingValue, "-o needs a value (FILE).",
                "A value that begins with a dash is written --output=--quick. "
            ),
            ("a --colour", .missingValue, "--colour needs a value (NAME).", ""),
            ("a --note --", .missingValue, "--note needs a value (TEXT).", ""),
            ("a --quick=yes", .unexpectedValue, "--quick takes no value, but was given “yes”.", ""),
            ("a -o x --output y", .repeatedOption, "--output is given more than once.", "Keep the one that is meant. "),
            ("a --output=", .invalidValue, "--output: “” is empty.", ""),
            ("a --coats two", .invalidValue, "--coats: “two” is not a whole number.", ""),
            ("a --coats 0", .invalidValue, "--coats: “0” is not between 1 and 9.", ""),
            (
                "a --coats 99999999999999999999", .invalidValue,
                "--coats: “99999999999999999999” is not a whole number.", ""
            ),
            ("a --finish glos", .invalidValue, "--finish: “glos” is not matt or gloss.", "Did you mean gloss? "),
            ("a --to there", .invalidValue, "--to: “there” is not here or folder:DIR.", "Did you mean here? "),
            ("a --to folder:", .invalidValue, "--to: “folder:” is not here or folder:DIR.", ""),
            ("a --digest 00f", .invalidValue, "--digest: “00f” is not 4 hexadecimal digits.", ""),
            ("a --digest 00fg", .invalidValue, "--digest: “00fg” is not 4 hexadecimal digits.", ""),
            (
                "--colour r a", .missingArgument, "WALL is missing: what to paint.",
                "Everything after --colour up to the next option is taken as its values: put WALL first, or after --. "
            ),
        ] as [(String, UsageError.Code, String, String)]
    )
    func `says what is wrong and what was meant`(
        line: String,
        code: UsageError.Code,
        message: String,
        advice: String
    ) throws {
        let error = try #require(throws: UsageError.self) {
            try sample.parse(line.split(separator: " ").map(String.init))
        }
        #expect(error.code == code)
        #expect(error.message == message)
        #expect(error.remedy == advice + "See: ferry help paint")
    }

    @Test(
        arguments: [
            (
                "", .missingArgument,
                "IN is missing: the archive to sign; or several, or folders with archives."
            ),
            ("a", .missingOption, "-o FILE is missing: where the signed archive goes; a folder, for several."),
            (
                "a -o b --profile p", .missingOption,
                "--p12, --certificate with --key, --adhoc, --unsign, --only-modify or --identities is missing."
            ),
            (
                "a -o b --p12 c", .missingOption,
                "--profile FILE is missing: provisioning profiles; each bundle gets the one that fits it best."
            ),
            ("a -o b --identities i --p12 c", .conflictingOptions, "--p12 and --identities exclude each other."),
            ("a -o b --identities i --adhoc", .conflictingOptions, "--adhoc and --identities exclude each other."),
            ("a -o b --identities i --jobs 0", .invalidValue, "--jobs: “0” is not between 1 and 64."),
            ("a -o b --profile p --key k", .missingOption, "--key is given without --certificate."),
            ("a -o b --profile p --certificate k", .missingOption, "--certificate is given without --key."),
            ("a -o b --profile p --p12 c --key k", .conflictingOptions, "--p12 and --key exclude each other."),
            ("a -o b --profile p --p12 c --page-size 4K", .invalidValue, "--page-size: “4K” is not 4096 or 16384."),
            ("a -o b --profile p --p12 c --password x", .unknownOption, "--password is no option of ferry sign."),
        ] as [(String, UsageError.Code, String)]
    )
    func `of sign is told with sign's own words`(line: String, code: UsageError.Code, message: String) throws {
        let error = try #require(throws: UsageError.self) {
            try Sign.verb.parse(line.split(separator: " ").map(String.init))
        }
        #expect(error.code == code)
        #expect(error.message == message)
        if message.contains("--password") {
            #expect(error.remedy == "Did you mean --password-file? See: ferry help sign")
        }
    }

    @Test(arguments: [("kitten", "sitting", 3), ("", "abc", 3), ("abc", "", 3), ("sgin", "sign", 1), ("a", "a", 0)])
    func `is compared by the letters that differ`(first: String, second: String, distance: Int) {
        #expect(editDistance(first, second) == distance)
    }

    @Test(
        arguments: [
            ("instal", "install"), ("isntall", "install"), ("demmo", "demo"), ("insp", "inspect"), ("hlep", "help"),
            ("frobnicate", nil), ("x", nil),
        ] as [(String, String?)]
    )
    func `finds the verb that was meant`(typed: String, meant: String?) {
        #expect(suggestion(for: typed, among: Program.ferry.verbs.map(\.name)) == meant)
    }
}

@Suite struct `Arguments that were understood` {
    @Test func `answer by name, with standards where nothing was given`() throws {
        let plain = try sample.parse(["a"])
        #expect(!plain.flag("--quick"))
        #expect(plain.value("--output") == nil)
        #expect(plain.values("--note") == [])
        #expect(plain.number("--coats") == 2)
        #expect(!plain.isGiven("--coats"))
        #expect(plain.required("WALL") == "a")

        let full = try sample.parse(["a", "b", "-q", "--coats", "3", "--note", "x", "--note", "y"])
        #expect(full.flag("--quick"))
        #expect(full.number("--coats") == 3)
        #expect(full.values("--note") == ["x", "y"])
        #expect(full.values("MORE") == ["b"])
    }

    @Test(
        arguments: [
            ([], true, false, [.terminal]), ([], false, false, [.terminal]), ([], true, true, [.terminal]),
            ([], false, true, []),
            (["json:-", "terminal", "json:-"], true, false, [.jsonOutput, .terminal]),
            (["json:a:b"], true, true, [.jsonFile("a:b")]),
            (["exec:say --to 'a b'"], true, true, [.program("say --to 'a b'")]),
        ] as [([String], Bool, Bool, [ReporterChoice])]
    )
    func `name the reporters`(
        given: [String],
        hasTerminal: Bool,
        asData: Bool,
        choices: [ReporterChoice]
    ) throws {
        let arguments = try Demo.verb.parse(given.flatMap { ["--reporter", $0] })
        #expect(arguments.reporters(hasTerminal: hasTerminal, asData: asData) == choices)
    }
}
