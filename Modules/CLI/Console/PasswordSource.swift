import FerryBytes

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where the identity's password comes from: a file, the environment, a prompt; never an argument.
struct PasswordSource: Sendable {
    /// The longest first line of a password file.
    static let longestPasswordBytes = 4096

    /// The file whose first line it is; `-` for standard input; `nil` for none.
    let file: String?
    /// The variables of the environment.
    let environment: [String: String]
    /// Asks a person; `nil` where nobody can be asked.
    let prompt: PasswordPrompt?
    /// What it is called: `Password`, `PIN`.
    var name = "Password"
    /// Which variable it is in.
    var variable = "FERRY_P12_PASSWORD"

    /// The password of `identity`, which names a file; an empty one is a password too.
    func password(of identity: String) async throws -> Secret {
        if let file {
            return try firstLine(of: file)
        }
        if let text = environment[variable] {
            return Secret(text)
        }
        if let answer = try await prompt?.ask("\(name) of \(identity): ") {
            return answer
        }
        throw PasswordError(
            code: .notGiven,
            message:
                "\(identity): its \(name == "PIN" ? name : name.lowercased()) is not given, and there is no terminal to ask on.",
            remedy: "Put it into the first line of a file and give --password-file FILE, or set \(variable) "
                + "(to nothing, if there is none)."
        )
    }

    /// Reads up to the first line end; also from pipes, so that `<(pass show x)` works.
    private func firstLine(of path: String) throws -> Secret {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileFailure("open", path, errorNumber: errno) }
        defer { close(descriptor) }
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw FileFailure("read", path, errorNumber: errno) }
            if count == 0 || byte == UInt8(ascii: "\n") { break }
            guard line.count < Self.longestPasswordBytes else {
                throw PasswordError(
                    code: .tooLong,
                    message: "\(path): the first line has more than \(Self.longestPasswordBytes) bytes.",
                    remedy: "The password must stand alone in the first line; is this the right file?"
                )
            }
            line.append(byte)
        }
        if line.last == UInt8(ascii: "\r") {
            line.removeLast()
        }
        guard let text = String(validating: line, as: UTF8.self) else {
            throw PasswordError(
                code: .notText,
                message: "\(path): the first line is not UTF-8 text.",
                remedy: "Save the file as UTF-8; is this the right file?"
            )
        }
        return Secret(text)
    }
}
