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

    /// Looks at a file; of a thin one only the start is read.
    init(at file: ArchiveFile, edits: [LibraryEdit], in source: FileSource, _ inflater: Inflater) throws {
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
            guard file.size <= AppFiles.codeLimit else {
                throw MachOError.tooLarge("it has \(file.size) bytes, more than \(AppFiles.codeLimit).")
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
        _ edits: [LibraryEdit],
        _ source: FileSource,
        _ inflater: Inflater
    ) throws -> CodeLook {
        let bytes = try file.bytes(in: source, inflater)
        return try whole(file, bytes, edits)
    }

    /// Looks at a file that was read whole.
    private static func whole(_ file: ArchiveFile, _ bytes: [UInt8], _ edits: [LibraryEdit]) throws -> CodeLook {
        let parsed = try MachOFile(bytes)
        guard parsed.slices.allSatisfy(\.image.isSignable) else { return .other }
        let headers = edits.isEmpty ? [] : try making { try parsed.edited(by: edits, in: bytes[...]) }
        var images: [MachOImage] = []
        var obstacle: MachOError?
        for (index, slice) in parsed.slices.enumerated() {
            let old = bytes[slice.offset..<slice.offset + slice.image.count]
            let (image, header) =
                headers.isEmpty ? (slice.image, old) : try applied(headers[index], to: slice.image, old)
            images.append(image)
            obstacle = obstacle ?? image.signatureObstacle(in: header)
        }
        return .code(.init(file: file, isFat: parsed.isFat, images: images, headers: headers, obstacle: obstacle))
    }

    private static func thin(
        _ file: ArchiveFile,
        _ magic: [UInt8],
        _ edits: [LibraryEdit],
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
            return .code(.init(file: file, isFat: false, images: [image], headers: [], obstacle: obstacle))
        }
        // Which symbols come from a library stands far from the header.
        guard !edits.contains(where: \.needsLibraryUse) else {
            return try whole(file, try file.bytes(in: source, inflater), edits)
        }
        bytes = try file.prefix(min(image.commandsEnd + image.headerRoom, headerLimit), in: source, inflater)
        let edited = try making { try image.edited(by: edits, header: bytes[...]) }
        let (new, header) = try applied(edited, to: image, bytes[...])
        let obstacle = new.signatureObstacle(in: header)
        return .code(.init(file: file, isFat: false, images: [new], headers: [edited], obstacle: obstacle))
    }

    private static func making<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            throw EditFailure(cause: error)
        }
    }

    /// The image with its new header, and the start of its bytes.
    private static func applied(
        _ edited: EditedHeader,
        to image: MachOImage,
        _ bytes: ArraySlice<UInt8>
    ) throws -> (image: MachOImage, header: ArraySlice<UInt8>) {
        let end = min(image.commandsEnd + image.headerRoom, bytes.count, headerLimit)
        let header = edited.bytes + bytes.prefix(end).dropFirst(edited.bytes.count)
        return try making { (try MachOImage(header[...], count: image.count), header[...]) }
    }
}
