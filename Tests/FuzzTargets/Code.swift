import FerryBytes
import FerryMachO

extension FuzzTarget {
    /// Executables and libraries.
    static let code = [
        FuzzTarget("mach-o", machO)
    ]

    private static let edits: [[LibraryEdit]] = [
        [.add("@rpath/libNew.dylib", isWeak: true)],
        [.remove("libSample.dylib")],
        [.rename("libz.1.dylib", to: "@rpath/libz.1.dylib"), .addRPath("@loader_path"), .setInstallName("@rpath/a")],
        [.removeRPath("@executable_path/Frameworks"), .remove("Sample"), .add("/usr/lib/libz.dylib", isWeak: false)],
    ]

    @Sendable private static func machO(_ bytes: [UInt8]) throws {
        if let size = try? MachOImage.headerSize(bytes[...]) { try expect(size > 0, "a header has a size") }
        guard let file = try? MachOFile(bytes) else { return }
        try expect(file.slices.count <= MachOFile.sliceLimit, "there are no more slices than the limit")
        for slice in file.slices {
            guard let part = try? ByteReader(bytes[...]).bytes(at: slice.offset, count: slice.image.count) else {
                throw FuzzFinding(description: "A slice lies outside of its file.")
            }
            let image = slice.image
            _ = (image.architecture, image.dylibs, image.headerRoom, image.commandRoom, image.expectedCodeLimit)
            _ = try? image.libraryUse(in: part)
            _ = image.signatureObstacle(in: part)
            for needed in [0, 4000, 1 << 20] { try layout(image, part, needed) }
        }
        for edits in edits {
            guard let headers = try? file.edited(by: edits, in: bytes[...]) else { continue }
            for (slice, header) in zip(file.slices, headers) {
                try expectEdited(slice, header, bytes, edits)
            }
        }
        if file.isFat { _ = try? file.fatLayout(sizes: file.slices.map { $0.image.count }) }
    }

    /// What a layout says lies inside, and the image that it makes has its signature there.
    private static func layout(_ image: MachOImage, _ bytes: ArraySlice<UInt8>, _ needed: Int) throws {
        guard let layout = try? image.signatureLayout(in: bytes, needed: needed) else { return }
        try expect(layout.contentEnd <= bytes.count, "the content ends inside")
        try expect(layout.codeLimit >= layout.contentEnd && layout.codeLimit % 16 == 0, "the code ends behind it")
        try expect(layout.signatureSize >= needed, "the signature has its room")
        guard layout.imageSize <= 4 << 20 else { return }
        var signed = Array(bytes.prefix(layout.contentEnd))
        for edit in layout.edits {
            try expect(edit.offset + edit.bytes.count <= signed.count, "an edit lies inside")
            signed.replaceSubrange(edit.offset..<edit.offset + edit.bytes.count, with: edit.bytes)
        }
        signed += [UInt8](repeating: 0, count: layout.imageSize - signed.count)
        guard let again = try? MachOImage(signed[...]) else {
            throw FuzzFinding(description: "An image with room for a signature cannot be read.")
        }
        try expect(
            again.codeSignature?.offset == layout.codeLimit && again.codeSignature?.size == layout.signatureSize,
            "the signature lies where the layout says"
        )
    }

    private static func expectEdited(
        _ slice: MachOFile.Slice,
        _ header: EditedHeader,
        _ bytes: [UInt8],
        _ edits: [LibraryEdit]
    ) throws {
        try expect(header.outcomes.count == edits.count, "each edit has an outcome")
        try expect(header.bytes.count <= slice.image.count, "an edited header is no longer than the image")
        var edited = Array(bytes[slice.offset..<slice.offset + slice.image.count])
        edited.replaceSubrange(..<header.bytes.count, with: header.bytes)
        guard let again = try? MachOImage(edited[...]) else {
            throw FuzzFinding(description: "An edited image cannot be read.")
        }
        for (edit, outcome) in zip(edits, header.outcomes) where outcome == .done {
            switch edit {
            case .add(let path, _):
                try expect(again.libraries.contains { $0.path == path }, "a library that was added is loaded")
            case .addRPath(let path): try expect(again.rpaths.contains(path), "a folder that was added is searched")
            case .removeRPath(let path): try expect(!again.rpaths.contains(path), "a folder that was removed is not")
            case .setInstallName(let name):
                try expect(again.installName == name, "an install name that was set is there")
            case .remove, .rename: break
            }
        }
    }
}
