#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where a server listens: `127.0.0.1:8470`, `[::1]:8470`, `0.0.0.0:443`.
package struct ListenAddress: Sendable, Hashable, CustomStringConvertible {
    /// An address in numbers, without brackets.
    package var host: String
    /// The port; 0 for any that is free.
    package var port: UInt16

    /// Takes the parts, which are checked where they are used.
    package init(host: String, port: UInt16) {
        self.host = host
        self.port = port
    }

    /// Reads `HOST:PORT`, `PORT` alone for 127.0.0.1, `*:PORT` for every address of this machine; `localhost` is
    /// 127.0.0.1.
    package init(_ text: String) throws(HTTPError) {
        let failure = HTTPError(
            .badAddress,
            "“\(text)” is no address to listen on.",
            remedy: "Give an address in numbers and a port: 127.0.0.1:8470, [::1]:8470, or 0.0.0.0:8470 for all."
        )
        let colon = text.lastIndex(of: ":")
        let portText = colon.map { text[text.index(after: $0)...] } ?? text[...]
        guard let port = UInt16(portText), portText.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            throw failure
        }
        var host = colon.map { String(text[..<$0]) } ?? "127.0.0.1"
        switch host {
        case "localhost": host = "127.0.0.1"
        case "*": host = "0.0.0.0"
        default:
            if host.hasPrefix("["), host.hasSuffix("]") {
                host = String(host.dropFirst().dropLast())
            } else if host.contains(":") {
                throw failure
            }
        }
        self.init(host: host, port: port)
        guard resolved != nil else { throw failure }
    }

    /// The host as it stands in an address of the web, the port after it.
    package var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }

    /// Whether only this machine can reach it.
    package var isLoopback: Bool { host.hasPrefix("127.") || host == "::1" }

    /// The system's form; `nil` where the host is no address in numbers.
    var resolved: (family: Int32, bytes: [UInt8])? {
        var four = sockaddr_in()
        if inet_pton(AF_INET, host, &four.sin_addr) == 1 {
            four.sin_family = sa_family_t(AF_INET)
            four.sin_port = port.bigEndian
            return (AF_INET, withUnsafeBytes(of: four) { [UInt8]($0) })
        }
        var six = sockaddr_in6()
        guard inet_pton(AF_INET6, host, &six.sin6_addr) == 1 else { return nil }
        six.sin6_family = sa_family_t(AF_INET6)
        six.sin6_port = port.bigEndian
        return (AF_INET6, withUnsafeBytes(of: six) { [UInt8]($0) })
    }
}
