// What the server last said: every install by its id, and the island.

import { isFinished } from "./words.js";

/** The keys that an event `progress` carries; one that it leaves out is no longer known. */
const progressKeys = ["fraction", "progress", "bytesPerSecond", "finishAt", "label"];

/** So many installs are listed; of more, those that ended first go. */
const longestList = 1_000;

export class Store extends EventTarget {
    installs = new Map();
    island = null;
    #earlier = new Set();

    /** Takes one event of the stream. */
    take(type, data) {
        switch (type) {
            case "state": {
                const listed = new Map((data.installs ?? []).map((install) => [install.id, install]));
                // What was asked for from the record is not in a state.
                for (const id of this.#earlier) {
                    const known = this.installs.get(id);
                    if (known && !listed.has(id)) listed.set(id, known);
                }
                this.installs = listed;
                this.#tell("all");
                if (data.island) this.#show(data.island);
                break;
            }
            case "fact": {
                const install = data.installObject;
                if (install?.id) {
                    this.installs.set(install.id, install);
                    this.#tell("changed", install.id);
                    if (this.installs.size > longestList) this.#shorten();
                }
                this.#tell("fact", data);
                break;
            }
            case "progress":
                for (const part of data.installs ?? []) {
                    const install = this.installs.get(part.id);
                    if (!install || install.outcome) continue;
                    for (const key of progressKeys) install[key] = part[key];
                    this.#tell("progress", part.id);
                }
                break;
            case "island":
                this.#show(data);
                break;
        }
    }

    /** Takes an install from the answer to an order, which may be ahead of the stream. */
    put(install) {
        if (!install?.id) return;
        this.installs.set(install.id, install);
        this.#tell("changed", install.id);
    }

    /** Takes installs of the record: those that nothing is done for, as of others no events come. */
    putEarlier(installs) {
        for (const install of installs) {
            if (this.installs.has(install.id) || !isFinished(install)) continue;
            this.#earlier.add(install.id);
            this.installs.set(install.id, install);
        }
        this.#tell("all");
    }

    clear() {
        this.installs = new Map();
        this.island = null;
        this.#earlier.clear();
        this.#tell("all");
        this.#tell("island", null);
    }

    #shorten() {
        for (const [id, install] of this.installs) {
            if (this.installs.size <= longestList * 0.9) break;
            if (isFinished(install)) this.installs.delete(id);
        }
        this.#tell("all");
    }

    #show(island) {
        this.island = island;
        this.#tell("island", island);
    }

    #tell(type, detail) {
        this.dispatchEvent(new CustomEvent(type, { detail }));
    }
}
