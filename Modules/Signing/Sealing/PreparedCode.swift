import FerryAppBundle
import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryPropertyList
import FerryZip

/// A Mach-O file that was read and hashed once, and waits for what its signature must name: its bundle's seal.
///
/// Of a thin file only the hashes and the few bytes around the cut are kept.
struct PreparedCode: Sendable {
    /// One image's part of the work.
    struct Image: Sendable {
        let recipe: SignatureRecipe
        let layout: SignatureLayout
        /// A code directory's slots for each of the recipe's algorithms.
        let codeSlots: [[UInt8]]
    }

    /// How the finished file is packed.
    enum Packing: Sendable {
        /// The old packed bytes stay up to near the signature.
        case splice(DeflateSplice, image: Image, start: RunningDigests?)
        /// All up to the signature is packed anew.
        case prefix(DeflatePrefix, image: Image, start: RunningDigests?)
        /// A universal file, whole, with room for each slice's signature at the given offsets.
        case fat(bytes: [UInt8], images: [(offset: Int, image: Image)])
    }

    let file: ArchiveFile
    let packing: Packing
    /// What a later signature need not find out again; `nil` where it must.
    let survey: CodeSurvey?
    /// Whether that was found out now.
    let isNews: Bool
    /// What need not be read back of it; `nil` where all must be.
    let spliced: SplicedCode?
    /// Entitlements that were asked for and are not given, with why.
    let droppedEntitlements: [String: String]
    let warnings: [String]

    init(
        _ file: ArchiveFile,
        _ packing: Packing,
        survey: CodeSurvey?,
        isNews: Bool = true,
        _ entitlements: EntitlementsPlan?
    ) {
        self.isNews = isNews
        self.file = file
        self.packing = packing
        self.survey = survey
        spliced = survey?.spliced
        droppedEntitlements = entitlements?.dropped ?? [:]
        warnings = entitlements?.warnings.map { "\(file.name): entitlement \($0)" } ?? []
    }
}

/// What a signature names besides the code.
struct SignatureContext: Sendable {
    /// Who signs; `nil` for nobody.
    let identity: Identity?
    /// The signing time, in seconds since 1970.
    let time: Int64
    /// Of the bundle's Info.plist; `nil` for loose code.
    var infoPlist: Digests?
    /// Of the bundle's seal; `nil` for loose code.
    var resources: Digests?
}

extension PreparedCode.Image {
    func signature(_ context: SignatureContext) throws(CodeSignatureError) -> [UInt8] {
        try recipe.signature(
            codeSlots: codeSlots,
            codeLimit: layout.codeLimit,
            room: layout.signatureSize,
            infoPlist: context.infoPlist,
            resources: context.resources,
            identity: context.identity,
            time: context.time
        )
    }
}

extension PreparedCode {
    /// A file with its signature, which is still to be packed.
    struct Signed: Sendable {
        let file: ArchiveFile
        /// What a seal wants of it; `nil` where none names it.
        let digests: Digests?
        /// What follows the last old byte; of a universal file all bytes.
        let tail: [UInt8]
        fileprivate let packing: Packing

        /// Packs the file.
        func packed() throws -> EncodedEntry {
            switch packing {
            case .splice(let splice, _, _): try splice.finish(tail: tail)
            case .prefix(let prefix, _, _): prefix.finish(tail: tail)
            case .fat: tail.withUnsafeBytes { Deflate.encode($0) }
            }
        }
    }

    /// Makes the signature.
    func sign(_ context: SignatureContext) throws -> Signed {
        switch packing {
        case .splice(_, let image, let start), .prefix(_, let image, let start):
            let tail = try tail(image, context)
            return Signed(file: file, digests: start?.finish(with: tail), tail: tail, packing: packing)
        case .fat(var bytes, let images):
            for (offset, image) in images {
                let signature = try image.signature(context)
                let place = offset + image.layout.codeLimit
                bytes.replaceSubrange(place..<place + signature.count, with: signature)
            }
            let packing = Packing.fat(bytes: [], images: [])
            return Signed(file: file, digests: Digests(of: bytes), tail: bytes, packing: packing)
        }
    }

    /// What follows the last old byte: zeros up to the code limit, then the signature.
    private func tail(_ image: Image, _ context: SignatureContext) throws -> [UInt8] {
        let padding = image.layout.codeLimit - image.layout.contentEnd
        return [UInt8](repeating: 0, count: padding) + (try image.signature(context))
    }
}
