"""Carries two apps through a real `ferry serve` by what a person does in the dashboard.

    python3 carry.py ADDRESS ARCHIVE FERRY [air]

ADDRESS is the one that `ferry serve` printed, ARCHIVE the app, FERRY the command that judges what came out. With `air`, the
server makes links for phones, and the way leads there. Prints a line of JSON for each leg of the way, as `check_pages.py`
does; the first that fails is the last.
"""

import http.server
import json
import pathlib
import plistlib
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

sys.dont_write_bytecode = True

from browser import Browser, PageError
from looks import judge

#: How long a signature may take on a slow machine, in seconds.
LONG = 60


class Quay:
    """Serves an archive up to its middle, and the rest when it is told to."""

    def __init__(self, path):
        self.bytes = pathlib.Path(path).read_bytes()
        self.gate = threading.Event()
        quay = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *arguments):
                pass

            def do_HEAD(self):
                self.do_GET()

            def do_GET(self):
                data, middle = quay.bytes, len(quay.bytes) // 2
                start, end = 0, len(data) - 1
                wanted = self.headers.get("Range", "")
                if wanted.startswith("bytes="):
                    first, _, last = wanted.removeprefix("bytes=").partition("-")
                    start, end = int(first), int(last) if last else end
                    self.send_response(206)
                    self.send_header("Content-Range", f"bytes {start}-{end}/{len(data)}")
                else:
                    self.send_response(200)
                self.send_header("Content-Type", "application/octet-stream")
                self.send_header("Accept-Ranges", "bytes")
                self.send_header("ETag", '"quay"')
                self.send_header("Content-Length", str(end - start + 1))
                self.end_headers()
                if self.command == "HEAD":
                    return
                try:
                    if start < middle:
                        self.wfile.write(data[start:min(middle, end + 1)])
                        start = middle
                    if start <= end:
                        quay.gate.wait(LONG * 2)
                        self.wfile.write(data[start:end + 1])
                except OSError:
                    # Whoever holds an install hangs up.
                    self.close_connection = True

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/{pathlib.Path(path).name}"


def expect(truth, words):
    if not truth:
        raise AssertionError(words)


class Way:
    def __init__(self, page, address, archive, ferry):
        self.page, self.address, self.archive, self.ferry = page, address, archive, ferry
        self.saved = tempfile.TemporaryDirectory(prefix="ferry-saved-")
        self.quay = Quay(archive)

    def row(self, group):
        """The id of the only row of a group."""
        return self.page.wait(f"document.querySelectorAll('#{group} .install').length > 0 && document.querySelector('#{group} .install').id", LONG)

    def opens(self):
        self.page.go(self.address)
        self.page.wait("!document.getElementById('empty').hidden")
        expect("token" not in self.page.eval("location.href"), "The token stands in the address bar.")
        judge(self.page, "empty")
        self.page.screenshot("carry-1-empty")

    def plans(self):
        self.page.drop_files([self.archive])
        self.page.wait("document.querySelector('.parcel[data-state=ready]')", LONG)
        self.page.wait("document.querySelector('.plan dd')")
        judge(self.page, "plan")
        self.page.screenshot("carry-2-plan")

    def holds_at_first(self):
        self.page.click("#start-held")
        self.page.click("dialog .primary")
        self.page.wait("!document.querySelector('dialog')")
        self.page.wait_text("#running .install-label", "Paused")
        self.page.wait_text(".island-trailing", "Paused")
        self.page.screenshot("carry-3-held")

    def delivers(self):
        self.page.key("3")
        self.page.click(".island-expanded .island-hold")
        self.row("finished")
        self.page.wait("document.querySelector('#finished .install').dataset.mood === 'done'")
        self.page.key("1")
        self.page.wait_text(".island-trailing", "Done")
        judge(self.page, "delivered")
        self.page.screenshot("carry-4-delivered")

    def checks(self):
        self.page.click("#finished [data-verb=details]")
        self.page.click("#finished .check-line button")
        self.page.wait("document.querySelector('#finished .callout.good')", LONG)
        self.page.screenshot("carry-5-checked")

    def saves(self):
        self.page.downloads_to(self.saved.name)
        self.page.click("#finished [data-verb=archive]")
        deadline = time.monotonic() + LONG
        while not (files := list(pathlib.Path(self.saved.name).glob("*.ipa"))) and time.monotonic() < deadline:
            time.sleep(0.1)
        expect(files, "Nothing was saved.")
        judged = subprocess.run([self.ferry, "verify", str(files[0])], capture_output=True, text=True, timeout=LONG)
        expect(judged.returncode == 0, f"{judged.stdout}{judged.stderr}")
        asked = subprocess.run([self.ferry, "verify", self.archive], capture_output=True, text=True, timeout=LONG)
        expect(files[0].read_bytes() != pathlib.Path(self.archive).read_bytes(), f"It is what was sent. {asked.stdout}")

    def downloads(self):
        self.page.key("n")
        self.page.click("#way-link")
        self.page.type(self.quay.url)
        self.page.key("Enter")
        self.page.wait("!document.querySelector('dialog')")
        # The bar moves to the middle, where the server waits.
        fill = "document.querySelector('#running .bar-downloading i')"
        self.page.wait(f"Number(getComputedStyle({fill}).getPropertyValue('--filled')) > 0.2", LONG)
        self.page.wait("/^\\d+%$/.test(document.querySelector('.island-trailing').textContent)")
        self.page.screenshot("carry-6-download")

    def pauses(self):
        self.page.key("4")
        self.page.click(".lock-card .island-hold")
        self.page.wait_text(".lock-card .island-subtitle", "Paused")
        self.page.wait_text("#running .install-label", "Paused")
        self.page.wait("document.querySelector('.lock-card .island-countdown').hidden")
        judge(self.page, "paused")
        self.page.screenshot("carry-7-paused")

    def arrives(self):
        self.quay.gate.set()
        self.page.click(".lock-card .island-hold")
        self.page.wait("document.querySelectorAll('#finished .install[data-mood=done]').length >= 1 && document.querySelectorAll('#running .install').length === 0", LONG)
        self.page.wait_text("#form-lock", "Lock screen")
        self.page.wait("/Installed|Done|Delivered/.test(document.querySelector('.lock-card').textContent)")
        self.page.screenshot("carry-8-arrived")

    def starts(self):
        self.page.click("dialog .primary")
        self.page.wait_text("#running .install-status", "Waiting for the phone")

    def offers(self):
        self.page.click("#running [data-verb=link]")
        self.page.wait("document.querySelector('.qr').naturalWidth > 0")
        self.link = self.page.text(".link-address")
        judge(self.page, "link")
        self.page.screenshot("carry-air-link")
        text = self.get(self.link).decode()
        expect("itms-services://" in text and "Harbour" in text, f"A phone could not install it from there: {text[:2_000]}")

    def renews(self):
        self.page.click("dialog .dialog-foot .quiet:nth-of-type(2)")
        self.page.wait(f"document.querySelector('.link-address').textContent !== {json.dumps(self.link)}")
        expect(self.status(self.link) in (404, 410), "The old link still leads somewhere.")
        self.link = self.page.text(".link-address")
        expect(self.status(self.link) == 200, "The new one leads nowhere.")
        self.page.key("Escape")

    def asks(self):
        manifest = plistlib.loads(self.get(self.link.rstrip("/") + "/manifest.plist"))
        self.page.wait_text("#running .install-status", "The phone has asked")
        self.assets = {asset["kind"]: asset["url"] for asset in manifest["items"][0]["assets"]}

    def fetches(self):
        archive = pathlib.Path(self.saved.name) / "Phone.ipa"
        archive.write_bytes(self.get(self.assets["software-package"]))
        self.page.wait_text("#finished .install-status", "Delivered")
        judged = subprocess.run([self.ferry, "verify", str(archive)], capture_output=True, text=True, timeout=LONG)
        expect(judged.returncode == 0, f"{judged.stdout}{judged.stderr}")
        self.page.screenshot("carry-air-delivered")

    def hears(self):
        request = urllib.request.Request(self.link.rstrip("/") + "/installed", method="POST", data=b"")
        with urllib.request.urlopen(request, timeout=LONG) as answer:
            expect(answer.status < 300, "The server does not want to know.")
        self.page.wait_text("#finished .install-status", "Installed")

    def revokes(self):
        self.page.click("#finished [data-verb=link]")
        self.page.click("dialog .danger")
        self.page.wait("!document.querySelector('dialog')")
        expect(self.status(self.link) in (404, 410), "It still leads somewhere.")
        self.page.wait("!document.querySelector('#finished [data-verb=link]').checkVisibility()")

    @staticmethod
    def get(url):
        with urllib.request.urlopen(url, timeout=LONG) as answer:
            return answer.read()

    @staticmethod
    def status(url):
        try:
            with urllib.request.urlopen(url, timeout=LONG) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code

    AIR_LEGS = [
        ("the page opens with the token of its address", opens),
        ("a dropped archive shows its plan", plans),
        ("it waits for a phone", starts),
        ("its link and the picture of it lead to the page that a phone opens", offers),
        ("a new link ends the old one", renews),
        ("a phone that has asked is told of", asks),
        ("what a phone fetches is the app, and counts as delivered", fetches),
        ("what the app reports is shown", hears),
        ("a revoked link leads nowhere", revokes),
    ]
    LEGS = [
        ("the page opens with the token of its address", opens),
        ("a dropped archive shows its plan", plans),
        ("it is started held, and the island says Paused", holds_at_first),
        ("the island's button releases it, and it is delivered", delivers),
        ("its signature is checked and right", checks),
        ("what is saved passes ferry verify", saves),
        ("the bar of a download moves", downloads),
        ("the lock screen's button holds it", pauses),
        ("released, it arrives", arrives),
    ]


def main():
    address, archive, ferry = sys.argv[1:4]
    with Browser() as browser:
        way = Way(browser.page(), address, archive, ferry)
        try:
            for name, leg in Way.AIR_LEGS if sys.argv[4:] == ["air"] else Way.LEGS:
                fault = None
                try:
                    leg(way)
                except (AssertionError, PageError, subprocess.SubprocessError) as error:
                    fault = str(error)
                    way.page.screenshot("carry-failed")
                print(json.dumps({"check": name, "fault": fault}), flush=True)
                if fault:
                    return 1
            strangers = [url for url in way.page.requested if not url.startswith((address.split("#")[0], "blob:", "data:", "about:"))]
            complaints = way.page.complaints + strangers
            print(json.dumps({"check": "the browser has nothing to complain of", "fault": "; ".join(complaints) or None}))
            return 1 if complaints else 0
        finally:
            way.quay.gate.set()
            way.saved.cleanup()


if __name__ == "__main__":
    sys.exit(main())
