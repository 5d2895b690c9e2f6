import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryZip

extension CodePreparer {
    /// What a signature over a thin file asks for.
    struct Wanted {
        let recipe: SignatureRecipe
        let layout: SignatureLayout
        /// The image's start with every edit made.
        let header: [UInt8]
        /// Where the last edit ends; zero where there is none.
        let changedPrefix: Int
        /// Whether a seal names the file.
        let isSealed: Bool
        let entitlements: EntitlementsPlan?
    }

    /// Prepares a thin file, of which ``CodeSurvey`` may know everything.
    func prepareThin(
        _ code: ArchiveContents.Code,
        _ image: MachOImage,
        as role: Role,
        known: CodeSurvey?,
        _ reader: CodeReader
    ) throws -> PreparedCode {
        if let known, code.file.newContent == nil,
            let header = try? code.file.prefix(known.header.count, in: source, reader.inflater),
            let wanted = try? wanted(
                code,
                image,
                role,
                header: header,
                oldSignature: known.oldSignature[...],
                rest: []
            ),
            known.serves(wanted)
        {
            guard let entry = code.file.entry, known.fits(entry) else { throw SurveyMismatch() }
            return known.prepared(code.file, wanted, isNews: false)
        }
        let boundaries = try read(code, image, reader)
        let content = reader.content
        let end = image.signedEnd.map { min($0, reader.count) } ?? reader.count
        let oldRoom = image.codeSignature.map { $0.offset..<$0.end } ?? 0..<0
        let headerEnd = max(code.headers.first?.bytes.count ?? 0, min(image.commandsEnd + 16, reader.count))
        guard headerEnd <= reader.count, oldRoom.upperBound <= reader.count, end == image.signedEnd ?? end else {
            throw MachOError.tooLarge("its header is not the one that was planned with.")
        }
        let oldSignature = Array(content[oldRoom])
        let wanted = try wanted(
            code,
            image,
            role,
            header: Array(content[..<headerEnd]),
            oldSignature: oldSignature[...],
            rest: Array(content[end..<reader.count])[...]
        )
        content.copyBytes(from: wanted.header)
        return try hash(code.file, reader, boundaries, wanted, oldSignature)
    }

    /// Reads a file into the worker's memory.
    private func read(
        _ code: ArchiveContents.Code,
        _ image: MachOImage,
        _ reader: CodeReader
    ) throws -> [BlockBoundary] {
        if let entry = code.file.entry, code.file.newContent == nil {
            return try reader.read(entry, in: source, cut: image.keptEnd ?? 0)
        }
        reader.take(try code.file.bytes(in: source, reader.inflater))
        return []
    }

    /// Makes the edits that the plan has, and finds out what a signature asks for.
    private func wanted(
        _ code: ArchiveContents.Code,
        _ image: MachOImage,
        _ role: Role,
        header: [UInt8],
        oldSignature: ArraySlice<UInt8>,
        rest: ArraySlice<UInt8>
    ) throws -> Wanted {
        var header = header
        var changedPrefix = 0
        if let edited = code.headers.first, edited.isChanged {
            header.replaceSubrange(..<edited.bytes.count, with: edited.bytes)
            changedPrefix = edited.bytes.count
        }
        // What was planned with is parsed once more, of what is there now.
        let image = try MachOImage(header[...], count: image.count)
        let old = OldSignature(oldSignature)
        let plan = entitlements(role, old: [old])
        let recipe = try recipe(role, image, Self.algorithms(for: [image]), old, plan)
        let layout = try image.signatureLayout(
            header: header[...],
            rest: rest,
            needed: recipe.size(codeLimit: image.expectedCodeLimit ?? 0)
        )
        for edit in layout.edits {
            header.replaceSubrange(edit.offset..<edit.offset + edit.bytes.count, with: edit.bytes)
        }
        return Wanted(
            recipe: recipe,
            layout: layout,
            header: header,
            changedPrefix: max(changedPrefix, layout.changedPrefix),
            isSealed: role.isSealed,
            entitlements: plan
        )
    }

    /// Hashes what is in the worker's memory, and finds what of its packed bytes can be kept.
    private func hash(
        _ file: ArchiveFile,
        _ reader: CodeReader,
        _ boundaries: [BlockBoundary],
        _ wanted: Wanted,
        _ oldSignature: [UInt8]
    ) throws -> PreparedCode {
        let layout = wanted.layout
        let code = UnsafeMutableRawBufferPointer(rebasing: reader.content[..<layout.codeLimit])
        for index in layout.contentEnd..<layout.codeLimit { code[index] = 0 }
        let content = UnsafeRawBufferPointer(rebasing: code[..<layout.contentEnd])
        var boundaries = boundaries
        if wanted.changedPrefix > 0, let last = boundaries.last, let first = reader.block(free: wanted.changedPrefix) {
            boundaries = [first, last].filter { $0 == last || $0.uncompressedOffset < last.uncompressedOffset }
        }
        // Bytes that are new altogether have no blocks.
        let splice = (boundaries.isEmpty ? nil : file.entry).flatMap { entry in
            DeflateSplice(
                entry: entry,
                boundaries: boundaries,
                content: content,
                changedPrefix: wanted.changedPrefix
            )
        }
        let before = splice?.seamOffset ?? content.count
        let hashes = CodeHashes(
            pagesOf: UnsafeRawBufferPointer(code),
            pageSize: wanted.recipe.pageSize,
            wanted.recipe.algorithms,
            wholeOf: wanted.isSealed ? UnsafeRawBufferPointer(rebasing: content[..<before]) : nil,
            on: workers
        )
        guard let splice else {
            let image = PreparedCode.Image(recipe: wanted.recipe, layout: layout, codeSlots: hashes.slots)
            let packing = PreparedCode.Packing.prefix(packed(content), image: image, start: hashes.whole)
            return PreparedCode(file, packing, survey: nil, wanted.entitlements)
        }
        let survey = CodeSurvey(
            header: wanted.header,
            oldSignature: oldSignature,
            contentEnd: layout.contentEnd,
            codeLimit: layout.codeLimit,
            pageSize: wanted.recipe.pageSize,
            slots: Dictionary(uniqueKeysWithValues: zip(wanted.recipe.algorithms, hashes.slots)),
            splice: splice,
            beforeSeam: hashes.whole
        )
        return survey.prepared(file, wanted, isNews: true)
    }

    /// Packs all before the signature anew, on every thread that is free.
    private func packed(_ content: UnsafeRawBufferPointer) -> DeflatePrefix {
        // The memory outlives the parts, which only read it.
        nonisolated(unsafe) let content = content
        let step = DeflatePrefix.chunkBytes
        let parts = stride(from: 0, to: content.count, by: step).map { start in
            { @Sendable in
                let end = min(start + step, content.count)
                return DeflatePrefix.encodeChunk(UnsafeRawBufferPointer(rebasing: content[start..<end]))
            }
        }
        return DeflatePrefix(chunks: workers.together(parts))
    }
}

extension CodeSurvey {
    /// A file that waits for its seal, signed as is wanted.
    fileprivate func prepared(_ file: ArchiveFile, _ wanted: CodePreparer.Wanted, isNews: Bool) -> PreparedCode {
        let image = PreparedCode.Image(
            recipe: wanted.recipe,
            layout: wanted.layout,
            codeSlots: wanted.recipe.algorithms.map { slots[$0] ?? [] }
        )
        let packing = PreparedCode.Packing.splice(splice, image: image, start: digests)
        return PreparedCode(file, packing, survey: self, isNews: isNews, wanted.entitlements)
    }
}
