// The list: rows by id, in two groups, patched at most once a frame.

import { byID, setHidden, setText } from "./dom.js";
import { Row } from "./row.js";
import { bytes, count, isFinished, mood } from "./words.js";

/** From so many installs on there is a field to filter them. */
const filterFrom = 8;

export class InstallList {
    #store;
    #context;
    #act;
    #rows = new Map();
    /** What was said of an install since the last frame: `changed`, or its `progress` alone. */
    #dirty = new Map();
    #isStructureDirty = false;
    #isScheduled = false;
    #filter = "";

    /** `context()` gives the time, what the token may do, and what fetches pictures. */
    constructor(store, { act, context }) {
        this.#store = store;
        this.#act = act;
        this.#context = context;
        store.addEventListener("all", () => this.#schedule(null));
        store.addEventListener("changed", (event) => this.#schedule(event.detail, "changed"));
        store.addEventListener("progress", (event) => this.#schedule(event.detail, "progress"));
        byID("filter").addEventListener("input", (event) => {
            this.#filter = event.target.value.trim().toLowerCase();
            this.#schedule(null);
        });
    }

    row(id) {
        return this.#rows.get(id);
    }

    /** Everything anew: what the token may do has changed, say. */
    refresh() {
        this.#schedule(null);
    }

    /** The install that has the focus, or holds what has it. */
    get focused() {
        const node = document.activeElement?.closest(".install");
        return node ? this.#rows.get(node.id.slice("install-".length)) : undefined;
    }

    /** Moves the focus by so many rows. */
    moveFocus(by) {
        const nodes = [...document.querySelectorAll(".install:not([hidden])")];
        if (nodes.length === 0) return;
        const at = nodes.indexOf(document.activeElement?.closest(".install"));
        const next = at < 0 ? (by > 0 ? 0 : nodes.length - 1) : Math.min(Math.max(at + by, 0), nodes.length - 1);
        nodes[next].focus();
        nodes[next].scrollIntoView({ block: "nearest" });
    }

    /** Once a second: only the words that have times in them. */
    tick(now) {
        for (const row of this.#rows.values()) row.tick(now);
    }

    #schedule(id, what) {
        if (id === null) this.#isStructureDirty = true;
        else if (this.#dirty.get(id) !== "changed") this.#dirty.set(id, what);
        if (this.#isScheduled) return;
        this.#isScheduled = true;
        const draw = () => {
            if (!this.#isScheduled) return;
            this.#isScheduled = false;
            this.#draw();
        };
        requestAnimationFrame(draw);
        // A tab in the background gets no frames, and its title and live region are still read.
        if (document.hidden) setTimeout(draw, 250);
    }

    #draw() {
        const context = this.#context();
        const installs = this.#store.installs;
        const ids = this.#isStructureDirty ? installs.keys() : this.#dirty.keys();
        let mustPlace = this.#isStructureDirty;
        for (const id of ids) {
            const install = installs.get(id);
            if (!install) continue;
            const row = this.#rows.get(id);
            if (!row) {
                const made = new Row(install, this.#act);
                made.update(install, context);
                this.#rows.set(id, made);
                mustPlace = true;
            } else if (!this.#isStructureDirty && this.#dirty.get(id) === "progress") {
                row.progress(context.now);
            } else {
                row.update(install, context);
                if (isFinished(install) !== row.node.classList.contains("ended")) mustPlace = true;
            }
        }
        if (this.#isStructureDirty) {
            for (const [id, row] of this.#rows) {
                if (installs.has(id)) continue;
                row.node.remove();
                this.#rows.delete(id);
            }
        }
        this.#dirty.clear();
        this.#isStructureDirty = false;
        if (mustPlace) this.#place();
        this.#summarise();
    }

    /** Puts the rows into their groups and order, and moves only those that are elsewhere. */
    #place() {
        const rows = [...this.#rows.values()];
        const running = rows.filter((row) => !isFinished(row.install));
        const finished = rows.filter((row) => isFinished(row.install));
        const time = (text) => Date.parse(text) || 0;
        running.sort((a, b) => time(a.install.addedAt) - time(b.install.addedAt));
        finished.sort((a, b) => time(b.install.finishedAt) - time(a.install.finishedAt));
        const focused = document.activeElement;
        arrange(byID("running"), running);
        arrange(byID("finished"), finished);
        // A node that is moved loses the focus.
        if (focused?.isConnected && focused !== document.activeElement) {
            (focused.hidden ? focused.closest(".install") : focused)?.focus({ preventScroll: true });
        }
    }

    #summarise() {
        let running = 0;
        let held = 0;
        let shown = 0;
        let rate = 0;
        const ended = { done: 0, failed: 0, stopped: 0 };
        const visible = { running: 0, finished: 0 };
        for (const row of this.#rows.values()) {
            const install = row.install;
            const isShown = this.#matches(install);
            setHidden(row.node, !isShown);
            if (isShown) shown += 1;
            if (isFinished(install)) {
                ended[mood(install)] += 1;
                if (isShown) visible.finished += 1;
            } else {
                running += 1;
                if (install.held) held += 1;
                else rate += install.bytesPerSecond > 0 ? install.bytesPerSecond : 0;
                if (isShown) visible.running += 1;
            }
        }
        const total = this.#rows.size;
        setHidden(byID("running-group"), visible.running === 0);
        setHidden(byID("finished-group"), visible.finished === 0);
        setHidden(byID("empty"), total > 0 || !this.#context().isLoaded);
        setHidden(byID("sieve"), total < filterFrom && this.#filter === "");
        setText(byID("sieve-count"), this.#filter ? `${shown} of ${total}` : count(total, "install"));
        const parts = [count(running, "app"), held > 0 && `${held} held`, rate > 0 && `${bytes(rate)}/s`];
        setText(byID("running-summary"), parts.filter(Boolean).join(" · "));
        const endings = [
            ended.done > 0 && `${ended.done} done`,
            ended.failed > 0 && `${ended.failed} failed`,
            ended.stopped > 0 && `${ended.stopped} stopped`,
        ];
        setText(byID("finished-summary"), endings.filter(Boolean).join(" · "));
    }

    #matches(install) {
        if (!this.#filter) return true;
        return [install.title, install.bundleID, install.version, install.outcome, install.stage]
            .some((text) => text?.toLowerCase().includes(this.#filter));
    }
}

function arrange(list, rows) {
    let next = list.firstElementChild;
    for (const row of rows) {
        row.node.classList.toggle("ended", isFinished(row.install));
        if (row.node === next) next = next.nextElementSibling;
        else list.insertBefore(row.node, next);
    }
}
