import FerryAppBundle
public import FerryCodeSignature

extension Fault.Code {
    /// The archive itself is damaged, or no app.
    public static let archive = Self("archive")
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
}

extension AppBundleError {
    /// The fault that the error is, where a check finds it.
    var faultCode: Fault.Code {
        switch code {
        case .profileMissing, .profileUnreadable: .profileMissing
        case .profileExpired: .profileExpired
        case .profileLacksCertificate: .signerNotInProfile
        case .profileUnsigned, .profileWrongBundle, .profileWrongPlatform, .profileLacksDevice: .profileMismatch
        case .entitlementNotGranted: .entitlementNotGranted
        default: Fault.Code(rawValue: "bundle-" + code.rawValue)
        }
    }
}
