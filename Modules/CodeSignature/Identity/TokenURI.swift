/// Names a key or a certificate in a token, by a PKCS#11 URI (RFC 7512).
///
/// ```
/// pkcs11:token=Signing;object=dev;id=%01?pin-source=file:/run/secrets/pin
/// ```
///
/// The path goes to OpenSSL as it is. Of the query only `pin-source` with a file is taken: `pin-value` would put the PIN
/// where every user of the machine sees it (the arguments of a process), and a module is code, which no address should
/// choose.
public struct TokenURI: Sendable, Hashable {
    /// What it begins with.
    public static let scheme = "pkcs11:"
    /// The URI without its query.
    public let path: String
    /// The file whose first line is the PIN; `nil` where the URI names none.
    public let pinFile: String?

    /// Whether `text` is meant to be such a URI.
    public static func isMeant(by text: String) -> Bool { text.lowercased().hasPrefix(scheme) }

    /// Reads a URI; refuses one that holds a PIN, without repeating it.
    public init(_ text: String) throws(CodeSignatureError) {
        guard Self.isMeant(by: text) else { throw Self.refusal("it does not begin with pkcs11:.") }
        let parts = text.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        path = String(parts[0])
        let attributes = path.dropFirst(Self.scheme.count).split(separator: ";", omittingEmptySubsequences: false)
        for attribute in attributes where !attributes.allSatisfy(\.isEmpty) {
            let name = attribute.prefix { $0 != "=" }
            guard name.count < attribute.count, !name.isEmpty else {
                throw Self.refusal("its path is not of the form token=NAME;object=NAME.")
            }
            // In the path a PIN would be told to others just as in the query.
            guard !name.lowercased().hasPrefix("pin-") else { throw Self.pinInside }
        }
        var pinFile: String?
        for attribute in parts.count > 1 ? parts[1].split(separator: "&") : [] {
            let pair = attribute.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = pair.count > 1 ? String(pair[1]) : ""
            switch pair[0].lowercased() {
            case "pin-value": throw Self.pinInside
            case "pin-source": pinFile = try Self.file(value)
            case "module-path", "module-name":
                throw CodeSignatureError(
                    .token,
                    "the PKCS#11 URI names a module, which is code that would be loaded.",
                    remedy: "Leave it out, and name the module by FERRY_PKCS11_MODULE."
                )
            default: throw Self.refusal("its query has an unknown part, \(pair[0]).")
            }
        }
        self.pinFile = pinFile
    }

    /// The URI for what is of that type beside it: `cert`, `private`.
    func typed(_ type: String) -> String {
        let attributes = path.dropFirst(Self.scheme.count).split(separator: ";").filter { !$0.hasPrefix("type=") }
        return Self.scheme + (attributes + ["type=\(type)"]).joined(separator: ";")
    }

    private static func file(_ value: String) throws(CodeSignatureError) -> String {
        guard let decoded = decoded(value) else { throw refusal("its pin-source is not percent-encoded UTF-8.") }
        var path = Substring(decoded)
        if path.lowercased().hasPrefix("file:") {
            path = path.dropFirst(5)
            if path.hasPrefix("//") { path = path.dropFirst(2) }
        }
        guard path.hasPrefix("/") else { throw refusal("its pin-source is no absolute path of a file.") }
        return String(path)
    }

    private static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16),
                value != 0
            else { return nil }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static let pinInside = CodeSignatureError(
        .token,
        "the PKCS#11 URI holds a PIN, which every user of this machine can read there.",
        remedy:
            "Put the PIN into a file and give --password-file FILE or pin-source=file:/PATH, set FERRY_PIN, or type it."
    )

    private static func refusal(_ what: String) -> CodeSignatureError {
        CodeSignatureError(
            .token,
            "this is no PKCS#11 URI: \(what)",
            remedy: "Write it like pkcs11:token=NAME;object=NAME (RFC 7512)."
        )
    }
}

/// Through what OpenSSL reaches tokens.
public struct TokenDriver: Sendable, Hashable {
    /// The provider to load by its name, as `pkcs11` of the package pkcs11-provider; `nil` for the engine.
    public var provider: String?
    /// The engine to load by its name; `pkcs11` is that of libengine-pkcs11-openssl.
    public var engine = "pkcs11"
    /// The token's own library; `nil` leaves it to OpenSSL's configuration and to `PKCS11_MODULE_PATH`.
    public var module: String?

    /// The engine `pkcs11` with the module of OpenSSL's configuration.
    public init() {}
}
