import FerryBytes
import FerryCatalog

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file of named sources: `$XDG_CONFIG_HOME/ferry/sources.json`, which only its owner may read, for addresses may hold
/// tokens.
struct SourceBookFile: Sendable {
    private let folder: String
    /// Its path.
    var path: String { folder + "/sources.json" }

    /// The file where the environment says.
    init(environment: [String: String]) {
        folder = Folders(environment: environment).configuration
    }

    /// The sources that are named; none where there is no file yet.
    func read() throws -> SourceBook {
        let bytes: [UInt8]
        do {
            bytes = try WholeFile.read(path, limit: SourceBook.maximumBytes)
        } catch  where error.errorNumber == ENOENT {
            return SourceBook()
        }
        return try SourceBook(json: bytes, path: path)
    }

    /// Changes it as a whole, one process after the other.
    func change(_ body: (inout SourceBook) throws -> Void) throws {
        try Folders.make(folder)
        // The file itself is replaced with each change, so another one is locked.
        let lock = try FileLock(waitingFor: folder + "/sources.lock")
        defer { withExtendedLifetime(lock) {} }
        var book = try read()
        let before = book
        try body(&book)
        if book != before { try WholeFile.write(book.json, to: path) }
    }
}
