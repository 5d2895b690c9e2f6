import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryPropertyList
import FerryZip

/// Reads Mach-O files, each once, and hashes them page by page.
struct CodePreparer: Sendable {
    /// What a file is signed as.
    struct Role: Sendable {
        /// What its signature is made out to.
        let identifier: String
        /// Whether it is the executable of a bundle.
        let isBundleExecutable: Bool
        /// Whether it has entitlements: the executable of an app or an extension.
        let isEntitled: Bool
        /// The profile that they are cut to; `nil` where none limits them.
        let profile: ProvisioningProfile?
        /// The identifier of its bundle before.
        let oldIdentifier: String?
        /// Replaces what it asked for before.
        let override: PropertyList.Dictionary?
        /// Where its entitlements come from otherwise.
        let mode: EntitlementsMode
    }

    let source: FileSource
    /// Who signs; `nil` for nobody.
    let identity: Identity?
    let renames: [String: String]
    /// Bytes a page; `nil` keeps what the file had.
    let pageSize: Int?

    /// Reads a file of code and does everything that can be done before the seals are known.
    func prepare(_ code: ArchiveContents.Code, as role: Role, _ inflater: Inflater) throws -> PreparedCode {
        var (bytes, boundaries) = try contents(of: code.file, inflater)
        var file = try MachOFile(bytes)
        var changedPrefix = 0
        if !code.headers.isEmpty {
            changedPrefix = try edit(&bytes, file, code.headers)
            file = try MachOFile(bytes)
        }
        let wantsSHA1 = file.slices.contains { DigestPolicy.wantsSHA1($0.image) }
        let algorithms: [HashAlgorithm] = wantsSHA1 ? [.sha1, .sha256] : [.sha256]
        let old = file.slices.map { slice in
            OldSignature(slice.image, in: bytes[slice.offset..<slice.offset + slice.image.count])
        }
        let plan = entitlements(role, old: old)
        let recipes = try zip(file.slices, old).map { slice, old in
            try SignatureRecipe(
                identifier: role.identifier,
                image: slice.image,
                algorithms: algorithms,
                pageSize: pageSize ?? old.pageSize ?? Self.defaultPageSize(slice.image),
                entitlements: plan?.entitlements,
                isBundleExecutable: role.isBundleExecutable,
                identity: identity
            )
        }
        let (packing, spliced) =
            file.isFat
            ? (try fat(file, &bytes, recipes), nil)
            : try thin(code.file.entry, file.slices[0].image, &bytes, recipes[0], boundaries, changedPrefix)
        return PreparedCode(
            file: code.file,
            packing: packing,
            spliced: spliced,
            droppedEntitlements: plan?.dropped ?? [:],
            warnings: plan?.warnings.map { "\(code.file.name): entitlement \($0)" } ?? []
        )
    }

    /// Changes the headers as the plan has it; gives the end of the last change.
    func edit(
        _ bytes: inout [UInt8],
        _ file: MachOFile,
        _ headers: [EditedHeader]
    ) throws(MachOError) -> Int {
        var end = 0
        for (slice, header) in zip(file.slices, headers) where header.isChanged {
            guard header.bytes.count <= slice.image.count else {
                throw .tooLarge("its header is not the one that was planned with.")
            }
            bytes.replaceSubrange(slice.offset..<slice.offset + header.bytes.count, with: header.bytes)
            end = max(end, slice.offset + header.bytes.count)
        }
        return end
    }

    /// The unpacked file and its packed blocks, where it has any; the packed bytes are gone afterwards.
    private func contents(of file: ArchiveFile, _ inflater: Inflater) throws -> ([UInt8], [BlockBoundary]) {
        guard let entry = file.entry, file.newContent == nil else {
            return (try file.bytes(in: source, inflater), [])
        }
        let compressed = try source.bytes(at: entry.dataOffset, count: entry.compressedSize)
        var boundaries: [BlockBoundary] = []
        let bytes = try [UInt8](unsafeUninitializedCapacity: entry.uncompressedSize) { buffer, count in
            boundaries = try compressed.withUnsafeBytes {
                try inflater.inflateRecordingBlocks(entry, compressed: $0, into: UnsafeMutableRawBufferPointer(buffer))
            }
            count = entry.uncompressedSize
        }
        return (bytes, boundaries)
    }

    /// Large pages where no device with small ones can meet the code: from iOS 13 on.
    static func defaultPageSize(_ image: MachOImage) -> Int {
        let isARM64 = image.cpuType == 0x0100_000C || image.cpuType == 0x0200_000C
        return isARM64 && image.platform != 3 && (image.minimumOS ?? 0) >= 13 << 16 ? 16384 : 4096
    }

    func entitlements(_ role: Role, old: [OldSignature]) -> EntitlementsPlan? {
        guard role.isEntitled else { return nil }
        let requested = old.lazy.compactMap(\.entitlements).first
        guard let profile = role.profile else {
            return EntitlementsPlan.unlimited(
                requested: requested,
                renames: renames,
                override: role.override,
                mode: role.mode
            )
        }
        return EntitlementsPlan.plan(
            requested: requested,
            profile: profile,
            newIdentifier: role.identifier,
            oldIdentifier: role.oldIdentifier,
            renames: renames,
            override: role.override,
            mode: role.mode
        )
    }

    private func thin(
        _ entry: ZipEntry?,
        _ image: MachOImage,
        _ bytes: inout [UInt8],
        _ recipe: SignatureRecipe,
        _ boundaries: [BlockBoundary],
        _ changedPrefix: Int
    ) throws -> (PreparedCode.Packing, SplicedCode?) {
        let layout = try layOut(image, in: bytes[...], recipe)
        apply(layout, to: &bytes, at: 0)
        let image = hash(bytes, recipe, layout)
        let start = RunningDigests()
        return bytes.withUnsafeBytes { all in
            let content = UnsafeRawBufferPointer(rebasing: all[..<layout.contentEnd])
            // Bytes that are new altogether have no blocks.
            let splice = (boundaries.isEmpty ? nil : entry).flatMap { entry in
                DeflateSplice(
                    entry: entry,
                    boundaries: boundaries,
                    content: content,
                    changedPrefix: max(layout.changedPrefix, changedPrefix)
                )
            }
            let seam = splice?.end
            let before = seam?.uncompressedOffset ?? 0
            start.update(UnsafeRawBufferPointer(rebasing: content[..<before]))
            let spliced = seam.map { SplicedCode(seam: $0, start: start.fork(), content: content, image) }
            start.update(UnsafeRawBufferPointer(rebasing: content[before...]))
            if let splice { return (.splice(splice, image: image, start: start), spliced) }
            let step = DeflatePrefix.chunkBytes
            let chunks = stride(from: 0, to: content.count, by: step).map { offset in
                DeflatePrefix.encodeChunk(
                    UnsafeRawBufferPointer(rebasing: content[offset..<min(offset + step, content.count)])
                )
            }
            return (.prefix(DeflatePrefix(chunks: chunks), image: image, start: start), nil)
        }
    }

    private func fat(
        _ file: MachOFile,
        _ bytes: inout [UInt8],
        _ recipes: [SignatureRecipe]
    ) throws -> PreparedCode.Packing {
        let layouts = try zip(file.slices, recipes).map { slice, recipe in
            try layOut(slice.image, in: bytes[slice.offset..<slice.offset + slice.image.count], recipe)
        }
        let whole = try file.fatLayout(sizes: layouts.map(\.imageSize))
        var output = [UInt8](repeating: 0, count: whole.fileSize)
        output.replaceSubrange(0..<whole.header.count, with: whole.header)
        var images: [(offset: Int, image: PreparedCode.Image)] = []
        for (index, slice) in file.slices.enumerated() {
            let (layout, offset) = (layouts[index], whole.offsets[index])
            output.replaceSubrange(
                offset..<offset + layout.contentEnd,
                with: bytes[slice.offset..<slice.offset + layout.contentEnd]
            )
            apply(layout, to: &output, at: offset)
            let image = hash(output, recipes[index], layout, at: offset)
            images.append((offset, image))
        }
        bytes = []
        return .fat(bytes: output, images: images)
    }

    private func layOut(
        _ image: MachOImage,
        in bytes: ArraySlice<UInt8>,
        _ recipe: SignatureRecipe
    ) throws(MachOError) -> SignatureLayout {
        // Without __LINKEDIT the layout refuses, whatever size is asked for.
        try image.signatureLayout(in: bytes, needed: recipe.size(codeLimit: image.expectedCodeLimit ?? 0))
    }

    /// Makes the header's edits, and zeros between the old content's end and the signature.
    private func apply(_ layout: SignatureLayout, to bytes: inout [UInt8], at offset: Int) {
        for edit in layout.edits {
            let place = offset + edit.offset
            bytes.replaceSubrange(place..<place + edit.bytes.count, with: edit.bytes)
        }
        let end = offset + layout.codeLimit
        if bytes.count < end {
            bytes += repeatElement(0, count: end - bytes.count)
        }
        for index in offset + layout.contentEnd..<end {
            bytes[index] = 0
        }
    }

    private func hash(
        _ bytes: [UInt8],
        _ recipe: SignatureRecipe,
        _ layout: SignatureLayout,
        at offset: Int = 0
    ) -> PreparedCode.Image {
        let slots = bytes.withUnsafeBytes { all in
            let code = UnsafeRawBufferPointer(rebasing: all[offset..<offset + layout.codeLimit])
            return recipe.algorithms.map { PageHasher.slots(of: code, pageSize: recipe.pageSize, with: Digester($0)) }
        }
        return PreparedCode.Image(recipe: recipe, layout: layout, codeSlots: slots)
    }
}

/// What is taken over from the signature that a file had; nothing where it had none that can be read.
struct OldSignature: Sendable {
    /// Bytes a page, if they are 4096 or 16384.
    let pageSize: Int?
    let entitlements: PropertyList.Dictionary?

    init(_ image: MachOImage, in bytes: ArraySlice<UInt8>) {
        guard let room = image.codeSignature,
            let region = try? ByteReader(bytes).bytes(at: room.offset, count: room.size),
            let blobs = try? SuperBlob(parsing: region)
        else {
            pageSize = nil
            entitlements = nil
            return
        }
        let directory = blobs[.codeDirectory].flatMap { try? CodeDirectory(parsing: $0) }
        pageSize = directory.map(\.pageSize).flatMap { [4096, 16384].contains($0) ? $0 : nil }
        entitlements =
            blobs[.entitlements].flatMap { try? PropertyList.parse($0.dropFirst(8)).value.dictionary }
            ?? blobs[.entitlementsDER].flatMap { try? EntitlementsDER.decoded($0.dropFirst(8)) }
    }
}
