import Foundation
import TestKit
import Testing

@testable import FerryLiveActivity

@Suite struct `The words` {
    @Test(arguments: IslandWords.builtIn) func `fit into the compact island`(words: IslandWords) {
        for label in IslandWords.Label.allCases {
            #expect((1...8).contains(words.label(label).count), "\(label)")
            // Nothing of it was cut.
            #expect(!words.label(label).contains("…"), "\(label)")
        }
        for sign in IslandWords.Sign.allCases { #expect((1...4).contains(words.sign(sign).count), "\(sign)") }
        for percent in 0...100 { #expect((2...5).contains(words.percent(percent).count)) }
        for count in 0...1_200 { #expect((1...8).contains(words.apps(count).count), "\(words.apps(count))") }
        #expect(words.apps(.max) == "999+")
    }

    @Test(arguments: IslandWords.builtIn.dropFirst()) func `are a language's own`(words: IslandWords) {
        let english = IslandWords.english
        for phrase in IslandWords.Phrase.allCases where phrase != .app {
            #expect(words.phrase(phrase) != english.phrase(phrase), "\(phrase)")
        }
        for label in IslandWords.Label.allCases { #expect(words.label(label) != english.label(label), "\(label)") }
        for counted in IslandWords.Counted.allCases where words.language != "de" || counted != .apps {
            #expect(words.text(counted, 7) != english.text(counted, 7), "\(counted)")
        }
    }

    @Test func `know how many`() {
        let english = IslandWords.english
        #expect([0, 1, 2, 999, 1_000].map(english.apps) == ["0 apps", "1 app", "2 apps", "999 apps", "999+"])
        #expect(english.text(.more, 1) == "and 1 more")
        let arabic = IslandWords.arabic
        #expect(
            [0, 1, 2, 3, 10, 11, 99, 100, 101, 102, 103, 111].map { arabic.text(.apps, $0) } == [
                "لا تطبيقات", "تطبيق واحد", "تطبيقان", "3 تطبيقات", "10 تطبيقات", "11 تطبيقًا", "99 تطبيقًا", "100 تطبيق",
                "101 تطبيق", "102 تطبيق", "103 تطبيقات", "111 تطبيقًا",
            ]
        )
        // With three digits there is no room for the word.
        #expect([2, 3, 10, 11, 100].map(arabic.apps) == ["تطبيقان", "3 برامج", "10 برامج", "11 تطبيق", "100"])
    }

    /// Unicode's own samples: CLDR 44, `supplemental/plurals.xml`, `@integer`.
    @Test(
        arguments: [
            (.arabic, .zero, [0]), (.arabic, .one, [1]), (.arabic, .two, [2]),
            (.arabic, .few, Array(3...10) + Array(103...110) + [1_003]),
            (.arabic, .many, Array(11...26) + [99, 111, 1_011]),
            (.arabic, .other, [100, 101, 102, 200, 201, 202, 300, 1_000, 1_000_000]),
            (.oneOther, .one, [1]), (.oneOther, .other, [0, 2, 16, 100, 1_000_000]),
            (.zeroOneOther, .one, [0, 1]), (.zeroOneOther, .other, [2, 17, 100]),
            (.always, .other, [0, 1, 15, 100, 1_000_000]), (.oneOther, .other, [Int.min, -1, Int.max]),
        ] as [(PluralRule, PluralCategory, [Int])]
    )
    func `take the form that CLDR names`(rule: PluralRule, category: PluralCategory, numbers: [Int]) {
        for number in numbers { #expect(rule.category(number) == category, "\(number)") }
    }

    @Test func `know their direction and rule by the language's code`() {
        #expect(IslandWords.builtIn.map(\.isRightToLeft) == [false, false, false, true])
        #expect(IslandWords.builtIn.map(\.pluralRule) == [.oneOther, .oneOther, .always, .arabic])
        #expect(IslandWords(language: "he-IL", [:]).isRightToLeft)
        #expect(PluralRule(language: "pt_BR") == .zeroOneOther)
        #expect(IslandWords(language: "fr", [:], pluralRule: .oneOther).pluralRule == .oneOther)
    }

    @Test func `of an app are taken, and English where it has none`() throws {
        let json = """
            {"language": "fr", "label.waiting": "Attente", "label.signing": "Signature numérique", "sign.done": "terminé",
            "label.apps.one": "{n} app", "label.apps.other": "{n} applis", "count.more.other": "et {n} de plus",
            "decimal": ",", "phrase.tap": "Toucher\\npour actualiser", "unknown": "x"}
            """
        let words = try IslandWords(json: Array(json.utf8))
        #expect(words.language == "fr")
        #expect(words.label(.waiting) == "Attente")
        #expect(words.label(.signing) == "Signatu…")
        #expect(words.sign(.done) == "ter…")
        #expect([0, 1, 2, 10].map(words.apps) == ["0 app", "1 app", "2 applis", "10"])
        #expect(words.text(.more, 1) == "et 1 de plus")
        #expect(words.phrase(.tap) == "Toucher pour actualiser")
        #expect(words.bytes(19_200_000, of: 48_000_000) == "19,2/48,0 MB")
        #expect(words.label(.install) == "Install")
        #expect(words.text(.failed, 1) == "1 failed")
        #expect(words.text(.apps, 0) == "0 apps")
        #expect(IslandWords(language: "en", [:]).label(.paused) == "Paused")
    }

    @Test func `of an app may bring digits, and no pattern without a number`() {
        let words = IslandWords(
            language: "ar",
            ["digits": "٠١٢٣٤٥٦٧٨٩", "label.percent": "%{n}", "decimal": "٫", "label.apps.few": "{n} برامج"]
        )
        #expect(words.percent(41) == "%٤١")
        #expect(words.apps(3) == "٣ برامج")
        #expect(words.bytes(1_500, of: nil) == "١٫٥ kB")
        let odd = IslandWords(language: "en", ["digits": "01", "label.percent": "percent"])
        #expect(odd.percent(41) == "41%")
        #expect(IslandWords(language: "en", ["label.percent": "{n} {n} per cent"]).percent(41).count == 8)
    }

    @Test(arguments: ["", "[]", "{\"label.waiting\": 5}", "{\"language\": null}", "nonsense"])
    func `of an app must be texts`(json: String) {
        let error = #expect(throws: IslandStateError.self) { try IslandWords(json: Array(json.utf8)) }
        #expect(error?.code == .wordsUnreadable)
        #expect(error?.message.hasPrefix("The table of words is no JSON object whose values are texts: ") == true)
        #expect(error?.remedy == "Write it as {\"language\": \"fr\", \"label.waiting\": \"Attente\"}.")
    }

    /// The examples in the terminal's own documentation.
    @Test(
        arguments: [
            (0, nil, "0 B"), (999, nil, "999 B"), (1_500, nil, "1.5 kB"), (48_000_000, nil, "48.0 MB"),
            (312_000_000, nil, "312 MB"), (19_200_000, 48_000_000, "19.2/48.0 MB"), (19_200_000, nil, "19.2 MB"),
            (5, 10, "5/10 B"), (999_499, nil, "999 kB"), (999_500, nil, "1.0 MB"), (-5, nil, "0 B"),
            (.max, .max, "9223/9223 PB"), (.max, 1, "999999/1 B"),
        ] as [(Int64, Int64?, String)]
    )
    func `write bytes as the terminal does`(count: Int64, total: Int64?, expected: String) {
        #expect(IslandWords.english.bytes(count, of: total) == expected)
    }
}
