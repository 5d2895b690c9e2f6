import FerryPropertyList

/// What one profile makes of one entitlement that an app asks for.
struct EntitlementRules {
    /// What came of a wish: a value, or the reason why there is none.
    struct Verdict {
        var value: PropertyList?
        var reason = ""
        var warnings: [String] = []
    }

    let profile: ProvisioningProfile
    let identifier: String
    let rewriter: IdentifierRewriter

    static let absent = "the profile does not grant it"

    /// Keys whose value the profile sets, so that the app's word for it counts only as a wish to have the key.
    private static let profileChooses: Set<String> = [
        "aps-environment", "com.apple.developer.aps-environment", "com.apple.developer.default-data-protection",
        "com.apple.developer.icloud-container-environment",
    ]

    /// Never a pattern: two apps of a team would share all that is kept under it.
    var applicationIdentifier: String { profile.prefix + "." + identifier }

    /// The keychain group of the app alone; `nil` where the profile grants no keychain groups, or none that fits.
    var ownKeychainGroups: PropertyList? {
        guard let granted = profile.entitlements[EntitlementsPlan.keychainGroupsKey],
            Self.allows(granted, applicationIdentifier)
        else { return nil }
        return [.string(applicationIdentifier)]
    }

    /// What becomes of a wish.
    func verdict(on wish: PropertyList, for key: String) -> Verdict {
        guard let granted = profile.entitlements[key] else { return Verdict(reason: Self.absent) }
        switch key {
        case EntitlementsPlan.keychainGroupsKey: return keychainGroups(wish, granted)
        case EntitlementsPlan.appGroupsKey: return appGroups(wish, granted)
        case _ where Self.profileChooses.contains(key): return chosen(wish, granted)
        default: return generally(wish, granted)
        }
    }

    private func chosen(_ wish: PropertyList, _ granted: PropertyList) -> Verdict {
        guard let text = wish.string, let given = granted.strings ?? granted.string.map({ [$0] }) else {
            return mismatch(wish, granted)
        }
        if Self.allows(granted, text) { return Verdict(value: wish) }
        guard let first = given.first else { return Verdict(reason: refusal(of: text, granted)) }
        return Verdict(value: .string(first), warnings: ["“\(text)” becomes “\(first)”, as the profile says"])
    }

    private func generally(_ wish: PropertyList, _ granted: PropertyList) -> Verdict {
        switch (wish, granted) {
        case (.boolean(let asked), .boolean(let given)):
            guard asked, !given else { return Verdict(value: wish) }
            return Verdict(reason: "the profile says no to it")
        case (.string(let text), .string(let pattern))
        where text.contains("*") && pattern.hasSuffix("*") && pattern != "*":
            // The pattern itself, as careless signers copy it out of a profile: it would be shared with the whole team.
            guard Self.allows(granted, applicationIdentifier) else {
                return Verdict(reason: refusal(of: text, granted))
            }
            return Verdict(
                value: .string(applicationIdentifier),
                warnings: ["“\(text)” would be shared with every app of the team; it becomes the app's own"]
            )
        case (.string(let text), .string), (.string(let text), .array):
            guard let fitting = fitting(text, granted) else { return Verdict(reason: refusal(of: text, granted)) }
            return Verdict(value: .string(fitting))
        case (.array(let elements), .string(let pattern)):
            // Only a pattern stands for a list; a plain text against a list is another type.
            guard pattern.contains("*") else { return mismatch(wish, granted) }
            return subset(elements, granted)
        case (.array(let elements), .array): return subset(elements, granted)
        default:
            if wish == granted { return Verdict(value: wish) }
            if wish.kindName != granted.kindName { return mismatch(wish, granted) }
            return Verdict(reason: "the profile grants another value")
        }
    }

    private func subset(_ elements: [PropertyList], _ granted: PropertyList) -> Verdict {
        var verdict = Verdict()
        var kept: [PropertyList] = []
        for element in elements {
            if let text = element.string {
                if let fitting = fitting(text, granted) {
                    if !kept.contains(.string(fitting)) { kept.append(.string(fitting)) }
                } else {
                    verdict.warnings.append("“\(text)” is not granted and is left out")
                }
            } else if granted.array?.contains(element) == true {
                kept.append(element)
            } else {
                verdict.warnings.append("\(element.kindName) in it is not granted and is left out")
            }
        }
        guard !kept.isEmpty || elements.isEmpty else {
            return Verdict(reason: "the profile grants nothing that was asked for in it")
        }
        verdict.value = .array(kept)
        return verdict
    }

    private func keychainGroups(_ wish: PropertyList, _ granted: PropertyList) -> Verdict {
        guard let asked = wish.strings else { return mismatch(wish, granted) }
        var verdict = Verdict(reason: "the profile grants none of its groups")
        var kept: [PropertyList] = []
        for group in asked {
            if group.contains("*") {
                verdict.warnings.append(
                    "“\(group)” would be shared with every app of the team; it becomes the app's own"
                )
                if let own = ownKeychainGroups?.array?.first, !kept.contains(own) { kept.append(own) }
            } else if let fitting = fitting(group, granted) {
                if !kept.contains(.string(fitting)) { kept.append(.string(fitting)) }
                if isSharedBeyondApp(fitting) {
                    verdict.warnings.append("“\(fitting)” is shared with every app of the team that asks for it")
                }
            } else {
                verdict.warnings.append("“\(group)” is not granted and is left out")
            }
        }
        verdict.value = kept.isEmpty ? ownKeychainGroups : .array(kept)
        return verdict
    }

    /// Whether a keychain group of the team is named after neither this bundle nor another of the same app.
    private func isSharedBeyondApp(_ group: String) -> Bool {
        guard group.hasPrefix(profile.prefix + ".") else { return false }
        let name = String(group.dropFirst(profile.prefix.count + 1))
        return !([identifier] + rewriter.renames.values).contains { BundleIdentifier.isAtOrBelow(name, $0) }
    }

    /// Those asked for that are granted, else all that are: without any group an app and its extensions cannot meet.
    private func appGroups(_ wish: PropertyList, _ granted: PropertyList) -> Verdict {
        guard wish.array != nil, granted.array != nil else { return mismatch(wish, granted) }
        let found = subset(wish.array ?? [], granted)
        guard found.value == nil else { return found }
        let groups = profile.appGroups
        guard !groups.isEmpty else { return Verdict(reason: "the profile grants no app group") }
        let names = (wish.strings ?? []).joined(separator: ", ")
        return Verdict(
            value: .array(groups.map { .string($0) }),
            warnings: ["\(names) is not granted; it becomes \(groups.joined(separator: ", "))"]
        )
    }

    /// The text under the new names if the profile allows that, else as it is if it allows that.
    private func fitting(_ text: String, _ granted: PropertyList) -> String? {
        [rewriter.rewritten(text), text].first { candidate in
            // A pattern is fit only where the profile has the very same: pass types are asked for as `TEAM.*`.
            candidate.contains("*") && granted.string != "*"
                ? granted.array?.contains(.string(candidate)) == true : Self.allows(granted, candidate)
        }
    }

    private func refusal(of text: String, _ granted: PropertyList) -> String {
        let allowed = granted.strings ?? [granted.string].compactMap(\.self)
        return "“\(text)” is not granted, only \(allowed.isEmpty ? "nothing" : allowed.joined(separator: ", "))"
    }

    private func mismatch(_ wish: PropertyList, _ granted: PropertyList) -> Verdict {
        Verdict(reason: "\(wish.kindName) was asked for, and the profile grants \(granted.kindName)")
    }

    // MARK: All that a profile grants

    /// The whole of what the profile grants under a key; `nil` where a `*` leaves that open.
    func whole(_ granted: PropertyList, for key: String) -> PropertyList? {
        switch key {
        case EntitlementsPlan.keychainGroupsKey: return ownKeychainGroups
        case _ where Self.profileChooses.contains(key) && granted.array != nil: return granted.array?.first
        default: break
        }
        switch granted {
        case .string(let text): return closed(text).map { .string($0) }
        case .array(let elements):
            let kept = elements.compactMap { element -> PropertyList? in
                guard case .string(let text) = element else { return element }
                return closed(text).map { .string($0) }
            }
            return kept.isEmpty && !elements.isEmpty ? nil : .array(kept)
        default: return granted
        }
    }

    /// The text, or the app's own where it is a pattern for that.
    private func closed(_ text: String) -> String? {
        guard text.contains("*") else { return text }
        guard text.hasSuffix("*"), text != "*", applicationIdentifier.hasPrefix(text.dropLast()) else { return nil }
        return applicationIdentifier
    }

    // MARK: Entitlements that replace the plan

    /// `value` with Xcode's variables filled in.
    func filled(_ value: PropertyList) -> PropertyList {
        value.mapStrings { text in
            var text = text
            for (variable, meaning) in [
                ("$(AppIdentifierPrefix)", profile.prefix + "."),
                ("$(TeamIdentifierPrefix)", profile.teamIdentifier + "."),
                ("$(CFBundleIdentifier)", identifier),
                ("$(PRODUCT_BUNDLE_IDENTIFIER)", identifier),
            ] {
                text = text.split(separator: variable, omittingEmptySubsequences: false).joined(separator: meaning)
            }
            return text
        }
    }

    /// Why a device would refuse a value as it stands; `nil` where it would not.
    func objection(to value: PropertyList, for key: String) -> String? {
        guard let granted = profile.entitlements[key] else { return Self.absent }
        switch (value, granted) {
        case (.boolean(let asked), .boolean(let given)): return asked && !given ? "the profile says no to it" : nil
        case (.string(let text), .string), (.string(let text), .array):
            return Self.allows(granted, text) ? nil : refusal(of: text, granted)
        case (.array(let elements), .array), (.array(let elements), .string):
            if case .string(let pattern) = granted, !pattern.contains("*") { return mismatch(value, granted).reason }
            for element in elements {
                if let text = element.string {
                    if !Self.allows(granted, text) { return refusal(of: text, granted) }
                } else if granted.array?.contains(element) != true {
                    return "\(element.kindName) in it is not granted"
                }
            }
            return nil
        default:
            if value == granted { return nil }
            return value.kindName == granted.kindName
                ? "the profile grants another value" : mismatch(value, granted).reason
        }
    }

    /// Whether a granted text, or one of a granted list, is `text`, or begins it up to its own `*`.
    private static func allows(_ granted: PropertyList, _ text: String) -> Bool {
        switch granted {
        case .string(let pattern):
            guard pattern.hasSuffix("*") else { return pattern == text }
            return text.hasPrefix(pattern.dropLast())
        case .array(let patterns): return patterns.contains { $0.string != nil && allows($0, text) }
        default: return false
        }
    }
}

extension PropertyList {
    /// The same value with other texts, wherever they stand; keys stay.
    func mapStrings(_ change: (String) -> String) -> PropertyList {
        switch self {
        case .string(let text): .string(change(text))
        case .array(let elements): .array(elements.map { $0.mapStrings(change) })
        case .dictionary(let dictionary):
            .dictionary(
                dictionary.reduce(into: Dictionary()) { mapped, member in
                    mapped[member.key] = member.value.mapStrings(change)
                }
            )
        default: self
        }
    }
}
