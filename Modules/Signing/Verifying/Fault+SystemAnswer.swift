public import FerryCodeSignature

extension Fault {
    /// What iOS answers to an install with such a fault, as far as that is known; `nil` for a warning.
    ///
    /// The names are those that `installd` answers with (`MIInstallerErrorDomain`, `LegacyErrorString`); the numbers and
    /// sentences are those of `libmis`, which follow `ApplicationVerificationFailed`. Which of these a fault gets goes by what
    /// they say: it was not tried on a device for each.
    public var systemAnswer: String? {
        isWarning ? nil : code.systemAnswer
    }
}

extension Fault.Code {
    private static let invalidSignature = "0xe8008014 The executable contains an invalid signature."
    private static let invalidEntitlements = "0xe8008016 The executable was signed with invalid entitlements."
    private static let changedResource = "0xe8008017 A signed resource has been added, modified, or deleted."
    private static let noProfile = "0xe8008015 A valid provisioning profile for this executable was not found."

    private static let answers: [Fault.Code: String] = [
        .unsigned: "0xe800801c No code signature found.",
        .signatureMalformed: invalidSignature, .signaturePlace: invalidSignature, .codeLimit: invalidSignature,
        .slotCount: invalidSignature, .pageHash: invalidSignature, .infoPlistHash: invalidSignature,
        .requirementsHash: invalidSignature, .messageMissing: invalidSignature, .messageInvalid: invalidSignature,
        .messageDigests: invalidSignature, .digestMissing: invalidSignature,
        .entitlementsHash: invalidSignature, .entitlementsForm: invalidEntitlements,
        .entitlementNotGranted: invalidEntitlements, .applicationIdentifier: invalidEntitlements,
        .resourcesHash: changedResource, .sealMissing: changedResource, .sealedFileMissing: changedResource,
        .sealedFileChanged: changedResource, .fileNotSealed: changedResource,
        .profileMissing: noProfile, .profileMismatch: noProfile, .profileExpired: noProfile,
        .signerNotInProfile: noProfile,
        .deviceNotInProfile: "0xe8008012 This provisioning profile cannot be installed on this device.",
        .certificateExpired: "0xe8008018 The identity used to sign the executable is no longer valid.",
        .identifier: "MismatchedBundleIDSigningIdentifier",
        .identifierNotUnderHost: "AppexBundleIDNotPrefixed",
        .duplicateIdentifier: "DuplicateIdentifier",
        .extensionPointMissing: "AppexBundleMissingNSExtensionDict",
        .systemTooOld: "DeviceOSVersionTooLow",
        .architecture: "IncorrectArchitecture",
        .archive: "PackageInspectionFailed", .archiveEncrypted: "PackageExtractionFailed",
        .archiveUnsupported: "PackageExtractionFailed", .archiveDuplicate: "PackageExtractionFailed",
        .archiveEscapingName: "PackageExtractionFailed", .archiveEscapingLink: "InvalidSymlink",
        Fault.Code(rawValue: "bundle-identifierMissing"): "MissingBundleIdentifier",
        Fault.Code(rawValue: "bundle-executableMissing"): "MissingBundleExecutable",
        Fault.Code(rawValue: "bundle-executableUnnamed"): "MissingBundleExecutable",
        Fault.Code(rawValue: "bundle-executableIllegal"): "MissingBundleExecutable",
    ]

    /// What iOS answers; `nil` where that is not known.
    public var systemAnswer: String? { Self.answers[self] }
}
