public import FerryPropertyList

/// What signing will change, bundle by bundle; nothing is written for it.
///
/// Its JSON form has these names; what is `nil` is left out.
public struct SigningPreview: Sendable, Encodable {
    /// A value of an Info.plist that will be another.
    public struct Change: Sendable, Encodable {
        /// The path of keys.
        public let key: String
        /// What is there now; `nil` for nothing.
        public let old: PropertyList?
        /// What will be; `nil` for nothing.
        public let new: PropertyList?
    }

    /// One bundle.
    public struct Bundle: Sendable, Encodable {
        /// Its path in the archive.
        public let path: String
        /// `app`, `appex`, `framework`, …
        public let kind: String
        /// The identifier that it has; `nil` where it has none, or is new.
        public let oldIdentifier: String?
        /// What its signature will be made out to; `nil` for a bundle that is left out, or a folder of resources.
        public let identifier: String?
        /// Whether it was not there before.
        public let isNew: Bool
        /// Whether it will be left out.
        public let isDropped: Bool
        /// The name of the profile that it gets.
        public let profile: String?
        /// What changes in its Info.plist.
        public let infoPlist: [Change]
        /// What it will be entitled to; `nil` for frameworks and their kin.
        public let entitlements: PropertyList.Dictionary?
        /// What it asked for before and will not be given, with why.
        public let droppedEntitlements: [String: String]
        /// What else will not be as it asked for.
        public let warnings: [String]
    }

    /// The archive.
    public let path: String
    /// The app, then everything in it, as it is now; then what is new.
    public let bundles: [Bundle]
    /// Files and links that will be there and are not.
    public let addedFiles: [String]
    /// Files whose contents will be others, but for Info.plists, profiles, code and seals.
    public let changedFiles: [String]
    /// Files and folders that will not be there.
    public let removedFiles: [String]
    /// Code whose load commands will be others.
    public let changedCode: [String]
    /// What people should know.
    public let warnings: [String]
}

extension PropertyList.Dictionary {
    /// What is not the same in another one, key by key, down to dictionaries within; in the order of the paths.
    func changes(to other: PropertyList.Dictionary, below prefix: String = "") -> [SigningPreview.Change] {
        var changes: [SigningPreview.Change] = []
        for key in Set(keys).union(other.keys).sorted() {
            let (old, new) = (self[key], other[key])
            guard old != new else { continue }
            let path = prefix + key.split(separator: ".", omittingEmptySubsequences: false).joined(separator: "\\.")
            if let old = old?.dictionary, let new = new?.dictionary {
                changes += old.changes(to: new, below: path + ".")
            } else {
                changes.append(.init(key: path, old: old, new: new))
            }
        }
        return changes
    }
}
