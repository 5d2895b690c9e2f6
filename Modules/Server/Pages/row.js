// One install in the list: made once, then patched.

import { el, icon, iconButton, setAttribute, setHidden, setIcon, setText } from "./dom.js";
import { ago, bytes, colour, initial, isFinished, mood, stageWords, timeLeft } from "./words.js";

/** The parts of a whole install that each stage is, as the pipeline counts them. */
const parts = [
    { stage: "downloading", from: 0, to: 0.7 },
    { stage: "signing", from: 0.7, to: 0.9 },
    { stage: "installing", from: 0.9, to: 1 },
];

/** So many notes stand below an install, the newest; the others are in its details. */
const shownNotes = 2;

export class Row {
    node;
    install;
    #parts = {};
    #iconID = null;
    #act;

    /** `act(verb, install, button)` does what a button asks for. */
    constructor(install, act) {
        this.#act = act;
        this.node = this.#build(install.id);
        this.update(install);
    }

    #build(id) {
        const part = this.#parts;
        const titleID = `title-${id}`;
        const order = (verb, picture) => {
            const node = iconButton(picture, verb, () => this.#act(verb, this.install, node));
            node.dataset.verb = verb;
            return node;
        };
        part.letter = el("span", { class: "letter", "aria-hidden": "true" });
        part.image = el("img", { alt: "", hidden: true, width: "44", height: "44", decoding: "async" });
        part.title = el("bdi", {});
        part.version = el("span", { class: "version" });
        part.heading = el("h3", { class: "install-title", id: titleID }, part.title, part.version);
        part.label = el("span", { class: "install-label" });
        part.fills = parts.map(() => el("i"));
        part.bar = el(
            "div",
            { class: "bar", role: "progressbar", "aria-labelledby": titleID, "aria-valuemin": "0", "aria-valuemax": "100" },
            ...parts.map(({ stage }, index) => el("span", { class: `bar-${stage}` }, part.fills[index])),
        );
        part.status = el("p", { class: "install-status" });
        part.notes = el("div", { class: "install-notes" });
        part.message = el("p", { class: "message", dir: "auto" });
        part.remedy = el("p", { class: "remedy", dir: "auto" });
        part.error = el("div", { class: "install-error", hidden: true }, part.message, part.remedy);
        part.hold = order("hold", "pause");
        part.retry = order("retry", "retry");
        part.link = order("link", "qr");
        part.archive = order("archive", "save");
        part.cancel = order("cancel", "close");
        part.details = order("details", "chevron");
        part.details.setAttribute("aria-expanded", "false");
        part.details.setAttribute("aria-controls", `details-${id}`);
        part.more = el("div", { class: "install-details", id: `details-${id}`, hidden: true });
        return el(
            "li",
            { class: "install", id: `install-${id}`, tabindex: "-1", "aria-labelledby": titleID },
            el("div", { class: "install-icon" }, part.letter, part.image),
            el(
                "div",
                { class: "install-body" },
                el("div", { class: "install-line" }, part.heading, part.label),
                part.bar,
                part.status,
                part.notes,
                part.error,
            ),
            el(
                "div",
                { class: "install-actions" },
                part.retry,
                part.link,
                part.archive,
                part.hold,
                part.cancel,
                part.details,
            ),
            part.more,
        );
    }

    /** The details' place, and whether they are open. */
    get details() {
        return this.#parts.more;
    }

    toggleDetails() {
        const { more, details } = this.#parts;
        more.hidden = !more.hidden;
        details.setAttribute("aria-expanded", String(!more.hidden));
        return !more.hidden;
    }

    /** Writes what is other than it was; `context` has the time, what the token may do, and what fetches pictures. */
    update(install, context = {}) {
        this.install = install;
        const part = this.#parts;
        const title = install.title || install.bundleID || "App";
        const state = mood(install);
        setAttribute(this.node, "data-mood", state);
        setAttribute(this.node, "data-stage", install.stage);
        setText(part.title, title);
        setText(part.version, install.version ?? "");
        this.progress(context.now ?? Date.now());
        this.#showNotes(install.notes ?? []);
        setHidden(part.error, install.outcome !== "failed");
        setText(part.message, install.message ?? "");
        setText(part.remedy, install.remedy ?? "");
        this.#showButtons(install, title, context.mayAct !== false);
        this.#showIcon(install, title, context.icons);
    }

    /** Writes only how far it is: what changes four times a second. */
    progress(now) {
        this.#showLabel(this.install);
        this.#showBar(this.install, mood(this.install));
        this.tick(now);
    }

    #showLabel(install) {
        const { label } = this.#parts;
        // Once it has ended the line below says it, and a sign is enough here.
        const text = isFinished(install) ? "" : install.label ?? "";
        setText(label, text);
    }

    #showBar(install, state) {
        const { bar, fills } = this.#parts;
        setHidden(bar, isFinished(install));
        if (isFinished(install)) return;
        const known = Number.isFinite(install.fraction);
        const fraction = known ? Math.min(Math.max(install.fraction, 0), 1) : 0;
        parts.forEach(({ stage, from, to }, index) => {
            const filled = Math.min(Math.max((fraction - from) / (to - from), 0), 1);
            fills[index].style.setProperty("--filled", filled.toFixed(3));
            const isAtWork = state === "running" && install.stage === stage;
            const isMeasured = Boolean(install.progress?.total);
            setAttribute(fills[index].parentNode, "data-busy", isAtWork && !isMeasured);
        });
        setAttribute(bar, "aria-valuenow", known ? Math.round(fraction * 100) : null);
        const percent = install.label?.endsWith("%") ? `, ${install.label}` : "";
        setAttribute(bar, "aria-valuetext", stageWords(install) + percent);
    }

    /** The line of words, which has times in it. */
    tick(now) {
        const install = this.install;
        setText(this.#parts.status, statusParts(install, now).filter(Boolean).join(" · "));
    }

    #showNotes(all) {
        const { notes: place } = this.#parts;
        // What is tried again and again says the same each time.
        const notes = [...new Set(all)];
        const shown = notes.slice(-shownNotes);
        const key = JSON.stringify([shown, notes.length]);
        if (place.dataset.key === key) return;
        place.dataset.key = key;
        const lines = shown.map((note) => el("p", { class: "note" }, icon("warning"), el("span", { text: note, dir: "auto" })));
        const hidden = notes.length - shown.length;
        const words = hidden === 1 ? "1 earlier note is in the details." : `${hidden} earlier notes are in the details.`;
        if (hidden > 0) lines.unshift(el("p", { class: "note quiet-text", text: words }));
        place.replaceChildren(...lines);
    }

    #showButtons(install, title, mayAct) {
        const part = this.#parts;
        const ended = isFinished(install);
        const orders = [
            [part.hold, mayAct && !ended, install.held ? `Release ${title}` : `Hold ${title}`, install.held ? "play" : "pause"],
            [part.cancel, mayAct && !ended, `Stop ${title}`],
            [part.retry, mayAct && ended && Boolean(install.canRetry), `Try ${title} again`],
            [part.link, Boolean(install.link), `Link and QR code for ${title}`],
            [part.archive, ended && Boolean(install.hasArchive), `Save the signed archive of ${title}`],
            [part.details, true, `Details of ${title}`],
        ];
        for (const [node, isShown, label, picture] of orders) {
            setHidden(node, !isShown);
            setAttribute(node, "aria-label", label);
            setAttribute(node, "title", label);
            if (picture) setIcon(node, picture);
        }
    }

    #showIcon(install, title, icons) {
        const { letter, image } = this.#parts;
        setText(letter, initial(title));
        setAttribute(letter, "data-colour", colour(install.bundleID ?? title));
        if (!install.hasIcon || !icons || this.#iconID === install.id) return;
        this.#iconID = install.id;
        icons(install.id, this.node, (url) => {
            image.src = url;
            image.onload = () => {
                image.hidden = false;
                letter.hidden = true;
            };
        });
    }
}

/** The words of the line below the bar. */
function statusParts(install, now) {
    if (isFinished(install)) {
        // Where it is now is a path, often a long one: it stands in the details.
        return [stageWords(install), ago(Date.parse(install.finishedAt), now)];
    }
    const step = install.step ? `${stageWords(install)}: ${install.step}` : stageWords(install);
    const progress = install.progress;
    const counted = progress?.unit === "bytes" ? bytes(progress.completed, progress.total) : "";
    if (install.held) return [step, counted];
    const rate = install.bytesPerSecond > 0 ? `${bytes(install.bytesPerSecond)}/s` : "";
    const left = install.finishAt ? timeLeft((Date.parse(install.finishAt) - now) / 1000) : "";
    return [step, counted, rate, left];
}
