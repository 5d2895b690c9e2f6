import FerryAppBundle
import FerryBytes
public import FerryCodeSignature
import FerryZip

extension Fault.Code {
    /// The archive itself is damaged, or no app.
    public static let archive = Self("archive")
    /// An entry of the archive is encrypted.
    public static let archiveEncrypted = Self("archive-encrypted")
    /// An entry is neither stored nor deflated, or is of a kind that apps have not.
    public static let archiveUnsupported = Self("archive-unsupported")
    /// A name leads out of the archive.
    public static let archiveEscapingName = Self("archive-escaping-name")
    /// A symbolic link leads out of the app, or entries lie beneath it.
    public static let archiveEscapingLink = Self("archive-escaping-link")
    /// Two entries have one name, or a file lies where a folder must be.
    public static let archiveDuplicate = Self("archive-duplicate")
    /// Two names that only capital letters tell apart.
    public static let caseTwins = Self("case-twins")
    /// A file beside the app in `Payload`.
    public static let strayFile = Self("stray-file")
    /// An executable without the permission to be run.
    public static let permissions = Self("permissions")
    /// There is no profile, or it cannot be read.
    public static let profileMissing = Self("profile-missing")
    /// The profile's time is over.
    public static let profileExpired = Self("profile-expired")
    /// The signer's certificate is not in the profile.
    public static let signerNotInProfile = Self("signer-not-in-profile")
    /// The profile is for other identifiers or systems, or unsigned.
    public static let profileMismatch = Self("profile-mismatch")
    /// An entitlement that the profile does not grant.
    public static let entitlementNotGranted = Self("entitlement-not-granted")
    /// The application identifier is not the team and the bundle's identifier.
    public static let applicationIdentifier = Self("application-identifier")
    /// An extension's identifier is not below its host's.
    public static let identifierNotUnderHost = Self("id-not-under-host")
    /// The signer's certificate was not valid at the date given.
    public static let certificateExpired = Self("certificate-expired")
    /// Not all of the archive is signed by one identity.
    public static let severalSigners = Self("several-signers")
    /// The signer's chain does not end at one of Apple's roots.
    public static let foreignAuthority = Self("foreign-authority")
    /// The profile does not list the device.
    public static let deviceNotInProfile = Self("device-not-in-profile")
    /// The code, or the app, is for another system.
    public static let wrongPlatform = Self("wrong-platform")
    /// The executable has no code for the devices' processor.
    public static let architecture = Self("architecture")
    /// The device's system is older than the app wants.
    public static let systemTooOld = Self("system-too-old")
    /// Code wants a newer system than its app says.
    public static let codeMinimumOS = Self("code-minimum-os")
    /// Two apps or extensions have one identifier.
    public static let duplicateIdentifier = Self("duplicate-identifier")
    /// An extension does not say what it extends.
    public static let extensionPointMissing = Self("extension-point-missing")
    /// The app is to have Live Activities, and no extension draws them.
    public static let liveActivityExtension = Self("live-activity-extension")
    /// The extension that draws them is declared as another kind.
    public static let liveActivityPoint = Self("live-activity-point")
    /// The app does not say that it has Live Activities.
    public static let liveActivityKey = Self("live-activity-key")
}

extension Fault.Code {
    /// Whether it is about what can be read at all, and not about who signed.
    var isOfArchive: Bool { rawValue.hasPrefix("archive") || self == .permissions }
}

extension AppBundleError {
    /// The fault that the error is, where a check finds it.
    var faultCode: Fault.Code {
        switch code {
        case .profileMissing, .profileUnreadable: .profileMissing
        case .profileExpired: .profileExpired
        case .profileLacksCertificate: .signerNotInProfile
        case .profileUnsigned, .profileWrongBundle, .profileWrongPlatform: .profileMismatch
        case .profileLacksDevice: .deviceNotInProfile
        case .entitlementNotGranted: .entitlementNotGranted
        default: Fault.Code(rawValue: "bundle-" + code.rawValue)
        }
    }
}

extension Fault.Code {
    /// The code for what kept an archive or folder from being read.
    static func ofArchive(_ error: any Error) -> Fault.Code {
        if error is FolderWalk.EscapingLink { return .archiveEscapingLink }
        return switch (error as? ZipError)?.code {
        case .encrypted: .archiveEncrypted
        case .unsupported: .archiveUnsupported
        case .escapingName: .archiveEscapingName
        case .escapingLink: .archiveEscapingLink
        case .duplicateName: .archiveDuplicate
        default: .archive
        }
    }
}

extension Fault {
    /// The same fault, with a path called otherwise wherever it stands.
    func naming(_ path: String, as name: String) -> Fault {
        Fault(
            code,
            at: place.replacing(path, with: name),
            message.replacing(path, with: name),
            remedy: remedy,
            isWarning: isWarning
        )
    }
}
