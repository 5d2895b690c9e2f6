import FerryBytes
import FerryCodeSignature
import FerryMachO
import FerryZip

extension CodePreparer {
    /// Makes what the plan has of a file of code that is not signed: its headers' edits, and no signature where it is taken
    /// out.
    func unsigned(
        _ code: ArchiveContents.Code,
        isStripped: Bool,
        _ inflater: Inflater
    ) throws -> Sealer.Hashed {
        let isSigned = code.images.contains { $0.codeSignature != nil }
        guard code.headers.contains(where: \.isChanged) || isStripped && isSigned else {
            return try Sealer.hash(code.file, in: source, inflater)
        }
        var bytes = try code.file.bytes(in: source, inflater)
        try edit(&bytes, MachOFile(bytes), code.headers)
        if isStripped { bytes = try MachOFile(bytes).withoutSignatures(in: bytes) }
        return .new(Deflate.encode(bytes), .file(Digests(of: bytes)))
    }
}
