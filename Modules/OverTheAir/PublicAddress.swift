package import FerryHTTP

/// By which address people reach the server.
package struct PublicAddress: Sendable {
    /// The address that was given, without a slash at its end; `nil` where that of each request counts.
    package var fixed: String?
    /// Proxies whose word about the address is believed: addresses in numbers.
    package var trustedProxies: Set<String> = []
    /// What is said where nobody asks: in a terminal, in a record.
    package var standard: String

    /// Says how it is found out.
    package init(fixed: String? = nil, trustedProxies: Set<String> = [], standard: String) {
        self.fixed = fixed.map(Self.trimmed)
        self.trustedProxies = trustedProxies
        self.standard = Self.trimmed(standard)
    }

    /// The address without a request.
    package var usual: String { fixed ?? standard }

    /// The address that a client used, without a slash at its end.
    package func base(for request: Request) -> String {
        if let fixed { return fixed }
        var scheme = request.isSecure ? "https" : "http"
        var host = request.headers["Host"]
        if trustedProxies.contains(request.remoteAddress) {
            // Of several proxies the nearest added its word last.
            let told = { (name: String) in
                request.headers.all(name).last?.split(separator: ",").last.map { String($0).withoutBlanks }
            }
            if let told = told("X-Forwarded-Proto"), told == "http" || told == "https" { scheme = told }
            if let told = told("X-Forwarded-Host") { host = told }
        }
        guard let host, Self.isHost(host) else { return standard }
        return scheme + "://" + host
    }

    /// The page of a link.
    package func page(of link: AirLink) -> String { usual + "/i/" + link.secret + "/" }

    /// Letters that a host and a port may have; whatever else comes would end up in pages and manifests.
    private static func isHost(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255
            && text.utf8.allSatisfy { byte in
                switch byte {
                case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
                case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: ":"), UInt8(ascii: "["), UInt8(ascii: "]"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    private static func trimmed(_ address: String) -> String {
        address.hasSuffix("/") ? String(address.dropLast()) : address
    }
}

extension String {
    fileprivate var withoutBlanks: String { split(separator: " ").joined(separator: " ") }
}
