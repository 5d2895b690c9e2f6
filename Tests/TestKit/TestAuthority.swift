import Foundation

/// Certificates, keys and profiles shaped like Apple's, made by the `openssl` program for one run of the tests.
///
/// `root`, `inter` (with the mark of Apple's developer intermediates), and below it `leaf` (an elliptic curve key), `rsa`
/// and `stranger`, each as `NAME.pem` and `NAME.key`. PKCS#12 files have the password ``password``.
public struct TestAuthority: Sendable {
    /// What a test says when it skips.
    public static let absent = "the openssl program is missing"
    /// Whether it can be made.
    public static let exists = Tool("openssl") != nil
    /// The team of all leaves.
    public static let team = "TESTTEAM01"
    /// The password of all files that have one.
    public static let password = "geheim"
    /// Made once, at its first use.
    public static let shared = Result { try TestAuthority() }

    /// Where the files are.
    public let folder: TemporaryFolder

    private init() throws {
        folder = try TemporaryFolder()
        let made = try Tool(path: "/bin/sh").run(["-e", "-c", Self.script], in: folder.path)
        guard made.status == 0 else { throw ToolFailure(made.errors) }
    }

    /// A file's bytes.
    public func file(_ name: String) throws -> [UInt8] {
        try folder.read(name)
    }

    /// A provisioning profile, signed by `inter`.
    ///
    /// - Parameter application: the bundle identifier, or a pattern that ends in `*`.
    /// - Parameter signers: whose certificates may sign.
    /// - Parameter expires: in seconds since 1970.
    /// - Parameter entitlements: keys that are granted with `true`.
    public func profile(
        _ application: String,
        name: String = "Test",
        signers: [String] = ["leaf"],
        expires: Int64 = 4_000_000_000,
        debug: Bool = false,
        granting entitlements: [String] = [],
        asksForOwnIdentifier: Bool = false
    ) throws -> [UInt8] {
        let certificates = try signers.map { name in
            let pem = String(decoding: try file(name + ".pem"), as: UTF8.self)
            return "<data>" + pem.split(separator: "\n").filter { !$0.hasPrefix("-----") }.joined() + "</data>"
        }
        let date = Date(timeIntervalSince1970: TimeInterval(expires)).ISO8601Format()
        let team = Self.team
        let plist = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict>
            \(asksForOwnIdentifier ? "<key>PPQCheck</key><true/>" : "")
            <key>Name</key><string>\(name)</string><key>UUID</key><string>\(UUID().uuidString)</string>
            <key>TeamIdentifier</key><array><string>\(team)</string></array>
            <key>ApplicationIdentifierPrefix</key><array><string>\(team)</string></array>
            <key>Platform</key><array><string>iOS</string></array>
            <key>ExpirationDate</key><date>\(date)</date>
            <key>ProvisionedDevices</key><array><string>00008110-000000000000001E</string></array>
            <key>DeveloperCertificates</key><array>\(certificates.joined())</array>
            <key>Entitlements</key><dict>
            <key>application-identifier</key><string>\(team).\(application)</string>
            <key>com.apple.developer.team-identifier</key><string>\(team)</string>
            <key>keychain-access-groups</key><array><string>\(team).*</string></array>
            <key>get-task-allow</key>\(debug ? "<true/>" : "<false/>")
            \(entitlements.map { "<key>\($0)</key><true/>" }.joined())
            </dict></dict></plist>
            """
        let openssl = Tool(path: Tool("openssl")?.path ?? "openssl")
        let made = try openssl.run(
            ["cms", "-sign", "-nodetach", "-binary", "-outform", "DER", "-signer", "inter.pem", "-inkey", "inter.key"],
            input: Array(plist.utf8),
            in: folder.path
        )
        guard made.status == 0 else { throw ToolFailure(made.errors) }
        return made.output
    }

    private static let script = """
        ec="-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes"
        exec 2>log
        trap '[ $? = 0 ] || { cat log >&2; }' EXIT
        openssl req -x509 $ec -keyout root.key -out root.pem -days 7300 -subj "/C=US/O=Test/CN=Test Root CA" \
            -addext basicConstraints=critical,CA:true
        printf 'basicConstraints=critical,CA:true\\n1.2.840.113635.100.6.2.1=ASN1:NULL\\n' > inter.ext
        openssl req $ec -keyout inter.key -out inter.csr -subj "/C=US/O=Test/OU=G3/CN=Test Developer Relations CA"
        openssl x509 -req -in inter.csr -CA root.pem -CAkey root.key -set_serial 2 -days 3650 -sha256 -out inter.pem \
            -extfile inter.ext
        printf '%s\\n' basicConstraints=critical,CA:false keyUsage=critical,digitalSignature \
            extendedKeyUsage=critical,codeSigning 'authorityInfoAccess=caIssuers;URI:http://certs.example/wwdr.cer' > leaf.ext
        serial=3
        for name in leaf rsa stranger; do
            case $name in rsa) new="-newkey rsa:2048 -nodes";; *) new=$ec;; esac
            openssl req $new -keyout $name.key -out $name.csr -utf8 \
                -subj "/UID=\(team)/CN=Apple Development: $name Ünal/OU=\(team)/O=Test/C=US"
            openssl x509 -req -in $name.csr -CA inter.pem -CAkey inter.key -set_serial $serial -days 365 -sha256 \
                -out $name.pem -extfile leaf.ext
            serial=$((serial + 1))
            cat inter.pem root.pem > chain.pem
            openssl pkcs12 -export -inkey $name.key -in $name.pem -certfile chain.pem -passout pass:\(password) -out $name.p12
        done
        export="openssl pkcs12 -export -inkey leaf.key -in leaf.pem"
        $export -certfile chain.pem -legacy -passout pass:\(password) -out legacy.p12
        $export -certfile chain.pem -passout pass: -out empty.p12
        $export -certfile chain.pem -nomac -passout pass:\(password) -out nomac.p12
        $export -certfile chain.pem -passout "pass:pässwörd €" -out unicode.p12
        $export -certfile root.pem -passout pass:\(password) -out nochain.p12
        openssl pkcs12 -export -nokeys -in leaf.pem -certfile chain.pem -passout pass:\(password) -out nokey.p12
        openssl pkcs8 -topk8 -in leaf.key -passout pass:\(password) -out encrypted.key
        cat chain.pem leaf.pem > all.pem
        """
}
