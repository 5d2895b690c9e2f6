/// Something that is wrong with a signed file or bundle.
public struct Fault: Sendable, Hashable {
    /// A stable name for a kind of fault, in lower case with hyphens; checks go by it.
    public struct Code: RawRepresentable, Sendable, Hashable {
        /// The name.
        public let rawValue: String

        /// A code by its name.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }

        /// A code by its name.
        package init(_ name: String) {
            rawValue = name
        }
    }

    /// What kind it is.
    public let code: Code
    /// The file or bundle, by its path in the archive; with the architecture for one image of several.
    public let place: String
    /// What is wrong, with numbers.
    public let message: String
    /// What to do.
    public let remedy: String?
    /// Whether it is only worth knowing: a device accepts it.
    public let isWarning: Bool

    /// Describes a fault.
    public init(_ code: Code, at place: String, _ message: String, remedy: String? = nil, isWarning: Bool = false) {
        self.code = code
        self.place = place
        self.message = message
        self.remedy = remedy
        self.isWarning = isWarning
    }
}

extension Fault.Code {
    /// The image has no signature.
    public static let unsigned = Self("unsigned")
    /// A blob, code directory or message cannot be read.
    public static let signatureMalformed = Self("signature-malformed")
    /// Signature, `__LINKEDIT` and the end of the file do not meet.
    public static let signaturePlace = Self("signature-place")
    /// There is no SHA-256 code directory, or the minimum OS wants SHA-1 too.
    public static let digestMissing = Self("digest-missing")
    /// The code directory is of a version before the exec segment.
    public static let directoryVersion = Self("code-directory-version")
    /// The code directory ends elsewhere than where the signature begins.
    public static let codeLimit = Self("code-limit")
    /// The number of code slots does not fit.
    public static let slotCount = Self("code-slot-count")
    /// A page of code differs from its hash.
    public static let pageHash = Self("page-hash")
    /// The Info.plist differs from its hash, or one of the two is missing.
    public static let infoPlistHash = Self("info-plist-hash")
    /// The seal differs from its hash, or one of the two is missing.
    public static let resourcesHash = Self("resources-hash")
    /// The requirements differ from their hash, or one of the two is missing.
    public static let requirementsHash = Self("requirements-hash")
    /// The entitlements differ from their hash, or one of the two is missing.
    public static let entitlementsHash = Self("entitlements-hash")
    /// XML and DER entitlements differ, are missing or unreadable.
    public static let entitlementsForm = Self("entitlements-form")
    /// A library carries entitlements.
    public static let entitlementsOnLibrary = Self("entitlements-on-library")
    /// The main-binary flag is missing on an executable, or set on something else.
    public static let mainBinaryFlag = Self("main-binary-flag")
    /// The allow-unsigned flag does not go with get-task-allow.
    public static let allowUnsignedFlag = Self("allow-unsigned-flag")
    /// The exec segment is not `__TEXT`.
    public static let execSegment = Self("exec-segment")
    /// There is no CMS.
    public static let messageMissing = Self("cms-missing")
    /// The CMS is no signature over the code directory.
    public static let messageInvalid = Self("cms-invalid")
    /// The CMS names other code directories, or none.
    public static let messageDigests = Self("cms-digests")
    /// The chain up to the root is not inside the CMS.
    public static let chainIncomplete = Self("chain-incomplete")
    /// The identifier is not the bundle's.
    public static let identifier = Self("identifier")
    /// FairPlay-encrypted code.
    public static let encrypted = Self("encrypted")
    /// The file is no Mach-O that can be read.
    public static let machO = Self("mach-o")
    /// There is no seal, or it cannot be read.
    public static let sealMissing = Self("seal-missing")
    /// A sealed file is missing.
    public static let sealedFileMissing = Self("sealed-file-missing")
    /// A file differs from the seal.
    public static let sealedFileChanged = Self("sealed-file-changed")
    /// A file is not in the seal.
    public static let fileNotSealed = Self("file-not-sealed")
}
