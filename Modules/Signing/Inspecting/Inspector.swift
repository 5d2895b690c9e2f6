import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryPropertyList
import FerryZip

/// Reads what ``ArchiveInspection`` says.
struct Inspector: Sendable {
    let path: String
    let workers: Workers

    func run() async throws -> ArchiveInspection {
        let contents = try await ArchiveContents.open(path, with: workers)
        let source = contents.source
        let files = try await workers.map(
            contents.files.filter { contents.code[$0.index] != nil },
            cost: \.size,
            hugeCost: Sealer.hugeCode,
            context: { Inflater() }
        ) { file, inflater in
            try Self.inspect(file, in: source, inflater)
        }
        let entitlements = Dictionary(
            files.map { ($0.file.path, $0.entitlements) },
            uniquingKeysWith: { one, _ in one }
        )
        let inflater = Inflater()
        return ArchiveInspection(
            path: path,
            byteCount: source.count,
            entryCount: contents.directory.entries.count,
            unpackedByteCount: contents.directory.entries.reduce(0) { $0 + $1.uncompressedSize },
            bundles: contents.tree.bundles.map { bundle in
                inspect(bundle, contents, inflater, bundle.executable.flatMap { entitlements[$0] ?? nil })
            },
            code: files.map(\.file),
            warnings: contents.tree.problems().map(\.message) + contents.tree.warnings.map(\.description)
        )
    }

    private func inspect(
        _ bundle: Bundle,
        _ contents: ArchiveContents,
        _ inflater: Inflater,
        _ entitlements: PropertyList.Dictionary?
    ) -> ArchiveInspection.Bundle {
        let profile = contents.directory.entry(named: bundle.profilePath)
            .flatMap { $0.uncompressedSize <= 16 << 20 ? try? inflater.contents(of: $0, in: contents.source) : nil }
            .flatMap { try? ProvisioningProfile(bytes: $0, path: bundle.profilePath) }
        return ArchiveInspection.Bundle(
            path: bundle.path,
            kind: bundle.kind.rawValue,
            identifier: bundle.identifier,
            name: bundle.info.displayName,
            version: bundle.info.version,
            build: bundle.info.build,
            minimumOS: bundle.info.minimumOS,
            platforms: bundle.info.supportedPlatforms,
            extensionPoint: bundle.info.extensionPoint,
            executable: bundle.isCode ? bundle.executable : nil,
            profile: profile.map(ArchiveInspection.Profile.init),
            entitlements: entitlements
        )
    }

    private static func inspect(
        _ file: ArchiveFile,
        in source: FileSource,
        _ inflater: Inflater
    ) throws -> (file: ArchiveInspection.CodeFile, entitlements: PropertyList.Dictionary?) {
        let bytes = try file.bytes(in: source, inflater)
        let (images, entitlements) = inspect(try MachOFile(bytes), bytes)
        return (ArchiveInspection.CodeFile(path: file.name, images: images), entitlements)
    }

    /// What the images of a Mach-O file say, and the entitlements of the first that has some.
    static func inspect(
        _ parsed: MachOFile,
        _ bytes: [UInt8]
    ) -> (images: [ArchiveInspection.Image], entitlements: PropertyList.Dictionary?) {
        var entitlements: PropertyList.Dictionary?
        let images = parsed.slices.map { slice in
            let region = slice.image.codeSignature.flatMap { room in
                try? ByteReader(bytes).bytes(at: slice.offset + room.offset, count: room.size)
            }
            let blobs = region.flatMap { try? SuperBlob(parsing: $0) }
            entitlements =
                entitlements
                ?? blobs?[.entitlements].flatMap { try? PropertyList.parse($0.dropFirst(8)).value.dictionary }
            return ArchiveInspection.Image(slice.image, blobs)
        }
        return (images, entitlements)
    }
}

extension ArchiveInspection.Profile {
    init(_ profile: ProvisioningProfile) {
        name = profile.name
        uuid = profile.uuid
        kind = profile.kind.rawValue
        team = profile.teamIdentifier
        applicationIdentifier = profile.applicationIdentifier
        expires = profile.expiration.map { PropertyListDate(secondsSince1970: $0).text }
        deviceCount = profile.provisionedDevices?.count
    }
}

extension ArchiveInspection.Image {
    init(_ image: MachOImage, _ blobs: SuperBlob?) {
        architecture = image.architecture
        kind = image.fileType.map { "\($0)" } ?? "\(image.rawFileType)"
        minimumOS = image.minimumOS.map { SystemVersion(packed: $0).description }
        platform = image.platform.map { Platform.buildPlatformName($0) }
        isEncrypted = image.isEncrypted
        dylibs = image.dylibs.map(\.name)
        rpaths = image.rpaths
        signature = blobs.flatMap { ArchiveInspection.Signature($0) }
    }
}

extension ArchiveInspection.Signature {
    init?(_ blobs: SuperBlob) {
        guard let primary = blobs[.codeDirectory], let directory = try? CodeDirectory(parsing: primary) else {
            return nil
        }
        let message = blobs[.signature].flatMap { try? SignatureMessage.verify($0.dropFirst(8), over: primary) }
        identifier = directory.identifier
        team = directory.team
        hashes = blobs.blobs.filter { $0.slot.isCodeDirectory }
            .compactMap { try? CodeDirectory(parsing: $0.bytes) }.map { "\($0.algorithm)" }
        pageSize = directory.pageSize
        version = "0x" + String(directory.version, radix: 16)
        flags = Self.flags(directory)
        cdHash = SignatureMessage.DirectoryDigest(of: primary, directory.algorithm).cut.hex
        signer = message?.signer.commonName
        signedAt = message?.signingTime.map { PropertyListDate(secondsSince1970: Double($0)).text }
        isAdHoc = directory.flags & CodeDirectory.adhocFlag != 0
    }
    private static func flags(_ directory: CodeDirectory) -> [String] {
        let exec = directory.execSegment?.flags ?? 0
        let rest = exec & ~(CodeDirectory.mainBinaryFlag | CodeDirectory.allowUnsignedFlag)
        let others = directory.flags & ~CodeDirectory.adhocFlag
        var names: [String] = []
        if exec & CodeDirectory.mainBinaryFlag != 0 { names.append("main-binary") }
        if exec & CodeDirectory.allowUnsignedFlag != 0 { names.append("allow-unsigned") }
        if directory.flags & CodeDirectory.adhocFlag != 0 { names.append("adhoc") }
        if others != 0 { names.append("0x" + String(others, radix: 16)) }
        if rest != 0 { names.append("exec 0x" + String(rest, radix: 16)) }
        return names
    }
}
