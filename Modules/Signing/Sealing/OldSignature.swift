import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryPropertyList

/// What is taken over from the signature that a file had; nothing where it had none that can be read.
struct OldSignature: Sendable {
    /// Bytes a page, if they are 4096 or 16384.
    let pageSize: Int?
    let entitlements: PropertyList.Dictionary?

    /// - Parameter bytes: the whole image.
    init(_ image: MachOImage, in bytes: ArraySlice<UInt8>) {
        let region = image.codeSignature.flatMap { try? ByteReader(bytes).bytes(at: $0.offset, count: $0.size) }
        self.init(region ?? [])
    }

    /// - Parameter region: the bytes that the load command names; none where there is none.
    init(_ region: ArraySlice<UInt8>) {
        guard let blobs = try? SuperBlob(parsing: region) else {
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
