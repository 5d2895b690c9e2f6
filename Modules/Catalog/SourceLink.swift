import FerryBytes
import FerryWeb

/// The address of a source, as people pass it on: a URL, or a link that opens it in a store's app.
public enum SourceLink {
    /// The schemes of stores whose links name a source.
    static let schemes = [
        "altstore", "altstore-classic", "sidestore", "feather", "livecontainer", "esign", "ksign", "flarestore",
        "stikstore",
    ]

    /// Whether the text is meant as an address or a link, not as a file or a name.
    public static func isMeant(by text: String) -> Bool {
        let scheme = scheme(of: text.trimmed)
        return scheme == "http" || scheme == "https" || schemes.contains(scheme) || isEncodedList(text)
    }

    /// The http or https URL of the source.
    ///
    /// `altstore://source?url=URL` and the same of other stores, with the URL percent-encoded or as it is;
    /// `feather://source/URL`, where `https://` may be left out. Encoded lists (`source[…]`) are refused.
    public static func url(_ text: String) throws(CatalogError) -> String {
        let text = text.trimmed
        guard !isEncodedList(text) else {
            throw CatalogError(
                .unsupported,
                "source[…] is an encoded list of sources, which is not read.",
                remedy: "Give the address of each source itself."
            )
        }
        let scheme = scheme(of: text)
        if scheme == "http" || scheme == "https" { return try checked(text, text) }
        guard schemes.contains(scheme) else { throw wrong(text, "it is no address of the web and no link of a store") }
        var rest = text.dropFirst(scheme.utf8.count + 1)
        while rest.first == "/" { rest.removeFirst() }
        let action = rest.prefix { $0 != "?" && $0 != "/" }.lowercased()
        rest = rest.dropFirst(action.count)
        guard ["source", "sources", "add-source", "addsource"].contains(action) else {
            throw wrong(text, action == "install" ? "it names an archive and no source" : "it names no source")
        }
        if rest.first == "/" { rest.removeFirst() }
        if rest.first == "?" {
            guard let place = rest.firstRange(of: "url=") else { throw wrong(text, "it has no url=") }
            rest = rest[place.upperBound...]
            // One that is encoded ends at the next part of the query; one that is not has a query of its own.
            if !rest.contains("://") { rest = rest.prefix { $0 != "&" } }
        }
        var address = String(rest)
        if !address.contains("://") {
            guard let decoded = percentDecoded(address) else { throw wrong(text, "its address cannot be understood") }
            address = decoded
        }
        if address.isEmpty { throw wrong(text, "it names no source") }
        return try checked(Self.scheme(of: address).isEmpty ? "https://" + address : address, text)
    }

    private static func isEncodedList(_ text: String) -> Bool { text.trimmed.lowercased().hasPrefix("source[") }

    private static func checked(_ url: String, _ text: String) throws(CatalogError) -> String {
        guard let address = WebAddress(url), address.scheme == "https" || address.scheme == "http" else {
            throw wrong(text, "its address cannot be understood")
        }
        return url
    }

    private static func wrong(_ text: String, _ reason: String) -> CatalogError {
        CatalogError(
            .address,
            "\(WebAddress.shown(String(text.prefix(200)))): \(reason).",
            remedy: "Give the https address of the source, or a link as altstore://source?url=https://…"
        )
    }

    /// What stands before `://`, in lower case; empty where there is nothing like it.
    private static func scheme(of text: String) -> String {
        guard let end = text.firstRange(of: "://")?.lowerBound else { return "" }
        let scheme = text[..<end]
        return scheme.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0)) }
            ? scheme.lowercased() : ""
    }

    private static func percentDecoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let value = [UInt8](hex: String(decoding: rest.prefix(2), as: UTF8.self)), value.count == 1 else {
                return nil
            }
            bytes += value
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
