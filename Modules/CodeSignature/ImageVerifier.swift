import FerryBytes
public import FerryMachO
public import FerryPropertyList

/// Checks the signature of one image.
public struct ImageVerifier {
    /// What belongs to the image.
    public struct Context: Sendable {
        /// What to call the image in faults.
        public var place: String
        /// The bundle's Info.plist; `nil` for loose code.
        public var infoPlist: Digests?
        /// The bundle's seal; `nil` for loose code, or where it is missing.
        public var resources: Digests?
        /// The identifier that is expected; `nil` for any.
        public var identifier: String?

        /// For an image called `place`.
        public init(place: String, infoPlist: Digests? = nil, resources: Digests? = nil, identifier: String? = nil) {
            self.place = place
            self.infoPlist = infoPlist
            self.resources = resources
            self.identifier = identifier
        }
    }

    /// What was found.
    public struct Report: Sendable {
        /// What is wrong; empty for a right signature.
        public var faults: [Fault] = []
        /// The code directories, the primary first.
        public var directories: [CodeDirectory] = []
        /// The entitlements of the XML blob.
        public var entitlements: PropertyList.Dictionary?
        /// The message, where it is right.
        public var message: SignatureMessage.Verified?
        /// Whether the signature is ad hoc, without a signer.
        public var isAdHoc: Bool { directories.first.map { $0.flags & CodeDirectory.adhocFlag != 0 } ?? false }
    }

    private let image: MachOImage
    private let context: Context
    private var report = Report()

    /// Checks everything that the image and its context say of each other.
    ///
    /// - Parameter bytes: the image, the same that was parsed.
    public static func verify(_ image: MachOImage, in bytes: ArraySlice<UInt8>, context: Context) -> Report {
        verify(image, in: ImagePages(bytes), context: context)
    }

    /// Checks everything that the image and its context say of each other, but for what the pages know.
    public static func verify(_ image: MachOImage, in pages: ImagePages, context: Context) -> Report {
        var verifier = ImageVerifier(image: image, context: context)
        verifier.run(pages)
        return verifier.report
    }

    private init(image: MachOImage, context: Context) {
        self.image = image
        self.context = context
    }

    private mutating func fault(_ code: Fault.Code, _ message: String, _ remedy: String? = nil, isWarning: Bool = false)
    {
        report.faults.append(Fault(code, at: context.place, message, remedy: remedy, isWarning: isWarning))
    }

    private static let signAgain = "Sign the archive again."

    private mutating func run(_ pages: ImagePages) {
        if image.isEncrypted {
            fault(.encrypted, "The code is encrypted by the App Store.", "Only its buyer's devices run it.")
        }
        guard let room = image.codeSignature else {
            return fault(.unsigned, "The image has no code signature.", Self.signAgain)
        }
        checkPlace(room)
        let blobs: SuperBlob
        do {
            let region = try ByteReader(pages.end).bytes(at: room.offset - pages.start, count: room.size)
            blobs = try SuperBlob(parsing: region)
            report.directories = try blobs.blobs.filter { $0.slot.isCodeDirectory }
                .map { try CodeDirectory(parsing: $0.bytes) }
        } catch let error as CodeSignatureError {
            return fault(.signatureMalformed, error.message, Self.signAgain)
        } catch {
            return fault(.signatureMalformed, "\(error)", Self.signAgain)
        }
        guard blobs[.codeDirectory] != nil else {
            return fault(.signatureMalformed, "The signature has no code directory.", Self.signAgain)
        }
        checkDigests()
        checkEntitlements(blobs)
        for directory in report.directories {
            check(directory, limit: room.offset)
            checkPages(directory, pages)
            checkSpecialSlots(directory, blobs)
        }
        checkMessage(blobs)
    }

    private mutating func checkPlace(_ room: MachOImage.Region) {
        guard let linkEdit = image.linkEdit else {
            return fault(.signaturePlace, "There is no __LINKEDIT segment around the signature.", Self.signAgain)
        }
        if linkEdit.fileOffset + linkEdit.fileSize != room.end || room.end != image.count {
            fault(
                .signaturePlace,
                "The signature ends at \(room.end), __LINKEDIT at \(linkEdit.fileOffset + linkEdit.fileSize), "
                    + "the image at \(image.count).",
                Self.signAgain
            )
        }
        if linkEdit.memorySize < UInt64(linkEdit.fileSize)
            || linkEdit.memorySize - UInt64(linkEdit.fileSize) >= 0x10000
        {
            fault(
                .signaturePlace,
                "__LINKEDIT takes \(linkEdit.memorySize) bytes in memory for \(linkEdit.fileSize) in the file.",
                Self.signAgain
            )
        }
        if !room.offset.isMultiple(of: 16) {
            fault(.signaturePlace, "The signature begins at \(room.offset), no multiple of 16.", isWarning: true)
        }
    }

    private mutating func checkDigests() {
        let algorithms = report.directories.map(\.algorithm)
        if !algorithms.contains(.sha256) {
            fault(
                .digestMissing,
                "There is no SHA-256 code directory.",
                Self.signAgain,
                isWarning: (image.minimumOS ?? .max) < 11 << 16
            )
        }
        if DigestPolicy.wantsSHA1(image), !algorithms.contains(.sha1) {
            fault(
                .digestMissing,
                "The minimum OS is below 11, which wants a SHA-1 code directory too.",
                Self.signAgain
            )
        }
        if Set(algorithms).count != algorithms.count {
            fault(.signatureMalformed, "There are two code directories of one hash.", Self.signAgain)
        }
    }

    private mutating func check(_ directory: CodeDirectory, limit: Int) {
        let name = "The \(directory.algorithm) code directory"
        if directory.codeLimit != limit {
            fault(
                .codeLimit,
                "\(name) ends at \(directory.codeLimit), the signature begins at \(limit).",
                Self.signAgain
            )
        }
        if let expected = context.identifier, directory.identifier != expected {
            fault(
                .identifier,
                "\(name) is for “\(directory.identifier)”, not for “\(expected)”.",
                Self.signAgain
            )
        }
        guard let segment = directory.execSegment else {
            return fault(
                .directoryVersion,
                "\(name) is of version 0x\(String(directory.version, radix: 16)), without the exec segment.",
                "iOS 15 and later may refuse it. Sign the archive again.",
                isWarning: true
            )
        }
        if let text = image.text, segment.base != UInt64(text.fileOffset) || segment.limit != UInt64(text.fileSize) {
            fault(
                .execSegment,
                "\(name) gives __TEXT \(segment.limit) bytes; it has \(text.fileSize).",
                Self.signAgain
            )
        }
        if (segment.flags & CodeDirectory.mainBinaryFlag != 0) != image.isMainBinary {
            fault(
                .mainBinaryFlag,
                image.isMainBinary
                    ? "\(name) lacks the main-binary flag, without which iOS ends the process at once."
                    : "\(name) has the main-binary flag, but the image is no executable.",
                Self.signAgain
            )
        }
        let debuggable = report.entitlements?["get-task-allow"] == .boolean(true)
        if (segment.flags & CodeDirectory.allowUnsignedFlag != 0) != debuggable {
            fault(
                .allowUnsignedFlag,
                "\(name)'s allow-unsigned flag does not go with get-task-allow (\(debuggable)).",
                Self.signAgain
            )
        }
    }

    private mutating func checkPages(_ directory: CodeDirectory, _ pages: ImagePages) {
        let size = directory.algorithm.size
        let expected = CodeDirectory.pageCount(codeLimit: directory.codeLimit, pageSize: directory.pageSize)
        guard directory.codeLimit <= pages.count, directory.pageCount == expected,
            let slots = pages.slots(
                directory.algorithm,
                pageSize: directory.pageSize,
                codeLimit: directory.codeLimit
            )
        else {
            return fault(
                .slotCount,
                "There are \(directory.pageCount) code slots where \(expected) are due.",
                Self.signAgain
            )
        }
        guard slots != directory.codeSlots else { return }
        let page = (0..<expected).first { page in
            slots[page * size..<(page + 1) * size] != directory.codeSlots[page * size..<(page + 1) * size]
        }
        fault(
            .pageHash,
            "Page \(page ?? 0) (from offset 0x\(String((page ?? 0) * directory.pageSize, radix: 16))) differs from its "
                + "\(directory.algorithm) hash.",
            "The code was changed after signing. Sign the archive again."
        )
    }

    private mutating func checkSpecialSlots(_ directory: CodeDirectory, _ blobs: SuperBlob) {
        let blobSlots: [(CodeDirectory.SpecialSlot, SuperBlob.Slot, Fault.Code, String)] = [
            (.requirements, .requirements, .requirementsHash, "requirements"),
            (.entitlements, .entitlements, .entitlementsHash, "entitlements"),
            (.entitlementsDER, .entitlementsDER, .entitlementsHash, "DER entitlements"),
        ]
        for (special, slot, code, name) in blobSlots {
            compare(directory, special, blobs[slot].map { directory.algorithm.digest($0) }, code, name)
        }
        // Loose code and a verifier that was given no bundle have nothing to compare these two with.
        guard context.infoPlist != nil else { return }
        compare(directory, .infoPlist, context.infoPlist?[directory.algorithm], .infoPlistHash, "Info.plist")
        compare(directory, .resources, context.resources?[directory.algorithm], .resourcesHash, "resource seal")
    }

    private mutating func compare(
        _ directory: CodeDirectory,
        _ slot: CodeDirectory.SpecialSlot,
        _ digest: [UInt8]?,
        _ code: Fault.Code,
        _ name: String
    ) {
        switch (directory.special(slot), digest) {
        case (nil, nil): break
        case (let expected?, let found?) where expected == found: break
        case (nil, _?):
            fault(code, "The \(directory.algorithm) code directory has no hash for the \(name).", Self.signAgain)
        case (_?, nil):
            fault(code, "There is a \(directory.algorithm) hash for the \(name), which is missing.", Self.signAgain)
        case (_?, _?):
            fault(
                code,
                "The \(name) differs from its \(directory.algorithm) hash.",
                "It was changed after signing. Sign the archive again."
            )
        }
    }
}

extension ImageVerifier {
    private mutating func checkEntitlements(_ blobs: SuperBlob) {
        if let xml = blobs[.entitlements] {
            do {
                guard case .dictionary(let entitlements) = try PropertyList.parse(xml.dropFirst(8)).value else {
                    return fault(.entitlementsForm, "The entitlements are no dictionary.", Self.signAgain)
                }
                report.entitlements = entitlements
            } catch {
                return fault(.entitlementsForm, "The entitlements cannot be read: \(error.message)", Self.signAgain)
            }
        }
        guard image.isMainBinary else {
            if report.entitlements.map({ !$0.isEmpty }) ?? false {
                fault(.entitlementsOnLibrary, "A library carries entitlements, which iOS refuses.", Self.signAgain)
            }
            return
        }
        guard let der = blobs[.entitlementsDER] else {
            if report.entitlements != nil {
                fault(
                    .entitlementsForm,
                    "There are no DER entitlements, which iOS 15 and later want.",
                    Self.signAgain,
                    isWarning: (image.minimumOS ?? .max) < 15 << 16
                )
            }
            return
        }
        do {
            let decoded = try EntitlementsDER.decoded(der.dropFirst(8))
            if let xml = report.entitlements, decoded.sorted() != xml.sorted() {
                fault(.entitlementsForm, "XML and DER entitlements differ.", Self.signAgain)
            }
        } catch {
            fault(.entitlementsForm, error.message, Self.signAgain)
        }
    }

    private mutating func checkMessage(_ blobs: SuperBlob) {
        guard let primary = blobs[.codeDirectory] else { return }
        guard let blob = blobs[.signature], blob.count > 8 else {
            if !report.isAdHoc {
                fault(.messageMissing, "There is no CMS, so nobody signed.", Self.signAgain)
            }
            return
        }
        let message: SignatureMessage.Verified
        do {
            message = try SignatureMessage.verify(blob.dropFirst(8), over: primary)
        } catch {
            return fault(.messageInvalid, error.message, Self.signAgain)
        }
        report.message = message
        let codeDirectories = blobs.blobs.filter { $0.slot.isCodeDirectory }
        let digests = zip(codeDirectories, report.directories).map {
            SignatureMessage.DirectoryDigest(of: $0.bytes, $1.algorithm)
        }
        if let named = message.cdHashes {
            if Set(named) != Set(digests.map(\.cut)) {
                fault(
                    .messageDigests,
                    "The CMS names other code directories than those that are there.",
                    Self.signAgain
                )
            }
        } else {
            fault(
                .messageDigests,
                "The CMS lacks the list of cdhashes.",
                Self.signAgain,
                isWarning: digests.count == 1
            )
        }
        if let values = message.digestValues,
            !digests.allSatisfy({ digest in
                values.contains { $0.suffix(digest.digest.count).elementsEqual(digest.digest) }
            })
        {
            fault(.messageDigests, "The CMS lacks the digest of a code directory.", Self.signAgain)
        }
        if !message.hasWholeChain {
            fault(
                .chainIncomplete,
                "The chain from “\(message.signer.subject)” up to its root is not inside the CMS.",
                "Sign with an identity that holds its whole chain."
            )
        }
    }
}

/// Which hashes an image wants.
public enum DigestPolicy {
    /// Whether systems that know only SHA-1 may meet the image.
    ///
    /// So it is for a minimum OS below iOS 11, tvOS 11, macOS 10.11.4 and watchOS 12.
    /// Source: libsecurity_codesigning `signer.cpp`, `machorep.cpp`.
    public static func wantsSHA1(_ image: MachOImage) -> Bool {
        guard let minimum = image.minimumOS else { return false }
        switch image.platform {
        case 1: return minimum < 10 << 16 | 11 << 8 | 4
        case 2, 3: return minimum < 11 << 16
        case 4: return minimum < 12 << 16
        default: return false
        }
    }
}
