import COpenSSL
import FerryBytes
package import FerryHTTP

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A certificate authority of this machine's own, for servers in a local network.
///
/// Made once and kept in a folder: `ca.pem`, `ca.key`, and of the server's certificate `server.pem`, `server.key`. Keys
/// are for their owner alone. The server's certificate is made anew where it names other hosts, and 30 days before its
/// end. Apple (“Requirements for trusted certificates”, 103769): at most 825 days, names in subjectAltName, the extended
/// usage serverAuth, keys of P-256 or better.
package struct LocalAuthority: Sendable {
    /// How long the authority is good, in days.
    private static let authorityDays: Int64 = 3650
    /// How long a server's certificate is good, in days.
    package static let serverDays: Int64 = 820
    /// How long before its end a certificate is made anew, in days.
    private static let renewalDays: Int64 = 30
    /// The longest file that is read.
    private static let maximumBytes = 64 << 10

    /// The authority's certificate in DER.
    package let certificate: [UInt8]
    /// What a server shows.
    package let identity: TLSIdentity

    /// Reads or makes what is needed for a server of these names and addresses.
    ///
    /// - Parameter now: The date, in seconds since 1970.
    package init(folder: String, hosts: [String], now: Int64) throws {
        try makeFolders(folder)
        let authority = try Self.authority(folder, now)
        certificate = try authority.der
        let paths = (certificate: folder + "/server.pem", key: folder + "/server.key")
        if let kept = Self.kept(paths.certificate, paths.key), kept.isGood(for: hosts, by: authority, at: now) {
            identity = TLSIdentity(certificate: kept.pem, key: Secret(kept.keyPEM))
            return
        }
        let server = try MadeCertificate(
            name: hosts.first ?? "localhost",
            days: Self.serverDays,
            now: now,
            extensions: [
                ("basicConstraints", "critical,CA:FALSE"), ("keyUsage", "critical,digitalSignature"),
                ("extendedKeyUsage", "serverAuth"), ("subjectAltName", Self.names(hosts)),
            ],
            by: authority
        )
        try WholeFile.write(Array(server.keyPEM.utf8), to: paths.key)
        try WholeFile.write(server.pem, to: paths.certificate)
        identity = TLSIdentity(certificate: server.pem, key: Secret(server.keyPEM))
    }

    /// The SHA-256 of the authority's certificate, as a phone shows it.
    package var fingerprint: String { FerryOverTheAir.fingerprint(certificate) }

    private static func authority(_ folder: String, _ now: Int64) throws -> MadeCertificate {
        let paths = (certificate: folder + "/ca.pem", key: folder + "/ca.key")
        if let kept = kept(paths.certificate, paths.key) {
            guard kept.end - renewalDays * 86_400 > now else {
                throw AuthorityError(
                    message: "\(paths.certificate): the authority has expired, or soon will.",
                    remedy: "Remove it and \(paths.key); a new one is made, which phones have to be taught anew."
                )
            }
            return kept
        }
        let made = try MadeCertificate(
            name: "Ferry local authority",
            days: authorityDays,
            now: now,
            extensions: [
                ("basicConstraints", "critical,CA:TRUE,pathlen:0"), ("keyUsage", "critical,keyCertSign,cRLSign"),
            ],
            by: nil
        )
        try WholeFile.write(Array(made.keyPEM.utf8), to: paths.key)
        try WholeFile.write(made.pem, to: paths.certificate)
        return made
    }

    private static func kept(_ certificate: String, _ key: String) -> MadeCertificate? {
        guard let pem = try? WholeFile.read(certificate, limit: maximumBytes),
            let keyPEM = try? WholeFile.read(key, limit: maximumBytes)
        else { return nil }
        return MadeCertificate(pem: pem, keyPEM: String(decoding: keyPEM, as: UTF8.self))
    }

    static func names(_ hosts: [String]) -> String {
        hosts.map { host in
            let plain = host.hasPrefix("[") && host.hasSuffix("]") ? String(host.dropFirst().dropLast()) : host
            return (isAddress(plain) ? "IP:" : "DNS:") + plain
        }.joined(separator: ",")
    }

    private static func isAddress(_ text: String) -> Bool {
        var bytes = in6_addr()
        return inet_pton(AF_INET, text, &bytes) == 1 || inet_pton(AF_INET6, text, &bytes) == 1
    }
}

/// Why there is no certificate.
package struct AuthorityError: ExplainedError {
    package let message: String
    package let remedy: String?
}

/// The SHA-256 of some bytes, in pairs of digits.
func fingerprint(_ bytes: [UInt8]) -> String {
    var digest = [UInt8](repeating: 0, count: 32)
    _ = SHA256(bytes, bytes.count, &digest)
    return digest.map { ($0 < 16 ? "0" : "") + String($0, radix: 16, uppercase: true) }.joined(separator: ":")
}
