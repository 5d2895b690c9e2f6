/// What is other in one app than in another, file by file and key by key; nothing is checked.
///
/// Paths are those of the app that came later. Where the two apps' folders have different names, they count as one. Its
/// JSON form has these names; what is `nil` is left out.
public struct ArchiveComparison: Sendable, Encodable {
    /// A value that was another, under a key or a name.
    public typealias Change = SigningPreview.Change

    /// A file or link.
    public struct File: Sendable, Hashable, Encodable {
        /// Where it lies.
        public let path: String
        /// How many bytes it had; `nil` where it was not there.
        public let oldSize: Int?
        /// How many bytes it has; `nil` where it is no longer there.
        public let size: Int?
    }

    /// A bundle that is other.
    public struct Bundle: Sendable, Encodable {
        /// Where it lies.
        public let path: String
        /// `app`, `appex`, `framework`, …
        public let kind: String
        /// The identifier that it had.
        public let oldIdentifier: String?
        /// The identifier that it has.
        public let identifier: String?
        /// Whether it was not there before.
        public let isNew: Bool
        /// Whether it is no longer there.
        public let isDropped: Bool
        /// What changed in its Info.plist.
        public let infoPlist: [Change]
        /// What changed in its executable's entitlements.
        public let entitlements: [Change]
        /// What changed in its profile: `name`, `uuid`, `kind`, …
        public let profile: [Change]
    }

    /// One image of a Mach-O file that is other.
    public struct Image: Sendable, Encodable {
        /// Where its file lies.
        public let path: String
        /// `arm64`, `arm64e`, `armv7`, …
        public let architecture: String
        /// Whether it was not there before.
        public let isNew: Bool
        /// Whether it is no longer there.
        public let isDropped: Bool
        /// What changed in its load commands and its signature: `dylibs`, `minimumOS`, `signature.team`, …
        public let changes: [Change]
    }

    /// What was.
    public let before: String
    /// What is.
    public let after: String
    /// The bundles that are other, by path.
    public let bundles: [Bundle]
    /// The code that is other, by path.
    public let code: [Image]
    /// Files that were not there.
    public let addedFiles: [File]
    /// Files whose bytes were others.
    public let changedFiles: [File]
    /// Files that are gone.
    public let removedFiles: [File]
    /// What people should know.
    public let warnings: [String]

    /// Whether nothing is other.
    public var isSame: Bool {
        bundles.isEmpty && code.isEmpty && addedFiles.isEmpty && changedFiles.isEmpty && removedFiles.isEmpty
    }
}
