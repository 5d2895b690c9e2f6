/// One entry of an archive to be written.
public enum OutputItem: Sendable {
    /// An entry of the source as it lies, packed; with `mode`, the kind and permissions that the directory shall give.
    ///
    /// All fields of its directory record stay, but for its place.
    case copy(ZipEntry, mode: UInt16? = nil)

    /// An entry of the source with other contents: name, date, comment and extra fields stay.
    case replace(ZipEntry, EncodedEntry, mode: UInt16? = nil)

    /// An entry that the source lacks; `mode` holds the kind of file too, and a folder's name ends in `/`.
    case new(name: String, mode: UInt16, EncodedEntry, modified: DOSDateTime)

    /// About how many bytes it takes in the output, for progress.
    public var byteCount: Int {
        switch self {
        case .copy(let entry, _): entry.end - entry.localHeaderOffset
        case .replace(let entry, let encoded, _): entry.dataOffset - entry.localHeaderOffset + encoded.compressedSize
        case .new(let name, _, let encoded, _): Format.localBytes + name.utf8.count + encoded.compressedSize
        }
    }
}
