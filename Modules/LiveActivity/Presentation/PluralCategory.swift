/// The six forms that a language may have for a number of things, as Unicode's CLDR names them.
public enum PluralCategory: String, Sendable, Hashable, CaseIterable {
    /// Arabic 0.
    case zero
    /// English 1.
    case one
    /// Arabic 2.
    case two
    /// Arabic 3 to 10, and the same after whole hundreds.
    case few
    /// Arabic 11 to 99, and the same after whole hundreds.
    case many
    /// Everything else; the only form of Japanese.
    case other
}

/// Which form a language takes for a whole number. Source: CLDR, `supplemental/plurals.xml`.
public enum PluralRule: Sendable, Hashable, CaseIterable {
    /// One form for every number: Chinese, Indonesian, Japanese, Korean, Thai, Vietnamese.
    case always
    /// One thing, and all else: English, German and most others.
    case oneOther
    /// None or one, and all else: French, Portuguese.
    case zeroOneOther
    /// All six: Arabic.
    case arabic

    /// The rule of a language, by its code (`ar`, `ar-EG`, `pt_BR`); ``oneOther`` for one that is not known here.
    public init(language: String) {
        switch IslandWords.code(language) {
        case "id", "ja", "ko", "ms", "th", "vi", "zh": self = .always
        case "fr", "pt": self = .zeroOneOther
        case "ar": self = .arabic
        default: self = .oneOther
        }
    }

    /// The form for `number`; below 0 as for 0.
    public func category(_ number: Int) -> PluralCategory {
        let number = max(number, 0)
        switch self {
        case .always: return .other
        case .oneOther: return number == 1 ? .one : .other
        case .zeroOneOther: return number <= 1 ? .one : .other
        case .arabic:
            switch number {
            case 0: return .zero
            case 1: return .one
            case 2: return .two
            default: break
            }
            return switch number % 100 {
            case 3...10: .few
            case 11...99: .many
            default: .other
            }
        }
    }
}
