public import FerryPropertyList

/// Which files of a bundle its seal covers, and how strictly.
///
/// A dictionary of patterns; each has `true`, `false`, or `{ weight, omit | optional | nested }`. The heaviest pattern
/// that matches a path decides. Of equally heavy ones Apple's tools take whichever their hash table gives first; Xcode writes
/// `^` and `^Info\.plist$ omit`, both of weight 20, and leaves Info.plist out, so here leaving out wins.
/// Source: libsecurity_codesigning `resources.cpp`.
public struct ResourceRules: Sendable {
    /// What a rule says of a file.
    public enum Kind: Sendable, Hashable {
        /// It must be there, unchanged.
        case required
        /// It may be missing; where it is there, it must be unchanged.
        case optional
        /// It is not sealed.
        case omitted
        /// It is code with a signature of its own (macOS bundles only).
        case nested
    }

    /// The most rules that a seal is believed to have; Xcode writes about a dozen.
    public static let ruleLimit = 256
    /// The most steps that all its patterns may be translated to: each may be taken for each byte of each path.
    static let stepLimit = 2 * PathPattern.stepLimit

    struct Rule: Sendable {
        var pattern: Pattern
        var weight: Double
        var kind: Kind
    }

    /// The rules in the order of the property list.
    let rules: [Rule]
    /// The property list that says the same.
    let propertyList: PropertyList

    /// Reads the rules of a seal.
    public init(_ propertyList: PropertyList) throws(CodeSignatureError) {
        guard case .dictionary(let entries) = propertyList else {
            throw CodeSignatureError(.seal, "the seal's rules are no dictionary.")
        }
        guard entries.count <= Self.ruleLimit else {
            throw CodeSignatureError(.seal, "the seal has \(entries.count) rules, more than \(Self.ruleLimit).")
        }
        var rules: [Rule] = []
        var steps = 0
        for (text, value) in entries {
            var rule = Rule(pattern: try Pattern(text), weight: 1, kind: .required)
            switch value {
            case .boolean(let isIncluded): rule.kind = isIncluded ? .required : .omitted
            case .dictionary(let details):
                switch details["weight"] {
                case .integer(let weight): rule.weight = Double(weight)
                case .real(let weight): rule.weight = weight
                default: break
                }
                if details["omit"] == .boolean(true) {
                    rule.kind = .omitted
                } else if details["optional"] == .boolean(true) {
                    rule.kind = .optional
                } else if details["nested"] == .boolean(true) {
                    rule.kind = .nested
                }
            default:
                throw CodeSignatureError(
                    .seal,
                    "the seal's rule for “\(text)” is neither true, false nor a dictionary."
                )
            }
            rules.append(rule)
            steps += rule.pattern.stepCount
            guard steps <= Self.stepLimit else {
                throw CodeSignatureError(.seal, "the seal's rules take more than \(Self.stepLimit) steps to match.")
            }
        }
        self.rules = rules
        self.propertyList = propertyList
    }

    /// What the rules say of a file; `nil` where none matches, so that it is not sealed.
    ///
    /// - Parameter path: from the bundle's folder, with `/` between.
    public func kind(of path: String) -> Kind? {
        let utf8 = Array(path.utf8)
        var best: Rule?
        for rule in rules where rule.weight >= (best?.weight ?? -.infinity) && rule.pattern.matches(utf8) {
            if rule.weight > (best?.weight ?? -.infinity) || rule.kind == .omitted { best = rule }
        }
        return best?.kind
    }

    private static func entry(_ weight: Double, _ flag: String? = nil) -> PropertyList {
        var details = PropertyList.Dictionary()
        if let flag {
            details[flag] = .boolean(true)
        }
        details["weight"] = .real(weight)
        return .dictionary(details)
    }

    private init(ours entries: PropertyList.Dictionary) {
        do {
            try self.init(.dictionary(entries))
        } catch {
            preconditionFailure("our own rules are well formed: \(error)")
        }
    }

    /// The rules that Apple's tools write as `rules` for an iOS bundle.
    public static let version1 = ResourceRules(ours: [
        "^.*": .boolean(true),
        #"^.*\.lproj/"#: entry(1000, "optional"),
        #"^.*\.lproj/locversion.plist$"#: entry(1100, "omit"),
        #"^Base\.lproj/"#: entry(1010),
        "^version.plist$": .boolean(true),
    ])

    /// The rules that Apple's tools write as `rules2` for an iOS bundle.
    public static let version2 = ResourceRules(ours: [
        #".*\.dSYM($|/)"#: entry(11),
        #"^(.*/)?\.DS_Store$"#: entry(2000, "omit"),
        "^.*": .boolean(true),
        #"^.*\.lproj/"#: entry(1000, "optional"),
        #"^.*\.lproj/locversion.plist$"#: entry(1100, "omit"),
        #"^Base\.lproj/"#: entry(1010),
        #"^Info\.plist$"#: entry(20, "omit"),
        "^PkgInfo$": entry(20, "omit"),
        #"^embedded\.provisionprofile$"#: entry(20),
        #"^version\.plist$"#: entry(20),
    ])
}

extension ResourceRules {
    /// A rule's pattern: those that Apple's tools write are matched by hand, any other by a ``PathPattern``.
    enum Pattern: Sendable {
        case everything
        case folderEnding(String)
        case folderEndingWithFile(String, String)
        case topFolder(String)
        case topFile(String)
        case file(String)
        case dSYM
        case expression(PathPattern)

        init(_ text: String) throws(CodeSignatureError) {
            switch text {
            case "^.*", ".*": self = .everything
            case #"^.*\.lproj/"#: self = .folderEnding(".lproj/")
            case #"^.*\.lproj/locversion.plist$"#: self = .folderEndingWithFile(".lproj/", "locversion.plist")
            case #"^Base\.lproj/"#: self = .topFolder("Base.lproj/")
            case #"^(.*/)?\.DS_Store$"#: self = .file(".DS_Store")
            case #"^Info\.plist$"#: self = .topFile("Info.plist")
            case "^PkgInfo$": self = .topFile("PkgInfo")
            case "^version.plist$", #"^version\.plist$"#: self = .topFile("version.plist")
            case #"^embedded\.provisionprofile$"#: self = .topFile("embedded.provisionprofile")
            case #".*\.dSYM($|/)"#: self = .dSYM
            default:
                do {
                    self = .expression(try PathPattern(text))
                } catch {
                    throw CodeSignatureError(.seal, "the seal's rule “\(text)” is no regular expression.")
                }
            }
        }

        var stepCount: Int {
            if case .expression(let pattern) = self { pattern.stepCount } else { 1 }
        }

        func matches(_ utf8: [UInt8]) -> Bool {
            switch self {
            case .everything: return true
            case .folderEnding(let ending): return utf8.contains(Array(ending.utf8))
            case .folderEndingWithFile(let ending, let file): return utf8.hasSuffix(Array((ending + file).utf8))
            case .topFolder(let name): return utf8.starts(with: name.utf8)
            case .topFile(let name): return utf8.elementsEqual(name.utf8)
            case .file(let name):
                return utf8.elementsEqual(name.utf8) || utf8.hasSuffix(Array(("/" + name).utf8))
            case .dSYM: return utf8.contains(Array(".dSYM/".utf8)) || utf8.hasSuffix(Array(".dSYM".utf8))
            case .expression(let pattern): return pattern.occurs(in: utf8)
            }
        }
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool {
        count >= suffix.count && self[(count - suffix.count)...].elementsEqual(suffix)
    }

    fileprivate func contains(_ part: [UInt8]) -> Bool {
        guard let first = part.first, count >= part.count else { return false }
        return indices.dropLast(part.count - 1).contains { index in
            self[index] == first && self[index..<index + part.count].elementsEqual(part)
        }
    }
}
