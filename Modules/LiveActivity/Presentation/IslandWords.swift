#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Every word that the island, the web page and the terminal show, in one language.
///
/// A table of keys and texts, as a strings file has them. Built in are ``english``, ``german``, ``japanese`` and
/// ``arabic``; an app brings its own as a dictionary or as JSON. What a table lacks is English.
public struct IslandWords: Sendable, Hashable {
    /// How long a label may be, in letters; what is longer is cut.
    public static let maximumLabelLetters = 8
    /// How long any other text of a table may be, in letters.
    public static let maximumTextLetters = 120

    /// The short words of the compact island.
    public enum Label: String, Sendable, Hashable, CaseIterable {
        /// Stages that have no progress, or none yet.
        case waiting, download, signing, install
        /// Held, and the ways in which an install ends.
        case paused, done, failed, stopped
        /// A stage that this version does not know.
        case working
        /// The activity could not be renewed.
        case tap
    }

    /// The signs of the minimal island, at most four letters.
    public enum Sign: String, Sendable, Hashable, CaseIterable {
        /// What a single install or a finished batch shows.
        case done, failed, stopped, paused, working, tap
    }

    /// The longer words of the expanded island and the lock screen.
    public enum Phrase: String, Sendable, Hashable, CaseIterable {
        /// What an install is at.
        case waiting, downloading, signing, installing, paused, working
        /// How it ended.
        case installed, failed, stopped
        /// What to do when the activity could not be renewed.
        case tap
        /// There is no install.
        case nothing
        /// An app without a name.
        case app
    }

    /// Texts with a number in them: `{n}`.
    public enum Counted: String, Sendable, Hashable, CaseIterable {
        /// How many apps there are.
        case apps
        /// How many more there are than are listed.
        case more
        /// How many ended so.
        case installed, failed, stopped
        /// The percentage as it is read aloud.
        case percent
    }

    /// The language's code, such as `de` or `ar-EG`.
    public let language: String
    /// Which form a number takes.
    public let pluralRule: PluralRule
    private let texts: [String: String]

    /// The words of a language.
    ///
    /// - Parameters:
    ///   - language: Its code. It decides the direction, and the plural rule where none is given.
    ///   - texts: By the keys of ``keys``; others are passed over.
    ///   - pluralRule: Another rule than the one known for the language.
    public init(language: String, _ texts: [String: String], pluralRule: PluralRule? = nil) {
        self.language = language
        self.pluralRule = pluralRule ?? PluralRule(language: language)
        var kept: [String: String] = [:]
        for key in Self.keys {
            guard let text = texts[key]?.withoutControls else { continue }
            if key == Self.percentKey, !text.contains(Self.placeholder) { continue }
            if key == Self.digitsKey, text.count != 10 { continue }
            let isLabel = key.hasPrefix("label.") && !text.contains(Self.placeholder)
            let limit = key.hasPrefix("sign.") ? 4 : isLabel ? Self.maximumLabelLetters : Self.maximumTextLetters
            kept[key] = text.cut(toLetters: limit)
        }
        self.texts = kept
    }

    /// The words of a JSON object of texts, with the language's code under `language`.
    public init(json: [UInt8]) throws(IslandStateError) {
        let table: [String: String]
        do {
            table = try JSONDecoder().decode([String: String].self, from: Data(json))
        } catch {
            throw IslandStateError(
                .wordsUnreadable,
                "The table of words is no JSON object whose values are texts: \(error).",
                remedy: "Write it as {\"language\": \"fr\", \"label.waiting\": \"Attente\"}."
            )
        }
        self.init(language: table["language"] ?? "en", table)
    }

    /// The keys that a table may have.
    ///
    /// Counted texts take one key for each form that the language has, at least `other`.
    public static let keys: [String] = {
        // In steps: as one sum it takes the compiler seconds.
        var keys: [String] = Label.allCases.map { "label." + $0.rawValue }
        keys += Sign.allCases.map { "sign." + $0.rawValue }
        keys += Phrase.allCases.map { "phrase." + $0.rawValue }
        for category in PluralCategory.allCases {
            keys.append("label.apps." + category.rawValue)
            keys += Counted.allCases.map { "count.\($0.rawValue).\(category.rawValue)" }
        }
        return keys + [percentKey, digitsKey, decimalKey, separatorKey]
    }()

    static let percentKey = "label.percent"
    static let digitsKey = "digits"
    static let decimalKey = "decimal"
    static let separatorKey = "separator"
    private static let placeholder = "{n}"

    /// Whether the language is written from right to left.
    public var isRightToLeft: Bool {
        ["ar", "ckb", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi"].contains(Self.code(language))
    }

    /// A short word.
    public func label(_ label: Label) -> String { text("label." + label.rawValue) }
    /// A sign.
    public func sign(_ sign: Sign) -> String { text("sign." + sign.rawValue) }
    /// A longer word.
    public func phrase(_ phrase: Phrase) -> String { text("phrase." + phrase.rawValue) }

    /// A text with a number, in the form that the number takes.
    public func text(_ counted: Counted, _ number: Int) -> String {
        self.counted("count." + counted.rawValue, number)
    }

    /// `41%`.
    public func percent(_ percent: Int) -> String {
        text(Self.percentKey).replacing(Self.placeholder, with: self.number(percent))
            .cut(toLetters: Self.maximumLabelLetters)
    }

    /// `3 apps`; only the number where both have no room, and `999+` above.
    public func apps(_ count: Int) -> String {
        if count > 999 { return number(999) + "+" }
        let text = counted("label.apps", count)
        return text.count <= Self.maximumLabelLetters ? text : number(count)
    }

    /// A whole number in the language's digits.
    public func number(_ number: Int) -> String { digits(String(number)) }

    /// `19.2/48.0 MB`; without a total `19.2 MB`. As the terminal writes it.
    public func bytes(_ count: Int64, of total: Int64?) -> String {
        digits(ByteCount.text(Double(count), of: total.map { Double($0) }, decimal: text(Self.decimalKey)))
    }

    /// The parts that are not empty, one after the other.
    func list(_ parts: [String]) -> String {
        parts.filter { !$0.isEmpty }.joined(separator: text(Self.separatorKey))
    }

    /// `ar` of `ar-EG`.
    static func code(_ language: String) -> String {
        language.prefix { $0 != "-" && $0 != "_" }.lowercased()
    }

    private func text(_ key: String) -> String { texts[key] ?? Self.englishTexts[key] ?? "" }

    private func counted(_ key: String, _ number: Int) -> String {
        let own = texts["\(key).\(pluralRule.category(number).rawValue)"] ?? texts[key + ".other"]
        let text =
            own ?? Self.englishTexts["\(key).\(PluralRule.oneOther.category(number).rawValue)"]
            ?? Self.englishTexts[key + ".other"] ?? Self.placeholder
        return text.replacing(Self.placeholder, with: self.number(number))
    }

    /// The text with its digits in the language's own.
    private func digits(_ text: String) -> String {
        guard let own = texts[Self.digitsKey].map(Array.init) else { return text }
        return String(
            text.map { letter in
                guard letter.isASCII, let value = letter.wholeNumberValue, own.indices.contains(value) else {
                    return letter
                }
                return own[value]
            }
        )
    }
}

extension String {
    /// The text on one line; its spaces stay.
    fileprivate var withoutControls: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .lineSeparator, .paragraphSeparator: text += " "
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
