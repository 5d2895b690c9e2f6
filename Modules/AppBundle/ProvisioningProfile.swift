public import FerryPropertyList

/// A provisioning profile: which apps a team may install where, signed with what, and allowed to do what.
///
/// ```
/// ContentInfo { signedData: SignedData { encapContentInfo { data: property list, XML or binary }, … } }   RFC 5652 §5
/// ```
/// Apple's signature around it is not judged here: the device does that.
public struct ProvisioningProfile: Sendable, Hashable {
    /// Whom a profile is for.
    public enum Kind: String, Sendable, Hashable, CaseIterable {
        /// Listed devices, with a debugger allowed.
        case development
        /// Listed devices.
        case adHoc
        /// Every device that trusts the company.
        case enterprise
        /// The App Store and TestFlight alone; no device installs it directly.
        case appStore
    }

    /// The file, to be written into the bundle as it is.
    public let bytes: [UInt8]
    /// Whether it is CMS, as every real one is; a bare property list can be looked at, but no device takes it.
    public let isSigned: Bool
    /// The whole property list.
    public let dictionary: PropertyList.Dictionary
    /// `Name`.
    public let name: String
    /// `UUID`; empty where there is none.
    public let uuid: String
    /// `TeamIdentifier`.
    public let teamIdentifiers: [String]
    /// `TeamName`.
    public let teamName: String?
    /// `ApplicationIdentifierPrefix`: as a rule the team's.
    public let appIDPrefixes: [String]
    /// The entitlement of that name: the prefix, a dot, and a bundle identifier or a pattern that ends in `*`.
    public let applicationIdentifier: String
    /// The most that an app under this profile may be granted.
    public let entitlements: PropertyList.Dictionary
    /// The certificates that may sign, in DER.
    public let developerCertificates: [[UInt8]]
    /// When it was made, in seconds since 1970-01-01T00:00:00Z.
    public let creation: Double?
    /// When it ends, in seconds since 1970-01-01T00:00:00Z.
    public let expiration: Double?
    /// `Platform`: `iOS`, `tvOS`, `xrOS`, …
    public let platforms: [String]
    /// The identifiers of the devices that it is for; `nil` where it lists none.
    public let provisionedDevices: [String]?
    /// Whether it is for every device.
    public let provisionsAllDevices: Bool

    /// The part of the application identifier before the first dot.
    public let prefix: String
    /// The part after it: a bundle identifier, or a pattern that ends in `*`.
    public let bundlePattern: String

    /// Reads a `.mobileprovision`; `path` is for the message of what is thrown.
    public init(bytes: [UInt8], path: String = "embedded.mobileprovision") throws(AppBundleError) {
        let content = try ProfileContent(bytes, path)
        let dictionary = content.dictionary
        guard let entitlements = dictionary["Entitlements"]?.dictionary else {
            throw ProfileContent.unreadable(path, "it is a property list, but has no Entitlements.")
        }
        let identifierKeys = ["application-identifier", "com.apple.application-identifier"]
        guard let identifier = identifierKeys.lazy.compactMap({ entitlements[$0]?.string }).first,
            let dot = identifier.firstIndex(of: "."), dot != identifier.startIndex,
            identifier.index(after: dot) != identifier.endIndex
        else {
            throw ProfileContent.unreadable(
                path,
                "its Entitlements have no application-identifier like TEAM.com.example."
            )
        }
        self.bytes = bytes
        isSigned = content.isSigned
        self.dictionary = dictionary
        self.entitlements = entitlements
        applicationIdentifier = identifier
        prefix = String(identifier[..<dot])
        bundlePattern = String(identifier[identifier.index(after: dot)...])
        name = dictionary["Name"]?.string ?? ""
        uuid = dictionary["UUID"]?.string ?? ""
        teamIdentifiers = dictionary["TeamIdentifier"]?.array?.compactMap(\.string) ?? []
        teamName = dictionary["TeamName"]?.string
        appIDPrefixes = dictionary["ApplicationIdentifierPrefix"]?.array?.compactMap(\.string) ?? []
        developerCertificates = dictionary["DeveloperCertificates"]?.array?.compactMap(\.data) ?? []
        creation = dictionary["CreationDate"]?.date?.secondsSince1970
        expiration = dictionary["ExpirationDate"]?.date?.secondsSince1970
        platforms = dictionary["Platform"]?.array?.compactMap(\.string) ?? []
        provisionedDevices = dictionary["ProvisionedDevices"]?.array?.compactMap(\.string)
        provisionsAllDevices = dictionary["ProvisionsAllDevices"]?.bool ?? false
    }

    /// The team that signs.
    public var teamIdentifier: String { teamIdentifiers.first ?? prefix }

    /// Whether it is for more than one bundle identifier.
    public var isWildcard: Bool { bundlePattern.hasSuffix("*") }

    /// Whether it lets a debugger in: its `get-task-allow`.
    public var allowsDebugging: Bool { entitlements["get-task-allow"]?.bool == true }

    /// Whom it is for.
    public var kind: Kind {
        if provisionsAllDevices { return .enterprise }
        if allowsDebugging { return .development }
        return provisionedDevices == nil ? .appStore : .adHoc
    }

    /// The app groups that it grants.
    public var appGroups: [String] {
        entitlements[EntitlementsPlan.appGroupsKey]?.array?.compactMap(\.string).filter { !$0.contains("*") } ?? []
    }
}

extension ProvisioningProfile {
    /// How closely it is made for a bundle identifier: more is closer, and an exact one is closest; `nil` where it is not for it.
    public func matches(bundleIdentifier: String) -> Int? {
        guard isWildcard else {
            return bundlePattern == bundleIdentifier ? bundlePattern.utf8.count + 1 : nil
        }
        let fixed = bundlePattern.dropLast()
        guard bundleIdentifier.hasPrefix(fixed), bundleIdentifier.utf8.count > fixed.utf8.count else { return nil }
        return fixed.utf8.count
    }

    /// The profile that is made most closely for a bundle identifier: the exact one, else the longest pattern.
    ///
    /// Of equals the one that lasts longest, then the one with the lower UUID. With a team only that team's are looked at.
    public static func best(
        for bundleIdentifier: String,
        among profiles: [ProvisioningProfile],
        teamIdentifier: String? = nil
    ) -> ProvisioningProfile? {
        var best: (profile: ProvisioningProfile, closeness: Int)?
        for profile in profiles {
            if let teamIdentifier, profile.teamIdentifier != teamIdentifier { continue }
            guard let closeness = profile.matches(bundleIdentifier: bundleIdentifier) else { continue }
            if let present = best {
                guard closeness >= present.closeness else { continue }
                guard closeness > present.closeness || profile.isPreferred(to: present.profile) else { continue }
            }
            best = (profile, closeness)
        }
        return best?.profile
    }

    private func isPreferred(to other: ProvisioningProfile) -> Bool {
        let (own, others) = (expiration ?? .infinity, other.expiration ?? .infinity)
        return own == others ? uuid < other.uuid : own > others
    }

    /// The app group to use for one that an app names: itself if it is granted, else under the app's new name, else the first granted.
    public func appGroup(insteadOf group: String, renames: [String: String] = [:]) -> String? {
        let granted = appGroups
        if granted.contains(group) { return group }
        let rewritten = IdentifierRewriter(renames: renames, oldPrefixes: [], newPrefix: prefix).rewritten(group)
        return granted.contains(rewritten) ? rewritten : granted.first
    }
}
