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
    func role(of token: String) -> (name: String, role: Role)? {
        let digest = TokenBook.digest(token)
        if let found = own.first(where: { $0.digest == digest }) { return ("", found.role) }
        return current().first { $0.digest == digest }.map { ($0.name, $0.role) }
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
