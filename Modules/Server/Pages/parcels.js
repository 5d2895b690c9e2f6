// Files on their way to the server: uploaded one after the other, then planned, then started.

import { get, post, remove, upload } from "./api.js";
import { el, icon, iconButton, setAttribute, setHidden, setText } from "./dom.js";
import { callout, say } from "./dialogs.js";
import { planSummary, planView } from "./plan.js";
import { bytes } from "./words.js";

/** One file: `waiting`, `sending`, `planning`, `ready`, `refused` or `failed`. */
class Parcel {
    state = "waiting";
    uploadID = null;
    plan = null;
    #abort = new AbortController();
    #part = {};

    constructor(file, onRemove) {
        this.file = file;
        const part = this.#part;
        part.name = el("h3", { class: "parcel-name", text: file.name, dir: "auto" });
        part.status = el("p", { class: "quiet-text", text: "Waits for the one before it" });
        part.fill = el("i");
        part.bar = el("div", { class: "bar", role: "progressbar", "aria-label": `Upload of ${file.name}`, "aria-valuemin": "0", "aria-valuemax": "100", hidden: true }, el("span", {}, part.fill));
        part.result = el("div", { class: "parcel-result" });
        part.remove = iconButton("close", `Leave out ${file.name}`, () => onRemove(this));
        this.node = el(
            "li",
            { class: "parcel", "data-state": "waiting" },
            el("div", { class: "parcel-line" }, icon("file"), el("div", { class: "parcel-text" }, part.name, part.status, part.bar), part.remove),
            part.result,
        );
    }

    /** Uploads and plans; never throws. */
    async send({ limit, signs, isOnly, onChange }) {
        try {
            if (limit && this.file.size > limit) {
                throw Object.assign(new Error(`${this.file.name} has ${bytes(this.file.size)}; the server takes ${bytes(limit)}.`), {
                    remedy: "Put it where the server can download it, and give the link.",
                });
            }
            this.#show("sending", `0 of ${bytes(this.file.size)}`);
            onChange();
            const answer = await upload(this.file, {
                signal: this.#abort.signal,
                onProgress: (fraction) => this.#progress(fraction),
            });
            this.uploadID = answer.id;
            if (this.#abort.signal.aborted) return this.discard();
            if (signs) {
                this.#show("planning", "Looks what signing will change…");
                onChange();
                this.plan = await post("plan", { upload: this.uploadID }, { signal: this.#abort.signal });
                this.#showPlan(isOnly);
            } else {
                this.#show("ready", `${bytes(this.file.size)}. It is handed over as it is.`);
            }
        } catch (problem) {
            if (problem.name === "AbortError") return;
            this.#show("failed", "");
            const reasons = problem.reasons ?? [];
            this.#part.result.replaceChildren(
                callout("bad", problem.message, problem.remedy),
                ...reasons.map((reason) => callout("bad", reason.message, reason.remedy)),
            );
        } finally {
            onChange();
        }
    }

    /** Shows why it could not be started. */
    fail(problem) {
        this.#show("failed", "");
        this.#part.result.prepend(
            callout("bad", problem.message, problem.remedy),
            ...(problem.reasons ?? []).map((reason) => callout("bad", reason.message, reason.remedy)),
        );
    }

    /** Stops the upload, and gives back what the server has of it. */
    discard() {
        this.#abort.abort();
        if (this.uploadID) remove(`uploads/${encodeURIComponent(this.uploadID)}`).catch(() => {});
        this.uploadID = null;
    }

    #progress(fraction) {
        const { status, fill, bar } = this.#part;
        fill.style.setProperty("--filled", fraction.toFixed(3));
        setAttribute(bar, "aria-valuenow", Math.floor(fraction * 100));
        setText(status, fraction < 1 ? `${bytes(fraction * this.file.size, this.file.size)}` : "Arrived; the server checks it…");
    }

    #showPlan(isOpen) {
        const app = this.plan.app ?? {};
        const isRefused = (this.plan.refusals?.length ?? 0) > 0;
        if (app.name) setText(this.#part.name, [app.name.replace(/\.app$/, ""), app.version].filter(Boolean).join(" "));
        this.#show(isRefused ? "refused" : "ready", [app.identifier, bytes(this.file.size)].filter(Boolean).join(" · "));
        say(`${app.name ?? this.file.name}: ${planSummary(this.plan)}.`, "planned");
        const summary = el("summary", { text: planSummary(this.plan) });
        this.#part.result.replaceChildren(el("details", { open: isOpen || isRefused }, summary, planView(this.plan)));
    }

    #show(state, words) {
        this.state = state;
        this.node.dataset.state = state;
        setText(this.#part.status, words);
        setHidden(this.#part.bar, state !== "sending");
    }
}

/** All parcels of the page; they stay when the dialog is closed. */
export class Parcels {
    list = [];
    node = el("ul", { class: "parcels", "aria-label": "Files" });
    #isSending = false;
    #onChange;
    #info;

    /** `info()` is what the server said of itself; `onChange` is called when a parcel came, went or moved on. */
    constructor({ info, onChange }) {
        this.#info = info;
        this.#onChange = onChange;
    }

    get ready() {
        return this.list.filter((parcel) => parcel.state === "ready");
    }

    get isBusy() {
        return this.list.some((parcel) => ["waiting", "sending", "planning"].includes(parcel.state));
    }

    add(files) {
        for (const file of files) {
            const parcel = new Parcel(file, (gone) => this.remove(gone));
            this.list.push(parcel);
            this.node.append(parcel.node);
        }
        this.#onChange();
        this.#sendNext();
    }

    remove(parcel) {
        const next = parcel.node.nextElementSibling ?? parcel.node.previousElementSibling;
        parcel.discard();
        this.#drop(parcel);
        (next?.querySelector("button") ?? document.querySelector(".dropzone"))?.focus();
    }

    /** Starts what is ready; gives the installs. */
    async start(options) {
        const started = [];
        for (const parcel of this.ready) {
            try {
                started.push(await post("installs", { upload: parcel.uploadID, ...options }));
                parcel.uploadID = null;
                this.#drop(parcel);
            } catch (problem) {
                parcel.fail(problem);
                this.#onChange();
            }
        }
        return started;
    }

    #drop(parcel) {
        this.list = this.list.filter((other) => other !== parcel);
        parcel.node.remove();
        this.#onChange();
    }

    async #sendNext() {
        if (this.#isSending) return;
        this.#isSending = true;
        for (let next; (next = this.list.find((parcel) => parcel.state === "waiting"));) {
            const info = this.#info();
            await next.send({
                limit: info.limits?.uploadBytes,
                signs: info.signs !== false,
                isOnly: this.list.length === 1,
                onChange: this.#onChange,
            });
        }
        this.#isSending = false;
    }
}

/** The apps of a source that fit a search. */
export const appsOf = (source, search, signal) =>
    get(`sources/${encodeURIComponent(source)}/apps?search=${encodeURIComponent(search)}`, { signal });
