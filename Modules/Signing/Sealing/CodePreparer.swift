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
        /// Whether a seal around it names it: all but the app's own executable.
        let isSealed: Bool
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

        /// Made out to the file's name without the ending, as Apple's tool does it with loose code.
        static func unnamed(_ file: ArchiveFile, isBundleExecutable: Bool) -> Role {
            Role(
                identifier: Planner.stem(file.name.pathParts.last ?? file.name),
                isBundleExecutable: isBundleExecutable,
                isSealed: true,
                isEntitled: false,
                profile: nil,
                oldIdentifier: nil,
                override: nil,
                mode: .app
            )
        }
    }

    let source: FileSource
    /// Who signs; `nil` for nobody.
    let identity: Identity?
    let renames: [String: String]
    /// Bytes a page; `nil` keeps what the file had.
    let pageSize: Int?
    let workers: Workers

    /// Reads a file of code and does everything that can be done before the seals are known.
    ///
    /// - Parameter known: what an earlier pass over the same bytes found.
    func prepare(
        _ code: ArchiveContents.Code,
        as role: Role,
        known: CodeSurvey? = nil,
        _ reader: CodeReader
    ) throws -> PreparedCode {
        if !code.isFat, let image = code.images.first {
            return try prepareThin(code, image, as: role, known: known, reader)
        }
        var bytes = try code.file.bytes(in: source, reader.inflater)
        var file = try MachOFile(bytes)
        if !code.headers.isEmpty {
            try edit(&bytes, file, code.headers)
            file = try MachOFile(bytes)
        }
        let old = file.slices.map { slice in
            OldSignature(slice.image, in: bytes[slice.offset..<slice.offset + slice.image.count])
        }
        let plan = entitlements(role, old: old)
        let algorithms = Self.algorithms(for: file.slices.map(\.image))
        let recipes = try zip(file.slices, old).map { slice, old in
            try recipe(role, slice.image, algorithms, old, plan)
        }
        return PreparedCode(code.file, try fat(file, &bytes, recipes), survey: nil, plan)
    }

    /// SHA-1 too where any image may meet a system that asks for it.
    static func algorithms(for images: [MachOImage]) -> [HashAlgorithm] {
        images.contains { DigestPolicy.wantsSHA1($0) } ? [.sha1, .sha256] : [.sha256]
    }

    func recipe(
        _ role: Role,
        _ image: MachOImage,
        _ algorithms: [HashAlgorithm],
        _ old: OldSignature,
        _ plan: EntitlementsPlan?
    ) throws -> SignatureRecipe {
        try SignatureRecipe(
            identifier: role.identifier,
            image: image,
            algorithms: algorithms,
            pageSize: pageSize ?? old.pageSize ?? Self.defaultPageSize(image),
            entitlements: plan?.entitlements,
            isBundleExecutable: role.isBundleExecutable,
            identity: identity
        )
    }

    /// Changes the headers as the plan has it.
    func edit(_ bytes: inout [UInt8], _ file: MachOFile, _ headers: [EditedHeader]) throws(MachOError) {
        for (slice, header) in zip(file.slices, headers) where header.isChanged {
            guard header.bytes.count <= slice.image.count else {
                throw .tooLarge("its header is not the one that was planned with.")
            }
            bytes.replaceSubrange(slice.offset..<slice.offset + header.bytes.count, with: header.bytes)
        }
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
            Self.slots(of: UnsafeRawBufferPointer(rebasing: all[offset..<offset + layout.codeLimit]), recipe)
        }
        return PreparedCode.Image(recipe: recipe, layout: layout, codeSlots: slots)
    }

    /// The digests of the pages for each of the recipe's algorithms.
    static func slots(of code: UnsafeRawBufferPointer, _ recipe: SignatureRecipe) -> [[UInt8]] {
        recipe.algorithms.map { PageHasher.slots(of: code, pageSize: recipe.pageSize, with: Digester($0)) }
    }
}
