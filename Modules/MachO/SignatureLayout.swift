import FerryBytes

/// Where a new signature goes in an image, and which header bytes change for it.
public struct SignatureLayout: Sendable, Equatable {
    /// A change of a few bytes in the header.
    public struct Edit: Sendable, Equatable {
        /// From the start of the image.
        public let offset: Int
        /// What stands there afterwards.
        public let bytes: [UInt8]

        /// Bytes to be put at an offset.
        package init(offset: Int, bytes: [UInt8]) {
            self.offset = offset
            self.bytes = bytes
        }
    }

    /// Where the old content that is kept ends; zeros follow up to ``codeLimit``.
    public let contentEnd: Int
    /// Where the signature begins; a multiple of 16. Everything before it is hashed by page.
    public let codeLimit: Int
    /// The room for the signature; at least what was asked for. The image ends behind it.
    public let signatureSize: Int
    /// What changes in the header, by ascending offset; empty where the old room serves.
    public let edits: [Edit]

    /// The end of the last header edit; zero where nothing changes.
    public var changedPrefix: Int { edits.last.map { $0.offset + $0.bytes.count } ?? 0 }

    /// The length of the signed image.
    public var imageSize: Int { codeLimit + signatureSize }
}

extension MachOImage {
    /// Finds the place for a signature of `needed` bytes.
    ///
    /// The old room is taken where it is large enough: then no load command changes. Otherwise `LC_CODE_SIGNATURE` is
    /// set or added, and `__LINKEDIT` ends with the signature, its size in memory rounded up to 16 KiB pages (4 KiB for
    /// 32-bit code).
    ///
    /// - Parameter bytes: the image, the same that was parsed.
    /// - Parameter needed: the size of the signature.
    public func signatureLayout(
        in bytes: ArraySlice<UInt8>,
        needed: Int
    ) throws(MachOError) -> SignatureLayout {
        guard let end = signedEnd else { throw Self.noLinkEdit }
        guard let rest = try? ByteReader(bytes).bytes(at: end, count: bytes.count - end) else {
            throw .malformed("__LINKEDIT ends at \(end), past the file's \(bytes.count) bytes.")
        }
        return try signatureLayout(header: bytes, rest: rest, needed: needed)
    }

    /// Finds the place for a signature of `needed` bytes, as ``signatureLayout(in:needed:)`` does, without the whole image.
    ///
    /// - Parameter header: the start of the image, with at least 16 bytes behind the load commands where it has as many.
    /// - Parameter rest: what lies behind ``signedEnd``.
    public func signatureLayout(
        header: ArraySlice<UInt8>,
        rest: ArraySlice<UInt8>,
        needed: Int
    ) throws(MachOError) -> SignatureLayout {
        let (linkEdit, contentEnd) = try geometry()
        let linkEditEnd = linkEdit.fileOffset + linkEdit.fileSize
        let oldEnd = usedSignature?.end ?? linkEditEnd
        try refuseTrailingData(rest)

        if let usedSignature, usedSignature.offset.isMultiple(of: 16), usedSignature.size >= needed,
            rest.isEmpty, linkEditEnd == oldEnd, linkEdit.memorySize.isMultiple(of: 0x1000),
            linkEdit.memorySize >= UInt64(linkEdit.fileSize),
            linkEdit.memorySize - UInt64(linkEdit.fileSize) < 0x10000
        {
            return SignatureLayout(
                contentEnd: contentEnd,
                codeLimit: contentEnd,
                signatureSize: usedSignature.size,
                edits: []
            )
        }

        guard let codeLimit = roundedUp(contentEnd, to: 16), let size = roundedUp(needed, to: 16),
            codeLimit + size - linkEdit.fileOffset > 0,
            let memorySize = roundedUp(codeLimit + size - linkEdit.fileOffset, to: pageSize),
            UInt32(exactly: codeLimit) != nil, UInt32(exactly: size) != nil
        else {
            throw MachOError(
                .unsupported,
                "the signature would begin at \(contentEnd), past the 4 GiB that its command can name."
            )
        }
        var edits = linkEditEdits(
            at: linkEdit.commandOffset,
            fileSize: codeLimit + size - linkEdit.fileOffset,
            memorySize: memorySize
        )
        edits += try commandEdits(in: header, codeLimit: codeLimit, size: size)
        edits.sort { $0.offset < $1.offset }
        return SignatureLayout(contentEnd: contentEnd, codeLimit: codeLimit, signatureSize: size, edits: edits)
    }

    /// How many bytes are free between the load commands and the first content: the first section that has bytes in the
    /// file, the next segment, or whatever a load command names, such as the first instruction or encrypted pages.
    public var headerRoom: Int {
        max(0, min(contentStart ?? count, count) - commandsEnd)
    }

    /// What of ``headerRoom`` further load commands may take: 16 bytes less where `LC_CODE_SIGNATURE` is still to come.
    public var commandRoom: Int {
        let isSigned = loadCommands.contains { $0.number == Self.codeSignatureCommand }
        return max(0, headerRoom - (isSigned ? 0 : 16))
    }

    /// What would keep a signature out, as far as the header tells: for a plan, before the whole image is read.
    ///
    /// - Parameter header: the start of the image, at least up to the first section.
    public func signatureObstacle(in header: ArraySlice<UInt8>) -> MachOError? {
        do {
            _ = try geometry()
            _ = try commandEdits(in: header, codeLimit: 0, size: 0)
            return nil
        } catch {
            return error
        }
    }

    /// The old signature; an empty one, which strippers leave, is none.
    private var usedSignature: Region? { codeSignature.flatMap { $0.size > 0 ? $0 : nil } }

    /// `__LINKEDIT`, and where the content that is kept ends in it.
    private func geometry() throws(MachOError) -> (linkEdit: Segment, contentEnd: Int) {
        guard let linkEdit else { throw Self.noLinkEdit }
        let linkEditEnd = linkEdit.fileOffset + linkEdit.fileSize
        guard segments.allSatisfy({ $0.fileOffset + $0.fileSize <= max(linkEditEnd, $0.fileOffset) }) else {
            throw .malformed("__LINKEDIT is not the last segment.")
        }
        guard usedSignature.map({ $0.end >= linkEditEnd }) ?? true else {
            throw .malformed("the code signature is not the last part of __LINKEDIT.")
        }
        guard usedSignature.map({ $0.offset >= linkEdit.fileOffset }) ?? true else {
            throw .malformed("the code signature lies before __LINKEDIT.")
        }
        let contentEnd = usedSignature?.offset ?? linkEditEnd
        guard contentEnd >= commandsEnd + (codeSignature == nil ? 16 : 0) else {
            throw .malformed("__LINKEDIT ends at \(contentEnd), within the header.")
        }
        // A new signature may be smaller than the old one, and the image then ends before the segment does.
        let others = segments.lazy.filter { $0.commandOffset != linkEdit.commandOffset && $0.fileSize > 0 }
        if let segment = others.first(where: { $0.fileOffset + $0.fileSize > contentEnd }) {
            throw .malformed("segment \(segment.name.printable) reaches past \(contentEnd), into the code signature.")
        }
        return (linkEdit, contentEnd)
    }

    /// Where the old content ends that is kept; the whole header tells.
    public var keptEnd: Int? { try? geometry().contentEnd }

    /// Where the old signature ends, or `__LINKEDIT` where there is none; `nil` without either.
    public var signedEnd: Int? { usedSignature?.end ?? linkEdit.map { $0.fileOffset + $0.fileSize } }

    /// Where the signature will begin; `nil` without `__LINKEDIT`, or far past what a Mach-O can hold.
    public var expectedCodeLimit: Int? {
        guard let linkEdit else { return nil }
        return roundedUp(usedSignature?.offset ?? linkEdit.fileOffset + linkEdit.fileSize, to: 16)
    }

    private static let noLinkEdit = MachOError(
        .unsupported,
        "there is no __LINKEDIT segment, where a signature would go.",
        remedy: "Link the code with Apple's tools, or leave this file out."
    )

    private func refuseTrailingData(_ rest: ArraySlice<UInt8>) throws(MachOError) {
        guard rest.allSatisfy({ $0 == 0 }) else {
            throw MachOError(
                .trailingData,
                "\(rest.count) bytes lie behind the end of __LINKEDIT, where no signature covers them.",
                remedy: "Remove what was appended to the executable; iOS refuses such a file."
            )
        }
    }

    /// What segments' sizes in memory are multiples of.
    ///
    /// arm64_32 has the header of 32-bit code and the pages of arm64.
    var pageSize: Int { is64Bit || cpuType == 0x0200_000C ? 0x4000 : 0x1000 }

    /// New sizes of `__LINKEDIT`, whose command is at `offset`.
    func linkEditEdits(at offset: Int, fileSize: Int, memorySize: Int) -> [SignatureLayout.Edit] {
        var memory: [UInt8] = []
        var file: [UInt8] = []
        if is64Bit {
            memory.append(UInt64(memorySize), .little)
            file.append(UInt64(fileSize), .little)
        } else {
            memory.append(UInt32(truncatingIfNeeded: memorySize), .little)
            file.append(UInt32(truncatingIfNeeded: fileSize), .little)
        }
        return [
            .init(offset: offset + (is64Bit ? 32 : 28), bytes: memory),
            .init(offset: offset + (is64Bit ? 48 : 36), bytes: file),
        ]
    }

    private func commandEdits(
        in bytes: ArraySlice<UInt8>,
        codeLimit: Int,
        size: Int
    ) throws(MachOError) -> [SignatureLayout.Edit] {
        var place: [UInt8] = []
        place.append(UInt32(truncatingIfNeeded: codeLimit), .little)
        place.append(UInt32(truncatingIfNeeded: size), .little)
        if let command = loadCommands.first(where: { $0.number == Self.codeSignatureCommand }) {
            return [.init(offset: command.offset + 8, bytes: place)]
        }
        let free = (try? ByteReader(bytes).bytes(at: commandsEnd, count: min(16, headerRoom))) ?? []
        guard headerRoom >= 16, free.allSatisfy({ $0 == 0 }) else {
            throw MachOError(
                .headerFull,
                "LC_CODE_SIGNATURE needs 16 bytes behind the load commands, but only "
                    + "\(free.prefix { $0 == 0 }.count) are free.",
                remedy: "Link the code with more header padding (-headerpad 0x1000)."
            )
        }
        var command: [UInt8] = []
        command.append(Self.codeSignatureCommand, .little)
        command.append(UInt32(16), .little)
        var counts: [UInt8] = []
        counts.append(UInt32(loadCommands.count + 1), .little)
        counts.append(UInt32(commandsEnd - headerSize + 16), .little)
        return [
            .init(offset: 16, bytes: counts),
            .init(offset: commandsEnd, bytes: command + place),
        ]
    }
}
