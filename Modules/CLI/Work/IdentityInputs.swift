import FerryAppBundle
import FerryBytes
import FerryCertificates
import FerryCodeSignature
import FerryWeb
import FoundationEssentials

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension Invocation {
    /// The identity that `--p12`, or `--certificate` and `--key`, name, with its whole chain.
    func identity() async throws -> Identity {
        let pair = try await keyPair()
        let outcome = try await chain(of: pair.leaf, with: pair.others)
        if let shortfall = outcome.shortfall { throw InputError(identityPlace, shortfall) }
        return try inside(identityPlace) { () throws(CodeSignatureError) in try Identity(pair, chain: outcome.chain) }
    }

    /// What messages call the identity: the file that was named.
    private var identityPlace: String {
        arguments.value("--p12") ?? arguments.value("--certificate") ?? "the identity"
    }

    /// The key and the certificate that `--p12`, or `--certificate` and `--key`, name.
    func keyPair() async throws -> KeyPair {
        if let path = arguments.value("--p12") {
            return try await keyPair(pkcs12: InputFile.bytes(path), path)
        }
        guard let certificate = arguments.value("--certificate"), let key = arguments.value("--key") else {
            preconditionFailure("the verb asks for one of the two")
        }
        return try await keyPair(certificate: certificate, key: key)
    }

    /// Opens a PKCS#12 file with its password, wherever that is.
    func keyPair(pkcs12 bytes: [UInt8], _ path: String) async throws -> KeyPair {
        let password = try await passwords().password(of: path)
        return try inside(path) { () throws(CodeSignatureError) in try KeyPair(pkcs12: bytes, password: password) }
    }

    /// Takes a certificate and its key, each from a file or a token.
    func keyPair(certificate: String, key: String) async throws -> KeyPair {
        guard TokenURI.isMeant(by: key) else {
            guard !TokenURI.isMeant(by: certificate) else {
                throw InputError(
                    message: "\(certificate): the certificate is in a token, and its key is not.",
                    remedy: "Pass the token's key by --key pkcs11:…, or the certificate as a file."
                )
            }
            let keyBytes = try InputFile.bytes(key)
            let password = PEMText.isEncrypted(keyBytes) ? try await passwords().password(of: key) : nil
            let certificateBytes = certificate == key ? keyBytes : try InputFile.bytes(certificate)
            return try inside(key) { () throws(CodeSignatureError) in
                try KeyPair(pemCertificates: certificateBytes, pemKey: keyBytes, password: password)
            }
        }
        let uri = try inside("--key") { () throws(CodeSignatureError) in try TokenURI(key) }
        let pin = try await self.pin(of: uri)
        let driver = TokenDriver(environment: environment)
        let certificates: [Certificate]
        if TokenURI.isMeant(by: certificate) {
            certificates = [
                try inside("--certificate") { () throws(CodeSignatureError) in
                    try Certificate(inToken: TokenURI(certificate), pin: pin, driver: driver)
                }
            ]
        } else {
            certificates = try self.certificates(in: certificate)
        }
        return try inside(uri.path) { () throws(CodeSignatureError) in
            try KeyPair(tokenKey: uri, certificates: certificates, pin: pin, driver: driver)
        }
    }

    private func passwords() -> PasswordSource {
        PasswordSource(file: arguments.value("--password-file"), environment: environment, prompt: PasswordPrompt())
    }

    private func pin(of uri: TokenURI) async throws -> Secret {
        try await PasswordSource(
            file: uri.pinFile ?? arguments.value("--password-file"),
            environment: environment,
            prompt: PasswordPrompt(),
            name: "PIN",
            variable: "FERRY_PIN"
        ).password(of: uri.path)
    }

    /// All certificates in a file.
    func certificates(in path: String) throws -> [Certificate] {
        let bytes = try InputFile.bytes(path)
        return try inside(path) { () throws(CodeSignatureError) in try Certificate.all(inPEM: bytes) }
    }

    /// Runs `body`, and puts the place before what it throws.
    func inside<Value>(_ place: String, _ body: () throws(CodeSignatureError) -> Value) throws -> Value {
        do throws(CodeSignatureError) {
            return try body()
        } catch {
            throw InputError(place, error)
        }
    }
}

// MARK: - The chain

extension Invocation {
    /// The chain of `leaf`: from what came with it, then `--chain`, then where its certificates say, unless `--offline`.
    func chain(of leaf: Certificate, with others: [Certificate]) async throws -> IssuerSearch.Outcome {
        let extra = try arguments.values("--chain").flatMap { try chainCertificates($0) }
        let cache = CertificateCache(folder: Folders(environment: environment).cache + "/certificates")
        let search = IssuerSearch(fetch: arguments.flag("--offline") ? nil : webFetch(), cache: cache)
        return try await search.complete(CertificateChain(of: leaf, from: others + extra))
    }

    /// Asks authorities on the web.
    func webFetch() -> Fetch {
        let web = WebFetch(
            timeout: .seconds(arguments.number("--fetch-timeout") ?? 10),
            userAgent: "ferry/" + program.version
        )
        return { try await web.fetch($0) }
    }

    /// The certificates in a file, or in all files of a folder that hold any.
    private func chainCertificates(_ path: String) throws -> [Certificate] {
        guard InputFile.isFolder(path) else { return try certificates(in: path) }
        let all = try InputFile.files(in: path, largest: FetchRequest.standardLongestAnswer).flatMap { file in
            guard let bytes = try? InputFile.bytes(file), let found = try? Certificate.all(inPEM: bytes) else {
                return [Certificate]()
            }
            return found
        }
        guard !all.isEmpty else {
            throw InputError(
                message: "\(path): there is no certificate in this folder.",
                remedy: "Put the authorities' certificates there, as PEM or DER."
            )
        }
        return all
    }
}

extension InputFile {
    /// More files than anybody keeps profiles or certificates in one folder.
    static let maximumCount = 10_000

    /// Whether there is a folder at the path.
    static func isFolder(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
    }

    /// Whether there is anything at the path.
    static func isThere(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0
    }

    /// The paths of the regular files in a folder, sorted by name; hidden ones are left out, and so are those in folders
    /// below.
    ///
    /// - Parameter endings: those that are meant, without dots; none for any.
    /// - Parameter largest: files with more bytes are some other ones.
    static func files(in folder: String, endings: [String] = [], largest: Int = limit) throws(FileFailure) -> [String] {
        var files: [String] = []
        for name in try folderNames(folder) where files.count < maximumCount {
            guard !name.hasPrefix("."),
                endings.isEmpty || endings.contains(where: { name.lowercased().hasSuffix("." + $0) })
            else { continue }
            let path = (folder.hasSuffix("/") ? folder : folder + "/") + name
            var status = stat()
            guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_size <= largest else {
                continue
            }
            files.append(path)
        }
        return files.sorted()
    }
}

extension InputError {
    /// What is wrong in a file or a token, with its place before it.
    init(_ place: String, _ error: CodeSignatureError) {
        self.init(message: "\(place): \(error.message)", remedy: error.remedy, code: error.code.rawValue)
    }
}

extension TokenDriver {
    /// The one that the environment names.
    init(environment: [String: String]) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        self.init()
        provider = value("FERRY_OPENSSL_PROVIDER")
        module = value("FERRY_PKCS11_MODULE")
    }
}
