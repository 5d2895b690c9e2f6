/// How a phone is taught to trust a server with an authority of its own.
enum AuthorityPage {
    static func html(_ fingerprint: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Trust this server</title>
        </head>
        <body>
        <h1>Trust this server</h1>
        <p>iOS installs apps only from servers that it trusts. This one has a certificate authority of its own, made on this
        machine. A phone that trusts it believes every certificate that whoever holds its key makes, so do this only on
        phones of yours, and remove it when you are done.</p>
        <ol>
        <li>In Safari on the phone, open <a href="/ca.cer">the certificate</a> and allow the download.</li>
        <li>Settings → General → VPN &amp; Device Management → “Ferry local authority” → Install.</li>
        <li>Settings → General → About → Certificate Trust Settings → switch “Ferry local authority” on.</li>
        </ol>
        <p>Before you install it, compare its SHA-256 with what the server printed:</p>
        <p><code>\(fingerprint)</code></p>
        </body>
        </html>
        """
    }
}
