public import FerryPropertyList

/// What is inside an archive, as its headers say it; nothing is checked.
///
/// Its JSON form has these names; what is `nil` is left out.
public struct ArchiveInspection: Sendable, Encodable {
    /// One bundle.
    public struct Bundle: Sendable, Encodable {
        /// Its path in the archive.
        public let path: String
        /// `app`, `appex`, `framework`, `xpc`, `xctest` or `bundle`.
        public let kind: String
        /// `CFBundleIdentifier`.
        public let identifier: String?
        /// The name below the icon.
        public let name: String?
        /// `CFBundleShortVersionString`.
        public let version: String?
        /// `CFBundleVersion`.
        public let build: String?
        /// `MinimumOSVersion`.
        public let minimumOS: String?
        /// `CFBundleSupportedPlatforms`.
        public let platforms: [String]
        /// `NSExtensionPointIdentifier`.
        public let extensionPoint: String?
        /// Its executable; `nil` for a folder of resources.
        public let executable: String?
        /// The profile inside.
        public let profile: Profile?
        /// What the signature entitles it to.
        public let entitlements: PropertyList.Dictionary?
    }

    /// A provisioning profile.
    public struct Profile: Sendable, Encodable {
        /// `Name`.
        public let name: String
        /// `UUID`.
        public let uuid: String
        /// `development`, `adHoc`, `enterprise` or `appStore`.
        public let kind: String
        /// The team's identifier.
        public let team: String
        /// The team and the pattern of bundle identifiers.
        public let applicationIdentifier: String
        /// When it ends, as ISO 8601.
        public let expires: String?
        /// How many devices it lists; `nil` where it lists none.
        public let deviceCount: Int?
    }

    /// One Mach-O file.
    public struct CodeFile: Sendable, Encodable {
        /// Its path in the archive.
        public let path: String
        /// Its images.
        public let images: [Image]
    }

    /// One image of a Mach-O file.
    public struct Image: Sendable, Encodable {
        /// `arm64`, `arm64e`, `armv7`, …
        public let architecture: String
        /// `execute`, `dylib` or `bundle`.
        public let kind: String
        /// The oldest system, `15.0`.
        public let minimumOS: String?
        /// What it is built for: `iOS`, `iOS simulator`, …; `nil` where it does not say.
        public let platform: String?
        /// Whether it is encrypted by the App Store.
        public let isEncrypted: Bool
        /// The libraries that it loads.
        public let dylibs: [String]
        /// Where it looks for libraries that are named by `@rpath`.
        public let rpaths: [String]
        /// Its signature; `nil` where it has none.
        public let signature: Signature?
    }

    /// A code signature.
    public struct Signature: Sendable, Encodable {
        /// What it is made out to.
        public let identifier: String
        /// The team.
        public let team: String?
        /// The hashes of its code directories, the primary first.
        public let hashes: [String]
        /// Bytes a page.
        public let pageSize: Int
        /// The code directory's version, `0x20400`.
        public let version: String
        /// What is set of `main-binary`, `allow-unsigned`, `adhoc`; other bits as hexadecimal numbers.
        public let flags: [String]
        /// The primary code directory's digest, cut to 20 bytes, in hexadecimal.
        public let cdHash: String
        /// The signer's common name; `nil` for an ad hoc signature.
        public let signer: String?
        /// When it was signed, as ISO 8601.
        public let signedAt: String?
        /// Whether nobody signed.
        public let isAdHoc: Bool
    }

    /// The archive.
    public let path: String
    /// Its length.
    public let byteCount: Int
    /// How many entries it has.
    public let entryCount: Int
    /// What they unpack to.
    public let unpackedByteCount: Int
    /// The app, then everything in it.
    public let bundles: [Bundle]
    /// All Mach-O files that iOS would check, in the archive's order.
    public let code: [CodeFile]
    /// What is noticed without a check.
    public let warnings: [String]
}
