import FerryBytes

/// What a source says of an archive, to be compared with what arrived.
public struct PublishedArchive: Sendable, Hashable {
    /// The bundle identifier.
    public var identifier: String
    /// The version that people see; `nil` where it does not matter.
    public var version: String?
    /// The build; `nil` where the source says none.
    public var build: String?
    /// The number of bytes; `nil` where the source says none.
    public var byteCount: Int64?
    /// The SHA-256, 32 bytes; `nil` where the source says none.
    public var sha256: [UInt8]?
    /// In what the archive may differ; that is told all the same.
    public var tolerated: Set<Trait> = []

    /// What may be compared.
    public enum Trait: String, Sendable, Hashable, CaseIterable {
        case identifier
        case version
        case build
        case size
        case sha256
    }

    /// Expects an archive of `identifier`.
    public init(identifier: String) {
        self.identifier = identifier
    }

    /// Expects the archive of a version that was chosen.
    public init(_ chosen: ChosenVersion) {
        identifier = chosen.app.identifier
        version = chosen.version.version
        build = chosen.version.build
        byteCount = chosen.version.byteCount
        sha256 = chosen.version.sha256
    }
}

/// What an archive is; `nil` stands for what nobody looked at, or what it does not have.
public struct ArchiveFacts: Sendable, Hashable {
    /// The bundle identifier of its app.
    public var identifier: String?
    /// Its `CFBundleShortVersionString`.
    public var version: String?
    /// Its `CFBundleVersion`.
    public var build: String?
    /// How many bytes it has.
    public var byteCount: Int64
    /// Its SHA-256, 32 bytes.
    public var sha256: [UInt8]

    /// What was found out.
    public init(identifier: String?, version: String?, build: String?, byteCount: Int64, sha256: [UInt8]) {
        self.identifier = identifier
        self.version = version
        self.build = build
        self.byteCount = byteCount
        self.sha256 = sha256
    }
}

/// A difference between an archive and what its source says of it.
public struct ArchiveMismatch: Sendable, Hashable, CustomStringConvertible {
    /// In what they differ.
    public let trait: PublishedArchive.Trait
    /// What the source says.
    public let published: String
    /// What the archive has.
    public let found: String

    /// Both: `the source says version 1.2, the archive has 1.1`.
    public var description: String { "the source says \(trait.rawValue) \(published), the archive has \(found)" }
}

extension PublishedArchive {
    /// The number of bytes that any other archive is refused for; `nil` where any will do.
    public var requiredByteCount: Int64? { tolerated.contains(.size) ? nil : byteCount }

    /// Every difference, those that are tolerated too.
    ///
    /// Two versions are the same when they are numbered the same: `v1.2` and `1.2.0`. Nothing is looked at that the source
    /// does not say.
    public func mismatches(with facts: ArchiveFacts) -> [ArchiveMismatch] {
        var all: [ArchiveMismatch] = []
        func compare(_ trait: Trait, _ published: String?, _ found: String?, _ isSame: Bool) {
            guard let published, !isSame else { return }
            all.append(
                ArchiveMismatch(trait: trait, published: published.printable, found: found?.printable ?? "none")
            )
        }
        compare(.identifier, identifier, facts.identifier, identifier == facts.identifier)
        compare(.version, version, facts.version, Self.isSame(version, facts.version))
        compare(.build, build, facts.build, Self.isSame(build, facts.build))
        compare(.size, byteCount.map { "\($0)" }, "\(facts.byteCount)", byteCount == facts.byteCount)
        compare(.sha256, sha256?.hex, facts.sha256.hex, sha256 == facts.sha256)
        return all
    }

    /// Throws where the archive differs in what is not tolerated; gives the differences that are.
    ///
    /// - Parameter place: what the message calls the archive.
    @discardableResult
    public func check(_ facts: ArchiveFacts, _ place: String) throws(CatalogError) -> [ArchiveMismatch] {
        let all = mismatches(with: facts)
        let refused = all.filter { !tolerated.contains($0.trait) }
        guard let first = refused.first else { return all }
        let canPass = refused.allSatisfy { [.version, .build, .size].contains($0.trait) }
        let option = first.trait == .size ? "size" : "version"
        throw CatalogError(
            .mismatch,
            "\(place): " + refused.map(\.description).joined(separator: "; ") + ".",
            remedy: canPass
                ? "The list may be behind its archive: ask its author, or let it pass with --allow-mismatch \(option)."
                : "Do not use this archive; ask the author of the source."
        )
    }

    private static func isSame(_ one: String?, _ other: String?) -> Bool {
        guard let one, let other else { return one == other }
        return one == other || VersionNumber(one) == VersionNumber(other)
    }
}
