import FerryPropertyList

/// How a phone is taught to trust a server with an authority of its own.
enum AuthorityPage {
    static func html(_ fingerprint: String) -> String {
        AirPage.html(
            title: "Trust this server",
            root: "",
            body: """
                <h1>Trust this server</h1>
                <p class="facts">iOS installs apps only from servers that it trusts. This one has a certificate authority of \
                its own, made on the machine that it runs on.</p>
                <a class="install" href="ca.mobileconfig">Get the certificate</a>
                <h2>Then, on the iPhone or iPad</h2>
                <ol>
                <li>Allow the download. This page has to be open in Safari for that.</li>
                <li>Settings → <b>Profile Downloaded</b> at the top, or General → VPN &amp; Device Management → \
                “Ferry local authority” → <b>Install</b>.</li>
                <li>Settings → General → About → <b>Certificate Trust Settings</b>, at the very end → switch \
                “Ferry local authority” on. Without this step, nothing happens when you tap “Install” later.</li>
                <li>Open the link of the app again.</li>
                </ol>
                <h2>Before you install it</h2>
                <p class="small">Compare the SHA-256 that the profile's details show with what the server printed in its \
                terminal:</p>
                <code>\(fingerprint)</code>
                <p class="small"><br>A phone that trusts it believes every certificate that whoever holds its key makes. So do \
                this on phones of yours alone, and when you are done, remove the profile where you installed it.</p>
                <details>
                <summary>For other systems</summary>
                <p class="small"><a href="ca.cer">The certificate alone</a>, in DER.</p>
                </details>
                """
        )
    }

    /// A configuration profile with the certificate: what iOS takes from Safari.
    ///
    /// Source: Apple, “Configuration Profile Reference”, payload `com.apple.security.root`. The same certificate gives the
    /// same identifiers, so a phone that takes it twice has it once.
    static func profile(_ certificate: [UInt8]) -> [UInt8] {
        let digest = fingerprint(certificate).filter { $0 != ":" }
        let payload: PropertyList.Dictionary = [
            "PayloadType": .string("com.apple.security.root"),
            "PayloadVersion": .integer(1),
            "PayloadIdentifier": .string("ferry.local-authority.\(digest.prefix(16)).root"),
            "PayloadUUID": .string(uuid(digest.dropFirst(32))),
            "PayloadDisplayName": .string("Ferry local authority"),
            "PayloadCertificateFileName": .string("ferry-ca.cer"),
            "PayloadContent": .data(certificate),
        ]
        return PropertyList.dictionary([
            "PayloadType": .string("Configuration"),
            "PayloadVersion": .integer(1),
            "PayloadIdentifier": .string("ferry.local-authority.\(digest.prefix(16))"),
            "PayloadUUID": .string(uuid(digest.prefix(32))),
            "PayloadDisplayName": .string("Ferry local authority"),
            "PayloadDescription": .string(
                "Lets this device trust a server of Ferry in your network, once it is also switched on under General → About → "
                    + "Certificate Trust Settings."
            ),
            "PayloadRemovalDisallowed": .boolean(false),
            "PayloadContent": .array([.dictionary(payload)]),
        ]).encoded(as: .xml)
    }

    /// 32 digits as the name of a version 8 (RFC 9562 §5.8): what is in it is ours.
    private static func uuid(_ digits: Substring) -> String {
        var digits = Array(digits)
        digits[12] = "8"
        digits[16] = "8"
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }
}
