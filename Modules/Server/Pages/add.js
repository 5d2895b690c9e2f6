// Adding apps: a file, a link, or an app of a source.

import { get, post } from "./api.js";
import { button, byID, el, icon, setHidden, setText } from "./dom.js";
import { callout, dialog, tell } from "./dialogs.js";
import { appsOf, Parcels } from "./parcels.js";
import { bytes, colour, count, initial } from "./words.js";

const ways = [
    { id: "file", label: "File", picture: "file" },
    { id: "link", label: "Link", picture: "link" },
    { id: "source", label: "Source", picture: "list" },
];
/** How long typing may pause before the source is asked. */
const typingPause = 250;
/** So many apps of a source are listed; a search finds the others. */
const listedApps = 100;

export class AddDialog {
    #info;
    #onStarted;
    #node = null;
    #way = "file";
    #start = null;
    #startHeld = null;
    #parcels;

    /** `info()` is what the server said of itself; `onStarted(installs)` gets what was added. */
    constructor({ info, onStarted }) {
        this.#info = info;
        this.#onStarted = onStarted;
        this.#parcels = new Parcels({ info, onChange: () => this.#refresh() });
    }

    /** Whether a file is on its way. */
    get isBusy() {
        return this.#parcels.isBusy;
    }

    /** Takes files that were dropped or chosen. */
    addFiles(files) {
        this.open("file");
        this.#parcels.add(files);
    }

    open(way = this.#way) {
        if (this.#node) return this.#choose(way);
        this.#startHeld = el("input", { type: "checkbox", id: "start-held" });
        this.#start = button(null, "Start", () => this.#submit(), "primary");
        this.#node = dialog({
            title: "Add app",
            body: [this.#tabs(), ...ways.map(({ id }) => this.#panel(id))],
            actions: [
                el("label", { class: "check" }, this.#startHeld, el("span", { text: "Hold it at first" })),
                this.#start,
            ],
            size: "wide",
            onClose: () => {
                this.#node = null;
                this.#refresh();
            },
        });
        this.#choose(way);
    }

    // MARK: The ways

    #tabs() {
        const tabs = el("div", { class: "segments", role: "tablist", "aria-label": "Where the app comes from" });
        for (const { id, label, picture } of ways) {
            const tab = el("button", { type: "button", role: "tab", id: `way-${id}`, "aria-controls": `panel-${id}` }, icon(picture), el("span", { text: label }));
            tab.addEventListener("click", () => this.#choose(id));
            tabs.append(tab);
        }
        tabs.addEventListener("keydown", (event) => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!step) return;
            event.preventDefault();
            const direction = getComputedStyle(tabs).direction === "rtl" ? -step : step;
            const at = ways.findIndex(({ id }) => id === this.#way);
            this.#choose(ways[(at + direction + ways.length) % ways.length].id);
            byID(`way-${this.#way}`).focus();
        });
        return tabs;
    }

    #panel(id) {
        const content = { file: () => this.#filePanel(), link: () => this.#linkPanel(), source: () => this.#sourcePanel() }[id]();
        return el("div", { class: "panel", role: "tabpanel", id: `panel-${id}`, "aria-labelledby": `way-${id}` }, ...content);
    }

    #choose(way) {
        this.#way = way;
        for (const { id } of ways) {
            const tab = byID(`way-${id}`);
            tab.setAttribute("aria-selected", String(id === way));
            tab.tabIndex = id === way ? 0 : -1;
            setHidden(byID(`panel-${id}`), id !== way);
        }
        if (way === "link") byID("link-url").focus();
        if (way === "file") this.#node.querySelector(".dropzone").focus();
        if (way === "source") this.#loadSources();
        this.#refresh();
    }

    #filePanel() {
        const input = el("input", { type: "file", accept: ".ipa,.tipa,.zip,application/octet-stream", multiple: true, class: "unseen", tabindex: "-1", "aria-hidden": "true", id: "file-input" });
        input.addEventListener("change", () => {
            const files = [...input.files];
            input.value = "";
            if (files.length > 0) this.#parcels.add(files);
        });
        const limit = this.#info().limits?.uploadBytes;
        const zone = el(
            "button",
            { type: "button", class: "dropzone", onclick: () => input.click() },
            icon("file"),
            el("span", { class: "dropzone-title", text: "Choose archives, or drop them here" }),
            el("span", { class: "quiet-text", text: limit ? `.ipa, up to ${bytes(limit)} each` : ".ipa" }),
        );
        return [zone, input, this.#parcels.node];
    }

    #linkPanel() {
        const field = (id, label, attributes, hint) =>
            el("div", { class: "field" }, el("label", { for: id, text: label }), el("input", { id, autocomplete: "off", spellcheck: "false", ...attributes }), hint && el("p", { class: "quiet-text", id: `${id}-hint`, text: hint }));
        const url = field("link-url", "Address of the archive", { type: "url", placeholder: "https://example.com/App.ipa", "aria-describedby": "link-url-hint", dir: "ltr" },
            "The server downloads it. What signing changes is checked when it is there; if something stands in the way, the install says what.");
        const panel = [
            url,
            el(
                "details",
                { class: "more-fields" },
                el("summary", { text: "Name and checksum" }),
                field("link-title", "Name until the app says its own", { type: "text" }),
                field("link-sha256", "SHA-256 that it must have", { type: "text", placeholder: "64 hexadecimal digits", dir: "ltr" }),
            ),
            el("div", { id: "link-result" }),
        ];
        url.querySelector("input").addEventListener("keydown", (event) => {
            if (event.key === "Enter") this.#submit();
        });
        url.querySelector("input").addEventListener("input", () => this.#refresh());
        return panel;
    }

    // MARK: A source

    #sourcePanel() {
        const select = el("select", { id: "source-name" });
        const search = el("input", { id: "source-search", type: "search", placeholder: "Name or identifier", autocomplete: "off", spellcheck: "false" });
        let typing = 0;
        search.addEventListener("input", () => {
            clearTimeout(typing);
            typing = setTimeout(() => this.#loadApps(), typingPause);
        });
        select.addEventListener("change", () => this.#loadApps());
        return [
            el("div", { class: "source-choice" },
                el("div", { class: "field" }, el("label", { for: "source-name", text: "Source" }), select),
                el("div", { class: "field grows" }, el("label", { for: "source-search", text: "Search" }), search)),
            el("div", { id: "source-result", "aria-live": "polite" }),
            el("ul", { class: "apps", id: "source-apps", "aria-label": "Apps of the source" }),
        ];
    }

    async #loadSources() {
        const select = byID("source-name");
        if (select.options.length > 0) return byID("source-search").focus();
        try {
            const answer = await get("sources");
            const names = (answer.sources ?? []).map((source) => source.name ?? source);
            if (!this.#node) return;
            select.replaceChildren(...names.map((name) => el("option", { value: name, text: name })));
            select.disabled = names.length === 0;
            byID("source-search").disabled = names.length === 0;
            if (names.length === 0) {
                byID("source-result").replaceChildren(
                    callout("plain", "The server knows no source yet.", "On its machine: ferry source add NAME https://example.com/apps.json"),
                );
                return;
            }
            byID("source-search").focus();
            this.#loadApps();
        } catch (problem) {
            byID("source-result")?.replaceChildren(callout("bad", problem.message, problem.remedy));
        }
    }

    #asking = null;

    async #loadApps() {
        this.#asking?.abort();
        const asking = (this.#asking = new AbortController());
        const result = byID("source-result");
        setText(result, "Reads the list…");
        try {
            const answer = await appsOf(byID("source-name").value, byID("source-search").value.trim(), asking.signal);
            if (!this.#node || asking.signal.aborted) return;
            const apps = answer.apps ?? [];
            const more = apps.length - listedApps;
            const words = apps.length === 0 ? "No app of that name." : more > 0 ? `The first ${listedApps} of ${count(apps.length, "app")}; search for the others.` : count(apps.length, "app");
            const problems = (answer.problems ?? []).slice(0, 3);
            result.replaceChildren(
                el("p", { class: "quiet-text", text: words }),
                ...problems.map((problem) => callout("warn", problem.message ?? String(problem), problem.remedy)),
            );
            byID("source-apps").replaceChildren(...apps.slice(0, listedApps).map((app) => this.#app(app)));
        } catch (problem) {
            if (asking.signal.aborted || !this.#node) return;
            byID("source-apps").replaceChildren();
            result.replaceChildren(callout("bad", problem.message, problem.remedy));
        }
    }

    #app(app) {
        const name = app.name ?? app.identifier;
        const facts = [app.version, app.developer, app.size > 0 && bytes(app.size)].filter(Boolean).join(" · ");
        const install = el("button", { type: "button", class: "quiet", "aria-label": `Install ${name}` }, el("span", { text: "Install" }));
        install.addEventListener("click", async () => {
            install.disabled = true;
            const body = { source: byID("source-name").value, app: app.identifier, version: app.version };
            if (await this.#post(body, byID("source-result"))) setText(install.firstElementChild, "Added");
            else install.disabled = false;
        });
        return el(
            "li",
            { class: "app" },
            el("span", { class: "letter", "aria-hidden": "true", "data-colour": colour(app.identifier), text: initial(name) }),
            el("div", { class: "app-text" }, el("h3", {}, el("bdi", { text: name })), el("p", { class: "quiet-text" }, el("bdi", { text: facts }))),
            install,
        );
    }

    // MARK: Starting

    async #submit() {
        if (this.#start.disabled) return;
        this.#start.disabled = true;
        if (this.#way === "link") {
            const body = { url: byID("link-url").value.trim() };
            if (byID("link-title").value.trim()) body.title = byID("link-title").value.trim();
            if (byID("link-sha256").value.trim()) body.sha256 = byID("link-sha256").value.trim();
            if (await this.#post(body, byID("link-result"))) this.#node?.close();
        } else if (this.#way === "file") {
            const started = await this.#parcels.start(this.#options);
            if (started.length > 0 && this.#parcels.list.length === 0) this.#node?.close();
            if (started.length > 0) this.#onStarted(started);
        }
        this.#refresh();
    }

    get #options() {
        return this.#startHeld?.checked ? { held: true } : {};
    }

    async #post(body, place) {
        try {
            const install = await post("installs", { ...body, ...this.#options });
            place.replaceChildren();
            this.#onStarted([install]);
            return true;
        } catch (problem) {
            const reasons = problem.reasons ?? [];
            if (this.#node) {
                place.replaceChildren(
                    callout("bad", problem.message, problem.remedy),
                    ...reasons.map((reason) => callout("bad", reason.message, reason.remedy)),
                );
            } else {
                tell(problem);
            }
            return false;
        }
    }

    #refresh() {
        const waiting = this.#parcels.list.length;
        setText(byID("add").querySelector("span"), waiting > 0 && !this.#node ? `Add app (${waiting})` : "Add app");
        if (!this.#node) return;
        const ready = this.#parcels.ready.length;
        setHidden(this.#start, this.#way === "source");
        const word = this.#way === "file" && ready > 1 ? `Start ${ready}` : "Start";
        setText(this.#start.querySelector("span"), word);
        this.#start.disabled = this.#way === "file" ? ready === 0 || this.#parcels.isBusy : byID("link-url").value.trim() === "";
        this.#node.querySelector(".dropzone").classList.toggle("slim", waiting > 0);
    }
}
