import FerryBytes
package import FerryPropertyList

/// What a provisioning profile says; ``signed(by:)`` makes the file.
package struct SampleProfile: Sendable {
    /// The profile's name.
    package var name: String
    /// Which bundles it is for: `*`, `com.example.*`, or one identifier.
    package var appIDPattern: String
    /// The team, which is the prefix of the app id too.
    package var team: String
    /// The certificates that may sign with it, in DER.
    package var certificates: [[UInt8]]
    /// The devices that it is for; `nil` where it lists none, as those of the store do.
    package var devices: [String]?
    /// Whether it is for all devices, as those of enterprises are.
    package var provisionsAllDevices = false
    /// When it was made, in seconds since 1970.
    package var creation: Int64
    /// When it ends, in seconds since 1970.
    package var expiration: Int64
    /// What bundles may ask for.
    package var entitlements: PropertyList.Dictionary
    /// The platforms that it names.
    package var platforms = ["iOS"]
    /// Its UUID in upper case, made from name, pattern and team.
    package var uuid: String

    /// Fills in a profile; everything can be changed afterwards.
    ///
    /// - Parameter entitlements: these are added to application-identifier, team-identifier, get-task-allow and
    ///   keychain-access-groups, and win over them.
    package init(
        name: String = "Ferry Demo",
        appIDPattern: String = "*",
        team: String = "FERRYDEMO1",
        certificates: [[UInt8]],
        devices: [String]? = nil,
        creation: Int64,
        expiration: Int64,
        allowsDebugging: Bool = true,
        appGroups: [String] = [],
        apsEnvironment: String? = nil,
        entitlements: PropertyList.Dictionary = [:]
    ) {
        self.name = name
        self.appIDPattern = appIDPattern
        self.team = team
        self.certificates = certificates
        self.devices = devices
        self.creation = creation
        self.expiration = expiration
        var granted: PropertyList.Dictionary = [
            "application-identifier": .string(team + "." + appIDPattern),
            "com.apple.developer.team-identifier": .string(team),
            "get-task-allow": .boolean(allowsDebugging),
            "keychain-access-groups": [.string(team + ".*")],
        ]
        if !appGroups.isEmpty {
            granted["com.apple.security.application-groups"] = .array(appGroups.map { .string($0) })
        }
        if let apsEnvironment {
            granted["aps-environment"] = .string(apsEnvironment)
        }
        for (key, value) in entitlements {
            granted[key] = value
        }
        self.entitlements = granted
        var random = SampleRandom(
            seed: UInt64(bitPattern: creation),
            name: [name, appIDPattern, team].joined(separator: "\n")
        )
        let digits = random.uuid().hex.uppercased()
        var text = ""
        for (index, digit) in digits.enumerated() {
            text += [8, 12, 16, 20].contains(index) ? "-" + String(digit) : String(digit)
        }
        uuid = text
    }

    /// The property list inside, as XML.
    package var plist: [UInt8] {
        var list: PropertyList.Dictionary = [
            "AppIDName": .string(name),
            "ApplicationIdentifierPrefix": [.string(team)],
            "CreationDate": .date(PropertyListDate(secondsSince1970: Double(creation))),
            "Platform": .array(platforms.map { .string($0) }),
            "IsXcodeManaged": false,
            "DeveloperCertificates": .array(certificates.map { .data($0) }),
            "Entitlements": .dictionary(entitlements),
            "ExpirationDate": .date(PropertyListDate(secondsSince1970: Double(expiration))),
            "Name": .string(name),
        ]
        if let devices {
            list["ProvisionedDevices"] = .array(devices.map { .string($0) })
        }
        if provisionsAllDevices {
            list["ProvisionsAllDevices"] = true
        }
        list["TeamIdentifier"] = [.string(team)]
        list["TeamName"] = "Ferry Demo"
        list["TimeToLive"] = .integer(max(0, expiration - creation) / 86400)
        list["UUID"] = .string(uuid)
        list["Version"] = 1
        return PropertyList.dictionary(list).encoded(as: .xml)
    }

    /// The file: the property list in a CMS message that the authority's intermediate signed when the profile was made.
    package func signed(by authority: ThrowawayAuthority) throws(SampleError) -> [UInt8] {
        try authority.message(around: plist, at: creation)
    }
}
