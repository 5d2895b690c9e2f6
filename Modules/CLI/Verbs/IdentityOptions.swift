extension Option {
    /// `--p12 FILE`: the identity.
    static let p12 = Option(
        name: "--p12",
        value: "FILE",
        kind: .file(["p12", "pfx"]),
        help: "the identity to sign with: certificate, key and chain in one file"
    )

    /// `--certificate FILE`: the certificate, where there is no `--p12`.
    static let certificate = Option(
        name: "--certificate",
        value: "FILE",
        kind: .file(["pem", "cer", "crt"]),
        help: "the certificate, as PEM or DER, instead of --p12; or pkcs11:… for one in the key's token"
    )

    /// `--key FILE`: the key, where there is no `--p12`.
    static let key = Option(
        name: "--key",
        value: "FILE",
        kind: .file(["pem", "key"]),
        help: "the certificate's private key, as PEM; or pkcs11:… for one in a token (RFC 7512)"
    )

    /// `--chain FILE...`: certificates above the identity's.
    static let chain = Option(
        name: "--chain",
        value: "FILE",
        kind: .file(["pem", "cer", "crt"]),
        count: .list,
        help: "certificates above the identity's, up to the root, that its file lacks; a folder stands for all in it"
    )

    /// `--password-file FILE`: where the password is.
    static let passwordFile = Option(
        name: "--password-file",
        value: "FILE",
        kind: .file([]),
        help: "the file whose first line is the identity's password, or the token's PIN; - reads standard input"
    )

    /// `--offline`: nothing is asked on the web.
    static let offline = Option(
        name: "--offline",
        help: "do not fetch what the chain lacks from the addresses that its certificates name"
    )

    /// `--fetch-timeout SECONDS`: how long it is waited for what the chain lacks.
    static let fetchTimeout = Option(
        name: "--fetch-timeout",
        value: "SECONDS",
        kind: .number(1...600),
        standard: "10",
        help: "how long to wait for each answer of an authority"
    )
}

extension [Option] {
    /// With whom to sign.
    static let identity: [Option] = [
        .p12, .certificate, .key, .chain, .passwordFile, .offline, .fetchTimeout,
    ]

    /// Which of them name an identity: one file, or two.
    static let identityAlternatives: [[String]] = [["--p12"], ["--certificate", "--key"]]

    /// The same where nobody has to sign.
    static let signatureAlternatives = identityAlternatives + [["--adhoc"], ["--unsign"], ["--only-modify"]]
}

extension Verb.Variable {
    /// `FERRY_P12_PASSWORD`: the identity's password.
    static let p12Password = Verb.Variable(
        name: "FERRY_P12_PASSWORD",
        help: "the identity's password, where --password-file is not given; it may be empty. "
            + "Without either, it is asked for on the terminal"
    )

    /// `FERRY_PIN`: the token's PIN.
    static let pin = Verb.Variable(
        name: "FERRY_PIN",
        help: "the PIN of the token that a pkcs11: key is in, where --password-file is not given; it may be empty"
    )

    /// `FERRY_PKCS11_MODULE`: the token's library.
    static let pkcs11Module = Verb.Variable(
        name: "FERRY_PKCS11_MODULE",
        help: "the token's library, as /usr/lib/softhsm/libsofthsm2.so; else what OpenSSL's configuration says"
    )

    /// `FERRY_OPENSSL_PROVIDER`: the provider that reaches tokens.
    static let opensslProvider = Verb.Variable(
        name: "FERRY_OPENSSL_PROVIDER",
        help: "the OpenSSL provider that reaches tokens, as pkcs11; without it, the engine pkcs11 does"
    )
}

extension [Verb.Variable] {
    /// What a verb that takes an identity reads.
    static let identity: [Verb.Variable] = [.p12Password, .pin, .pkcs11Module, .opensslProvider]
}
