import FerryBytes
import FerryServer
import FoundationEssentials

extension Token {
    /// A token, as `--json` prints it.
    struct Report: Encodable {
        let name: String
        let role: String
        let madeAt: String?
        /// Only where it was just made.
        let token: String?
    }

    static func runList(_ invocation: Invocation) async throws -> ExitCode {
        let entries = try invocation.tokenBook.entries()
        let text =
            entries.isEmpty
            ? "There is no token; make one with: ferry token add NAME ROLE"
            : tableLines(entries.map { [$0.name, $0.role.rawValue, $0.madeAt] }).joined(separator: "\n")
        if entries.isEmpty, !invocation.asData {
            invocation.console.note(text)
        } else {
            let reports = entries.map { Report(name: $0.name, role: $0.role.rawValue, madeAt: $0.madeAt, token: nil) }
            try invocation.show(["tokens": reports], text: text)
        }
        return .done
    }

    static func runAdd(_ invocation: Invocation) async throws -> ExitCode {
        let name = invocation.arguments.required("NAME")
        guard let role = Role(rawValue: invocation.arguments.required("ROLE")) else { return .usage }
        let token = try invocation.tokenBook.add(name, role, at: Date())
        let report = Report(name: name, role: role.rawValue, madeAt: nil, token: token.revealed)
        try invocation.show(report, text: token.revealed)
        if !invocation.asData { invocation.console.note("Keep it: it is not shown again.") }
        return .done
    }

    static func runRemove(_ invocation: Invocation) async throws -> ExitCode {
        let name = invocation.arguments.required("NAME")
        try invocation.tokenBook.remove(name)
        try invocation.show(["removed": name], text: "The token “\(name.printable)” is nobody's any more.")
        return .done
    }
}

extension Invocation {
    /// Where a server keeps its tokens and archives.
    var serverFolder: String { Folders(environment: environment).state + "/server" }

    /// The tokens of this machine's server.
    var tokenBook: TokenBook { TokenBook(folder: serverFolder) }
}
