// The phone: what a Live Activity of this very state looks like, in each of its forms.
//
// The words come from the server (`IslandPresentation`), the places from the widget of Examples/IslandApp.

import { byID, el, icon, setAttribute, setHidden, setIcon, setText } from "./dom.js";
import { bytes, countdown } from "./words.js";

/** Dates in a content state are seconds since 2001-01-01. */
const epoch2001 = Date.UTC(2001, 0, 1);
/** What the push service takes, in bytes. */
const payloadLimit = 4096;
/** A label may be made so much smaller before it is cut, as the widget's may. */
const smallestScale = 0.7;

const forms = ["compact", "minimal", "expanded", "lock"];

export class Phone {
    #part = {};
    #island = null;
    #form = "compact";
    #isStale = false;
    #orders;

    /** `orders.hold()` and `orders.release()` are for everything; `orders.mayAct()` says whether the token may. */
    constructor(orders) {
        this.#orders = orders;
        this.#build();
        new ResizeObserver(() => this.#grow()).observe(byID("phone"));
        byID("forms").addEventListener("click", (event) => {
            const form = event.target.closest("[role=tab]")?.dataset.form;
            if (form) this.show(form);
        });
        byID("forms").addEventListener("keydown", (event) => this.#moveTab(event));
        this.show("compact");
    }

    get form() {
        return this.#form;
    }

    /** Takes another form: `compact`, `minimal`, `expanded` or `lock`. */
    show(form, { focusTab = false } = {}) {
        const hadFocus = this.#part.open === document.activeElement;
        this.#form = form;
        const phone = byID("phone");
        phone.dataset.form = form;
        phone.setAttribute("aria-labelledby", `form-${form}`);
        for (const tab of byID("forms").children) {
            const isChosen = tab.dataset.form === form;
            tab.setAttribute("aria-selected", String(isChosen));
            tab.tabIndex = isChosen ? 0 : -1;
            if (isChosen && focusTab) tab.focus();
        }
        this.#showForms();
        if (hadFocus && form === "expanded") this.#part.expanded.hold.focus();
    }

    #moveTab(event) {
        const isRightToLeft = getComputedStyle(event.currentTarget).direction === "rtl";
        const steps = { ArrowRight: isRightToLeft ? -1 : 1, ArrowLeft: isRightToLeft ? 1 : -1 };
        const at = forms.indexOf(this.#form);
        let next = event.key === "Home" ? 0 : event.key === "End" ? forms.length - 1 : undefined;
        if (event.key in steps) next = (at + steps[event.key] + forms.length) % forms.length;
        if (next === undefined) return;
        event.preventDefault();
        this.show(forms[next], { focusTab: true });
    }

    /** Shows a state; `null` where there is no activity. */
    update(island) {
        this.#island = island?.contentState ? island : null;
        const state = this.#island?.contentState ?? {};
        const total = (state.count ?? 0) + (state.done ?? 0) + (state.failed ?? 0) + (state.stopped ?? 0);
        if (total === 0) this.#island = null;
        const part = this.#part;
        setAttribute(byID("phone"), "data-tint", tint(state));
        setAttribute(byID("phone"), "data-idle", this.#island === null);
        if (this.#island) {
            const picture = state.icon ? pictureAddress(state.icon) : null;
            for (const image of part.pictures) showPicture(image, picture);
            setText(part.leadingText, island.compactLeading ?? "");
            setHidden(part.leadingText, picture !== null);
            setHidden(part.leadingPicture, picture === null);
            setText(part.trailingText, island.compactTrailing ?? "");
            setText(part.minimalText, island.minimal ?? "");
            this.#fill(part.expanded, island.expanded ?? {}, state, island.expanded?.subtitle);
            this.#fill(part.lock, island.lockScreen ?? {}, state, island.lockScreen?.status);
            this.#showRows(total > 1 ? (island.expanded?.rows ?? []).slice(0, 2) : []);
            const spoken = island.accessibilityText ?? [island.expanded?.title, island.expanded?.subtitle].filter(Boolean).join(", ");
            setAttribute(part.open, "aria-label", `${spoken}. Expand the island`);
        }
        this.tick(Date.now());
        this.#showForms();
        this.#showContentState(state);
    }

    /** What is shown may be out of date: the phone dims it. */
    setStale(isStale) {
        this.#isStale = isStale;
        setAttribute(byID("phone"), "data-stale", isStale);
    }

    /** Once a second: the clock of the phone and the countdowns, which tick without an update. */
    tick(now, serverNow = now) {
        const part = this.#part;
        const date = new Date(now);
        const clock = `${date.getHours()}:${String(date.getMinutes()).padStart(2, "0")}`;
        setText(part.clock, clock);
        setText(part.lockClock, clock);
        setText(part.lockDate, date.toLocaleDateString(undefined, { weekday: "long", day: "numeric", month: "long" }));
        const finishAt = this.#island?.contentState?.finishAt;
        const left = Number.isFinite(finishAt) ? countdown((epoch2001 + finishAt * 1000 - serverNow) / 1000) : "";
        for (const form of [part.expanded, part.lock]) {
            setText(form.countdown, left);
            setHidden(form.countdown, left === "");
        }
    }

    // MARK: Making it

    #build() {
        const part = this.#part;
        part.pictures = [];
        const picture = (size) => {
            const node = el("span", { class: `picture picture-${size}`, "aria-hidden": "true" }, el("img", { alt: "", hidden: true }), icon("app"));
            part.pictures.push(node);
            return node;
        };
        const form = () => {
            const made = {
                title: el("p", { class: "island-title", dir: "auto" }),
                subtitle: el("p", { class: "island-subtitle" }),
                bar: el("span", { class: "island-bar", "aria-hidden": "true" }, el("i")),
                text: el("span", { class: "island-last-text", dir: "auto" }),
                countdown: el("span", { class: "island-countdown" }),
            };
            made.last = el("p", { class: "island-last" }, made.text, made.countdown);
            made.hold = el("button", { type: "button", class: "island-hold", onclick: () => this.#pressHold() }, icon("pause"));
            return made;
        };
        part.expanded = form();
        part.lock = form();
        part.rows = el("ul", { class: "island-rows" });
        part.clock = el("span", { class: "clock" });
        part.lockClock = el("p", { class: "lock-clock" });
        part.lockDate = el("p", { class: "lock-date" });
        part.leadingPicture = picture("small");
        part.leadingText = el("span", { class: "short", dir: "auto" });
        part.trailingText = el("span", { class: "short tinted" });
        part.minimalText = el("span", { class: "short tinted" });
        part.open = el("button", { type: "button", class: "island-open", onclick: () => this.show("expanded") });
        const { expanded, lock } = part;
        part.expandedView = el(
            "div",
            { class: "island-expanded" },
            picture("large"),
            el("div", { class: "island-heading" }, expanded.title, expanded.subtitle),
            expanded.hold,
            el("div", { class: "island-bottom" }, expanded.bar, part.rows, expanded.last),
        );
        part.compactView = el(
            "div",
            { class: "island-compact", "aria-hidden": "true" },
            el("span", { class: "island-leading" }, part.leadingPicture, part.leadingText),
            el("span", { class: "island-trailing" }, part.trailingText),
        );
        part.island = el(
            "div",
            { class: "island" },
            el("span", { class: "camera", "aria-hidden": "true" }),
            part.compactView,
            el("span", { class: "island-other", "aria-hidden": "true" }, icon("phone")),
            part.expandedView,
        );
        part.minimal = el("div", { class: "island-minimal", "aria-hidden": "true" }, part.minimalText);
        part.lockView = el(
            "div",
            { class: "lock-card" },
            picture("lock"),
            el("div", { class: "lock-text" }, lock.title, lock.subtitle, lock.bar, lock.last),
            lock.hold,
        );
        part.lockScreen = el(
            "div",
            { class: "lock-screen" },
            el("div", { class: "lock-face", "aria-hidden": "true" }, part.lockDate, part.lockClock),
            part.lockView,
        );
        byID("phone").replaceChildren(
            el(
                "div",
                { class: "screen" },
                el("div", { class: "wallpaper", "aria-hidden": "true", onclick: () => this.#form === "expanded" && this.show("compact") }),
                el("div", { class: "status-bar", "aria-hidden": "true" }, part.clock, el("span", { class: "battery" })),
                el("div", { class: "home", "aria-hidden": "true" }, ...Array.from({ length: 20 }, () => el("i"))),
                el("div", { class: "dock", "aria-hidden": "true" }, ...Array.from({ length: 4 }, () => el("i"))),
                part.lockScreen,
                part.island,
                part.minimal,
                part.open,
            ),
        );
    }

    // MARK: Patching it

    #fill(form, texts, state, subtitle) {
        setText(form.title, texts.title ?? "");
        setText(form.subtitle, subtitle ?? "");
        const fraction = texts.fraction;
        setHidden(form.bar, !Number.isFinite(fraction));
        if (Number.isFinite(fraction)) form.bar.firstElementChild.style.setProperty("--filled", fraction.toFixed(3));
        setText(form.text, (form === this.#part.expanded ? texts.footer ?? texts.detail : texts.detail) ?? "");
        setHidden(form.last, form.text.textContent === "" && !Number.isFinite(state.finishAt));
        const canBeHeld = (state.count ?? 0) > 0 && !state.tap;
        setHidden(form.hold, !canBeHeld);
        setIcon(form.hold, state.held ? "play" : "pause");
        const mayAct = this.#orders.mayAct();
        setAttribute(form.hold, "aria-disabled", mayAct ? null : "true");
        const label = state.held ? "Release everything" : "Hold everything";
        setAttribute(form.hold, "aria-label", mayAct ? label : `${label} (your token may not)`);
        setAttribute(form.hold, "title", mayAct ? label : "Your token may look, not act");
    }

    #showRows(rows) {
        const list = this.#part.rows;
        while (list.children.length > rows.length) list.lastElementChild.remove();
        while (list.children.length < rows.length) list.append(el("li", {}, el("bdi"), el("span")));
        rows.forEach((row, index) => {
            const [title, label] = list.children[index].children;
            setText(title, row.title ?? "");
            setText(label, row.label ?? "");
        });
        setHidden(list, rows.length === 0);
    }

    /** Only the form that is shown can be reached and read. */
    #showForms() {
        const part = this.#part;
        const isThere = this.#island !== null;
        part.expandedView.inert = !(isThere && this.#form === "expanded");
        part.lockScreen.inert = this.#form !== "lock";
        setHidden(part.lockView, !isThere);
        setHidden(part.open, !isThere || (this.#form !== "compact" && this.#form !== "minimal"));
        setText(byID("phone-caption"), isThere ? captions[this.#form] : "No Live Activity: there is nothing to install.");
        this.#grow();
    }

    /** The island grows to what it has to say; a height cannot be animated to `auto`. */
    #grow() {
        const { island, expandedView } = this.#part;
        island.style.setProperty("--grown", `${expandedView.scrollHeight}px`);
        this.#fit();
    }

    #pressHold() {
        if (!this.#orders.mayAct()) return;
        if (this.#island?.contentState?.held) this.#orders.release();
        else this.#orders.hold();
    }

    #fit() {
        for (const text of [this.#part.leadingText, this.#part.trailingText, this.#part.minimalText]) {
            text.style.setProperty("--scale", 1);
            const room = text.parentElement.clientWidth;
            const scale = text.scrollWidth > 0 && room > 0 ? Math.min(1, room / text.scrollWidth) : 1;
            text.style.setProperty("--scale", Math.max(scale, smallestScale).toFixed(3));
        }
    }

    #showContentState(state) {
        setHidden(byID("content-state"), this.#island === null);
        if (!this.#island) return;
        const size = new TextEncoder().encode(JSON.stringify(state)).length;
        const shown = state.icon ? { ...state, icon: `${state.icon.slice(0, 12)}… (${bytes(state.icon.length)} of base64)` } : state;
        const heading = `Content state ${state.seq ?? 0}: ${size.toLocaleString()} of ${payloadLimit.toLocaleString()} bytes`;
        setText(byID("content-state-text"), `${heading}\n${JSON.stringify(shown, null, 2)}`);
    }
}

const captions = {
    compact: "As long as nothing else is shown. Press it to expand it.",
    minimal: "While another app has the island too.",
    expanded: "After a long press. Escape makes it compact again.",
    lock: "On the lock screen, or as a banner without an island.",
};

/** The colour that says the same as the words; as in Examples/IslandApp. */
function tint(state) {
    const count = state.count ?? 0;
    if (count === 0) return (state.failed ?? 0) > 0 ? "red" : "green";
    return state.tap || state.held ? "orange" : "cyan";
}

function pictureAddress(base64) {
    const type = base64.startsWith("iVBOR") ? "png" : "jpeg";
    return `data:image/${type};base64,${base64}`;
}

function showPicture(node, address) {
    const image = node.querySelector("img");
    if (address) setAttribute(image, "src", address);
    setHidden(image, !address);
    setAttribute(node, "data-filled", Boolean(address));
}
