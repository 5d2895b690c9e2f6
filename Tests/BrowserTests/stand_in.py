"""A server that says of itself whatever a test wants: the contract of the control API without anything behind it.

What a real server cannot be brought to on order (a lost connection, 300 installs, a token that may only look) is
tried with this; what the dashboard does with a real one, the other tests try. Alone it plays a batch without end:

    python3 Tests/BrowserTests/stand_in.py
"""

import base64
import datetime
import json
import pathlib
import queue
import re
import sys
import threading
import time
import urllib.parse
import zlib
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

PAGES = pathlib.Path(__file__).resolve().parent.parent.parent / "Modules" / "Server" / "Pages"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'"
)
KINDS = {".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8",
         ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml"}
EPOCH_2001 = 978_307_200


def iso(seconds):
    date = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
    return date.strftime("%Y-%m-%dT%H:%M:%S.") + f"{date.microsecond // 1000:03d}Z"


def png(red, green, blue, side=58):
    """A picture of one colour, getting darker downwards."""
    def chunk(kind, data):
        return (len(data).to_bytes(4, "big") + kind + data + zlib.crc32(kind + data).to_bytes(4, "big"))
    rows = b""
    for y in range(side):
        shade = 1 - 0.45 * y / side
        rows += b"\0" + bytes([int(red * shade), int(green * shade), int(blue * shade)]) * side
    head = side.to_bytes(4, "big") * 2 + b"\x08\x02\0\0\0"
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


class StandIn:
    """All that a test may change, and the server in front of it."""

    def __init__(self, port=0):
        self.lock = threading.RLock()
        self.installs = {}
        self.unfinished = []
        self.earlier = []
        self.icons = {}
        self.tokens = {"look": "viewer", "act": "admin"}
        self.info = {"name": "Ferry", "version": "1.0", "target": "ota", "signs": True,
                     "limits": {"uploadBytes": 4_000_000_000}, "sources": ["pier"]}
        self.sources = {"pier": [
            {"name": "Harbour", "identifier": "com.example.harbour", "version": "1.2", "developer": "Example", "size": 48_000_000},
            {"name": "Lantern", "identifier": "org.example.lantern", "version": "2.1", "developer": "Lamp & Sons", "size": 9_300_000},
            {"name": "Une application au très long nom qui n’en finit pas", "identifier": "fr.example.longue", "version": "10.4.12", "developer": "Société Exemple", "size": 512_000_000},
            {"name": "ملاحظات", "identifier": "com.example.notes", "version": "3.0", "developer": "مثال", "size": 12_000_000},
        ]}
        self.plan = {"app": {"name": "Harbour", "identifier": "net.example.pier", "version": "1.2"}, "changes": [], "warnings": [], "refusals": []}
        self.verdict = {"verified": True, "faults": []}
        self.uploads = {}
        self.upload_bytes_per_second = None
        self.requests = []
        self.last_ids = []
        self.broken_uploads = 0
        self.viewers = []
        self.sequence = 0
        self.seq = 0
        self.log = []
        self.refuses_events = False
        stand_in = self

        class Handler(RequestHandler):
            server_state = stand_in

        self.server = Server(("127.0.0.1", port), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/"

    # What a test does

    def put(self, id, kind="stage", quiet=False, **changes):
        """Makes or changes an install; a value of None takes the key away. Tells a fact."""
        with self.lock:
            install = self.installs.setdefault(id, {"id": id, "title": id, "stage": "waiting", "held": False,
                                                    "notes": [], "addedAt": iso(time.time())})
            for key, value in changes.items():
                if value is None:
                    install.pop(key, None)
                else:
                    install[key] = value
            self.label(install)
            if not quiet:
                self.tell(kind, install)
            return install

    def finish(self, id, outcome, **changes):
        self.put(id, kind="finished", outcome=outcome, stage="finished", held=False, fraction=1, progress=None,
                 bytesPerSecond=None, finishAt=None, finishedAt=iso(time.time()), **changes)

    def download(self, id, completed, total, rate=None, quiet=True):
        left = (total - completed) / rate if rate else None
        begins = self.installs[id]["stage"] != "downloading"
        install = self.put(id, quiet=not begins, stage="downloading", progress={"unit": "bytes", "completed": completed, "total": total},
                           fraction=0.7 * completed / total, bytesPerSecond=rate,
                           finishAt=iso(time.time() + left) if left else None)
        if not quiet:
            self.send("progress", {"installs": [install]})
            self.send_island()

    def tell(self, kind, install, **more):
        self.sequence += 1
        fact = {"schema": 1, "sequence": self.sequence, "time": iso(time.time()), "kind": kind, "activity": 1,
                "install": install["id"], "title": install["title"], "stage": install["stage"], "held": install["held"],
                "installObject": install, **more}
        for key in ("outcome", "message", "remedy"):
            if key in install:
                fact[key] = install[key]
        self.send("fact", fact)
        self.send_island()

    def send(self, kind, data):
        with self.lock:
            self.seq += 1
            event = (self.seq, kind, json.dumps(data))
            self.log.append(event)
            self.log = self.log[-10_000:]
            for viewer in self.viewers:
                viewer.put(event)

    def send_island(self):
        self.send("island", self.island())

    def cut(self):
        """Every stream ends, as though the cable were pulled."""
        with self.lock:
            for viewer in self.viewers:
                viewer.put(None)

    # What it says

    @staticmethod
    def label(install):
        outcome = install.get("outcome")
        words = {"installed": "Done", "delivered": "Done", "failed": "Failed", "cancelled": "Stopped"}
        progress = install.get("progress") or {}
        if outcome:
            install["label"] = words[outcome]
        elif install["held"]:
            install["label"] = "Paused"
        elif install["stage"] == "downloading" and progress.get("total"):
            install["label"] = f"{progress['completed'] * 100 // progress['total']}%"
        else:
            install["label"] = {"waiting": "Waiting", "downloading": "Download", "signing": "Signing", "installing": "Install"}[install["stage"]]

    def island(self):
        with self.lock:
            everything = list(self.installs.values())
            running = [i for i in everything if "outcome" not in i]
            ended = [i for i in everything if "outcome" in i]
            state = {"seq": self.seq, "count": len(running)}
            for key, outcomes in (("done", ("installed", "delivered")), ("failed", ("failed",)), ("stopped", ("cancelled",))):
                number = sum(i["outcome"] in outcomes for i in ended)
                if number:
                    state[key] = number
            if not everything:
                return {"contentState": state, "compactLeading": "", "compactTrailing": "", "minimal": "",
                        "expanded": {"title": "Nothing to install", "subtitle": "", "rows": []}, "lockScreen": {"title": "Nothing to install", "status": ""}}
            loads = [i for i in running if i["stage"] == "downloading"]
            measured = [i["progress"] for i in loads if (i.get("progress") or {}).get("total")]
            held = bool(running) and all(i["held"] for i in running)
            fraction = None
            if loads:
                state["loading"] = True
            if measured:
                done, total = sum(p["completed"] for p in measured), sum(p["total"] for p in measured)
                fraction = done / total
                state.update(pct=int(fraction * 100), bar=int(fraction * 1000) / 1000, bytes=done, of=total)
                rate = sum(i.get("bytesPerSecond") or 0 for i in loads)
                if rate and not held:
                    state["finishAt"] = int(time.time() - EPOCH_2001 + (total - done) / rate)
            listed = (running + [i for i in ended if i["outcome"] == "failed"] + [i for i in ended if i["outcome"] != "failed"])[:4]
            stages = {"waiting": "wait", "downloading": "load", "signing": "sign", "installing": "install"}
            ends = {"installed": "done", "delivered": "done", "failed": "failed", "cancelled": "stopped"}
            state["items"] = []
            for install in listed:
                item = {"name": install["title"], "at": ends.get(install.get("outcome")) or stages[install["stage"]]}
                progress = install.get("progress") or {}
                if progress.get("total") and install["stage"] == "downloading":
                    item["pct"] = progress["completed"] * 100 // progress["total"]
                if install["held"]:
                    item["held"] = True
                state["items"].append(item)
            if len(everything) > 4:
                state["more"] = len(everything) - 4
            if held:
                state["held"] = True
            only = everything[0] if len(everything) == 1 else None
            if only and only["id"] in self.icons:
                state["icon"] = base64.b64encode(self.icons[only["id"]]).decode()
            return self.words(state, only, listed, fraction)

    @staticmethod
    def words(state, only, listed, fraction):
        total = state["count"] + state.get("done", 0) + state.get("failed", 0) + state.get("stopped", 0)
        is_finished = state["count"] == 0
        phrases = {"wait": "Waiting", "load": "Downloading", "sign": "Signing", "install": "Installing", "done": "Installed", "failed": "Failed", "stopped": "Stopped"}
        if is_finished and not only:
            pairs = (("installed", "done"), ("failed", "failed"), ("stopped", "stopped"))
            subtitle = ", ".join(f"{state[key]} {word}" for word, key in pairs if state.get(key))
        elif state.get("held"):
            subtitle = "Paused"
        elif state.get("loading") and not only:
            subtitle = "Downloading"
        else:
            subtitle = phrases[state["items"][0]["at"]]
        ending = "Failed" if state.get("failed") else "Done" if state.get("done") else "Stopped"
        if only:
            status = only["label"]
        elif is_finished:
            status = ending
        elif state.get("held"):
            status = "Paused"
        elif "pct" in state:
            status = f"{state['pct']}%"
        else:
            status = next(i["label"] for i in listed if "outcome" not in i)
        if is_finished:
            minimal = {"Failed": "!", "Done": "✓", "Stopped": "–"}[ending]
        elif state.get("held"):
            minimal = "II"
        elif "pct" in state:
            minimal = f"{state['pct']}%"
        else:
            minimal = "…" if only else str(total)
        title = only["title"] if only else f"{total} apps"
        bytes_text = f"{state['bytes'] / 1e6:.1f}/{state['of'] / 1e6:.1f} MB" if "bytes" in state else None
        rest = [f"and {state['more']} more"] if state.get("more") else []
        failed = [f"{state['failed']} failed"] if state.get("failed") and not is_finished else []
        percent = f", {state['pct']}%" if "pct" in state else ""
        shared = {"fraction": state.get("bar"), "countdown": None}
        drop = lambda table: {key: value for key, value in table.items() if value is not None}
        return {
            "contentState": state, "label": status,
            "compactLeading": title[:8] if only else f"{total} apps", "compactTrailing": status, "minimal": minimal,
            "expanded": drop({"title": title, "subtitle": subtitle, "detail": bytes_text, "footer": ", ".join(rest + failed) or None,
                              "rows": [{"title": i["title"], "label": i["label"]} for i in listed], **shared}),
            "lockScreen": drop({"title": title, "status": subtitle + percent, "detail": ", ".join([t for t in [bytes_text] if t] + failed) or None, **shared}),
            "accessibilityText": f"{title}, {subtitle}" + (f", {state['pct']} percent" if "pct" in state else ""),
        }


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        # A browser that has what it wanted hangs up whenever it likes.
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class RequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_state = None

    def log_message(self, *arguments):
        pass

    def answer(self, status, body=b"", kind="application/json", headers=()):
        if not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Security-Policy", POLICY)
        self.send_header("Cache-Control", "no-store")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def problem(self, status, detail=None, remedy=None, **more):
        body = {"type": "about:blank", "title": "Problem", "status": status, "detail": detail, "remedy": remedy, **more}
        self.answer(status, {key: value for key, value in body.items() if value}, "application/problem+json")

    def do_GET(self):
        self.route()

    do_POST = do_DELETE = do_GET

    def route(self):
        state = self.server_state
        path, _, query = self.path.partition("?")
        state.requests.append(f"{self.command} {self.path}")
        if path == "/" or (PAGES / path[1:]).is_file():
            file = PAGES / (path[1:] or "index.html")
            return self.answer(200, file.read_bytes(), KINDS[file.suffix])
        if re.fullmatch(r"/i/[^/]+/qr\.svg", path):
            return self.answer(200, QR, "image/svg+xml")
        if not path.startswith("/api/v1"):
            return self.problem(404, "There is no such page.")
        role = state.tokens.get((self.headers.get("Authorization") or "").removeprefix("Bearer "))
        if role is None:
            self.drain()
            return self.problem(401, "The server does not know this token.", "Use the address that ferry serve printed.")
        if self.command != "GET" and role != "admin":
            self.drain()
            return self.problem(403, "This token may look, not act.", "Use a token with the role admin.")
        parts = [urllib.parse.unquote(part) for part in path.removeprefix("/api/v1").strip("/").split("/")]
        values = dict(urllib.parse.parse_qsl(query))
        getattr(self, f"{self.command.lower()}_{parts[0] or 'info'}", self.nothing)(parts[1:], values, role)

    def nothing(self, *_):
        self.drain()
        self.problem(404, f"{self.path} is not known.")

    def drain(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length") or 0)) or b"{}")

    # Reading

    def get_info(self, parts, values, role):
        self.answer(200, {**self.server_state.info, "role": role})

    def get_installs(self, parts, values, role):
        state = self.server_state
        if not parts:
            listed = list(state.installs.values()) + state.unfinished + (state.earlier if values.get("all") else [])
            return self.answer(200, {"installs": listed, "lastEventID": f"e-{state.seq}"})
        install = state.installs.get(parts[0])
        if install is None:
            return self.problem(404, f"There is no install {parts[0]}.")
        match parts[1:]:
            case []: self.answer(200, install)
            case ["icon"] if parts[0] in state.icons: self.answer(200, state.icons[parts[0]], "image/png")
            case ["archive"]: self.answer(200, b"PK" + bytes(3_000_000), "application/octet-stream")
            case ["verify"]: self.answer(200, state.verdict)
            case _: self.problem(404, "It has none.")

    def get_sources(self, parts, values, role):
        state = self.server_state
        if not parts:
            return self.answer(200, {"sources": [{"name": name} for name in state.sources]})
        wanted = values.get("search", "").lower()
        apps = [app for app in state.sources.get(parts[0], []) if wanted in (app["name"] + app["identifier"]).lower()]
        self.answer(200, {"apps": apps, "problems": []})

    def get_island(self, parts, values, role):
        self.answer(200, self.server_state.island())

    def get_events(self, parts, values, role):
        state = self.server_state
        if state.refuses_events:
            return self.problem(503, "The server is about to stop.")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Cache-Control", "no-store")
        self.send_header("Connection", "close")
        self.end_headers()
        inbox = queue.Queue()
        with state.lock:
            state.last_ids.append(self.headers.get("Last-Event-ID"))
            last = int((state.last_ids[-1] or "e-0").split("-")[1])
            if last:
                for event in state.log:
                    if event[0] > last:
                        inbox.put(event)
            else:
                inbox.put((state.seq, "state", json.dumps({"installs": list(state.installs.values()), "island": state.island()})))
            state.viewers.append(inbox)
        try:
            while (event := inbox.get()) is not None:
                self.wfile.write(f"id: e-{event[0]}\nevent: {event[1]}\ndata: {event[2]}\n\n".encode())
                self.wfile.flush()
        except OSError:
            pass
        finally:
            with state.lock:
                state.viewers.remove(inbox)
            self.close_connection = True

    # Orders

    def post_hold(self, parts, values, role):
        self.hold_all(True)

    def post_release(self, parts, values, role):
        self.hold_all(False)

    def hold_all(self, held):
        state = self.server_state
        self.drain()
        changed = [i for i in state.installs.values() if "outcome" not in i and i["held"] != held]
        for install in changed:
            state.put(install["id"], kind="held" if held else "released", held=held, bytesPerSecond=None, finishAt=None)
        self.answer(200, {"installs": len(changed)})

    def post_installs(self, parts, values, role):
        state = self.server_state
        body = self.body()
        if parts:
            install = state.installs.get(parts[0])
            if install is None:
                return self.problem(404, f"There is no install {parts[0]}.")
            match parts[1]:
                case "hold": state.put(parts[0], kind="held", held=True, bytesPerSecond=None, finishAt=None)
                case "release": state.put(parts[0], kind="released", held=False)
                case "cancel": state.finish(parts[0], "cancelled", canRetry=True)
                case "retry": state.put(parts[0], kind="stage", outcome=None, finishedAt=None, message=None, remedy=None, failedStage=None, stage="waiting", fraction=0)
                case "link":
                    state.put(parts[0], link={"url": f"{state.url}i/newlink/", "expiresAt": iso(time.time() + 3600)})
            return self.answer(200, install)
        if body.get("url", "").endswith("refused.ipa"):
            return self.problem(422, "refused.ipa cannot be signed.", None, reasons=[
                {"message": "Harbour.app/Harbour is still encrypted by the App Store.", "remedy": "Get a decrypted copy of the app."}])
        id = f"n{len(state.installs) + 1}"
        title = body.get("title") or state.uploads.get(body.get("upload"), {}).get("name") or body.get("app") or body["url"].split("/")[-1]
        install = state.put(id, kind="added", title=title, held=bool(body.get("held")), fraction=0, source=body.get("url"))
        self.answer(201, install, headers=[("Location", f"/api/v1/installs/{id}")])

    def delete_installs(self, parts, values, role):
        self.server_state.put(parts[0], link=None)
        self.answer(204)

    def post_uploads(self, parts, values, role):
        state = self.server_state
        left = int(self.headers.get("Content-Length") or 0)
        received = 0
        while left > 0:
            try:
                piece = self.rfile.read(min(left, 65_536))
            except OSError:
                piece = b""
            if not piece:
                state.broken_uploads += 1
                self.close_connection = True
                return
            left -= len(piece)
            received += len(piece)
            if state.upload_bytes_per_second:
                time.sleep(len(piece) / state.upload_bytes_per_second)
        id = f"u{len(state.uploads) + 1}"
        state.uploads[id] = {"id": id, "name": values["name"], "byteCount": received, "sha256": "0" * 64}
        self.answer(201, state.uploads[id])

    def delete_uploads(self, parts, values, role):
        self.server_state.uploads.pop(parts[0], None)
        self.answer(204)

    def post_plan(self, parts, values, role):
        self.body()
        self.answer(200, self.server_state.plan)


QR = (b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 29 29" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h29v29H0z"/>'
      + b"".join(b'<path d="M%d %dh1v1h-1z"/>' % (x + 4, y + 4) for y in range(21) for x in range(21)
                 if (x * 7 + y * 13 + x * y) % 5 < 2 or (x < 7 and y < 7 and (x in (0, 6) or y in (0, 6) or (1 < x < 5 and 1 < y < 5))))
      + b"</svg>")


def main():
    stand_in = StandIn(8471)
    print(f"{stand_in.url}#token=act")
    apps = [("Harbour", "1.2", (40, 120, 200)), ("Lantern", "2.1", (230, 150, 40)), ("Compass", "0.9", None)]
    while True:
        stand_in.installs.clear()
        for number, (name, version, colour) in enumerate(apps):
            id = f"a{number}"
            if colour:
                stand_in.icons[id] = png(*colour)
            stand_in.put(id, kind="added", title=name, version=version, bundleID=f"com.example.{name.lower()}", hasIcon=bool(colour))
        for number in range(len(apps)):
            id, done = f"a{number}", 0
            while done < 48_000_000:
                if not stand_in.installs[id]["held"]:
                    done += 1_600_000
                    stand_in.download(id, min(done, 48_000_000), 48_000_000, 4_000_000, quiet=False)
                time.sleep(0.4)
            stand_in.put(id, stage="signing", progress=None, bytesPerSecond=None, finishAt=None, fraction=0.75)
            time.sleep(2)
            stand_in.finish(id, "installed", hasArchive=True, location="/srv/apps")
        time.sleep(8)


if __name__ == "__main__":
    main()
