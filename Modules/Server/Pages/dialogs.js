// Dialogs, short messages, and what is said to those who listen.

import { button, byID, el, icon, iconButton, setText } from "./dom.js";

/** A dialog with a heading and a close button; it is taken from the page when it is closed. */
export function dialog({ title, body, actions = [], size = "", onClose, mayClose = true }) {
    const headingID = `heading-${Math.random().toString(36).slice(2)}`;
    const close = mayClose && iconButton("close", "Close", () => node.close());
    const node = el(
        "dialog",
        { class: `dialog ${size}`, "aria-labelledby": headingID },
        el("header", { class: "dialog-head" }, el("h2", { id: headingID, text: title, tabindex: "-1" }), close),
        el("div", { class: "dialog-body" }, ...body),
        actions.length > 0 && el("footer", { class: "dialog-foot" }, ...actions),
    );
    const before = document.activeElement;
    node.addEventListener("cancel", (event) => mayClose || event.preventDefault());
    node.addEventListener("close", () => {
        onClose?.();
        speakIn([...document.querySelectorAll("dialog[open]")].at(-1) ?? document.body);
        node.remove();
        if (before?.isConnected && !before.hidden) before.focus({ preventScroll: true });
    });
    // A press beside it closes it; one that began in a field and ended outside does not.
    node.addEventListener("pointerdown", (event) => {
        if (event.target === node && mayClose) node.close();
    });
    document.body.append(node);
    node.showModal();
    speakIn(node);
    return node;
}

/** A dialog silences all that is outside it, so what is said moves into it. */
function speakIn(node) {
    node.append(byID("said"), byID("toasts"));
}

/** Asks before something that cannot be taken back. */
export function ask({ title, text, yes, no }) {
    return new Promise((resolve) => {
        let answer = false;
        const stay = button(null, no, () => node.close());
        const go = button(null, yes, () => {
            answer = true;
            node.close();
        }, "danger");
        const node = dialog({
            title,
            body: [el("p", { text })],
            actions: [stay, go],
            size: "small",
            onClose: () => resolve(answer),
        });
        stay.focus();
    });
}

/** How long a short message stays; one with a remedy stays until it is closed. */
const toastMilliseconds = 6_000;

/** A short message at the edge of the page. */
export function toast(text, { remedy, kind = "plain" } = {}) {
    const node = el(
        "div",
        { class: `toast ${kind}` },
        icon(kind === "bad" ? "warning" : "check"),
        el("div", {}, el("p", { text, dir: "auto" }), remedy && el("p", { class: "remedy", text: remedy, dir: "auto" })),
        iconButton("close", "Close the message", () => node.remove()),
    );
    byID("toasts").append(node);
    if (kind !== "bad") setTimeout(() => node.remove(), toastMilliseconds);
    while (byID("toasts").children.length > 3) byID("toasts").firstElementChild.remove();
}

/** Tells a problem: what happened, and what to do. */
export function tell(problem) {
    if (problem?.name === "AbortError" || problem?.status === 401) return;
    const reasons = (problem.reasons ?? []).map((reason) => reason.message).join(" ");
    toast([problem.message, reasons].filter(Boolean).join(" "), { remedy: problem.remedy, kind: "bad" });
}

/** How long facts are gathered before they are said, so that a batch is one sentence. */
const gatherMilliseconds = 900;
let gathered = [];

/** Says a fact to screen readers; many at once are counted, not listed. */
export function say(sentence, kind) {
    gathered.push({ sentence, kind });
    if (gathered.length > 1) return;
    setTimeout(() => {
        const facts = gathered;
        gathered = [];
        if (facts.length <= 3) return setText(byID("said"), facts.map((fact) => fact.sentence).join(" "));
        const counts = new Map();
        for (const { kind } of facts) counts.set(kind, (counts.get(kind) ?? 0) + 1);
        setText(byID("said"), [...counts].map(([kind, number]) => `${number} ${kind}`).join(", ") + ".");
    }, gatherMilliseconds);
}

/** A few words of explanation with a sign: `bad`, `warn`, `good` or `plain`. */
export function callout(kind, text, remedy) {
    const picture = { bad: "warning", warn: "warning", good: "check", plain: "note" }[kind];
    return el(
        "div",
        { class: `callout ${kind}` },
        icon(picture),
        el("div", {}, el("p", { text, dir: "auto" }), remedy && el("p", { class: "remedy", text: remedy, dir: "auto" })),
    );
}
