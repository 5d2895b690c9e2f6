import FerryBytes
import FerryHTTP
import FerryOverTheAir
import FerryWeb
import FoundationEssentials

/// Where a server listens, by which names it is asked, and what it shows for TLS.
struct ServingPlace: Sendable {
    /// What options of a server stand under in help.
    static let group = "Serving phones"

    /// What says all that.
    static let options = [
        Option(
            name: "--listen",
            value: "ADDRESS",
            standard: "127.0.0.1:8470",
            help: "where to listen: an address in numbers and a port"
        ),
        Option(
            name: "--public-url",
            value: "URL",
            kind: .url,
            help: "the address that people use, where another server is in front"
        ),
        Option(
            name: "--trust-proxy",
            value: "ADDRESS",
            count: .repeated,
            help: "believe this proxy's X-Forwarded-Proto and X-Forwarded-Host"
        ),
        Option(
            name: "--host",
            value: "NAME",
            count: .repeated,
            help: "a further name by which the server may be asked"
        ),
        Option(
            name: "--tls-certificate",
            value: "FILE",
            kind: .file(["pem"]),
            help: "its certificate and chain, in PEM"
        ),
        Option(name: "--tls-key", value: "FILE", kind: .file(["pem"]), help: "its private key, in PEM"),
        Option(name: "--local-ca", help: "make a certificate by an authority of this machine's own"),
        Option(
            name: "--link-hours",
            value: "HOURS",
            kind: .number(1...8_760),
            standard: "24",
            help: "how long a link for a phone is good"
        ),
    ]

    let configuration: ServerConfiguration
    /// Names by which it may be asked, without ports.
    let hosts: Set<String>
    /// How long a link is good.
    let linkSeconds: Int64
    /// The authority of `--local-ca`.
    let authority: LocalAuthority?
    private let publicURL: String?
    private let trustedProxies: Set<String>
    /// The name for addresses, where there is no public one.
    private let host: String

    init(_ invocation: Invocation, verb: String) throws {
        let arguments = invocation.arguments
        let listen = try ListenAddress(arguments.required("--listen"))
        publicURL = arguments.value("--public-url")
        trustedProxies = Set(arguments.values("--trust-proxy"))
        linkSeconds = Int64(arguments.number("--link-hours") ?? 24) * 3_600
        let named = arguments.values("--host").map(Self.bracketed)
        let isEverywhere = ["0.0.0.0", "::"].contains(listen.host)
        let own = Self.bracketed(listen.host)
        host = named.first ?? (isEverywhere ? "127.0.0.1" : own)
        var hosts: Set<String> = ["127.0.0.1", "localhost", "[::1]"]
        if let publicURL {
            guard let address = WebAddress(publicURL), ["http", "https"].contains(address.scheme) else {
                throw UsageError(.invalidValue, "--public-url: “\(publicURL.printable)” is no address.", verb: verb)
            }
            hosts.insert(address.host)
        }
        if !isEverywhere { hosts.insert(own) }
        hosts.formUnion(named)
        self.hosts = hosts
        authority =
            arguments.flag("--local-ca")
            ? try Self.authority(named + (isEverywhere ? [] : [own]), invocation, verb) : nil
        let tls = try authority?.identity ?? Self.identity(arguments, verb)
        guard listen.isLoopback || tls != nil || publicURL != nil else {
            throw UsageError(
                .missingOption,
                "Anybody on the way to \(listen) could read tokens and links, and phones install by https alone.",
                advice:
                    "Give --tls-certificate and --tls-key, --local-ca, or --public-url where a server with TLS is in "
                    + "front.",
                verb: verb
            )
        }
        var configuration = ServerConfiguration(listen: listen, tls: tls)
        configuration.limits.unlimitedAddresses.formUnion(trustedProxies)
        self.configuration = configuration
    }

    /// By which address people reach it, once it listens there.
    func address(at address: ListenAddress) -> PublicAddress {
        let scheme = configuration.tls == nil ? "http" : "https"
        return PublicAddress(
            fixed: publicURL,
            trustedProxies: trustedProxies,
            standard: "\(scheme)://\(host):\(address.port)"
        )
    }

    /// An address of IPv6 as it stands in addresses of the web.
    private static func bracketed(_ host: String) -> String {
        host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
    }

    private static func authority(
        _ hosts: [String],
        _ invocation: Invocation,
        _ verb: String
    ) throws -> LocalAuthority {
        guard !hosts.isEmpty else {
            throw UsageError(
                .missingOption,
                "--local-ca: a certificate needs the name or address by which phones reach this machine.",
                advice: "Give --host, as --host 192.168.1.5.",
                verb: verb
            )
        }
        return try LocalAuthority(
            folder: try Folders.make(invocation.serverFolder) + "/ca",
            hosts: hosts,
            now: Int64(Date().timeIntervalSince1970)
        )
    }

    private static func identity(_ arguments: ParsedArguments, _ verb: String) throws -> TLSIdentity? {
        switch (arguments.value("--tls-certificate"), arguments.value("--tls-key")) {
        case (nil, nil): return nil
        case (let certificate?, let key?):
            let pem = String(decoding: try InputFile.bytes(key, limit: 1 << 20), as: UTF8.self)
            return TLSIdentity(certificate: try InputFile.bytes(certificate, limit: 1 << 20), key: Secret(pem))
        default:
            throw UsageError(
                .missingOption,
                "--tls-certificate and --tls-key go together.",
                advice: "Give both, or neither.",
                verb: verb
            )
        }
    }
}
