// Server-sent events over `fetch`, for `EventSource` cannot send an Authorization header.

/** How long the server may be silent; it sends a comment every 15 seconds. */
const longestSilence = 45_000;
/** The waits between two tries: doubled from the first to the last. */
const firstWait = 500;
const lastWait = 15_000;
/** A line longer than this is not from our server. */
const longestBuffer = 32 << 20;

/** Reads a stream of events piece by piece, as the HTML standard says (§9.2.6). */
export class EventParser {
    #buffer = "";
    #data = [];
    #type = "";
    #onEvent;
    lastID = "";

    constructor(onEvent) {
        this.#onEvent = onEvent;
    }

    push(text) {
        this.#buffer += text;
        if (this.#buffer.length > longestBuffer) throw new Error("A line of the stream is too long.");
        const lineEnd = /\r\n?|\n/g;
        let start = 0;
        for (let end = lineEnd.exec(this.#buffer); end; end = lineEnd.exec(this.#buffer)) {
            // The other half of a CRLF may be in the next piece.
            if (end[0] === "\r" && lineEnd.lastIndex === this.#buffer.length) break;
            this.#line(this.#buffer.slice(start, end.index));
            start = lineEnd.lastIndex;
        }
        this.#buffer = this.#buffer.slice(start);
    }

    #line(line) {
        if (line === "") return this.#dispatch();
        if (line.startsWith(":")) return;
        const colon = line.indexOf(":");
        const field = colon < 0 ? line : line.slice(0, colon);
        let value = colon < 0 ? "" : line.slice(colon + 1);
        if (value.startsWith(" ")) value = value.slice(1);
        if (field === "data") this.#data.push(value);
        else if (field === "event") this.#type = value;
        else if (field === "id" && !value.includes("\0")) this.lastID = value;
    }

    #dispatch() {
        const data = this.#data;
        const type = this.#type || "message";
        this.#data = [];
        this.#type = "";
        if (data.length > 0) this.#onEvent(type, data.join("\n"));
    }
}

/** Stays connected: goes on after the last event, waits longer each time, and hurries when the network is back. */
export class EventStream {
    #options;
    #lastID = "";
    #failures = 0;
    #running = null;
    #timer = 0;

    /** `open()` gives a fetch's answer for an id; `onEvent`, `onOpen`, `onLost(error)`, `onRefused(error)`. */
    constructor(options) {
        this.#options = options;
        addEventListener("online", () => this.retryNow());
        document.addEventListener("visibilitychange", () => document.hidden || this.retryNow());
    }

    start() {
        this.stop();
        this.#lastID = "";
        this.#failures = 0;
        this.#connect();
    }

    stop() {
        clearTimeout(this.#timer);
        this.#timer = 0;
        this.#running?.abort();
        this.#running = null;
    }

    /** Tries at once, where a try is waited for. */
    retryNow() {
        if (!this.#timer) return;
        clearTimeout(this.#timer);
        this.#timer = 0;
        this.#connect();
    }

    async #connect() {
        const running = new AbortController();
        this.#running = running;
        let silence = 0;
        let failure = null;
        const heard = () => {
            clearTimeout(silence);
            silence = setTimeout(() => running.abort(), longestSilence);
        };
        try {
            heard();
            const response = await this.#options.open(this.#lastID, running.signal);
            const parser = new EventParser((type, data) => {
                this.#lastID = parser.lastID;
                this.#options.onEvent(type, JSON.parse(data));
            });
            parser.lastID = this.#lastID;
            const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
            this.#options.onOpen(response);
            for (;;) {
                const { done, value } = await reader.read();
                if (done) break;
                heard();
                this.#failures = 0;
                parser.push(value);
            }
        } catch (error) {
            failure = error;
            if (error.status === 401 || error.status === 403) {
                if (this.#running === running) this.stop();
                return this.#options.onRefused(error);
            }
        } finally {
            clearTimeout(silence);
            running.abort();
        }
        if (this.#running !== running) return;
        const wait = Math.min(firstWait * 2 ** this.#failures, lastWait) * (0.75 + Math.random() / 2);
        this.#failures += 1;
        this.#options.onLost(failure);
        this.#timer = setTimeout(() => {
            this.#timer = 0;
            this.#connect();
        }, wait);
    }
}
