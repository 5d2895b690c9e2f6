import FerryCodeSignature
import FerryMachO
import FerryZip

/// What the one pass over a file of code knows of all that is copied as it lies, so that only the end need be read back.
struct SplicedCode: Sendable {
    /// From where on the entry was packed anew.
    let seam: EntrySeam
    /// The digests of all before it; `nil` where no seal names the file.
    let start: RunningDigests?
    /// Where the page begins that the seam lies in.
    let pageStart: Int
    /// The bytes from there to the seam.
    let lead: [UInt8]
    /// Bytes a page.
    let pageSize: Int
    /// The digests of the pages before that one.
    let slots: [HashAlgorithm: [UInt8]]

    /// What is known of a file by what is kept of it; `nil` where its start was packed anew too.
    init?(splice: DeflateSplice, start: RunningDigests?, pageSize: Int, slots: [HashAlgorithm: [UInt8]]) {
        guard let seam = splice.end else { return nil }
        let page = seam.uncompressedOffset / pageSize
        let lead = seam.before.suffix(seam.uncompressedOffset - page * pageSize)
        // A page is no larger than what deflate refers back to.
        guard lead.count == seam.uncompressedOffset - page * pageSize else { return nil }
        self.seam = seam
        self.start = start
        self.pageSize = pageSize
        pageStart = page * pageSize
        self.lead = Array(lead)
        self.slots = slots.reduce(into: [:]) { $0[$1.key] = Array($1.value.prefix(page * $1.key.size)) }
    }

    /// Reads the header and the end of the file back, and checks the signature by them.
    func check(
        _ entry: ZipEntry,
        in app: AppFiles,
        of file: AppFiles.File,
        _ context: ImageVerifier.Context,
        _ inflater: Inflater
    ) throws -> (digests: Digests?, code: ArchiveVerifier.CodeFile) {
        let end = try app.end(of: file, after: seam, inflater)
        let first = try app.prefix(32, of: file, inflater)
        let header = try app.prefix(MachOImage.headerSize(first[...]), of: file, inflater)
        let image = try MachOImage(header[...], count: entry.uncompressedSize)
        let pages = ImagePages(end: lead + end, from: pageStart, pageSize: pageSize, slots: slots)
        let report = ImageVerifier.verify(image, in: pages, context: context)
        return (start?.finish(with: end), .init(path: file.path, images: [(image, report)]))
    }
}
