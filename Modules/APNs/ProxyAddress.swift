public import FerryBytes

/// A proxy that connects us to the service (`CONNECT`, RFC 9110 §9.3.6); it sees nothing but the service's name.
public struct ProxyAddress: Sendable, Hashable {
    /// The host's name or address.
    public let host: String
    /// The port.
    public let port: UInt16
    /// `user:password`, as the header's Base64 has it; `nil` where the proxy asks for none.
    let credentials: Secret?

    /// Reads `http://host:port`; throws ``APNsError/Code/badConfiguration``.
    ///
    /// - Parameter user: who we are to the proxy; `nil` where it does not ask.
    /// - Parameter password: goes with `user`. Neither belongs in the URL, which people print.
    public init(url: String, user: String? = nil, password: Secret? = nil) throws(APNsError) {
        let lower = url.lowercased()
        guard lower.hasPrefix("http://") else {
            throw APNsError(
                .badConfiguration,
                "The proxy “\(url.printable)” is none that can be used.",
                remedy: "Give it as http://HOST:PORT."
            )
        }
        guard !url.utf8.contains(UInt8(ascii: "@")) else {
            throw APNsError(
                .badConfiguration,
                "The proxy's address has a user or password in it.",
                remedy: "Give them apart from the address."
            )
        }
        let rest = url.dropFirst("http://".count).prefix { $0 != "/" }
        guard let colon = rest.lastIndex(of: ":"), let port = UInt16(rest[rest.index(after: colon)...]), port > 0 else {
            throw APNsError(
                .badConfiguration,
                "The proxy “\(url.printable)” has no port.",
                remedy: "Give it as http://HOST:PORT."
            )
        }
        var host = String(rest[..<colon])
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard !host.isEmpty, host.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw APNsError(
                .badConfiguration,
                "The proxy “\(url.printable)” has no host.",
                remedy: "Give it as http://HOST:PORT."
            )
        }
        if let user, user.utf8.contains(UInt8(ascii: ":")) {
            throw APNsError(.badConfiguration, "The proxy's user has a colon in the name, which no proxy can read.")
        }
        self.host = host
        self.port = port
        credentials = user.map { Secret($0 + ":" + (password?.revealed ?? "")) }
    }
}
