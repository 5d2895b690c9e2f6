import FerryBytes

/// What a device says when it does not install or remove an app: `{Error, ErrorDescription, ErrorDetail}`.
struct InstallAnswer: Sendable {
    let name: String
    let description: String?
    let detail: Int64?

    /// The same as an error, with the remedy where one is known.
    func error(on line: DeviceLine) -> DeviceError {
        let said = [description.map(\.printable), code.map { "0x" + String($0, radix: 16) }].compactMap(\.self)
            .reduce(into: [String]()) { parts, part in
                if !parts.contains(where: { $0.contains(part) }) { parts.append(part) }
            }
        let why = explanation.map { ": " + $0.what } ?? "."
        return DeviceError(
            .declined,
            "\(line.name) says \(name.printable) while \(line.step)\(why)"
                + (said.isEmpty ? "" : " It says: \(said.joined(separator: ", "))"),
            remedy: explanation?.remedy ?? "Look for this name in the device's log; Ferry knows no remedy for it.",
            answer: name
        )
    }

    /// The number of `libmis` or the like, in `ErrorDetail` or in the description; `nil` where there is none.
    private var code: UInt32? {
        if let detail {
            let code = UInt32(truncatingIfNeeded: detail)
            if code >> 16 == 0xE800 { return code }
        }
        guard let description, let range = description.firstRange(of: "0xe800") else { return nil }
        return UInt32(description[range.lowerBound...].dropFirst(2).prefix { $0.isHexDigit }, radix: 16)
    }

    private var explanation: (what: String, remedy: String)? {
        if let code, let known = Self.codes[code] { return known }
        return Self.names[name]
    }

    private static let signAgain = "Sign it again with Ferry, and look at it with: ferry verify"

    /// By number. Source of the words: `libmis`.
    static let codes: [UInt32: (what: String, remedy: String)] = [
        0xE800_8001: ("an unknown error of the signature.", signAgain),
        0xE800_8012: (
            "the profile is not for this device.",
            "Add the device on developer.apple.com, download the profile again, and sign with it."
        ),
        0xE800_8014: ("the signature of a file is invalid.", signAgain),
        0xE800_8015: (
            "it found no profile that is good for the app.",
            "Sign with a profile that names this device, this identifier and the certificate: ferry profile"
        ),
        0xE800_8016: (
            "the entitlements are more than the profile grants.",
            "Sign with the profile's own entitlements, or get a profile that grants what the app has."
        ),
        0xE800_8017: ("a file was changed, added or removed after signing.", signAgain),
        0xE800_8018: (
            "the certificate is not valid any more.",
            "Look at it with: ferry identity --online. Sign with another one."
        ),
        0xE800_801C: ("the app, or a part of it, is not signed.", "Sign it with --p12 and --profile."),
        0xE800_8019: ("an extension or a framework is signed by somebody else.", signAgain),
        0xE800_8021: (
            "too many apps of a free account are installed.",
            "Remove one of them: ferry apps, ferry uninstall"
        ),
        0xE800_8029: ("the entitlements lack their DER form, which iOS 15 and later want.", signAgain),
    ]

    /// By name.
    static let names: [String: (what: String, remedy: String)] = [
        "ApplicationVerificationFailed": (
            "the signature, the profile or the entitlements are not right.",
            "Look at the app with: ferry verify --device UDID. Sign it again."
        ),
        "AppexBundleIDNotPrefixed": (
            "the identifier of an extension does not begin with the app's.",
            "Sign it again; Ferry gives extensions identifiers below the app's."
        ),
        "DeviceFamilyNotSupported": (
            "the app is for another kind of device.",
            "Sign it for this kind of device too (--devices), or get another build of it."
        ),
        "DeviceOSVersionTooLow": (
            "the app needs a newer system.",
            "Update the device, or take an older version of the app."
        ),
        "IncorrectArchitecture": (
            "the app has no code for this processor.",
            "Get a build for devices, not for a simulator."
        ),
        "PackageExtractionFailed": (
            "the archive could not be unpacked there.",
            "Make room on the device and try again; look at the archive with: ferry verify"
        ),
        "PackageInspectionFailed": (
            "the archive is not laid out as the device wants it.",
            "Payload must hold one app and nothing else (.DS_Store too is too much). Sign it again."
        ),
        "PackagePatchFailed": (
            "the installed version could not be brought up to date.", "Remove the app, and install it."
        ),
        "APIInternalError": (
            "something went wrong inside the device.",
            "Restart the device and try again. If it stays so, sign the app again."
        ),
        "MismatchedApplicationIdentifierEntitlement": (
            "an app of this identifier is installed, signed by another team.",
            "Sign it with that team's identity or another --bundle-id, or remove the app, with all its data: ferry uninstall"
        ),
        "InvalidHostID": ("the device does not trust this computer any more.", Lockdown.pairingRemedy),
        "MissingBundleIdentifier": ("its Info.plist has no bundle identifier.", "Get the app again."),
        "MissingBundleExecutable": ("its executable is missing.", "Get the app again."),
        "MissingPackagePath": ("the file that was sent is not there any more.", "Try again."),
        "BundleVerificationFailed": ("the app is not laid out as the device wants it.", signAgain),
        "ApplicationSINFCaptureFailed": ("its licence of the App Store was not taken.", "Get the app again."),
        "InvalidSymlink": ("a link in the app leads out of it.", "Sign it again, or leave the link out."),
        "InstallProhibited": (
            "installing apps is forbidden there.",
            "Allow it in Settings, Screen Time, or ask whoever manages the device."
        ),
        "UninstallProhibited": (
            "removing apps is forbidden there.",
            "Allow it in Settings, Screen Time, or ask whoever manages the device."
        ),
        "EmbeddedProfileInstallFailed": (
            "the profile could not be installed.",
            "Look at it with: ferry profile. It must name this device and not have expired."
        ),
        "ExistenceCheckFailed": (
            "whether it is installed could not be found out.", "Restart the device and try again."
        ),
        "LookupFailed": ("the list of its apps could not be read.", "Restart the device and try again."),
        "NotEntitled": ("it does not allow this.", "Unlock the device and try again."),
        "DuplicateIdentifier": (
            "two parts of the app have the same identifier.",
            "Leave one of the two out, and sign it again."
        ),
    ]
}
