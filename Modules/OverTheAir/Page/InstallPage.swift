import FerryPropertyList

/// The page of a link, which a phone opens in Safari.
enum InstallPage {
    /// Why a link is good for nothing.
    enum Ending {
        case unknown
        case expired
        case revoked

        var words: String {
            switch self {
            case .unknown: "There is no such link"
            case .expired: "This link has expired"
            case .revoked: "This link was revoked"
            }
        }

        var remedy: String {
            switch self {
            case .unknown: "Check that all of the address was copied, or ask whoever gave it to you for a new one."
            case .expired, .revoked: "Ask whoever gave it to you for a new one. What was installed stays."
            }
        }
    }

    static func html(_ link: AirLink, _ state: LinkState, base: String, hasAuthority: Bool) -> String {
        let title = link.title.html
        let version = link.version.map { "Version " + $0.html + " · " } ?? ""
        let until = PropertyListDate(secondsSince1970: Double(link.expiresAt)).text
        return AirPage.html(
            title: link.title,
            root: "../../",
            head: """
                <link rel="icon" href="icon57.png">
                <script src="../page.js" defer></script>

                """,
            body: """
                <div class="middle">
                <img class="icon" src="icon512.png" width="108" height="108" alt="">
                <h1>\(title)</h1>
                <p class="facts">\(version)\(size(link.byteCount))<br>\(link.identifier.html)</p>
                </div>
                \(base.hasPrefix("https:") ? "" : Self.unsafe)
                <a class="install" id="install" href="\(Manifest.installAddress(base: base).html)">Install</a>
                <p class="status" id="state" role="status" data-step="\(state.step.rawValue)">\(state.words)</p>
                <progress id="bar" max="100" value="\(state.percent)" aria-label="Sent"\
                \(state.step == .sending ? "" : " hidden")></progress>
                <p class="small middle" id="delivered"\(state.step == .delivered ? "" : " hidden")>“Delivered” means that all of the app was sent. Only the phone knows whether it \
                installed it: look at the Home Screen.</p>
                <p class="small middle">This link is good until <time id="until" \
                datetime="\(until)">\(until)</time>.</p>
                \(help(hasAuthority: hasAuthority))
                <details class="code" id="code">
                <summary>Open on another device</summary>
                <p class="small middle">Point the camera of the iPhone or iPad at this code.</p>
                <img src="qr.svg" width="220" height="220" alt="QR code of this page">
                </details>
                """
        )
    }

    private static let unsafe = """
        <p class="warn">The address of this page is not https, and iOS installs from https alone. Whoever runs the server can \
        give it a certificate, or a server in front that has one.</p>
        """

    private static func help(hasAuthority: Bool) -> String {
        let trust =
            hasAuthority
            ? """
            <li><b>This server has a certificate of its own.</b> <a href="../../ca">Install and trust it</a> on this phone \
            first; until then iOS asks nothing.</li>
            """
            : "<li>iOS asks nothing at all where it does not trust this server’s certificate.</li>"
        return """
            <details id="help">
            <summary>Nothing happens?</summary>
            <ul>
            \(trust)
            <li>Open this page in Safari; other apps may not pass the link on to the system.</li>
            <li>After “Install”, the icon appears on the Home Screen, or in the App Library, and fills up. That may take \
            minutes.</li>
            <li>“Unable to install”: this phone’s identifier (UDID) is not in the app’s profile, the profile has expired, \
            or the app needs a newer iOS. Have the app signed for this phone.</li>
            <li>“Waiting…” for long: hold the icon and choose to resume, or restart the phone and try again.</li>
            <li>An app of the same identifier signed by another team is on the phone: delete it first; its data goes \
            with it.</li>
            <li>“Untrusted developer” at the first start: Settings → General → VPN &amp; Device Management → trust.</li>
            <li>iOS 16 and later: development apps need Settings → Privacy &amp; Security → Developer Mode.</li>
            </ul>
            </details>
            """
    }

    /// The page of a link that is good for nothing; `root` leads from it to the server's root.
    static func over(_ ending: Ending, root: String) -> String {
        AirPage.html(
            title: ending.words,
            root: root,
            body: """
                <div class="middle">
                <h1>\(ending.words)</h1>
                <p class="facts">\(ending.remedy)</p>
                </div>
                """
        )
    }

    static func size(_ bytes: Int) -> String {
        switch bytes {
        case ..<1_000_000: "\(max(1, bytes / 1000)) kB"
        case ..<1_000_000_000: "\(bytes / 1_000_000).\(bytes / 100_000 % 10) MB"
        default: "\(bytes / 1_000_000_000).\(String(bytes / 10_000_000 % 100 + 100).dropFirst()) GB"
        }
    }

    static let script = """
        "use strict";
        const part = (name) => document.getElementById(name);
        const state = part("state");
        // An iPad says that it is a Mac, but has more than one finger.
        const isPhone = /iPhone|iPad|iPod/.test(navigator.userAgent)
          || (navigator.userAgent.includes("Macintosh") && navigator.maxTouchPoints > 1);
        if (!isPhone) {
          part("code").open = true;
          part("install").before(part("code"));
          part("install").hidden = true;
        }
        const until = new Date(part("until").dateTime);
        part("until").textContent = until.toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
        part("install").addEventListener("click", () => {
          setTimeout(() => { if (state.dataset.step === "waiting") part("help").open = true; }, 12000);
        });
        async function look() {
          try {
            const answer = await fetch("state", { cache: "no-store" });
            if (answer.status === 410 || answer.status === 404) { location.reload(); return; }
            if (answer.ok) {
              const now = await answer.json();
              if (state.textContent !== now.words) state.textContent = now.words;
              state.dataset.step = now.step;
              part("bar").value = now.percent;
              part("bar").hidden = now.step !== "sending";
              part("delivered").hidden = now.step !== "delivered";
            }
          } catch { /* Out of reach for now. */ }
          setTimeout(look, document.hidden ? 10000 : 2000);
        }
        setTimeout(look, 1000);
        """
}
