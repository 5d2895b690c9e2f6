import FerryWeb

/// Where a request's bytes come from.
enum DownloadSource: Equatable {
    case web(WebAddress)
    case file(path: String)

    /// Understands a URL or a path, or says what is wrong with it.
    init(_ text: String) throws(DownloadError) {
        guard !text.isEmpty, !text.utf8.contains(0) else {
            throw DownloadError(
                .badURL,
                "The address is empty or has a zero byte in it.",
                remedy: "Give a URL or a path."
            )
        }
        guard let scheme = Self.scheme(of: text) else {
            self = .file(path: text)
            return
        }
        switch scheme {
        case "http", "https":
            guard let address = WebAddress(text) else {
                throw DownloadError(
                    .badURL,
                    "The \(scheme) address cannot be understood.",
                    remedy: "Check it for a missing host, a wrong port, and stray characters."
                )
            }
            self = .web(address)
        case "file":
            self = .file(path: try Self.path(ofFileURL: text))
        default:
            throw DownloadError(
                .unsupportedScheme,
                "Addresses that begin with \(scheme): are not supported.",
                remedy: "Give an http:, https: or file: URL, or a path (one with a colon in it as ./NAME)."
            )
        }
    }

    /// What stands before the first colon, where that is a scheme of RFC 3986 §3.1.
    private static func scheme(of text: String) -> String? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let scheme = text[..<colon]
        guard let first = scheme.utf8.first, isLetter(first) else { return nil }
        let others: (UInt8) -> Bool = { byte in
            isLetter(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.".utf8.contains(byte)
        }
        return scheme.utf8.allSatisfy(others) ? scheme.lowercased() : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    /// RFC 8089: `file:///path`, `file://localhost/path` and `file:/path`, percent-decoded.
    private static func path(ofFileURL text: String) throws(DownloadError) -> String {
        var rest = text.dropFirst("file:".count)
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let host = rest.prefix { $0 != "/" }
            guard host.isEmpty || host.lowercased() == "localhost" else {
                throw DownloadError(
                    .badURL,
                    "The file: address names the host \(host).",
                    remedy: "A file on this machine is file:///PATH, with three slashes."
                )
            }
            rest = rest.dropFirst(host.count)
        }
        guard rest.hasPrefix("/"), let path = percentDecoded(rest.prefix { $0 != "?" && $0 != "#" }) else {
            throw DownloadError(
                .badURL,
                "The file: address has no absolute path that can be understood.",
                remedy: "Write it as file:///PATH, or give the path alone."
            )
        }
        return path
    }

    private static func percentDecoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        let source = Array(text.utf8)
        var index = 0
        while index < source.count {
            if source[index] == UInt8(ascii: "%") {
                guard index + 2 < source.count,
                    let byte = UInt8(String(decoding: source[(index + 1)...(index + 2)], as: UTF8.self), radix: 16),
                    byte != 0
                else { return nil }
                bytes.append(byte)
                index += 3
            } else {
                bytes.append(source[index])
                index += 1
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
