extension OptionGroup {
    static let downloading = "Downloading"
    static let logins = "Logins"
}

extension Option {
    /// `--mirror URL`: where else the same file is.
    static let mirror = Option(
        name: "--mirror",
        value: "URL",
        kind: .url,
        count: .repeated,
        help: "another address of the same file, for when the first fails; with --sha256 both bring parts"
    )
}

extension [Option] {
    /// How files are fetched: the same for every verb that fetches any.
    static let downloading: [Option] = [
        Option(
            name: "--connections",
            value: "N",
            kind: .number(1...16),
            help: "how many connections one file comes by; otherwise as many as bring it faster, at most 16"
        ),
        Option(
            name: "--limit-rate",
            value: "RATE",
            help: "the most bytes a second, of all connections together: 800k, 2M"
        ),
        Option(
            name: "--proxy",
            value: "URL",
            kind: .url,
            help: "the proxy to go through; otherwise what http_proxy, https_proxy and no_proxy say"
        ),
        Option(
            name: "--ca-file",
            value: "FILE",
            kind: .file(["pem", "crt"]),
            help: "certificates to trust instead of the system's (PEM)"
        ),
    ].map { $0.under(OptionGroup.downloading) }

    /// Logins by host, which may be given for any number of addresses.
    static let netrc: [Option] = [
        Option(name: "--netrc", help: "take logins from ~/.netrc"),
        Option(name: "--netrc-file", value: "FILE", kind: .file([]), help: "take logins from this file of that form"),
    ].map { $0.under(OptionGroup.logins) }

    /// What is sent along with the requests for one address.
    static let requestHeaders: [Option] = [
        Option(
            name: "--header-file",
            value: "FILE",
            kind: .file([]),
            help: "send these header fields along, one “Name: value” a line, to the address's own host"
        ),
        Option(
            name: "--bearer-file",
            value: "FILE",
            kind: .file([]),
            help: "send the token in the first line as “Authorization: Bearer”, to the address's own host"
        ),
    ].map { $0.under(OptionGroup.logins) }
}
