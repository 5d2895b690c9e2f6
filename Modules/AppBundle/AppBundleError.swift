public import FerryBytes
import FerryPropertyList

/// Why an app, one of its bundles or a profile cannot be signed or installed as it is.
public struct AppBundleError: ExplainedError, Hashable {
    /// What kind of fault it is.
    public enum Code: String, Sendable, Hashable, CaseIterable {
        /// The archive has no `Payload/*.app`.
        case noApp
        /// It has more than one.
        case severalApps
        /// A path is absolute, climbs out, or has an empty or unprintable part.
        case unsafePath
        /// Two entries have one path, or a file lies where a folder must be.
        case duplicatePath
        /// More bundles, or bundles nested deeper, than any real app has.
        case tooManyBundles
        /// An Info.plist that an app or extension must have is not there.
        case infoPlistMissing
        /// An Info.plist is damaged, or is something else.
        case infoPlistUnreadable
        /// An app or extension has no `CFBundleIdentifier`.
        case identifierMissing
        /// A bundle identifier has characters that Apple does not allow.
        case identifierIllegal
        /// Two bundles have one identifier.
        case identifierTaken
        /// An extension's identifier is not below its host's, and that was to be refused.
        case identifierForeign
        /// An app or extension names no executable.
        case executableUnnamed
        /// It names one that is not there.
        case executableMissing
        /// It names one by a path, not by a name.
        case executableIllegal
        /// A provisioning profile is damaged, or is something else.
        case profileUnreadable
        /// A profile is a bare property list without Apple's signature around it.
        case profileUnsigned
        /// There is no profile for a bundle.
        case profileMissing
        /// A profile is for other bundle identifiers.
        case profileWrongBundle
        /// A profile's time is over.
        case profileExpired
        /// A profile does not name the certificate that signs.
        case profileLacksCertificate
        /// A profile is for other systems.
        case profileWrongPlatform
        /// A profile does not name the device.
        case profileLacksDevice
        /// An entitlement was asked for by name that the profile does not grant.
        case entitlementNotGranted
        /// A path of keys that cannot be, or leads through what is no dictionary or array.
        case keyPath
        /// A value that is not of the kind that it says.
        case value
    }

    /// What kind of fault it is.
    public let code: Code
    /// The bundle, file or profile that it is about.
    public let path: String
    /// What is wrong, beginning with the path.
    public let message: String
    /// What to do about it.
    public let remedy: String?

    /// A fault of what lies at `path`; `problem` is a sentence without the path.
    init(_ code: Code, _ path: String, _ problem: String, remedy: String?) {
        self.code = code
        self.path = path
        message = "\(Self.printable(path)): \(problem)"
        self.remedy = remedy
    }

    /// An Info.plist that cannot be read, with why.
    static func infoPlist(_ path: String, _ cause: any Error) -> AppBundleError {
        let explained = cause as? any ExplainedError
        return AppBundleError(
            .infoPlistUnreadable,
            path,
            "the Info.plist cannot be read. \(explained?.message ?? String(describing: cause))",
            remedy: explained?.remedy ?? "Get the app again."
        )
    }

    /// A path as one line of a message, however it was made.
    static func printable(_ path: String) -> String {
        let longest = 300
        return (path.count > longest ? path.prefix(longest) + "…" : Substring(path)).printable
    }
}

/// Something that does not keep an app from being signed, but that its signer should hear.
public struct BundleWarning: Sendable, Hashable, CustomStringConvertible {
    /// The bundle or file that it is about.
    public let path: String
    /// What was noticed, and what comes of it.
    public let message: String

    init(_ path: String, _ message: String) {
        self.path = path
        self.message = message
    }

    /// The path, then the message.
    public var description: String { "\(AppBundleError.printable(path)): \(message)" }
}
