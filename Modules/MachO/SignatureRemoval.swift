import FerryBytes

extension MachOImage {
    /// The image without its signature: `LC_CODE_SIGNATURE` is gone, and `__LINKEDIT` and the image end where it began.
    ///
    /// One that is not signed stays as it is.
    ///
    /// - Parameter bytes: the image, the same that was parsed.
    /// - Throws: ``MachOError`` where something lies behind the signature, or it is not the last part of `__LINKEDIT`.
    public func withoutSignature(in bytes: ArraySlice<UInt8>) throws(MachOError) -> [UInt8] {
        var image = Array(bytes)
        guard let place = loadCommands.firstIndex(where: { $0.number == Self.codeSignatureCommand }) else {
            return image
        }
        // The checks are those for a new one, which would begin at the same place.
        let layout = try signatureLayout(in: bytes, needed: 0)
        let command = loadCommands[place]
        let after = Array(image[command.offset + command.size..<commandsEnd])
        let end = command.offset + after.count
        image.replaceSubrange(command.offset..<end, with: after)
        image.replaceSubrange(end..<commandsEnd, with: repeatElement(0, count: command.size))
        image.store(UInt32(truncatingIfNeeded: loadCommands.count - 1), at: 16, .little)
        image.store(UInt32(truncatingIfNeeded: commandsEnd - headerSize - command.size), at: 20, .little)
        image.removeSubrange(layout.contentEnd...)
        guard let linkEdit else { return image }
        // The segment's own command has moved where it came later.
        let offset = linkEdit.commandOffset - (linkEdit.commandOffset > command.offset ? command.size : 0)
        let fileSize = layout.contentEnd - linkEdit.fileOffset
        let memorySize = roundedUp(fileSize, to: pageSize) ?? fileSize
        for edit in linkEditEdits(at: offset, fileSize: fileSize, memorySize: memorySize) {
            image.replaceSubrange(edit.offset..<edit.offset + edit.bytes.count, with: edit.bytes)
        }
        return image
    }
}

extension MachOFile {
    /// The file without the signatures of its images; see ``MachOImage/withoutSignature(in:)``.
    ///
    /// - Parameter bytes: the whole file, the same that was parsed.
    public func withoutSignatures(in bytes: [UInt8]) throws(MachOError) -> [UInt8] {
        var images: [[UInt8]] = []
        for slice in slices {
            guard let image = try? ByteReader(bytes).bytes(at: slice.offset, count: slice.image.count) else {
                throw .malformed("the file is shorter than when it was read.")
            }
            images.append(try slice.image.withoutSignature(in: image))
        }
        guard isFat else { return images[0] }
        let layout = try fatLayout(sizes: images.map(\.count))
        var file = layout.header
        for (image, offset) in zip(images, layout.offsets) {
            file += repeatElement(0, count: offset - file.count)
            file += image
        }
        return file
    }
}
