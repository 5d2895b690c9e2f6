public import FerryPropertyList

/// Where a bundle's entitlements come from.
public enum EntitlementsMode: String, Sendable, Hashable, CaseIterable {
    /// What its profile grants, whatever it asked for.
    case profile
    /// What it asked for before, cut down to what its profile grants.
    case app
    /// Only what is given for it; without that no more than every app needs.
    case file
}

/// The entitlements that one bundle is signed with, and what became of those it asked for.
///
/// What it asked for before, cut down to what its profile allows, with the new team and identifiers in place of the old.
public struct EntitlementsPlan: Sendable, Hashable {
    /// What to sign with, in the order of its keys.
    public private(set) var entitlements: PropertyList.Dictionary = [:]
    /// The keys that were asked for and are not granted, with why.
    public private(set) var dropped: [String: String] = [:]
    /// What else is not as it was asked for, in the order of the keys.
    public private(set) var warnings: [String] = []
    /// For entitlements that replace the plan: what the profile does not grant, so that a device would refuse the app.
    public private(set) var problems: [AppBundleError] = []

    /// The key of the application identifier on iOS and its kin.
    public static let applicationIdentifierKey = "application-identifier"
    /// The key of the team.
    public static let teamIdentifierKey = "com.apple.developer.team-identifier"
    /// The key that lets a debugger in.
    public static let getTaskAllowKey = "get-task-allow"
    /// The key of the keychain groups.
    public static let keychainGroupsKey = "keychain-access-groups"
    /// The key of the app groups.
    public static let appGroupsKey = "com.apple.security.application-groups"

    /// Plans the entitlements of one bundle.
    ///
    /// `requested` is what the bundle was signed with, `nil` where it never was. `renames` are all the identifiers of the app
    /// that change (``IdentifierPlan/renames``). `override` replaces what was asked for and is not cut down: what the
    /// profile does not grant becomes a problem. `$(AppIdentifierPrefix)`, `$(TeamIdentifierPrefix)` and
    /// `$(CFBundleIdentifier)` in it are filled in. Without one, `mode` says where the entitlements come from.
    public static func plan(
        requested: PropertyList.Dictionary?,
        profile: ProvisioningProfile,
        newIdentifier: String,
        oldIdentifier: String? = nil,
        renames: [String: String] = [:],
        override: PropertyList.Dictionary? = nil,
        mode: EntitlementsMode = .app
    ) -> EntitlementsPlan {
        var renames = renames
        if let oldIdentifier { renames[oldIdentifier] = newIdentifier }
        let rules = EntitlementRules(
            profile: profile,
            identifier: newIdentifier,
            rewriter: IdentifierRewriter(
                renames: renames,
                oldPrefixes: oldPrefixes(of: requested),
                newPrefix: profile.prefix
            )
        )
        var plan = EntitlementsPlan()
        if let override {
            plan.replace(with: override, rules)
        } else {
            switch mode {
            case .app: plan.cut(requested, rules)
            case .profile: plan.takeAll(of: profile, requested, rules)
            case .file: plan.drop(requested)
            }
            plan.addDefaults(rules)
        }
        plan.addIdentity(rules)
        plan.entitlements = plan.entitlements.sorted()
        return plan
    }

    /// Plans the entitlements of a bundle that no profile limits, as for an ad-hoc signature: what it asked for before, under
    /// the new identifiers, or `override` as it is.
    ///
    /// - Parameter mode: ``EntitlementsMode/file`` takes nothing of what it asked for.
    public static func unlimited(
        requested: PropertyList.Dictionary?,
        renames: [String: String],
        override: PropertyList.Dictionary? = nil,
        mode: EntitlementsMode = .app
    ) -> EntitlementsPlan {
        var plan = EntitlementsPlan()
        if let override {
            plan.entitlements = override.sorted()
            return plan
        }
        guard let requested, mode != .file else {
            plan.drop(requested)
            return plan
        }
        // The prefixes stay: who it is nobody says anew.
        let rewriter = IdentifierRewriter(
            renames: renames,
            oldPrefixes: oldPrefixes(of: requested),
            newPrefix: nil
        )
        for (key, value) in requested.sorted() { plan.entitlements[key] = value.mapStrings(rewriter.rewritten) }
        return plan
    }

    private static func oldPrefixes(of requested: PropertyList.Dictionary?) -> [String] {
        let team = requested?[teamIdentifierKey]?.string
        let identifier = requested?[applicationIdentifierKey]?.string
        let prefix = identifier?.split(separator: ".", omittingEmptySubsequences: false).first.map(String.init)
        return [prefix, team].compactMap(\.self).filter { !$0.isEmpty }
    }

    /// Keys whose value no app chooses.
    private static let ownKeys: Set<String> = [applicationIdentifierKey, teamIdentifierKey, getTaskAllowKey]

    private mutating func cut(_ requested: PropertyList.Dictionary?, _ rules: EntitlementRules) {
        for (key, value) in requested?.sorted() ?? [:] where !Self.ownKeys.contains(key) {
            let verdict = rules.verdict(on: value, for: key)
            if let granted = verdict.value {
                entitlements[key] = granted
            } else {
                dropped[key] = verdict.reason
            }
            warnings += verdict.warnings.map { "\(key): \($0)" }
        }
        // Told, because a debugger that no longer gets in is a surprise.
        if let asked = requested?[Self.getTaskAllowKey], rules.profile.entitlements[Self.getTaskAllowKey] == nil {
            if asked.bool == true { dropped[Self.getTaskAllowKey] = EntitlementRules.absent }
        }
    }

    /// Takes what the profile grants. What it leaves open with a `*` is as the bundle asked for.
    private mutating func takeAll(
        of profile: ProvisioningProfile,
        _ requested: PropertyList.Dictionary?,
        _ rules: EntitlementRules
    ) {
        for (key, granted) in profile.entitlements.sorted() where !Self.ownKeys.contains(key) {
            if let value = rules.whole(granted, for: key) {
                entitlements[key] = value
            } else if let wish = requested?[key] {
                let verdict = rules.verdict(on: wish, for: key)
                if let value = verdict.value { entitlements[key] = value } else { dropped[key] = verdict.reason }
                warnings += verdict.warnings.map { "\(key): \($0)" }
            } else {
                warnings.append("\(key): the profile leaves its value open, and nothing was asked for; it is left out")
            }
        }
        for key in requested?.keys ?? [] where !Self.ownKeys.contains(key) && profile.entitlements[key] == nil {
            dropped[key] = EntitlementRules.absent
        }
    }

    /// Takes nothing of what was asked for.
    private mutating func drop(_ requested: PropertyList.Dictionary?) {
        for key in requested?.keys ?? [] where !Self.ownKeys.contains(key) && key != Self.keychainGroupsKey {
            dropped[key] = "only what a file says was asked for"
        }
    }

    private mutating func replace(with override: PropertyList.Dictionary, _ rules: EntitlementRules) {
        for (key, raw) in override.sorted() {
            let value = rules.filled(raw)
            if key == Self.applicationIdentifierKey {
                if value.string != rules.applicationIdentifier {
                    warnings.append("\(key): it is \(rules.applicationIdentifier), whatever was asked for")
                }
                continue
            }
            entitlements[key] = value
            guard let reason = rules.objection(to: value, for: key) else { continue }
            problems.append(
                AppBundleError(
                    .entitlementNotGranted,
                    rules.identifier,
                    "the entitlement \(AppBundleError.printable(key)) cannot be given: \(reason).",
                    remedy: "Take it out of the entitlements, or get a profile that grants it."
                )
            )
        }
    }

    /// Adds who the app is, which every one must say.
    private mutating func addIdentity(_ rules: EntitlementRules) {
        entitlements[Self.applicationIdentifierKey] = .string(rules.applicationIdentifier)
        if rules.profile.entitlements[Self.teamIdentifierKey] != nil, entitlements[Self.teamIdentifierKey] == nil {
            entitlements[Self.teamIdentifierKey] = .string(rules.profile.teamIdentifier)
        }
    }

    /// Adds what the profile decides alone, and a keychain group where there is none.
    private mutating func addDefaults(_ rules: EntitlementRules) {
        if let debugging = rules.profile.entitlements[Self.getTaskAllowKey]?.bool {
            entitlements[Self.getTaskAllowKey] = .boolean(debugging)
        }
        if entitlements[Self.keychainGroupsKey] == nil, let own = rules.ownKeychainGroups {
            entitlements[Self.keychainGroupsKey] = own
        }
    }
}
