"""Tries the dashboard in a real browser, with a server that does what each check wants.

Prints a line of JSON for each check: its name, and what is wrong where something is. With names, tries those alone:

    python3 Tests/BrowserTests/check_pages.py "the pause button holds everything"
"""

import contextlib
import json
import os
import pathlib
import sys
import tempfile
import time

sys.dont_write_bytecode = True

from browser import Browser, PageError
from looks import judge
from stand_in import StandIn, iso, png

CHECKS = {}


def check(name):
    def add(function):
        CHECKS[name] = function
        return function
    return add


def expect(truth, words):
    if not truth:
        raise AssertionError(words)


def equal(found, wanted):
    expect(found == wanted, f"{found!r} is not {wanted!r}")


def until(condition, words, seconds=20):
    deadline = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < deadline, words)
        time.sleep(0.02)


@contextlib.contextmanager
def files(**sizes):
    with tempfile.TemporaryDirectory(prefix="ferry-files-") as folder:
        paths = []
        for name, size in sizes.items():
            path = pathlib.Path(folder, name + ".ipa")
            path.write_bytes(os.urandom(size))
            paths.append(path)
        yield paths


class Stage:
    """A server, and a page that looks at it."""

    def __init__(self, browser):
        self.server = StandIn()
        self.page = browser.page()

    def open(self, token="act"):
        self.page.go(f"{self.server.url}#token={token}")
        self.page.wait("document.getElementById('target').textContent")
        if token in self.server.tokens:
            self.page.wait("document.querySelector('.install') || !document.getElementById('empty').hidden")
        return self.server, self.page

    def batch(self):
        """One install of every kind."""
        server = self.server
        server.icons["harbour"] = png(40, 120, 200)
        server.put("harbour", title="Harbour", version="1.2", bundleID="com.example.harbour", hasIcon=True)
        server.download("harbour", 19_872_000, 48_000_000, 200_000)
        server.put("lantern", title="Lantern", version="2.1", stage="signing", fraction=0.8, step="packing", progress={"unit": "steps", "completed": 1, "total": 2})
        server.put("long", title="Une application au très long nom qui n’en finit vraiment pas, jamais de la vie", version="10.4.12")
        server.download("long", 88_000_000, 512_000_000)
        server.put("long", held=True)
        server.put("notes", title="ملاحظات", version="3.0", notes=["The profile expires in 3 days."])
        server.put("gamma", title="Gamma", stage="downloading", progress={"unit": "bytes", "completed": 3_000_000}, bytesPerSecond=900_000)
        server.put("compass", title="Compass", version="0.9")
        server.finish("compass", "failed", message="Compass.app: no profile covers com.example.compass.", remedy="Add one with --profile.", failedStage="signing", canRetry=True)
        server.put("delta", title="Delta", version="1.6", bundleID="com.example.delta")
        server.finish("delta", "delivered", hasArchive=True, location="/srv/delta", link={"url": f"{server.url}i/abc/", "expiresAt": iso(time.time() + 3600)})
        server.put("clip", title="Clip")
        server.finish("clip", "cancelled", canRetry=True)

    def close(self):
        self.page.close()
        self.server.cut()
        self.server.server.shutdown()
        self.server.server.server_close()


# Getting in

@check("the token leaves the address bar at once, and outlives a reload")
def token_of_fragment(stage):
    server, page = stage.open()
    equal(page.eval("location.href"), server.url)
    equal(page.eval("sessionStorage.getItem('ferry.token')"), "act")
    page.call("Page.reload")
    page.wait("document.getElementById('target').textContent === 'Over the air'")
    expect(not any("act" in line for line in server.requests), "The token stands in an address that was asked for.")


@check("without a token it asks for one, and says why the server refused one")
def asks_for_token(stage):
    stage.page.go(stage.server.url)
    stage.page.wait("document.querySelector('#token')")
    stage.page.type("wrong")
    stage.page.key("Enter")
    stage.page.wait_text("dialog", "does not know this token")
    stage.page.screenshot("token")
    stage.page.wait("document.activeElement.id === 'token'")
    stage.page.type(f"{stage.server.url}#token=act")
    stage.page.key("Enter")
    stage.page.wait("!document.querySelector('dialog')")
    stage.page.wait("!document.getElementById('empty').hidden")


@check("a token that may only look is offered no order")
def viewer(stage):
    stage.batch()
    server, page = stage.open("look")
    page.wait_text("#target", "view only")
    page.wait("document.querySelector('#install-delta [data-verb=link]').checkVisibility()")
    for verb in ("hold", "cancel", "retry"):
        equal(page.eval(f"[...document.querySelectorAll('[data-verb={verb}]')].filter(n => n.checkVisibility()).length"), 0)
    equal(page.eval("[...document.querySelectorAll('#add, #hold-all')].filter(n => n.checkVisibility()).length"), 0)
    page.key("p")
    page.key("3")
    page.click(".island-expanded .island-hold")
    expect(not any(line.startswith("POST") for line in server.requests), "It gave an order.")


# The list

@check("with nothing to install it says what to do")
def empty(stage):
    _, page = stage.open()
    page.wait_text("#empty", "Drop an app’s archive")
    page.wait_text("#phone-caption", "No Live Activity")
    page.screenshot("empty")
    judge(page, "empty")
    page.click("[data-add=link]")
    page.wait("document.activeElement.id === 'link-url'")


@check("each install is told in words")
def words(stage):
    stage.batch()
    server, page = stage.open()
    page.wait("document.querySelectorAll('.install').length === 8")
    status = lambda id: page.text(f"#install-{id} .install-status")
    equal(status("harbour"), "Downloading · 19.9/48.0 MB · 200 kB/s · 2 min left")
    equal(page.text("#install-harbour .install-label"), "41%")
    equal(status("lantern"), "Signing: packing")
    equal(status("long"), "Paused while downloading · 88.0/512 MB")
    equal(status("gamma"), "Downloading · 3.0 MB · 900 kB/s")
    equal(status("compass"), "Failed while signing · just now")
    equal(page.text("#install-compass .install-error"), "Compass.app: no profile covers com.example.compass.\n\nAdd one with --profile.")
    equal(status("delta"), "Delivered · just now")
    equal(status("clip"), "Stopped · just now")
    page.wait_text("#install-notes .note", "expires in 3 days")
    server.put("notes", kind="note", notes=["One.", "Two.", "Two.", "Three."])
    page.wait_text("#install-notes", "1 earlier note is in the details.")
    equal(page.eval("[...document.querySelectorAll('#install-notes .note span')].map(n => n.textContent)"), ["Two.", "Three."])
    page.wait("document.querySelector('#install-harbour img').naturalWidth === 58")
    bar = "document.querySelector('#install-harbour .bar')"
    equal(page.eval(f"{bar}.getAttribute('aria-valuetext')"), "Downloading, 41%")
    for dark, name in ((False, "light"), (True, "dark")):
        page.emulate(dark=dark)
        judge(page, f"a batch, {name}")
        page.screenshot(f"batch-{name}")


@check("progress changes its own row and no other")
def patches(stage):
    server, page = stage.open()
    for number in range(300):
        server.put(f"i{number}", quiet=True, title=f"App {number}", bundleID=f"com.example.app{number}", hasIcon=number % 3 == 0)
        server.icons[f"i{number}"] = png(number % 250, 90, 160)
        server.download(f"i{number}", 1_000_000 + number, 9_000_000 + number, 90_000)
    server.send("state", {"installs": list(server.installs.values()), "island": server.island()})
    page.wait("document.querySelectorAll('.install').length === 300")
    page.eval("""window.row = document.getElementById('install-i7'); window.touched = new Set(); window.waited = 0;
        new MutationObserver((list) => { for (const { target } of list) {
            const node = target.closest ? target : target.parentElement;
            const row = node.closest('.install');
            // A picture may still arrive.
            if (row && !node.closest('.install-icon')) touched.add(row.id);
        }}).observe(document.getElementById('running'), { subtree: true, childList: true, characterData: true, attributes: true });
        // The seconds tick in every row that has a time left; here they are to stand still.
        window.Date.now = ((now) => () => now)(Date.now());""")
    install = {**server.installs["i7"], "fraction": 0.35, "label": "50%", "progress": {"unit": "bytes", "completed": 4_500_000, "total": 9_000_000}}
    server.send("progress", {"installs": [install]})
    page.wait("document.querySelector('#install-i7 .install-label').textContent === '50%'")
    equal(page.eval("[...touched]"), ["install-i7"])
    expect(page.eval("row === document.getElementById('install-i7') && row.isConnected"), "The row was made anew.")
    # Pictures of rows that nobody has seen yet are not fetched.
    expect(sum("/icon" in line for line in server.requests) < 60, "It fetched pictures of rows out of view.")
    page.click("#filter")
    page.type("App 29")
    page.wait_text("#sieve-count", "11 of 300")
    page.screenshot("many")


@check("a name is text, whatever is in it")
def markup(stage):
    server, page = stage.open()
    evil = '<img src=x onerror="window.harmed=1"><b>Bold</b>'
    server.put("evil", kind="added", title=evil, version=evil, notes=[evil], source=evil)
    server.finish("evil", "failed", message=evil, remedy=evil)
    page.wait("document.querySelector('#install-evil .message').textContent.includes('Bold')")
    page.click("#install-evil [data-verb=details]")
    equal(page.text("#install-evil .install-title bdi"), evil)
    equal(page.eval("document.querySelectorAll('.install b, .install img[src=x], .island b').length + (window.harmed ?? 0)"), 0)


@check("what the record has is shown when it is asked for, and what was interrupted at once")
def earlier(stage):
    server, page = stage.open()
    old = {"title": "Old", "held": False, "addedAt": iso(time.time() - 9_000), "hasArchive": False}
    server.unfinished = [{**old, "id": "cut", "title": "Cut", "stage": "downloading", "fraction": 0.2, "running": False, "canRetry": True},
                         {**old, "id": "elsewhere", "stage": "downloading", "fraction": 0.2, "running": True}]
    server.earlier = [{**old, "id": "old", "stage": "finished", "outcome": "installed", "finishedAt": iso(time.time() - 7_300)}]
    page.call("Page.reload")
    page.wait_text("#install-cut .install-status", "Interrupted while downloading")
    page.wait("document.querySelector('#install-cut [data-verb=retry]').checkVisibility()")
    page.click("#earlier")
    page.wait_text("#install-old .install-status", "Installed · 2 h ago")
    # What another process does comes with no events, and would stand still here.
    equal(page.eval("document.querySelectorAll('.install').length"), 2)
    server.send("state", {"installs": [], "island": server.island()})
    server.put("new", kind="added", title="New")
    page.wait("document.querySelector('#install-new') && document.querySelector('#install-old')")


@check("orders go where they are to go")
def orders(stage):
    stage.batch()
    server, page = stage.open()
    page.wait("document.querySelector('#install-harbour')")
    page.click("#install-harbour [data-verb=hold]")
    page.wait_text("#install-harbour .install-label", "Paused")
    page.click("#install-harbour [data-verb=hold]")
    page.wait("document.querySelector('#install-harbour').dataset.mood === 'running'")
    page.click("#install-harbour [data-verb=cancel]")
    page.wait_text("dialog", "Stop Harbour?")
    page.screenshot("stop")
    equal(page.eval("document.activeElement.textContent"), "Let it go on")
    page.click("dialog .danger")
    page.wait_text("#finished", "Harbour")
    page.click("#install-compass [data-verb=retry]")
    page.wait_text("#running", "Compass")
    wanted = [f"POST /api/v1/installs/{order}" for order in ("harbour/hold", "harbour/release", "harbour/cancel", "compass/retry")]
    equal([line for line in server.requests if line.startswith("POST")], wanted)


@check("what verification finds is said in words")
def verification(stage):
    stage.batch()
    server, page = stage.open()
    page.click("#install-delta [data-verb=details]")
    page.click("#install-delta .check-line button")
    page.wait_text("#install-delta .callout", "No fault: every signature, seal and profile is right.")
    server.verdict = {"verified": False, "faults": [
        {"message": "Delta.app/PlugIns/W.appex: its identifier is not below its host’s.", "remedy": "Sign again.", "severity": "error"},
        {"message": "The profile expires in 3 days.", "severity": "warning"}]}
    page.click("#install-delta .check-line button")
    page.wait_text("#install-delta .callout.bad", "1 fault")
    page.wait_text("#install-delta .callout.bad .remedy", "Sign again.")
    page.wait_text("#install-delta .callout.warn", "expires in 3 days")
    page.eval("document.querySelector('#install-delta').scrollIntoView({ block: 'center' })")
    judge(page, "faults")
    page.screenshot("faults")


@check("a finished install can be saved, and opened by its code")
def results(stage):
    stage.batch()
    server, page = stage.open()
    with tempfile.TemporaryDirectory(prefix="ferry-saved-") as folder:
        page.downloads_to(folder)
        page.click("#install-delta [data-verb=archive]")
        saved = pathlib.Path(folder, "Delta 1.6.ipa")
        until(saved.exists, f"There is no {saved.name}.")
        equal(saved.stat().st_size, 3_000_002)
    page.click("#install-delta [data-verb=link]")
    page.wait("document.querySelector('.qr').naturalWidth > 0")
    expect("GET /i/abc/qr.svg" in server.requests, "The picture of the code is another one's.")
    judge(page, "link")
    page.screenshot("link")
    # What is said while a dialog is open is in front of it.
    page.click("dialog .quiet")
    page.wait("(() => { const box = document.querySelector('.toast').getBoundingClientRect(); return document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2).closest('.toast') })()")
    page.click("dialog .danger")
    page.wait("!document.querySelector('dialog')")
    page.wait("document.getElementById('said').parentNode === document.body")
    expect("DELETE /api/v1/installs/delta/link" in server.requests, "The link was not revoked.")
    page.wait("!document.querySelector('#install-delta [data-verb=link]').checkVisibility()")
    page.click("#install-delta [data-verb=details]")
    page.click("#install-delta .check-line button:last-child")
    page.wait_text(".link-address", "/i/newlink/")


# The phone

@check("the island shows the state in its four forms")
def island(stage):
    server, page = stage.open()
    server.icons["harbour"] = png(40, 120, 200)
    server.put("harbour", title="Harbour", version="1.2", hasIcon=True)
    server.download("harbour", 19_872_000, 48_000_000, 200_000, quiet=False)
    page.wait_text(".island-trailing", "41%")
    page.wait("document.querySelector('.island-leading img').naturalWidth === 58")
    page.screenshot("island-compact")
    page.click(".island-open")
    page.wait("document.getElementById('form-expanded').ariaSelected === 'true'")
    page.wait_text(".island-expanded", "19.9/48.0 MB")
    page.screenshot("island-expanded")
    judge(page, "island, expanded")
    page.key("Escape")
    page.wait("document.getElementById('phone').dataset.form === 'compact'")
    page.key("2")
    equal(page.text(".island-minimal"), "41%")
    page.screenshot("island-minimal")
    page.click("#form-lock")
    page.wait_text(".lock-card", "Downloading, 41%")
    page.screenshot("island-lock")
    judge(page, "island, lock screen")
    page.key("ArrowLeft")
    page.wait("document.activeElement.id === 'form-expanded'")
    server.put("lantern", title="Lantern", kind="added")
    page.wait_text(".island-compact .island-leading", "2 apps")
    page.wait_text(".island-rows", "Lantern")
    equal(page.eval("JSON.parse(document.getElementById('content-state-text').textContent.split('\\n').slice(1).join('\\n')).count"), 2)


@check("the countdown ticks between two updates")
def countdown(stage):
    server, page = stage.open()
    server.put("harbour", title="Harbour")
    server.download("harbour", 1_000_000, 48_000_000, 200_000, quiet=False)
    page.key("3")
    before = page.wait("/^3:\\d\\d$/.test(document.querySelector('.island-countdown').textContent) && document.querySelector('.island-countdown').textContent")
    events = server.seq
    page.wait(f"document.querySelector('.island-countdown').textContent !== {json.dumps(before)}")
    equal(server.seq, events)


@check("the pause button holds everything")
def pause(stage):
    server, page = stage.open()
    for name in ("Harbour", "Lantern"):
        server.put(name, title=name)
        server.download(name, 1_000_000, 48_000_000, 200_000, quiet=False)
    page.key("3")
    page.click(".island-expanded .island-hold")
    page.wait_text(".island-expanded .island-subtitle", "Paused")
    page.wait("document.querySelectorAll('[data-mood=held]').length === 2")
    page.screenshot("island-paused")
    equal(page.eval("document.querySelector('.island-expanded .island-hold').ariaLabel"), "Release everything")
    page.click(".island-expanded .island-hold")
    page.wait("document.querySelectorAll('[data-mood=running]').length === 2")
    page.key("p")
    page.wait("document.querySelectorAll('[data-mood=held]').length === 2")
    equal([line for line in server.requests if line.startswith("POST")], ["POST /api/v1/hold", "POST /api/v1/release", "POST /api/v1/hold"])


# Adding

PLAN = {
    "app": {"name": "Harbour", "identifier": "net.example.pier", "version": "1.2"},
    "changes": [{"path": "Harbour.app", "what": "id", "from": "com.example.harbour", "to": "net.example.pier"},
                {"path": "Harbour.app/PlugIns/HarbourWidget.appex", "what": "entitlement com.apple.security.application-groups", "to": ["group.net.example.pier"]}],
    "warnings": ["Harbour.app/PlugIns/Share.appex: push notifications are left out."],
    "refusals": [],
}


@check("a dropped file shows its plan, and starts when it is told to")
def dropped(stage):
    server, page = stage.open()
    server.plan = PLAN
    with files(Harbour=300_000) as paths:
        page.drop_files(paths)
        page.wait_text(".plan", "net.example.pier")
        page.wait_text(".plan .warn", "push notifications are left out")
        page.wait_text("dialog #said", "Harbour: 2 changes, 1 warning.")
        judge(page, "plan")
        page.screenshot("plan")
        expect(not any(line == "POST /api/v1/installs" for line in server.requests), "It started before it was told to.")
        page.click("dialog .primary")
        page.wait_text("#running", "Harbour.ipa")
        page.wait("!document.querySelector('dialog')")


@check("a plan that refuses cannot be started, and says what to do")
def refused(stage):
    server, page = stage.open()
    server.plan = {"app": {"name": "Compass"}, "changes": [], "warnings": [], "refusals": [
        {"message": "Compass.app/Compass is still encrypted by the App Store.", "remedy": "Get a decrypted copy of the app."}]}
    page.key("n")
    with files(Compass=1_000) as paths:
        page.choose_files("#file-input", paths)
        page.wait_text(".callout.bad .remedy", "Get a decrypted copy")
    expect(page.eval("document.querySelector('dialog .primary').disabled"), "It can be started.")
    judge(page, "refusal")
    page.screenshot("refused")
    page.click(".parcel .bare")
    page.wait("!document.querySelector('.parcel')")
    expect("DELETE /api/v1/uploads/u1" in server.requests, "The server still has it.")


@check("a plan as ferry inspect gives it is understood as well")
def inspected(stage):
    server, page = stage.open()
    server.plan = {"path": "In.ipa", "warnings": ["It is old."], "addedFiles": ["Payload/Harbour.app/Extra.dylib"], "changedFiles": [], "removedFiles": [], "changedCode": [], "bundles": [
        {"path": "Payload/Harbour.app", "kind": "app", "oldIdentifier": "com.example.harbour", "identifier": "net.example.pier", "isNew": False, "isDropped": False, "profile": "Pier App",
         "infoPlist": [{"key": "CFBundleIdentifier", "old": "com.example.harbour", "new": "net.example.pier"}, {"key": "MinimumOSVersion", "old": "14.0", "new": "15.0"}],
         "droppedEntitlements": {"aps-environment": "the profile does not have it"}, "warnings": ["It had push notifications."]},
        {"path": "Payload/Harbour.app/Watch/W.app", "kind": "app", "isNew": False, "isDropped": True, "infoPlist": [], "droppedEntitlements": {}, "warnings": []}]}
    page.key("n")
    with files(Harbour=1_000) as paths:
        page.choose_files("#file-input", paths)
        page.wait_text(".plan", "Pier App")
    equal(page.eval("document.querySelector('.parcel summary').textContent"), "6 changes, 2 warnings")
    page.wait_text(".plan .callout.warn", "It had push notifications.")
    page.wait_text(".plan dt", "left out")


@check("an upload shows how far it is, and can be given up")
def upload(stage):
    server, page = stage.open()
    server.upload_bytes_per_second = 4_000_000
    page.key("n")
    with files(Large=40_000_000) as paths:
        page.choose_files("#file-input", paths)
        page.wait("Number(document.querySelector('.parcel .bar').ariaValueNow) > 0")
        page.wait_text(".parcel", "/40.0 MB")
        page.screenshot("upload")
        page.click(".parcel .bare")
        page.wait("!document.querySelector('.parcel')")
    until(lambda: server.broken_uploads == 1, "The browser did not hang up.")
    expect(not server.uploads and "POST /api/v1/plan" not in server.requests, "It went on all the same.")


@check("a link or an app of a source is one step")
def link_and_source(stage):
    server, page = stage.open()
    page.key("n")
    page.click("#way-link")
    page.type("https://example.com/refused.ipa")
    page.key("Enter")
    page.wait_text("#link-result .remedy", "Get a decrypted copy")
    judge(page, "link refused")
    page.eval("document.getElementById('link-url').select()")
    page.type("https://example.com/Harbour.ipa")
    page.click("#start-held")
    page.click("dialog .primary")
    page.wait_text("#install-n1", "Harbour.ipa")
    page.wait("document.querySelector('#install-n1').dataset.mood === 'held' && !document.querySelector('dialog')")
    page.key("n")
    page.click("#way-source")
    page.wait("document.querySelectorAll('.app').length === 4")
    page.screenshot("source")
    judge(page, "source")
    page.type("lant")
    page.wait("document.querySelectorAll('.app').length === 1")
    page.click(".app button")
    page.wait_text(".app button", "Added")
    page.wait("document.querySelector('#install-n2')")


# The connection

@check("a lost connection is said, and goes on after the last event")
def lost(stage):
    server, page = stage.open()
    server.put("harbour", title="Harbour")
    page.wait("document.querySelector('#install-harbour')")
    server.refuses_events = True
    server.cut()
    page.wait("!document.getElementById('banner').hidden")
    page.wait_text("#banner-text", "The server is about to stop.")
    page.screenshot("lost")
    judge(page, "lost")
    last = f"e-{server.seq}"
    server.put("lantern", kind="added", title="Lantern")
    server.refuses_events = False
    page.click("#banner-retry")
    page.wait("document.querySelector('#install-lantern') && document.getElementById('banner').hidden")
    equal(server.last_ids, [None, last])
    # A server that was started anew does not know the event, and tells its whole state.
    server.installs.clear()
    server.put("delta", quiet=True, title="Delta")
    server.send("state", {"installs": list(server.installs.values()), "island": server.island()})
    page.wait("document.querySelectorAll('.install').length === 1 && document.querySelector('#install-delta')")


@check("events are read right wherever the stream is cut")
def parser(stage):
    _, page = stage.open()
    found = page.eval("""import('./events.js').then(({ EventParser }) => {
        const stream = ': hello\\r\\nid: a-1\\nevent: fact\\ndata: {"é":\\r\\ndata: 1}\\r\\n\\r\\nid:a-2\\rdata\\r\\rdata: x\\n\\nevent: lost\\n\\nid\\ndata:y\\n\\ndata: unfinished';
        const results = new Set();
        for (let first = 0; first <= stream.length; first += 1) {
            for (const second of [first, first + 1, first + 7]) {
                const got = [];
                const parser = new EventParser((type, data) => got.push([type, data, parser.lastID]));
                for (const piece of [stream.slice(0, first), stream.slice(first, second), stream.slice(second)]) parser.push(piece);
                results.add(JSON.stringify(got));
            }
        }
        return [...results];
    })""")
    equal([json.loads(result) for result in found],
          [[["fact", '{"é":\n1}', "a-1"], ["message", "", "a-2"], ["message", "x", "a-2"], ["message", "y", ""]]])


# For everybody

@check("facts are said to those who listen, and progress is not")
def said(stage):
    server, page = stage.open()
    server.put("harbour", kind="added", title="Harbour")
    page.wait("document.getElementById('said').textContent === 'Harbour was added.'")
    page.eval("window.says = []; new MutationObserver(() => says.push(document.getElementById('said').textContent)).observe(document.getElementById('said'), { childList: true, characterData: true, subtree: true });")
    for number in range(1, 20):
        server.download("harbour", number * 1_000_000, 48_000_000, 200_000, quiet=False)
    page.wait_text("#install-harbour .install-label", "39%")
    server.finish("harbour", "failed", message="The disk is full.")
    page.wait("says.length > 0")
    equal(page.eval("says"), ["Harbour failed: The disk is full."])
    for number in range(5):
        server.put(f"b{number}", kind="added", title=f"App {number}")
    page.wait_text("#said", "5 added.")


@check("everything can be done from the keyboard")
def keyboard(stage):
    stage.batch()
    server, page = stage.open()
    page.wait("document.querySelectorAll('.install').length === 8")
    page.key("?")
    page.wait_text("dialog", "Hold or release everything")
    page.click("#keys-on")
    page.key("Escape")
    page.wait("!document.querySelector('dialog')")
    page.key("j")
    page.key("p")
    page.click("#help")
    page.click("#keys-on")
    expect(page.eval("document.activeElement.id === 'keys-on'") and not any("POST" in line for line in server.requests), "A key was heard.")
    judge(page, "keys")
    page.screenshot("keys")
    page.key("Escape")
    page.wait("!document.querySelector('dialog')")
    page.key("j")
    page.wait("document.activeElement.id === 'install-harbour'")
    expect(page.eval("getComputedStyle(document.activeElement).outlineStyle") == "solid", "The focus cannot be seen.")
    page.key("h")
    page.wait_text("#install-harbour .install-label", "Paused")
    page.key("Enter")
    page.wait("!document.querySelector('#details-harbour').hidden")
    page.key("x")
    page.wait("document.activeElement.textContent === 'Let it go on'")
    page.key("Tab")
    page.key("Enter")
    page.wait_text("#finished", "Harbour")
    page.wait("document.activeElement.closest('#install-harbour')")
    # Each stop of the tab key has a name and a focus that can be seen.
    stops = []
    page.eval("document.querySelector('.skip').focus()")
    for _ in range(60):
        page.key("Tab")
        stop = page.eval("(() => { const n = document.activeElement; return n === document.body ? null : [n.id || n.className, n.matches(':focus-visible'), getComputedStyle(n).outlineStyle]; })()")
        if stop is None:
            break
        stops.append(stop)
    expect(len(stops) > 20, f"The tab key stops at {stops} only.")
    equal([stop for stop in stops if not stop[1] or stop[2] == "none"], [])


@check("it fits a small screen and runs from right to left")
def small(stage):
    stage.batch()
    server, page = stage.open()
    page.resize(360, 740)
    page.wait("document.querySelectorAll('.install').length === 8")
    for form in ("compact", "minimal", "expanded", "lock"):
        page.click(f"#form-{form}")
        judge(page, f"360 wide, {form}")
        page.screenshot(f"small-{form}")
    page.key("3")
    for width in (768, 360):
        page.resize(width, 740)
        page.wait("Math.abs(document.querySelector('.island').offsetHeight - document.querySelector('.island-expanded').offsetHeight) < 2")
    page.key("1")
    page.eval("document.querySelector('#running').scrollIntoView()")
    page.screenshot("small-list")
    page.click("#phone-toggle")
    page.wait("!document.getElementById('phone-panel').checkVisibility()")
    page.click("#add")
    judge(page, "360 wide, adding")
    page.screenshot("small-add")
    page.key("Escape")
    page.resize(1280, 900)
    page.eval("document.documentElement.dir = 'rtl'")
    judge(page, "right to left")
    page.screenshot("right-to-left")


def main():
    wanted = sys.argv[1:] or list(CHECKS)
    failed = False
    with Browser() as browser:
        for name in wanted:
            stage = Stage(browser)
            fault = None
            try:
                CHECKS[name](stage)
                # What is refused on purpose is logged by the browser as a failed resource.
                complaints = [c for c in stage.page.complaints if "the server responded with a status of" not in c and "ERR_" not in c]
                equal(complaints, [])
                strangers = [url for url in stage.page.requested if not url.startswith((stage.server.url, "blob:", "data:", "about:"))]
                equal(strangers, [])
            except (AssertionError, PageError) as error:
                fault = str(error)
                failed = True
            finally:
                stage.close()
            print(json.dumps({"check": name, "fault": fault}), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
