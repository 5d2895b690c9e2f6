// The keyboard: one letter a thing, listed on `?`.

import { byID, el } from "./dom.js";
import { dialog } from "./dialogs.js";

/** Every shortcut with its words, in the order in which they are listed. */
const groups = [
    ["Everywhere", [["n", "Add an app"], ["p", "Hold or release everything"], ["/", "Filter the installs"], ["?", "This list"], ["Esc", "Close, or make the island compact"]]],
    ["On an install", [["j", "Next"], ["k", "The one before"], ["Enter", "Details"], ["h", "Hold or release"], ["x", "Stop"], ["r", "Try again"], ["s", "Save the signed archive"], ["l", "Link and QR code"]]],
    ["The island", [["1", "Compact"], ["2", "Minimal"], ["3", "Expanded"], ["4", "Lock screen"]]],
];

const storageKey = "ferry.keys";
let areOn = read();

function read() {
    try {
        return localStorage.getItem(storageKey) !== "off";
    } catch {
        return true;
    }
}

/** Who speaks to the machine instead of typing must be able to switch single letters off (WCAG 2.2, 2.1.4). */
function set(on) {
    areOn = on;
    try {
        localStorage.setItem(storageKey, on ? "on" : "off");
    } catch {
        // Then it lasts as long as the page.
    }
}

export function listKeys() {
    const body = groups.map(([title, keys]) =>
        el(
            "section",
            { class: "key-group" },
            el("h3", { text: title }),
            el("dl", {}, ...keys.flatMap(([key, words]) => [el("dt", {}, el("kbd", { text: key })), el("dd", { text: words })])),
        ),
    );
    const box = el("input", { type: "checkbox", id: "keys-on", onchange: (event) => set(event.target.checked) });
    box.checked = areOn;
    const choice = el("label", { class: "check" }, box, el("span", { text: "Single letters do something" }));
    return dialog({ title: "Keyboard", body: [el("div", { class: "key-groups" }, ...body)], actions: [choice], size: "wide" });
}

/** Listens to keys that nobody else wants; `does` has a function for each name. */
export function listen(does) {
    const forms = { 1: "compact", 2: "minimal", 3: "expanded", 4: "lock" };
    const onInstall = { h: "hold", x: "cancel", r: "retry", s: "archive", l: "link" };
    document.addEventListener("keydown", (event) => {
        if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.defaultPrevented) return;
        if (document.querySelector("dialog[open]")) return;
        const target = event.target;
        const isTyping = target.closest("input, textarea, select, [contenteditable]") !== null;
        if (event.key === "Escape") {
            if (isTyping) return target.blur();
            return does.collapse();
        }
        if (isTyping || (!areOn && event.key.length === 1)) return;
        const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
        let handled = true;
        if (key === "n") does.add();
        else if (key === "p") does.holdAll();
        else if (key === "/") byID("sieve").hidden || byID("filter").focus();
        else if (key === "?") listKeys();
        else if (key === "j" || (key === "ArrowDown" && target.classList.contains("install"))) does.move(1);
        else if (key === "k" || (key === "ArrowUp" && target.classList.contains("install"))) does.move(-1);
        else if (key in forms) does.form(forms[key]);
        else if (key === "Enter" && target.classList.contains("install")) does.act("details");
        else if (key in onInstall) does.act(onInstall[key]);
        else handled = false;
        if (handled) event.preventDefault();
    });
}
