import Foundation

/// Certificates, keys and answers about revocation, made one by one by the `openssl` program.
///
/// For tests whose certificates name a server of theirs, so that they can only be made once its port is known.
public struct Workshop: Sendable {
    /// Where the files are: `NAME.pem`, `NAME.key`, and `NAME.der`.
    public let folder: TemporaryFolder
    private let openssl: Tool

    /// Makes an empty one; throws where there is no `openssl`.
    public init() throws {
        folder = try TemporaryFolder()
        guard let openssl = Tool("openssl") else { throw ToolFailure("openssl is missing") }
        self.openssl = openssl
    }

    /// A file's bytes.
    public func file(_ name: String) throws -> [UInt8] { try folder.read(name) }

    /// Runs `openssl`; gives its output.
    @discardableResult
    public func run(_ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
        let result = try openssl.run(arguments, input: input, in: folder.path)
        guard result.status == 0 else {
            throw ToolFailure("openssl " + arguments.joined(separator: " ") + ": " + result.errors)
        }
        return result.output
    }

    /// Issues a certificate.
    ///
    /// - Parameter subject: as `/O=Test/CN=Name`.
    /// - Parameter issuer: the name of the one that signs it; `nil` for itself.
    /// - Parameter key: `EC` or `RSA`, or the name of a certificate whose key it shares.
    /// - Parameter extensions: as in OpenSSL's configuration, each `name=value`.
    /// - Parameter start: as `YYYYMMDDHHMMSSZ`; `nil` for now. The serial number is a random one then.
    public func issue(
        _ name: String,
        _ subject: String,
        by issuer: String? = nil,
        key: String = "EC",
        serial: Int = .random(in: 1...(1 << 48)),
        extensions: [String] = [],
        start: String? = nil
    ) throws {
        switch key {
        case "EC":
            try run(["genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", name + ".key"])
        case "RSA":
            try run(["genpkey", "-algorithm", "RSA", "-pkeyopt", "rsa_keygen_bits:2048", "-out", name + ".key"])
        default: try folder.write(file(key + ".key"), to: name + ".key")
        }
        let all = ["subjectKeyIdentifier=hash", "authorityKeyIdentifier=keyid"] + extensions
        try folder.write(Array((all.joined(separator: "\n") + "\n").utf8), to: name + ".ext")
        try run(["req", "-new", "-utf8", "-key", name + ".key", "-subj", subject, "-out", name + ".csr"])
        if let start, let issuer {
            try issue(name, by: issuer, start: start)
            return
        }
        let above = issuer.map { ["-CA", $0 + ".pem", "-CAkey", $0 + ".key"] } ?? ["-signkey", name + ".key"]
        try run(
            ["x509", "-req", "-in", name + ".csr", "-set_serial", "\(serial)", "-days", "3650", "-sha256"] + above + [
                "-extfile", name + ".ext", "-out", name + ".pem",
            ]
        )
        try folder.write(run(["x509", "-in", name + ".pem", "-outform", "DER"]), to: name + ".der")
    }

    /// `openssl x509` cannot set a start before OpenSSL 3.4.
    private func issue(_ name: String, by issuer: String, start: String) throws {
        let configuration = """
            [ca]
            default_ca = own
            [own]
            database = \(name).database
            new_certs_dir = .
            rand_serial = yes
            default_md = sha256
            policy = any
            [any]
            commonName = supplied
            """
        try folder.write(Array(configuration.utf8), to: name + ".cnf")
        try folder.write([], to: name + ".database")
        try run([
            "ca", "-batch", "-notext", "-config", name + ".cnf", "-cert", issuer + ".pem", "-keyfile", issuer + ".key",
            "-in", name + ".csr", "-startdate", start, "-days", "3650", "-extfile", name + ".ext", "-out",
            name + ".pem",
        ])
        try folder.write(run(["x509", "-in", name + ".pem", "-outform", "DER"]), to: name + ".der")
    }

    /// The extension that makes an authority.
    public static let authority = "basicConstraints=critical,CA:true"
    /// The extension of Apple's intermediates.
    public static let relations = "1.2.840.113635.100.6.2.1=ASN1:NULL"
    /// The extensions of a development certificate.
    public static let development = [
        "basicConstraints=critical,CA:false", "keyUsage=critical,digitalSignature",
        "extendedKeyUsage=critical,codeSigning", "1.2.840.113635.100.6.1.2=ASN1:NULL",
    ]

    /// Certificates as a PKCS#7 bundle.
    public func bundle(_ names: [String], isPEM: Bool = false) throws -> [UInt8] {
        let files = names.flatMap { ["-certfile", $0 + ".pem"] }
        return try run(["crl2pkcs7", "-nocrl", "-outform", isPEM ? "PEM" : "DER"] + files)
    }

    /// What `openssl ocsp` answers to a request.
    ///
    /// - Parameter index: the state of each certificate, by its serial number: `good`, `revoked`, or `revoked:REASON`.
    /// - Parameter signer: the name of the one that signs the answer.
    public func answer(
        _ request: [UInt8],
        issuer: String,
        signer: String,
        index: [Int: String],
        more: [String] = ["-ndays", "1"]
    ) throws -> [UInt8] {
        let name = UUID().uuidString
        let lines = index.map { serial, state in
            let hex = String(serial, radix: 16).uppercased()
            let number = hex.count % 2 == 0 ? hex : "0" + hex
            let parts = state.split(separator: ":")
            guard parts[0] == "revoked" else { return "V\t360101000000Z\t\t\(number)\tunknown\t/CN=x\n" }
            let reason = parts.count > 1 ? "," + parts[1] : ""
            return "R\t360101000000Z\t200102030405Z\(reason)\t\(number)\tunknown\t/CN=x\n"
        }
        try folder.write(Array(lines.joined().utf8), to: name + ".index")
        try folder.write(request, to: name + ".req")
        try run(
            [
                "ocsp", "-index", name + ".index", "-CA", issuer + ".pem", "-rsigner", signer + ".pem", "-rkey",
                signer + ".key", "-reqin", name + ".req", "-respout", name + ".resp",
            ] + more
        )
        return try file(name + ".resp")
    }
}
