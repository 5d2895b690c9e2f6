public import FerryAppBundle
public import FerryCodeSignature
public import FerryPropertyList

/// With what to sign, and how.
public struct SigningOptions: Sendable {
    /// How much of the output is read back before it is handed over.
    public enum Verification: String, Sendable, CaseIterable {
        /// All that was encoded anew; what was copied raw rests on the one pass that hashed it.
        case standard
        /// Every byte.
        case full
    }

    /// What becomes of the signatures.
    public enum Signatures: Sendable {
        /// Every one is made anew by an identity.
        case made(by: Identity)
        /// Every one is made anew by nobody (`CS_ADHOC`): for simulators, and for devices that ask for none.
        case adHoc
        /// They are taken out, with the seals and profiles.
        case removed
        /// They stay as they are, also where they do not fit any more: for whoever signs later.
        case left
    }

    /// What becomes of the signatures.
    public var signatures: Signatures
    /// The profiles to choose from; each bundle gets the one that is made most closely for its identifier.
    public var profiles: [ProvisioningProfile]
    /// The app's new bundle identifier; `nil` keeps the old one.
    public var bundleIdentifier: String?
    /// What becomes of extensions whose identifier is not below their host's.
    public var foreignExtensions = ForeignExtensions.reparent
    /// What the app is entitled to, in place of what it asked for before; `nil` for that, cut to the profile.
    public var entitlements: PropertyList.Dictionary?
    /// The same for single bundles, by identifier before or folder's name.
    public var bundleEntitlements: [String: PropertyList.Dictionary] = [:]
    /// What is changed in the app; what it says goes before ``bundleIdentifier`` and ``foreignExtensions``.
    public var recipe = SigningRecipe()
    /// Makes the app's new icon: a PNG of so many pixels a side. `nil` leaves the icon.
    public var iconImage: (@Sendable (_ side: Int) throws -> [UInt8])?
    /// Bytes a page of code: 4096 or 16384. `nil` keeps what the input had.
    public var pageSize: Int?
    /// The device that it is for, by UDID, to be looked up in the profiles; `nil` for any.
    public var device: String?
    /// How much of the output is read back.
    public var verification = Verification.standard

    /// The identity and the profiles; the rest has defaults.
    public init(identity: Identity, profiles: [ProvisioningProfile]) {
        self.init(.made(by: identity), profiles: profiles)
    }

    /// What becomes of the signatures, with profiles where there is an identity; the rest has defaults.
    public init(_ signatures: Signatures, profiles: [ProvisioningProfile] = []) {
        self.signatures = signatures
        self.profiles = profiles
    }
}

extension SigningOptions {
    /// Who signs; `nil` for nobody.
    public var identity: Identity? {
        if case .made(let identity) = signatures { identity } else { nil }
    }

    /// Whether signatures are made.
    var signs: Bool {
        switch signatures {
        case .made, .adHoc: true
        case .removed, .left: false
        }
    }

    /// The identifier that was asked for.
    var wantedIdentifier: String? { recipe.bundleIdentifier ?? bundleIdentifier }

    /// What becomes of foreign extensions.
    var foreignWish: ForeignExtensions { recipe.foreignExtensions ?? foreignExtensions }
}

/// What to sign, with what, and how.
public struct SigningRequest: Sendable {
    /// The archive to sign.
    public var input: String
    /// What to call it in errors, where its path tells people nothing; `nil` for the path.
    public var inputName: String?
    /// The SHA-256 of the archive, 32 bytes, where a download made it; `nil` where nobody knows. Only a help to recognise it.
    public var inputSHA256: [UInt8]?
    /// What read the archive while it arrived; `nil` for nothing.
    public var ahead: ArchiveAhead?
    /// Where the signed one goes; whatever is there is replaced once the new one stands.
    public var output: String
    /// With what, and how.
    public var options: SigningOptions

    /// From one path to another.
    public init(input: String, output: String, options: SigningOptions) {
        self.input = input
        self.output = output
        self.options = options
    }

    /// What the input is called in errors.
    var shownInput: String { inputName ?? input }
}

/// An archive that was signed and passed its check.
public struct SignedArchive: Sendable, Hashable {
    /// One bundle of it.
    public struct Bundle: Sendable, Hashable {
        /// Its path in the archive.
        public let path: String
        /// The identifier that it had; `nil` where it had none.
        public let oldIdentifier: String?
        /// The identifier that it has now.
        public let identifier: String
        /// The name of the profile inside; `nil` for frameworks.
        public let profile: String?
        /// The entitlements that it asked for before and is not given, with why.
        public let droppedEntitlements: [String: String]
    }

    /// Where it is.
    public let path: String
    /// Its length.
    public let byteCount: Int
    /// Its bundles that hold code, deepest first; the app last.
    public let bundles: [Bundle]
    /// How many Mach-O files were signed.
    public let signedFileCount: Int
    /// What people should know, though it stands in nobody's way.
    public let warnings: [String]

    /// The app's bundle identifier.
    public var identifier: String { bundles.last?.identifier ?? "" }
}

/// What happens while an archive is signed.
public enum SigningEvent: Sendable, Hashable {
    /// The plan stands: so many bytes will be unpacked and hashed.
    case planned(title: String, identifier: String, version: String?, bytes: Int)
    /// So many of them are.
    case progress(completed: Int, total: Int)
    /// Something that people should know.
    case warning(String)
    /// The next part of the work begins.
    case phase(SigningPhase)
}

/// The parts of signing, in their order.
public enum SigningPhase: String, Sendable, Hashable, CaseIterable {
    /// Everything is decided.
    case planning
    /// Every entry is hashed, and seals and signatures are made.
    case sealing
    /// The output is written.
    case repacking
    /// The output is read back and checked.
    case verifying
    /// The output is synced and put in place.
    case placing
}
