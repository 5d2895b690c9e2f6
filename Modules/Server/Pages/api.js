// The control API: the token, requests, uploads, and errors as the server tells them.

const root = new URL("api/v1/", document.baseURI);
const storageKey = "ferry.token";

/** Something that did not work: what, where, and what to do. */
export class Problem extends Error {
    constructor({ status = 0, title, detail, remedy, reasons } = {}) {
        super(detail || title || "It did not work.");
        this.status = status;
        this.title = title;
        this.detail = detail;
        this.remedy = remedy;
        this.reasons = Array.isArray(reasons) ? reasons : [];
    }
}

let token = takeToken();
let onRefused = () => {};

/** The token of the address, which leaves the address bar at once, or the one of this tab. */
function takeToken() {
    const fragment = new URLSearchParams(location.hash.slice(1));
    const given = fragment.get("token");
    if (given !== null) {
        history.replaceState(history.state, "", location.pathname + location.search);
        if (given) keep(given);
        return given || null;
    }
    try {
        return sessionStorage.getItem(storageKey);
    } catch {
        return null;
    }
}

function keep(value) {
    try {
        if (value) sessionStorage.setItem(storageKey, value);
        else sessionStorage.removeItem(storageKey);
    } catch {
        // Without storage the token lasts as long as the page.
    }
}

export const hasToken = () => Boolean(token);

export function setToken(value) {
    token = value;
    keep(value);
}

/** Looks for a token in the address once more; true where there was one. */
export function retakeToken() {
    if (!location.hash.includes("token=")) return false;
    token = takeToken();
    return true;
}

/** Calls `handler` with the problem whenever the server does not know the token. */
export function whenRefused(handler) {
    onRefused = handler;
}

/** `api/v1` itself has no slash at its end. */
const address = (path) => (path ? new URL(path, root) : new URL(root.href.replace(/\/$/, "")));
const headers = () => (token ? { Authorization: `Bearer ${token}` } : {});

const nobody = (error) =>
    new Problem({
        title: "Ferry does not answer",
        detail: "Ferry does not answer.",
        remedy: "Look whether `ferry serve` still runs and can be reached from here.",
        cause: error,
    });

const sentences = {
    401: ["The server does not know this token.", "Use the address that `ferry serve` printed when it was started last, or a token of `ferry token add`."],
    403: ["Your token may not do this.", "Use a token with the role admin."],
    404: ["The server does not have it any more.", undefined],
    413: ["It is larger than the server takes.", "Raise the limit where `ferry serve` is started."],
    429: ["The server asks for patience.", "Try again in a moment."],
    503: ["The server is about to stop.", "Try again when it is back."],
};

/** The problem that an answer tells (RFC 9457), or one in our own words. */
function problem(status, body) {
    let told = {};
    try {
        told = JSON.parse(body) ?? {};
    } catch {
        // A proxy in between answers with a page of its own.
    }
    const [detail, remedy] = sentences[status] ?? [`The server answered ${status}.`, undefined];
    const found = new Problem({
        status,
        title: told.title,
        detail: told.detail || (status === 401 || !told.title ? detail : told.title),
        remedy: told.remedy || remedy,
        reasons: told.reasons,
    });
    if (status === 401) onRefused(found);
    return found;
}

/** One request; the answer, or a thrown `Problem`. */
export async function request(method, path, { body, signal, lastEventID } = {}) {
    let response;
    try {
        response = await fetch(address(path), {
            method,
            signal,
            headers: {
                ...headers(),
                ...(body === undefined ? {} : { "Content-Type": "application/json" }),
                ...(lastEventID ? { "Last-Event-ID": lastEventID } : {}),
            },
            body: body === undefined ? undefined : JSON.stringify(body),
            cache: "no-store",
        });
    } catch (error) {
        if (signal?.aborted) throw error;
        throw nobody(error);
    }
    if (!response.ok) throw problem(response.status, await response.text().catch(() => ""));
    return response;
}

async function json(response) {
    const text = await response.text();
    return text ? JSON.parse(text) : {};
}

export const get = async (path, options) => json(await request("GET", path, options));
export const post = async (path, body, options) => json(await request("POST", path, { ...options, body }));
export const remove = async (path) => json(await request("DELETE", path));

/** Sends a file; `onProgress` gets a number from 0 to 1. `fetch` cannot tell how far it is, so this is older. */
export function upload(file, { signal, onProgress }) {
    return new Promise((resolve, reject) => {
        const sending = new XMLHttpRequest();
        sending.open("POST", address("uploads?name=" + encodeURIComponent(file.name)));
        for (const [name, value] of Object.entries(headers())) sending.setRequestHeader(name, value);
        sending.setRequestHeader("Content-Type", "application/octet-stream");
        sending.upload.onprogress = (event) => onProgress(event.lengthComputable ? event.loaded / event.total : 0);
        sending.onload = () => {
            if (sending.status < 200 || sending.status > 299) return reject(problem(sending.status, sending.responseText));
            try {
                resolve(JSON.parse(sending.responseText));
            } catch {
                reject(problem(sending.status, ""));
            }
        };
        sending.onerror = () => reject(nobody());
        sending.onabort = () => reject(new DOMException("The upload was cancelled.", "AbortError"));
        signal.addEventListener("abort", () => sending.abort());
        sending.send(file);
    });
}

/** How much of a file is held in memory before the browser may move it to its disk. */
const partBytes = 8 << 20;

/** A file of the server's; `onProgress` gets a number from 0 to 1. */
export async function fetchFile(path, { signal, onProgress } = {}) {
    const response = await request("GET", path, { signal });
    const length = Number(response.headers.get("Content-Length")) || 0;
    const type = response.headers.get("Content-Type") ?? "application/octet-stream";
    const parts = [];
    let waiting = [];
    let waitingBytes = 0;
    let received = 0;
    for (const reader = response.body.getReader(); ;) {
        const { done, value } = await reader.read();
        if (done) break;
        waiting.push(value);
        waitingBytes += value.length;
        received += value.length;
        if (waitingBytes >= partBytes) {
            parts.push(new Blob(waiting));
            waiting = [];
            waitingBytes = 0;
        }
        if (length > 0) onProgress?.(Math.min(received / length, 1));
    }
    return new Blob([...parts, ...waiting], { type });
}
