/// Where pushes are sent to.
public struct APNsEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// Which apps' tokens a server knows.
    public enum Environment: String, Sendable, Hashable {
        /// Apps from the store, TestFlight and ad-hoc signing.
        case production
        /// Apps with a development profile.
        case sandbox
        /// A server of somebody's own.
        case custom
    }

    /// The host's name or address.
    public let host: String
    /// The port; Apple listens on 443 and 2197.
    public let port: UInt16
    /// Which tokens are known there.
    public let environment: Environment

    /// `api.push.apple.com`, port 443.
    public static let production = APNsEndpoint(host: "api.push.apple.com", port: 443, environment: .production)
    /// `api.sandbox.push.apple.com`, port 443.
    public static let sandbox = APNsEndpoint(host: "api.sandbox.push.apple.com", port: 443, environment: .sandbox)

    /// A server of one's own, which must have a certificate for `host`.
    ///
    /// - Parameter environment: which tokens it passes on, where it stands before one of Apple's.
    public static func custom(host: String, port: UInt16, environment: Environment = .custom) -> APNsEndpoint {
        APNsEndpoint(host: host, port: port, environment: environment)
    }

    /// The same service on port 2197, for networks that let nothing through on 443.
    public var onAlternativePort: APNsEndpoint {
        APNsEndpoint(host: host, port: 2197, environment: environment)
    }

    /// `host:port`, an IPv6 address in brackets.
    public var description: String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    }
}
