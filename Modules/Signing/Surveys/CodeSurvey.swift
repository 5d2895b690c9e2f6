import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryZip

/// What one pass over a thin file of code found, whoever signs it: what a second signature need not read again.
struct CodeSurvey: Sendable {
    /// The image's start as it is signed: header, load commands and what follows, with every edit made.
    let header: [UInt8]
    /// The signature that it had; empty for none.
    let oldSignature: [UInt8]
    /// Where the old content ends.
    let contentEnd: Int
    /// Where the signature begins.
    let codeLimit: Int
    /// Bytes a page.
    let pageSize: Int
    /// The digests of the pages up to ``codeLimit``, one after the other.
    let slots: [HashAlgorithm: [UInt8]]
    /// What is kept of the packed bytes.
    let splice: DeflateSplice
    /// Of all before the splice's last seam; `nil` where no seal names the file.
    let beforeSeam: RunningDigests?

    /// Of all up to ``contentEnd``; `nil` where no seal names the file.
    var digests: RunningDigests? {
        guard var digests = beforeSeam else { return nil }
        digests.update(splice.rest)
        return digests
    }

    /// What need not be read back; `nil` where all must be.
    var spliced: SplicedCode? {
        SplicedCode(splice: splice, start: beforeSeam, pageSize: pageSize, slots: slots)
    }

    /// Whether it was made of the same bytes in the same form as is wanted now.
    func serves(_ wanted: CodePreparer.Wanted) -> Bool {
        header == wanted.header && contentEnd == wanted.layout.contentEnd && codeLimit == wanted.layout.codeLimit
            && pageSize == wanted.recipe.pageSize && wanted.recipe.algorithms.allSatisfy { slots[$0] != nil }
            && (beforeSeam != nil || !wanted.isSealed)
    }

    /// Whether another pass over the same bytes found the same; where it signed in another form, nobody can tell.
    func agrees(with other: CodeSurvey) -> Bool {
        guard header == other.header, pageSize == other.pageSize else { return true }
        let (own, others) = (beforeSeam?.saved, other.beforeSeam?.saved)
        return slots.allSatisfy { other.slots[$0.key] == nil || other.slots[$0.key] == $0.value }
            && splice.saved == other.splice.saved && (own == nil || others == nil || own == others)
    }

    /// Whether the entry's CRC-32 follows from what is kept, as far as that can be told.
    func fits(_ entry: ZipEntry) -> Bool {
        guard splice.end != nil, contentEnd + oldSignature.count == entry.uncompressedSize else { return true }
        return splice.crc32(followedBy: oldSignature) == entry.crc32
    }
}
