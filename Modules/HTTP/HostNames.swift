import FerryBytes

/// The names, without ports, by which a server may be asked.
///
/// A page of somebody else's whose name leads here (DNS rebinding) is told from ours by its `Host` alone.
package struct HostNames: Sendable {
    private let names: Set<String>

    /// The names, in any case: `127.0.0.1`, `ferry.example.com`, `[::1]`.
    package init(_ names: Set<String>) {
        self.names = Set(names.map { $0.lowercased() })
    }

    /// Why a request is not for this server, in a sentence; `nil` for one that is.
    package func misdirection(_ request: Request) -> String? {
        let given = request.headers.all("Host")
        guard given.count == 1 else { return "The request must have one field “Host”." }
        if names.contains(Self.name(given[0])) { return nil }
        return "This server is not known as “\(given[0].prefix(100).printable)”."
    }

    /// A `Host` without its port, in small letters.
    package static func name(_ host: String) -> String {
        let host = host.lowercased()
        if host.hasPrefix("["), let end = host.firstIndex(of: "]") { return String(host[...end]) }
        return String(host.prefix { $0 != ":" })
    }
}
