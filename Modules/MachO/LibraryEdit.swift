import FerryBytes

/// A change to what an image loads and where it looks for it.
///
/// A library's name is its whole path or its last part or parts, byte by byte: `libz.dylib` means
/// `/usr/lib/libz.dylib`. A change that finds nothing to do, or nothing to do it to, is no error; see
/// ``EditedHeader/outcomes``.
public enum LibraryEdit: Sendable, Hashable {
    /// Loads the library at a path, after all others. One that is loaded already, weakly or not, stays as it is.
    case add(String, isWeak: Bool)
    /// Loads the libraries of this name no longer.
    case remove(String)
    /// Loads what has the first name, and is no stand-in, by the path `to`.
    case rename(String, to: String)
    /// Searches a folder too, after the others; one that is searched already stays where it is.
    case addRPath(String)
    /// Searches this folder no longer.
    case removeRPath(String)
    /// Changes the name that others load the image by (`LC_ID_DYLIB`); only libraries have one.
    case setInstallName(String)

    /// The most bytes that a path may have: `PATH_MAX` on Apple's systems, with its zero.
    public static let pathLimit = 1023

    /// Whether it can be made better with ``MachOImage/libraryUse(in:)``, for which the whole image is needed.
    public var needsLibraryUse: Bool {
        switch self {
        case .remove, .rename: true
        case .add, .addRPath, .removeRPath, .setInstallName: false
        }
    }
}

/// The header and load commands of an image after ``MachOImage/edited(by:header:use:)``.
public struct EditedHeader: Sendable, Equatable {
    /// What became of one edit.
    public enum Outcome: Sendable, Hashable {
        /// The header says it now.
        case done
        /// The header said it before.
        case alreadyThere
        /// There is nothing of that name.
        case notFound
        /// The library is not loaded any more, but something that is nowhere stands in its place, so that the libraries
        /// after it keep their numbers. `symbols` were taken from it and are null now; `nil` where that is not known.
        case standIn(symbols: [String]?)
    }

    /// What stands from the start of the image on: header, load commands, and zeros where commands lay before.
    public let bytes: [UInt8]
    /// What became of each edit, in their order.
    public let outcomes: [Outcome]
    /// Whether any byte is another one.
    public let isChanged: Bool
}

extension MachOImage {
    /// Makes `edits`, one after the other, on the header and load commands. Nothing else in the image changes, nor its size.
    ///
    /// New commands come after all others, so that every library keeps its number. A removed library's command goes only
    /// where no symbol is bound to its number or a higher one; else a weak load of a file that is nowhere stands in for it
    /// (see ``EditedHeader/Outcome/standIn(symbols:)``), by whose name the loader finds nothing and goes on.
    ///
    /// - Parameter header: the start of the image, at least up to ``commandsEnd`` + ``headerRoom``; what is missing of that
    ///   counts as used.
    /// - Parameter use: what ``libraryUse(in:)`` said; without it every removed library gets a stand-in.
    /// - Throws: ``MachOError`` with code `headerFull` where the new commands do not fit, by how many bytes;
    ///   `duplicateLibrary` where a library would be loaded twice, which the loader refuses in code linked since 2024.
    public func edited(
        by edits: [LibraryEdit],
        header: ArraySlice<UInt8>,
        use: LibraryUse? = nil
    ) throws(MachOError) -> EditedHeader {
        do {
            var editor = try LibraryEditor(self, header, use)
            var outcomes: [EditedHeader.Outcome] = []
            for edit in edits { outcomes.append(try editor.make(edit)) }
            return try editor.finish(outcomes, room: usableRoom(in: header))
        } catch let error as MachOError {
            throw error.inside(architecture)
        } catch {
            throw MachOError.malformed("the header is cut short: \(error).").inside(architecture)
        }
    }

    /// How many zeros of ``commandRoom`` are there.
    private func usableRoom(in header: ArraySlice<UInt8>) -> Int {
        let room = header.dropFirst(commandsEnd).prefix(headerRoom).prefix { $0 == 0 }.count
        return max(0, room - (headerRoom - commandRoom))
    }
}

extension MachOFile {
    /// Makes the same `edits` in each slice; see ``MachOImage/edited(by:header:use:)``.
    ///
    /// - Parameter bytes: the whole file, the same that was parsed.
    /// - Returns: for each slice, what stands from its start on.
    public func edited(
        by edits: [LibraryEdit],
        in bytes: ArraySlice<UInt8>
    ) throws(MachOError) -> [EditedHeader] {
        let needsUse = edits.contains(where: \.needsLibraryUse)
        var headers: [EditedHeader] = []
        for slice in slices {
            guard let image = try? ByteReader(bytes).bytes(at: slice.offset, count: slice.image.count) else {
                throw .malformed("the file is shorter than when it was read.")
            }
            // Tables that cannot be read bind nobody knows what: then every library keeps its number.
            let use = needsUse ? try? slice.image.libraryUse(in: image) : nil
            headers.append(try slice.image.edited(by: edits, header: image, use: use))
        }
        return headers
    }
}
