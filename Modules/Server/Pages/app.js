// The dashboard: puts its parts together.

import * as api from "./api.js";
import { AddDialog } from "./add.js";
import { fillDetails, showLink } from "./details.js";
import { ask, callout, dialog, say, tell, toast } from "./dialogs.js";
import { button, byID, el, setAttribute, setHidden, setIcon, setText } from "./dom.js";
import { EventStream } from "./events.js";
import { InstallList } from "./installs.js";
import { Phone } from "./island.js";
import { listen, listKeys } from "./keys.js";
import { Store } from "./store.js";

/** A connection that is back so soon was never worth a word. */
const quietMilliseconds = 1_200;

const store = new Store();
let info = {};
let isLoaded = false;
/** How far the server's clock is ahead of ours, in milliseconds. */
let clockAhead = 0;
const serverNow = () => Date.now() + clockAhead;
const mayAct = () => info.role === "admin";

// MARK: Orders

async function order(path, install) {
    try {
        const answer = await api.post(path);
        const known = store.installs.get(answer.id);
        // The stream may have been quicker, and told how it ended.
        if (install && answer.id && (path.endsWith("/retry") || !known?.outcome || answer.outcome)) store.put(answer);
    } catch (problem) {
        tell(problem);
    }
}

const holdAll = () => order("hold");
const releaseAll = () => order("release");

async function act(verb, install, node) {
    const path = `installs/${encodeURIComponent(install.id)}`;
    const title = install.title || "App";
    switch (verb) {
        case "hold":
            return order(`${path}/${install.held ? "release" : "hold"}`, install);
        case "retry":
            return order(`${path}/retry`, install);
        case "cancel": {
            const isSure = await ask({
                title: `Stop ${title}?`,
                text: "What is there of it so far is thrown away. It can be tried again later, from the beginning.",
                yes: "Stop it",
                no: "Let it go on",
            });
            return isSure ? order(`${path}/cancel`, install) : undefined;
        }
        case "link":
            return showLink(install, { mayAct: mayAct(), onChange: (changed) => store.put(changed) });
        case "archive":
            return save(install, node);
        case "details": {
            const row = list.row(install.id);
            if (row.toggleDetails()) details(row, install);
        }
    }
}

function details(row, install) {
    const canLink = mayAct() && info.target?.startsWith("ota");
    fillDetails(row.details, install, { canLink, onLink: (changed) => store.put(changed) });
}

/** The signed archive to the reader's disk. */
async function save(install, node) {
    setAttribute(node, "aria-busy", "true");
    node.disabled = true;
    try {
        const file = await api.fetchFile(`installs/${encodeURIComponent(install.id)}/archive`, {
            onProgress: (fraction) => node.style.setProperty("--filled", fraction.toFixed(3)),
        });
        const name = [install.title, install.version].filter(Boolean).join(" ").replace(/[/\\:\u0000-\u001f]/g, "-");
        const address = URL.createObjectURL(file);
        el("a", { href: address, download: `${name || "App"}.ipa` }).click();
        setTimeout(() => URL.revokeObjectURL(address), 60_000);
    } catch (problem) {
        tell(problem);
    } finally {
        node.disabled = false;
        setAttribute(node, "aria-busy", null);
        node.style.removeProperty("--filled");
    }
}

// MARK: Pictures

/** Pictures by install: each is fetched once, and only when its row comes into view. */
const pictures = new Map();
const waitingForView = new WeakMap();
const viewer = new IntersectionObserver((entries) => {
    for (const { isIntersecting, target } of entries) {
        if (!isIntersecting) continue;
        viewer.unobserve(target);
        waitingForView.get(target)?.();
        waitingForView.delete(target);
    }
}, { rootMargin: "200px" });

function loadPicture(id, node, show) {
    waitingForView.set(node, async () => {
        try {
            if (!pictures.has(id)) {
                pictures.set(id, api.fetchFile(`installs/${encodeURIComponent(id)}/icon`).then(URL.createObjectURL));
            }
            show(await pictures.get(id));
        } catch {
            pictures.delete(id);
        }
    });
    viewer.observe(node);
}

// MARK: Parts

const list = new InstallList(store, {
    act,
    context: () => ({ now: serverNow(), mayAct: mayAct(), icons: loadPicture, isLoaded }),
});
const phone = new Phone({ hold: holdAll, release: releaseAll, mayAct });
const add = new AddDialog({
    info: () => info,
    onStarted: (installs) => {
        for (const install of installs) if (!store.installs.has(install.id)) store.put(install);
        requestAnimationFrame(() => list.row(installs[0]?.id)?.node.scrollIntoView({ block: "nearest" }));
    },
});

store.addEventListener("island", ({ detail: island }) => {
    phone.update(island);
    phone.tick(Date.now(), serverNow());
    const label = island?.compactTrailing;
    document.title = label ? `${label} · Ferry` : "Ferry";
    const state = island?.contentState ?? {};
    const canHold = mayAct() && (state.count ?? 0) > 0;
    setHidden(byID("hold-all"), !canHold);
    setText(byID("hold-all").querySelector("span"), state.held ? "Release all" : "Hold all");
    // On a small screen there is no room for the word.
    setAttribute(byID("hold-all"), "aria-label", state.held ? "Release all" : "Hold all");
    setIcon(byID("hold-all"), state.held ? "play" : "pause");
});

store.addEventListener("changed", ({ detail: id }) => {
    const row = list.row(id);
    if (row && !row.details.hidden) details(row, store.installs.get(id));
});

/** Facts in a sentence; progress is never said. */
store.addEventListener("fact", ({ detail: fact }) => {
    const title = fact.title ?? "An app";
    switch (fact.kind) {
        case "added": return say(`${title} was added.`, "added");
        case "held": return say(`${title} is paused.`, "paused");
        case "released": return say(`${title} goes on.`, "released");
        case "finished":
            if (fact.outcome === "failed") return say(`${title} failed: ${fact.message ?? ""}`, "failed");
            return fact.outcome === "cancelled" ? say(`${title} was stopped.`, "stopped") : say(`${title} is done.`, "done");
        case "reporterDetached":
            return toast(`The reporter ${fact.reporter} has stopped.`, { remedy: fact.reason, kind: "bad" });
    }
});

// MARK: The connection

const outdated = "What you see may be out of date.";
let quiet = 0;
const stream = new EventStream({
    open: (lastID, signal) => openStream(lastID, signal),
    onOpen: (response) => {
        const date = Date.parse(response.headers.get("Date") ?? "");
        // The header has whole seconds; less than two is no difference.
        const ahead = date + 500 - Date.now();
        clockAhead = Math.abs(ahead) > 2_000 ? ahead : 0;
        clearTimeout(quiet);
        quiet = 0;
        setHidden(byID("banner"), true);
        phone.setStale(false);
        document.body.classList.remove("lost");
    },
    onEvent: (type, data) => {
        store.take(type, data);
        if (type !== "state" || isLoaded) return;
        isLoaded = true;
        setHidden(byID("earlier"), false);
        list.refresh();
        // What an earlier process left undone is in the record alone. Without it the rest is as good.
        api.get("installs").then((answer) => store.putEarlier(answer.installs ?? []), () => {});
    },
    onLost: (error) => {
        // An answer that is none of ours says more than that there is no connection.
        const told = error?.status > 0 ? error.message : "The connection to Ferry is lost.";
        if (!byID("banner").hidden) setText(byID("banner-text"), `${told} ${outdated}`);
        quiet ||= setTimeout(() => {
            setText(byID("banner-text"), `${told} ${outdated}`);
            setHidden(byID("banner"), false);
            phone.setStale(true);
            document.body.classList.add("lost");
        }, quietMilliseconds);
    },
    onRefused: (problem) => askForToken(problem),
});

async function openStream(lastID, signal) {
    if (!isLoaded || !info.role) await learn();
    return api.request("GET", "events", { signal, lastEventID: lastID });
}

/** What the server is, and what the token may do. */
async function learn() {
    info = await api.get("");
    const places = { ota: "Over the air", device: "To a device" };
    const target = info.target ?? "";
    const path = target.startsWith("folder:") ? target.slice("folder:".length) : null;
    const place = places[target.split(":")[0]];
    setText(byID("target"), [path ? `To ${path}` : place ?? target, !mayAct() && "view only"].filter(Boolean).join(" · "));
    setAttribute(byID("target"), "title", `Ferry ${info.version ?? ""}`.trim());
    document.body.classList.toggle("viewer", !mayAct());
    setHidden(byID("add"), !mayAct());
    list.refresh();
}

// MARK: The token

let tokenDialog = null;

function askForToken(problem) {
    stream.stop();
    clearTimeout(quiet);
    quiet = 0;
    setHidden(byID("banner"), true);
    if (tokenDialog) return;
    api.setToken(null);
    const field = el("input", { id: "token", type: "password", autocomplete: "off", spellcheck: "false", dir: "ltr", "aria-describedby": "token-hint" });
    const enter = () => {
        const value = field.value.trim();
        if (!value) return field.focus();
        // The whole address may be pasted, too.
        api.setToken(value.includes("token=") ? decodeURIComponent(value.split("token=").at(-1)) : value);
        tokenDialog.close();
        begin();
    };
    field.addEventListener("keydown", (event) => event.key === "Enter" && enter());
    tokenDialog = dialog({
        title: "Who is there?",
        body: [
            problem && callout("bad", problem.message, problem.remedy),
            el("div", { class: "field" },
                el("label", { for: "token", text: "Token" }),
                field,
                el("p", { class: "quiet-text", id: "token-hint", text: "ferry serve prints an address with a token when it starts; ferry token add makes one that lasts. It stays in this tab alone." })),
        ].filter(Boolean),
        actions: [button(null, "Go on", enter, "primary")],
        size: "small",
        mayClose: false,
        onClose: () => (tokenDialog = null),
    });
    field.focus();
}

function begin() {
    if (!api.hasToken()) return askForToken();
    isLoaded = false;
    info = {};
    stream.start();
}

api.whenRefused((problem) => askForToken(problem));
addEventListener("hashchange", () => {
    if (!api.retakeToken()) return;
    tokenDialog?.close();
    store.clear();
    begin();
});

// MARK: What is pressed and dropped

byID("add").addEventListener("click", () => add.open());
byID("help").addEventListener("click", () => listKeys());
byID("banner-retry").addEventListener("click", () => stream.retryNow());
byID("hold-all").addEventListener("click", () => toggleAll());
for (const node of document.querySelectorAll("[data-add]")) node.addEventListener("click", () => add.open(node.dataset.add));

function toggleAll() {
    if (!mayAct()) return;
    return store.island?.contentState?.held ? releaseAll() : holdAll();
}

byID("earlier").addEventListener("click", async () => {
    try {
        const answer = await api.get("installs?all=true");
        const before = store.installs.size;
        store.putEarlier(answer.installs ?? []);
        setHidden(byID("earlier"), true);
        if (store.installs.size === before) toast("There are no earlier ones.");
    } catch (problem) {
        tell(problem);
    }
});

byID("phone-toggle").addEventListener("click", () => {
    const isOpen = document.body.classList.toggle("phone-away");
    byID("phone-toggle").setAttribute("aria-expanded", String(!isOpen));
});

listen({
    add: () => mayAct() && add.open(),
    holdAll: toggleAll,
    collapse: () => phone.form === "expanded" && phone.show("compact"),
    form: (form) => phone.show(form),
    move: (by) => list.moveFocus(by),
    act: (verb) => {
        // A key does what a button does that is there to be pressed.
        const button = list.focused?.node.querySelector(`[data-verb="${verb}"]`);
        if (button && !button.hidden && !button.disabled) button.click();
    },
});

addEventListener("beforeunload", (event) => {
    if (add.isBusy) event.preventDefault();
});

let dragDepth = 0;
const hasFiles = (event) => mayAct() && event.dataTransfer?.types.includes("Files");
addEventListener("dragenter", (event) => {
    if (!hasFiles(event)) return;
    dragDepth += 1;
    setHidden(byID("drop"), false);
});
addEventListener("dragleave", () => {
    dragDepth = Math.max(0, dragDepth - 1);
    if (dragDepth === 0) setHidden(byID("drop"), true);
});
addEventListener("dragover", (event) => event.preventDefault());
addEventListener("drop", (event) => {
    event.preventDefault();
    dragDepth = 0;
    setHidden(byID("drop"), true);
    if (hasFiles(event) && event.dataTransfer.files.length > 0) add.addFiles([...event.dataTransfer.files]);
});

setInterval(() => {
    const now = serverNow();
    list.tick(now);
    phone.tick(Date.now(), now);
}, 1_000);

phone.update(null);
begin();
