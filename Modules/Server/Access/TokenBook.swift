import FerryActivity
package import FerryBytes
import FerryCodeSignature
import FerryPropertyList

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The tokens that are known, in `tokens.json`: of each its SHA-256 and nothing that it could be made of.
///
/// Only its owner may read the file. It is changed as a whole, one process after the other; a server notices within a
/// request.
package struct TokenBook: Sendable {
    /// One of them.
    package struct Entry: Sendable, Hashable {
        /// What people call it.
        package let name: String
        /// What it may do.
        package let role: Role
        /// Of the token's letters, 32 bytes.
        let digest: [UInt8]
        /// When it was made; as it is written there.
        package let madeAt: String
    }

    /// The most that are kept.
    package static let maximumCount = 1_000
    /// The longest name, in letters.
    package static let longestName = 64
    private static let maximumBytes = 1 << 20

    /// The file.
    package let path: String
    private let folder: String

    /// The file in a folder, which must exist where it is changed.
    package init(folder: String) {
        self.folder = folder
        path = folder + "/tokens.json"
    }

    /// A new token: 256 random bits.
    package static func newToken() -> Secret {
        let bytes = (0..<32).map { _ in UInt8.random(in: 0...255) }
        return Secret("ferry_" + Data(bytes).base64URLText)
    }

    static func digest(_ token: String) -> [UInt8] { HashAlgorithm.sha256.digest(Array(token.utf8)) }

    /// All of them; none where there is no file yet.
    package func entries() throws -> [Entry] {
        guard let bytes = try bytes() else { return [] }
        guard let list = (try? PropertyList.parse(json: bytes))?["tokens"]?.array, list.count <= Self.maximumCount
        else {
            throw damaged("it holds no list “tokens”")
        }
        var entries: [Entry] = []
        for (index, value) in list.enumerated() {
            guard let name = value["name"]?.string, let role = Role(rawValue: value["role"]?.string ?? ""),
                let digest = [UInt8](hex: value["sha256"]?.string ?? ""), digest.count == 32,
                let madeAt = value["madeAt"]?.string
            else {
                throw damaged("tokens[\(index)] lacks a name, a role, a SHA-256 or a date")
            }
            entries.append(Entry(name: name, role: role, digest: digest, madeAt: madeAt))
        }
        return entries
    }

    /// The bytes of the file; `nil` where there is none.
    private func bytes() throws(FileFailure) -> [UInt8]? {
        do {
            return try WholeFile.read(path, limit: Self.maximumBytes)
        } catch {
            guard error.errorNumber == ENOENT else { throw error }
            return nil
        }
    }

    /// Adds a token and gives it: nobody can read it again.
    package func add(_ name: String, _ role: Role, at date: Date) throws -> Secret {
        guard !name.isEmpty, name.count <= Self.longestName, name.printable == name else {
            throw TokenError(
                message: "“\(name.printable)” cannot be the name of a token.",
                remedy: "Give one of at most \(Self.longestName) letters, without line ends."
            )
        }
        let token = Self.newToken()
        try change { entries in
            guard !entries.contains(where: { $0.name == name }) else {
                throw TokenError(
                    message: "There is a token “\(name)” already.",
                    remedy: "Remove it first, or choose another name."
                )
            }
            guard entries.count < Self.maximumCount else {
                throw TokenError(
                    message: "\(path): there are \(Self.maximumCount) tokens already.",
                    remedy: "Remove those that are not used."
                )
            }
            let digest = Self.digest(token.revealed)
            entries.append(Entry(name: name, role: role, digest: digest, madeAt: date.isoText ?? ""))
        }
        return token
    }

    /// Removes a token: from the next request on it is nobody's.
    package func remove(_ name: String) throws {
        try change { entries in
            let count = entries.count
            entries.removeAll { $0.name == name }
            guard entries.count < count else {
                throw TokenError(
                    message: "There is no token “\(name.printable)”.",
                    remedy: "“ferry token list” shows those there are."
                )
            }
        }
    }

    private func change(_ body: (inout [Entry]) throws -> Void) throws {
        try makeFolders(folder)
        // The file itself is replaced with each change, so another one is locked.
        let lock = try FileLock(waitingFor: folder + "/tokens.lock")
        defer { withExtendedLifetime(lock) {} }
        var entries = try entries()
        try body(&entries)
        var object = JSONObject()
        object.add(
            "tokens",
            entries.map { entry in
                var object = JSONObject()
                object.add("name", entry.name)
                object.add("role", entry.role.rawValue)
                object.add("sha256", entry.digest.hex)
                object.add("madeAt", entry.madeAt)
                return object
            }
        )
        let file = try NewFile(path: path, permissions: 0o600)
        try file.write(Array(object.line.utf8))
        try handOver(file.descriptor)
        try handOver(lock.descriptor)
        try file.commit()
    }

    /// Gives a file to the owner of the folder where root makes it, for the server runs as that owner.
    private func handOver(_ descriptor: Int32) throws(FileFailure) {
        guard geteuid() == 0 else { return }
        var status = stat()
        guard stat(folder, &status) == 0, fchown(descriptor, status.st_uid, status.st_gid) == 0 else {
            throw FileFailure("change the owner of", path, errorNumber: errno)
        }
    }

    private func damaged(_ what: String) -> TokenError {
        TokenError(message: "\(path): \(what).", remedy: "Correct or remove the file.")
    }
}

extension Data {
    /// RFC 4648 §5, without padding.
    var base64URLText: String {
        String(
            base64EncodedString().compactMap { (letter: Character) -> Character? in
                switch letter {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: letter
                }
            }
        )
    }
}

/// Why the tokens could not be read or changed.
package struct TokenError: ExplainedError, Equatable {
    package let message: String
    package let remedy: String?
    /// A stable name for the kind of error.
    package var code = "token"
}
