import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Knows who holds a token: those of the book, as it is now, and those of this process.
final class TokenKeeper: Sendable {
    private struct State: Sendable {
        var stamp: [Int64] = []
        var entries: [TokenBook.Entry] = []
    }

    private let book: TokenBook
    private let own: [(digest: [UInt8], role: Role)]
    private let state = Guarded(State())

    init(_ book: TokenBook, own: [(token: Secret, role: Role)]) {
        self.book = book
        self.own = own.map { (TokenBook.digest($0.token.revealed), $0.role) }
    }

    /// What the holder of `token` may do; `nil` for a token that is not known.
    ///
    /// A book that cannot be read has no tokens in it.
    func role(of token: String) -> Role? {
        let digest = TokenBook.digest(token)
        var found: Role?
        for (known, role) in own where Self.isSame(known, digest) { found = role }
        for entry in current() where Self.isSame(entry.digest, digest) { found = entry.role }
        return found
    }

    /// Looks at every byte, so that how long it takes says nothing of where two digests differ.
    private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && zip(one, other).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }

    private func current() -> [TokenBook.Entry] {
        var status = stat()
        let stamp: [Int64] =
            stat(book.path, &status) == 0
            ? [
                Int64(status.st_ino), Int64(status.st_size), Int64(status.modified.tv_sec),
                Int64(status.modified.tv_nsec),
            ] : [0]
        return state.withLock { state in
            if stamp != state.stamp {
                state.stamp = stamp
                state.entries = (try? self.book.entries()) ?? []
            }
            return state.entries
        }
    }
}
