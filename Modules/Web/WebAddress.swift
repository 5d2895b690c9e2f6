import CCurl
package import FerryBytes

/// An `http:` or `https:` URL, taken apart by libcurl's own parser, so that we never understand one otherwise than it does.
package struct WebAddress: Equatable {
    /// The URL without a user name and password.
    package let url: String
    package let scheme: String
    package let host: String
    package let port: String
    /// Percent-decoded; `nil` where the URL has none.
    package let user: Secret?
    package let password: Secret?

    /// `nil` where the text is no URL.
    package init?(_ text: String) {
        self.init(text, relativeTo: nil)
    }

    /// The URL of `text` as seen from here, be it a whole one or one of a few parts; a name and password in it stay.
    package func resolving(_ text: String) -> WebAddress? {
        WebAddress(text, relativeTo: url)
    }

    /// `text` for people, whether it is a URL or not: without a name, a password, and what follows `?`.
    package static func shown(_ text: String) -> String {
        if let address = WebAddress(text) { return address.shown.printable }
        return (text.prefix { $0 != "?" && $0 != "#" } + (text.contains("?") ? "?…" : "")).printable
    }

    /// Where a `Location` leads from here; a name and password in it are dropped, for they are the server's idea.
    package func following(_ location: String) -> WebAddress? {
        guard let next = WebAddress(location, relativeTo: url) else { return nil }
        return WebAddress(withoutCredentials: next)
    }

    /// Whether credentials for one may be sent to the other.
    package func sharesOrigin(with other: WebAddress) -> Bool {
        scheme == other.scheme && host == other.host && port == other.port
    }

    /// The URL for people: without what follows `?`, which is often a signature or a token.
    package var shown: String {
        url.prefix { $0 != "?" && $0 != "#" } + (url.contains("?") ? "?…" : "")
    }

    private init(withoutCredentials other: WebAddress) {
        url = other.url
        scheme = other.scheme
        host = other.host
        port = other.port
        user = nil
        password = nil
    }

    private init?(_ text: String, relativeTo base: String?) {
        // To C, a text ends at its first zero byte.
        guard !text.utf8.contains(0), let handle = curl_url() else { return nil }
        defer { curl_url_cleanup(handle) }
        // Servers and people write spaces and umlauts as they are; browsers take them.
        let flags = UInt32(CURLU_URLENCODE | CURLU_NON_SUPPORT_SCHEME)
        if let base, curl_url_set(handle, CURLUPART_URL, base, flags) != CURLUE_OK { return nil }
        guard curl_url_set(handle, CURLUPART_URL, text, flags) == CURLUE_OK else { return nil }
        user = Self.part(CURLUPART_USER, of: handle, UInt32(CURLU_URLDECODE)).map { Secret($0) }
        password = Self.part(CURLUPART_PASSWORD, of: handle, UInt32(CURLU_URLDECODE)).map { Secret($0) }
        guard
            curl_url_set(handle, CURLUPART_USER, nil, 0) == CURLUE_OK,
            curl_url_set(handle, CURLUPART_PASSWORD, nil, 0) == CURLUE_OK,
            curl_url_set(handle, CURLUPART_FRAGMENT, nil, 0) == CURLUE_OK,
            let url = Self.part(CURLUPART_URL, of: handle, 0),
            let scheme = Self.part(CURLUPART_SCHEME, of: handle, 0),
            let host = Self.part(CURLUPART_HOST, of: handle, 0), !host.isEmpty
        else { return nil }
        self.url = url
        self.scheme = scheme.lowercased()
        self.host = host.lowercased()
        port = Self.part(CURLUPART_PORT, of: handle, UInt32(CURLU_DEFAULT_PORT)) ?? ""
    }

    private static func part(_ part: CURLUPart, of handle: OpaquePointer, _ flags: UInt32) -> String? {
        var text: UnsafeMutablePointer<CChar>?
        guard curl_url_get(handle, part, &text, flags) == CURLUE_OK, let text else { return nil }
        defer { curl_free(text) }
        return String(cString: text)
    }
}
