import FerryBytes
public import FerryMachO
public import FerryPropertyList

/// Everything that one image's signature is made of, apart from the hashes.
///
/// Its size is known before a byte is hashed, so the room is reserved once and exactly.
public struct SignatureRecipe: Sendable {
    /// The bundle identifier, or for loose code the file's name without its ending.
    public var identifier: String
    /// The hashes: SHA-256 alone, or SHA-1 and SHA-256 with SHA-1 as the primary.
    public var algorithms: [HashAlgorithm]
    /// Bytes a page.
    public var pageSize: Int
    /// What the image is entitled to; `nil` on anything but a main executable.
    public var entitlements: PropertyList.Dictionary?
    /// Whether the image is the executable of a bundle, whose Info.plist and seal have slots.
    public var isBundleExecutable: Bool
    /// Whether a process can start with the image.
    public var isMainBinary: Bool
    /// `__TEXT`'s size in the file.
    public var textSize: Int

    private let requirements: [UInt8]
    private let entitlementBlobs: (xml: [UInt8], der: [UInt8])?
    private let team: String?
    private let messageRoom: Int

    /// Collects the parts for `image`, to be signed by `identity`; ad hoc, by nobody, where that is `nil`.
    public init(
        identifier: String,
        image: MachOImage,
        algorithms: [HashAlgorithm],
        pageSize: Int,
        entitlements: PropertyList.Dictionary?,
        isBundleExecutable: Bool,
        identity: Identity?
    ) throws(CodeSignatureError) {
        self.identifier = identifier
        self.algorithms = algorithms
        self.pageSize = pageSize
        self.entitlements = image.isMainBinary ? entitlements : nil
        self.isBundleExecutable = isBundleExecutable
        isMainBinary = image.isMainBinary
        textSize = image.text?.fileSize ?? 0
        if let identity {
            requirements = try DesignatedRequirement.encoded(
                identifier: identifier,
                leaf: identity.leaf,
                chain: identity.chain
            )
            messageRoom = try identity.messageRoom(for: algorithms)
        } else {
            requirements = DesignatedRequirement.none
            messageRoom = SuperBlob.blob(SuperBlob.Magic.wrapper, []).count
        }
        team = identity?.team
        if let entitlements = self.entitlements {
            let xml = PropertyList.dictionary(entitlements).encoded(as: .xml)
            entitlementBlobs = (
                SuperBlob.blob(SuperBlob.Magic.entitlements, xml),
                SuperBlob.blob(SuperBlob.Magic.entitlementsDER, try EntitlementsDER.encoded(entitlements))
            )
        } else {
            entitlementBlobs = nil
        }
    }

    private var specialSlotCount: Int {
        if entitlementBlobs != nil { return CodeDirectory.SpecialSlot.entitlementsDER.rawValue }
        return isBundleExecutable
            ? CodeDirectory.SpecialSlot.resources.rawValue : CodeDirectory.SpecialSlot.requirements.rawValue
    }

    /// The size of the signature over `codeLimit` bytes, a multiple of 16.
    public func size(codeLimit: Int) -> Int {
        var blobs = algorithms.map {
            CodeDirectory.size(
                identifier: identifier,
                team: team,
                specialSlots: specialSlotCount,
                pages: CodeDirectory.pageCount(codeLimit: codeLimit, pageSize: pageSize),
                algorithm: $0
            )
        }
        blobs.append(requirements.count)
        if let entitlementBlobs {
            blobs += [entitlementBlobs.xml.count, entitlementBlobs.der.count]
        }
        blobs.append(messageRoom)
        let size = SuperBlob.size(of: blobs)
        return size + (16 - size % 16) % 16
    }

    /// Makes the signature and fills the rest of its room with zeros.
    ///
    /// - Parameter codeSlots: the digests of the pages, an array for each of ``algorithms``.
    /// - Parameter infoPlist: of the bundle; `nil` for loose code.
    /// - Parameter resources: of the bundle's seal; `nil` for loose code.
    /// - Parameter identity: who signs, the same as before; `nil` for an ad-hoc signature, whose message is empty.
    /// - Parameter time: the signing time, in seconds since 1970.
    public func signature(
        codeSlots: [[UInt8]],
        codeLimit: Int,
        room: Int,
        infoPlist: Digests?,
        resources: Digests?,
        identity: Identity?,
        time: Int64
    ) throws(CodeSignatureError) -> [UInt8] {
        var blobs: [SuperBlob.Blob] = [.init(slot: .requirements, bytes: requirements)]
        if let entitlementBlobs {
            blobs.append(.init(slot: .entitlements, bytes: entitlementBlobs.xml))
            blobs.append(.init(slot: .entitlementsDER, bytes: entitlementBlobs.der))
        }
        var digests: [SignatureMessage.DirectoryDigest] = []
        for (index, algorithm) in algorithms.enumerated() {
            let directory = codeDirectory(
                algorithm,
                slots: codeSlots[index],
                codeLimit: codeLimit,
                infoPlist: infoPlist,
                resources: resources,
                isAdHoc: identity == nil
            ).encoded()
            digests.append(.init(of: directory, algorithm))
            let slot =
                index == 0
                ? SuperBlob.Slot.codeDirectory
                : SuperBlob.Slot(rawValue: SuperBlob.Slot.alternateCodeDirectory.rawValue + UInt32(index - 1))
            blobs.append(.init(slot: slot, bytes: directory))
        }
        guard let primary = blobs.first(where: { $0.slot == .codeDirectory }) else {
            preconditionFailure("a recipe has at least one hash")
        }
        let message = try identity.map { identity throws(CodeSignatureError) in
            try SignatureMessage.sign(primary.bytes, digests: digests, by: identity, at: time)
        }
        blobs.append(.init(slot: .signature, bytes: SuperBlob.blob(SuperBlob.Magic.wrapper, message ?? [])))
        var bytes = SuperBlob(blobs).encoded()
        guard bytes.count <= room else {
            throw CodeSignatureError(
                .room,
                "the signature of \(identifier) has \(bytes.count) bytes, but \(room) were reserved.",
                remedy: "Please report this, with the kind of key that the identity has."
            )
        }
        bytes += repeatElement(0, count: room - bytes.count)
        return bytes
    }

    private func codeDirectory(
        _ algorithm: HashAlgorithm,
        slots: [UInt8],
        codeLimit: Int,
        infoPlist: Digests?,
        resources: Digests?,
        isAdHoc: Bool
    ) -> CodeDirectory {
        var special = [[UInt8]](repeating: [UInt8](repeating: 0, count: algorithm.size), count: specialSlotCount)
        func set(_ slot: CodeDirectory.SpecialSlot, _ digest: [UInt8]?) {
            if let digest {
                special[slot.rawValue - 1] = digest
            }
        }
        set(.requirements, algorithm.digest(requirements))
        set(.infoPlist, infoPlist?[algorithm])
        set(.resources, resources?[algorithm])
        set(.entitlements, entitlementBlobs.map { algorithm.digest($0.xml) })
        set(.entitlementsDER, entitlementBlobs.map { algorithm.digest($0.der) })

        var flags: UInt64 = isMainBinary ? CodeDirectory.mainBinaryFlag : 0
        if isMainBinary, entitlements?["get-task-allow"] == .boolean(true) {
            flags |= CodeDirectory.allowUnsignedFlag
        }
        var directory = CodeDirectory(
            algorithm: algorithm,
            identifier: identifier,
            team: team,
            codeLimit: codeLimit,
            pageSize: pageSize,
            execSegment: .init(limit: UInt64(textSize), flags: flags),
            specialSlots: special,
            codeSlots: slots
        )
        if isAdHoc { directory.flags |= CodeDirectory.adhocFlag }
        return directory
    }
}

extension Identity {
    /// The room that the wrapped message over code directories of these hashes needs.
    ///
    /// A trial tells: with RSA every message has the same length; an elliptic curve's varies by a few bytes.
    func messageRoom(for algorithms: [HashAlgorithm]) throws(CodeSignatureError) -> Int {
        let trial = try SignatureMessage.sign(
            [0],
            digests: algorithms.map { .init(of: [0], $0) },
            by: self,
            at: 1_700_000_000
        )
        return 8 + trial.count + (key.isRSA ? 0 : 16)
    }
}
