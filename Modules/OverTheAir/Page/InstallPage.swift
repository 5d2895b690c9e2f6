/// The page of a link, which a phone opens in Safari.
enum InstallPage {
    /// Why a link is good for nothing.
    enum Ending {
        case unknown
        case expired
        case revoked

        var words: String {
            switch self {
            case .unknown: "There is no such link. Check that all of the address was copied."
            case .expired: "This link has expired."
            case .revoked: "This link was revoked."
            }
        }
    }

    static func html(_ link: AirLink, _ state: LinkState, base: String, hasAuthority: Bool) -> String {
        let title = link.title.html
        let version = link.version.map { "Version " + $0.html + " · " } ?? ""
        let authority =
            hasAuthority
            ? """
            <li>This server has a certificate of its own. <a href="/ca">Install and trust it</a> on this phone first.</li>
            """ : ""
        return """
            <!doctype html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title)</title>
            <link rel="stylesheet" href="page.css">
            <link rel="icon" href="icon57.png">
            <script src="page.js" defer></script>
            </head>
            <body>
            <main>
            <img class="icon" src="icon512.png" width="114" height="114" alt="">
            <h1>\(title)</h1>
            <p class="facts">\(version)\(size(link.byteCount))<br>\(link.identifier.html)</p>
            <p><a class="install" href="\(Manifest.installAddress(base: base).html)">Install</a></p>
            <p id="state" role="status" data-step="\(state.step.rawValue)">\(state.words)</p>
            <p class="small">“Delivered” means that all of the app was sent. Only the phone knows whether it installed it: \
            look at the Home Screen.</p>
            <details>
            <summary>Nothing happens?</summary>
            <ul>
            <li>Open this page in Safari; other apps do not pass the link on to the system.</li>
            <li>iOS asks nothing at all where it does not trust this server’s certificate.</li>
            \(authority)
            <li>After “Install”, the icon appears on the Home Screen and fills up; that may take minutes.</li>
            <li>“Unable to install”: this phone’s identifier (UDID) is not in the app’s profile, the profile has expired, \
            or the app needs a newer iOS. Have the app signed for this phone.</li>
            <li>“Waiting…” for long: hold the icon and choose to resume, or restart the phone and try again.</li>
            <li>An app of the same name signed by another team is on the phone: delete it first; its data goes with it.</li>
            <li>“Untrusted developer” at the first start: Settings → General → VPN &amp; Device Management → trust.</li>
            <li>iOS 16 and later: development apps need Settings → Privacy &amp; Security → Developer Mode.</li>
            </ul>
            </details>
            <details class="code">
            <summary>Open on another device</summary>
            <img src="qr.svg" width="220" height="220" alt="QR code of this page">
            </details>
            </main>
            </body>
            </html>
            """
    }

    static func over(_ ending: Ending) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Link over</title>
        </head>
        <body>
        <h1>\(ending.words)</h1>
        <p>Ask whoever gave it to you for a new one.</p>
        </body>
        </html>
        """
    }

    static func size(_ bytes: Int) -> String {
        switch bytes {
        case ..<1_000_000: "\(max(1, bytes / 1000)) kB"
        case ..<1_000_000_000: "\(bytes / 1_000_000).\(bytes / 100_000 % 10) MB"
        default: "\(bytes / 1_000_000_000).\(bytes / 10_000_000 % 100) GB"
        }
    }

    static let css = """
        :root { color-scheme: light dark; --text: #1c1c1e; --dim: #6b6b70; --ground: #f2f2f7; --card: #fff; --blue: #0060df; }
        @media (prefers-color-scheme: dark) {
          :root { --text: #f2f2f7; --dim: #98989f; --ground: #000; --card: #1c1c1e; --blue: #4da3ff; }
        }
        * { box-sizing: border-box; }
        body { margin: 0; padding: 24px 16px; background: var(--ground); color: var(--text);
          font: 17px/1.45 -apple-system, system-ui, sans-serif; }
        main { max-width: 30rem; margin: 0 auto; padding: 28px 20px; background: var(--card); border-radius: 20px;
          text-align: center; }
        .icon { border-radius: 25px; }
        h1 { margin: 12px 0 4px; font-size: 1.6rem; overflow-wrap: anywhere; }
        .facts, .small { margin: 0 0 20px; color: var(--dim); font-size: .85rem; overflow-wrap: anywhere; }
        .install { display: inline-block; min-width: 12rem; padding: 14px 28px; border-radius: 999px; background: #0060df;
          color: #fff; font-weight: 600; text-decoration: none; }
        .install:focus-visible { outline: 3px solid var(--blue); outline-offset: 3px; }
        #state { font-weight: 600; }
        details { margin-top: 14px; text-align: left; }
        summary { padding: 8px 0; color: var(--blue); cursor: pointer; }
        .code img { display: block; margin: 8px auto; border-radius: 8px; }
        a { color: var(--blue); }
        """

    static let script = """
        "use strict";
        const state = document.getElementById("state");
        async function look() {
          try {
            const answer = await fetch("state", { cache: "no-store" });
            if (answer.status === 410 || answer.status === 404) { location.reload(); return; }
            if (answer.ok) {
              const now = await answer.json();
              state.textContent = now.words;
              state.dataset.step = now.step;
            }
          } catch { /* Out of reach for now. */ }
          setTimeout(look, document.hidden ? 10000 : 2000);
        }
        setTimeout(look, 2000);
        """
}
