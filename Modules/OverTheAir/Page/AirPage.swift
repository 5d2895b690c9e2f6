/// What all pages for phones have in common.
///
/// Every address in them is relative, so that they also work below a path of another server.
enum AirPage {
    /// A page. `root` leads from it to the server's root: `../../`.
    static func html(title: String, root: String, head: String = "", body: String) -> String {
        """
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1, viewport-fit=cover">
        <meta name="color-scheme" content="light dark">
        <meta name="format-detection" content="telephone=no">
        <title>\(title.html)</title>
        <link rel="stylesheet" href="\(root)i/page.css">
        \(head)</head>
        <body>
        <main>
        \(body)
        </main>
        </body>
        </html>
        """
    }

    static let css = """
        :root { color-scheme: light dark; --text: #1c1c1e; --dim: #636368; --ground: #f2f2f7; --card: #fff; --line: #e3e3e8;
          --link: #0060df; --good: #1a7f37; --warn: #fff4ce; --shade: 0 1px 2px #0001, 0 8px 28px #0001; }
        @media (prefers-color-scheme: dark) {
          :root { --text: #f2f2f7; --dim: #a0a0a8; --ground: #000; --card: #1c1c1e; --line: #38383d; --link: #6cb4ff;
            --good: #4cd07d; --warn: #3a3000; --shade: none; }
        }
        * { box-sizing: border-box; }
        [hidden] { display: none !important; }
        body { margin: 0; min-height: 100svh; background: var(--ground); color: var(--text);
          padding: max(20px, env(safe-area-inset-top)) 16px max(20px, env(safe-area-inset-bottom));
          font: 17px/1.45 -apple-system, system-ui, sans-serif; -webkit-text-size-adjust: 100%; }
        main { max-width: 27rem; margin: 0 auto; padding: 32px 22px 14px; background: var(--card); border-radius: 24px;
          box-shadow: var(--shade); }
        @media (min-width: 600px) { body { padding-top: 7vh; } }
        .middle { text-align: center; }
        .icon { display: block; margin: 0 auto 16px; width: 108px; height: 108px; border-radius: 24.5px;
          box-shadow: 0 0 0 .5px #0002, 0 4px 14px #0002; background: var(--line); }
        h1 { margin: 0 0 4px; font-size: 1.65rem; line-height: 1.2; letter-spacing: -.02em; overflow-wrap: anywhere; }
        h2 { margin: 22px 0 6px; font-size: 1rem; }
        p { margin: 0 0 12px; }
        .facts { color: var(--dim); font-size: .88rem; overflow-wrap: anywhere; margin-bottom: 22px; }
        .small { color: var(--dim); font-size: .82rem; line-height: 1.4; }
        .install { display: block; padding: 15px 24px; border-radius: 15px; background: #0060df; color: #fff;
          font-weight: 600; text-align: center; text-decoration: none; -webkit-tap-highlight-color: transparent; }
        .install:active { background: #004db3; }
        a:focus-visible, summary:focus-visible { outline: 3px solid var(--link); outline-offset: 3px; border-radius: 8px; }
        .status { margin: 18px 0 4px; text-align: center; font-weight: 600; font-variant-numeric: tabular-nums; }
        .status[data-step=delivered], .status[data-step=installed] { color: var(--good); }
        progress { display: block; width: 100%; height: 6px; margin: 10px 0 12px; border: 0; border-radius: 3px;
          background: var(--line); overflow: hidden; appearance: none; -webkit-appearance: none; }
        progress::-webkit-progress-bar { background: var(--line); }
        progress::-webkit-progress-value { background: var(--link); transition: width .4s; }
        progress::-moz-progress-bar { background: var(--link); }
        .warn { margin: 0 0 16px; padding: 12px 14px; border-radius: 12px; background: var(--warn); font-size: .88rem; }
        details { border-top: 1px solid var(--line); }
        details:first-of-type { margin-top: 20px; }
        summary { padding: 13px 0; color: var(--link); cursor: pointer; }
        ul, ol { margin: 0 0 14px; padding-left: 1.25em; font-size: .92rem; }
        li { margin-bottom: 9px; }
        .code img { display: block; margin: 4px auto 14px; width: 220px; height: 220px; border-radius: 12px; }
        code { display: block; padding: 10px 12px; border-radius: 10px; background: var(--ground); font: .8rem/1.5 ui-monospace,
          monospace; overflow-wrap: anywhere; }
        a { color: var(--link); }
        @media (prefers-reduced-motion: reduce) { * { transition: none !important; } }
        """
}
