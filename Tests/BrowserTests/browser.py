"""A headless Chromium, driven by the DevTools protocol over a pipe: no port, no package, Python's own library alone."""

import base64
import json
import os
import queue
import shutil
import signal
import subprocess
import tempfile
import threading
import time

#: How long a condition may take to come true, in seconds.
PATIENCE = 60


def find():
    """Where Chromium is; None where there is none."""
    return next(filter(None, (shutil.which(name) for name in ("chromium", "chromium-browser", "google-chrome"))), None)


class PageError(Exception):
    """What went wrong in the page, or did not come true."""


class Browser:
    def __init__(self, path=None):
        self.folder = tempfile.mkdtemp(prefix="ferry-browser-")
        to_read, self._to = os.pipe()
        self._from, to_write = os.pipe()
        arguments = [
            path or find(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--disable-extensions", "--disable-background-networking", "--disable-component-update", "--hide-scrollbars",
            "--force-color-profile=srgb", "--no-proxy-server", "--remote-debugging-pipe", f"--user-data-dir={self.folder}", "about:blank",
        ]

        def pipes():
            # Chromium reads from descriptor 3 and writes to 4. Neither end may lie where the other one goes.
            reading, writing = os.dup2(to_read, 100), os.dup2(to_write, 101)
            os.dup2(reading, 3)
            os.dup2(writing, 4)

        self.process = subprocess.Popen(
            arguments, preexec_fn=pipes, close_fds=False, start_new_session=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self._lock = threading.Lock()
        self._number = 0
        self._answers = {}
        self._pages = {}
        self._ended = False
        threading.Thread(target=self._listen, daemon=True).start()

    def call(self, method, parameters=None, session=None):
        with self._lock:
            self._number += 1
            number = self._number
            inbox = self._answers[number] = queue.Queue()
            message = {"id": number, "method": method, "params": parameters or {}}
            if session:
                message["sessionId"] = session
            data = json.dumps(message).encode() + b"\0"
            while data:
                data = data[os.write(self._to, data):]
        try:
            answer = inbox.get(timeout=60)
        except queue.Empty:
            raise PageError(f"{method}: Chromium does not answer.") from None
        if "error" in answer:
            raise PageError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def _listen(self):
        waiting = b""
        while piece := os.read(self._from, 1 << 20):
            *messages, waiting = (waiting + piece).split(b"\0")
            for message in map(json.loads, messages):
                if "id" in message:
                    inbox = self._answers.pop(message["id"], None)
                    if inbox:
                        inbox.put(message)
                elif page := self._pages.get(message.get("sessionId")):
                    page.heard(message["method"], message["params"])
        for inbox in list(self._answers.values()):
            inbox.put({"error": {"message": "Chromium has ended."}})

    def page(self, width=1280, height=900, dark=False, reduced_motion=True):
        target = self.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        session = self.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        page = self._pages[session] = Page(self, session, target)
        for domain in ("Page", "Runtime", "Log", "Network", "DOM", "Accessibility"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        page.emulate(dark=dark, reduced_motion=reduced_motion)
        return page

    def close(self):
        if self._ended:
            return
        self._ended = True
        try:
            self.call("Browser.close")
            self.process.wait(10)
        except (PageError, OSError, subprocess.TimeoutExpired):
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Page:
    def __init__(self, browser, session, target):
        self.browser = browser
        self.session = session
        self.target = target
        #: What the page complained about: errors of scripts, refused requests, breaches of the policy.
        self.complaints = []
        #: Every address that was asked for.
        self.requested = []

    def call(self, method, parameters=None):
        return self.browser.call(method, parameters, self.session)

    def heard(self, method, params):
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description") or details["text"])
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            entry = params["entry"]
            self.complaints.append(f"{entry['text']} {entry.get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requested.append(params["request"]["url"])

    def close(self):
        self.browser.call("Target.closeTarget", {"targetId": self.target})

    def resize(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})

    def emulate(self, dark=False, reduced_motion=True):
        features = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"},
                    {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}]
        self.call("Emulation.setEmulatedMedia", {"features": features})

    def go(self, url):
        self.call("Page.navigate", {"url": url})
        self.wait("document.readyState === 'complete'")

    def eval(self, expression):
        result = self.call("Runtime.evaluate", {"expression": expression, "returnByValue": True, "awaitPromise": True, "userGesture": True})
        if "exceptionDetails" in result:
            raise PageError(f"{expression}: {result['exceptionDetails'].get('exception', {}).get('description')}")
        return result["result"].get("value")

    def wait(self, expression, seconds=PATIENCE):
        """Until an expression is true; its value."""
        deadline = time.monotonic() + seconds
        # What is not there yet has no properties either.
        attempt = f"(() => {{ try {{ return ({expression}) }} catch (error) {{ return null }} }})()"
        while True:
            try:
                # A node comes as an empty object.
                if (value := self.eval(attempt)) not in (None, False, 0, ""):
                    return value
            except PageError as error:
                # Between two pages there is none to ask.
                between = any(word in str(error) for word in ("context", "navigated"))
                if not between or time.monotonic() > deadline:
                    raise
            if time.monotonic() > deadline:
                raise PageError(f"It did not come true in {seconds} s: {expression}\nThe page says: {self.text()[:2_000]}")
            time.sleep(0.05)

    def wait_text(self, selector, text, seconds=PATIENCE):
        return self.wait(f"[...document.querySelectorAll({json.dumps(selector)})].some(n => n.textContent.includes({json.dumps(text)}))", seconds)

    def text(self, selector="body"):
        return self.eval(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def click(self, selector):
        """Presses where the element is, as a mouse does: what lies above it gets it."""
        where = self.wait(f"""(() => {{
            const node = [...document.querySelectorAll({json.dumps(selector)})].find(n => n.checkVisibility({{ checkOpacity: true }}) && !n.closest('[inert]'));
            if (!node || node.disabled) return null;
            node.scrollIntoView({{ block: 'nearest' }});
            const box = node.getBoundingClientRect();
            return [box.x + box.width / 2, box.y + box.height / 2];
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", {"type": kind, "x": where[0], "y": where[1], "button": "left", "clickCount": 1})

    def key(self, key, modifiers=0):
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowRight": 39, "ArrowLeft": 37, "ArrowDown": 40, "ArrowUp": 38}
        event = {"key": key, "modifiers": modifiers, "windowsVirtualKeyCode": codes.get(key, ord(key[0].upper()))}
        if len(key) == 1:
            event["text"] = key
        elif key == "Enter":
            event["text"] = "\r"
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", **event})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **{k: v for k, v in event.items() if k != "text"}})

    def type(self, text):
        self.call("Input.insertText", {"text": text})

    def choose_files(self, selector, paths):
        document = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", {"nodeId": document, "selector": selector})["nodeId"]
        self.call("DOM.setFileInputFiles", {"nodeId": node, "files": [str(path) for path in paths]})

    def drop_files(self, paths, x=400, y=400):
        data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", {"type": kind, "x": x, "y": y, "data": data})

    def downloads_to(self, folder):
        self.browser.call("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})

    def screenshot(self, name):
        """Into the folder that FERRY_SCREENSHOTS names; without one there is none."""
        folder = os.environ.get("FERRY_SCREENSHOTS")
        if not folder:
            return
        os.makedirs(folder, exist_ok=True)
        picture = self.call("Page.captureScreenshot", {"format": "png"})["data"]
        with open(os.path.join(folder, name + ".png"), "wb") as file:
            file.write(base64.b64decode(picture))
