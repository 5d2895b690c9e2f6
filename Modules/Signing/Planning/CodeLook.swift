import FerryBytes
import FerryMachO
import FerryZip

/// What the first bytes of a file tell: whether it is code, and what its header is after its edits.
enum CodeLook: Sendable {
    case code(ArchiveContents.Code)
    case damaged(MachOError)
    /// It is code, and the edits of its header cannot be made.
    case refused(SignError.Reason)
    case other

    /// The largest header with load commands that is believed; real ones have some kilobytes.
    private static let headerLimit = 4 << 20
    /// The largest file of code that is taken into memory.
    private static let codeLimit = 2 << 30

    /// Looks at a file; of a thin one only the start is read.
    init(at file: ArchiveFile, edits: [Overlay.CodeEdit], in source: FileSource, _ inflater: Inflater) throws {
        let magic: [UInt8]
        do {
            magic = try file.prefix(32, in: source, inflater)
        } catch {
            // Whether it matters is found out when the whole entry is read, and its CRC with it.
            self = .other
            return
        }
        guard MachOFile.claims(magic) else {
            self = .other
            return
        }
        do {
            guard file.size <= Self.codeLimit else {
                throw MachOError.tooLarge("it has \(file.size) bytes, more than \(Self.codeLimit).")
            }
            self =
                magic[0] == 0xCA
                ? try Self.universal(file, edits, source, inflater)
                : try Self.thin(file, magic, edits, source, inflater)
        } catch let error as MachOError {
            self = .damaged(error)
        } catch let error as EditFailure {
            self = .refused(SignError.Reason(error.cause, at: file.name))
        }
    }

    private struct EditFailure: Error {
        let cause: any Error
    }

    private static func universal(
        _ file: ArchiveFile,
        _ edits: [Overlay.CodeEdit],
        _ source: FileSource,
        _ inflater: Inflater
    ) throws -> CodeLook {
        let bytes = try file.bytes(in: source, inflater)
        let parsed = try MachOFile(bytes)
        guard parsed.slices.allSatisfy(\.image.isSignable) else { return .other }
        var images: [MachOImage] = []
        var made: [[SignatureLayout.Edit]] = []
        var obstacle: MachOError?
        for slice in parsed.slices {
            let old = bytes[slice.offset..<slice.offset + slice.image.count]
            let (image, slots, header) = try edited(slice.image, old, edits)
            images.append(image)
            if !edits.isEmpty { made.append(slots) }
            obstacle = obstacle ?? image.signatureObstacle(in: header)
        }
        return .code(.init(file: file, images: images, edits: made, obstacle: obstacle))
    }

    private static func thin(
        _ file: ArchiveFile,
        _ magic: [UInt8],
        _ edits: [Overlay.CodeEdit],
        _ source: FileSource,
        _ inflater: Inflater
    ) throws -> CodeLook {
        let size = try MachOImage.headerSize(magic[...])
        guard size <= headerLimit else {
            throw MachOError.tooLarge("its load commands claim \(size) bytes, more than \(headerLimit).")
        }
        // 16 bytes more, where LC_CODE_SIGNATURE would be added.
        var bytes = try file.prefix(size + 16, in: source, inflater)
        let image = try MachOImage(bytes[...], count: file.size)
        guard image.isSignable else { return .other }
        guard !edits.isEmpty else {
            let obstacle = image.signatureObstacle(in: bytes[...])
            return .code(.init(file: file, images: [image], edits: [], obstacle: obstacle))
        }
        bytes = try file.prefix(min(headerEnd(image), headerLimit), in: source, inflater)
        let (new, made, header) = try edited(image, bytes[...], edits)
        return .code(.init(file: file, images: [new], edits: [made], obstacle: new.signatureObstacle(in: header)))
    }

    /// Where the first section's content begins.
    private static func headerEnd(_ image: MachOImage) -> Int {
        image.commandsEnd + image.headerRoom
    }

    /// Makes the edits one after the other, each on the header that the one before left.
    private static func edited(
        _ image: MachOImage,
        _ bytes: ArraySlice<UInt8>,
        _ edits: [Overlay.CodeEdit]
    ) throws -> (image: MachOImage, edits: [SignatureLayout.Edit], header: ArraySlice<UInt8>) {
        guard !edits.isEmpty else { return (image, [], bytes) }
        let end = min(headerEnd(image), bytes.count, headerLimit)
        var header = Array(bytes.prefix(end))
        var image = image
        var made: [SignatureLayout.Edit] = []
        for edit in edits {
            do {
                for change in try edit(image, header[...]) {
                    let (stop, overflow) = change.offset.addingReportingOverflow(change.bytes.count)
                    guard change.offset >= 0, !overflow, stop <= header.count else {
                        throw MachOError.tooLarge(
                            "\(change.bytes.count) bytes at \(change.offset) do not fit before \(header.count)."
                        )
                    }
                    header.replaceSubrange(change.offset..<stop, with: change.bytes)
                    made.append(change)
                }
                image = try MachOImage(header[...], count: image.count)
            } catch {
                throw EditFailure(cause: error)
            }
        }
        return (image, made, header[...])
    }
}
