public import FerryPropertyList

/// An app on a device.
public struct DeviceApp: Sendable, Hashable {
    /// Its bundle identifier.
    public var identifier: String
    /// What people call it.
    public var name: String
    /// `CFBundleShortVersionString`; `nil` where it has none.
    public var version: String?
    /// `CFBundleVersion`; `nil` where it has none.
    public var build: String?
    /// `ApplicationType`: `User`, `System`.
    public var kind: String?
    /// What its `application-identifier` begins with: as a rule the team that signed it; `nil` where it does not say.
    public var teamPrefix: String?

    /// An app of that identifier, of which no more is known.
    public init(identifier: String, name: String? = nil) {
        self.identifier = identifier
        self.name = name ?? identifier
    }

    /// What is asked of each app.
    static let attributes = [
        "CFBundleIdentifier", "CFBundleDisplayName", "CFBundleName", "CFBundleShortVersionString", "CFBundleVersion",
        "ApplicationType", "ApplicationIdentifier", "Entitlements",
    ]

    /// From what `installation_proxy` says of it; `nil` where that names no app.
    public init?(_ dictionary: PropertyList.Dictionary) {
        guard let identifier = dictionary["CFBundleIdentifier"]?.string else { return nil }
        let name = dictionary["CFBundleDisplayName"]?.string ?? dictionary["CFBundleName"]?.string
        self.init(identifier: identifier, name: name)
        version = dictionary["CFBundleShortVersionString"]?.string
        build = dictionary["CFBundleVersion"]?.string
        kind = dictionary["ApplicationType"]?.string
        let whole =
            dictionary["ApplicationIdentifier"]?.string
            ?? dictionary[path: "Entitlements", "application-identifier"]?.string
        if let whole, let dot = whole.firstIndex(of: "."), whole.hasSuffix("." + identifier) {
            teamPrefix = String(whole[..<dot])
        }
    }
}
