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

    /// Whether a page of this `Origin` is this server's own: `https://ferry.example.com:8443`; not `null`, nor what is none.
    package func isOwn(origin: String) -> Bool {
        let origin = origin.lowercased()
        guard let scheme = ["https://", "http://"].first(where: origin.hasPrefix) else { return false }
        return names.contains(Self.name(String(origin.dropFirst(scheme.count))))
    }

    /// A `Host` without its port, in small letters; as it is where what follows the name is no port.
    package static func name(_ host: String) -> String {
        let host = host.lowercased()
        var rest = host[...]
        if host.hasPrefix("[") {
            guard let end = host.firstIndex(of: "]") else { return host }
            rest = host[host.index(after: end)...]
        } else {
            rest = host[(host.firstIndex(of: ":") ?? host.endIndex)...]
        }
        guard rest.isEmpty || rest.dropFirst().utf8.allSatisfy({ (0x30...0x39).contains($0) }), rest.first ?? ":" == ":"
        else { return host }
        return String(host[..<rest.startIndex])
    }
}
