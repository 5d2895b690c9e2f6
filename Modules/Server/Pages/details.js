// What lies behind a row: facts, a check of the signature, the link for a phone.

import { get, post, remove } from "./api.js";
import { button, el, setText } from "./dom.js";
import { callout, dialog, tell, toast } from "./dialogs.js";
import { count, duration, isFinished, moment } from "./words.js";

/** Fills the details of a row. What a check found stays until the install is another. */
export function fillDetails(place, install, { canLink, onLink }) {
    const took = (Date.parse(install.finishedAt) - Date.parse(install.addedAt)) / 1000;
    const facts = [
        ["Identifier", install.bundleID],
        ["From", install.source],
        ["To", install.location],
        ["Added", install.addedAt && moment(install.addedAt)],
        ["Ended", install.finishedAt && `${moment(install.finishedAt)}, after ${duration(took)}`],
        ["Install", install.id],
    ];
    const key = JSON.stringify([facts, install.notes, isFinished(install), canLink, Boolean(install.link)]);
    if (place.dataset.key === key) return;
    place.dataset.key = key;
    const parts = [
        el("dl", { class: "facts" }, ...facts.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", { text: name }), el("dd", { text: value, dir: "auto" })])),
    ];
    const notes = [...new Set(install.notes ?? [])];
    if (notes.length > 2) parts.push(el("ul", { class: "all-notes", "aria-label": "Notes" }, ...notes.map((note) => el("li", { text: note, dir: "auto" }))));
    if (isFinished(install) && install.hasArchive) {
        const result = el("div", { class: "faults", "aria-live": "polite" });
        const check = button("shield", "Check the signature", () => verify(install, check, result));
        const link = canLink && !install.link && button("qr", "Make a link for a phone", () => makeLink(install, onLink));
        parts.push(el("div", { class: "check-line" }, check, link), result);
    }
    place.replaceChildren(...parts);
}

async function verify(install, check, result) {
    check.disabled = true;
    result.replaceChildren(el("p", { class: "quiet-text", text: "Reads every signature, seal and profile…" }));
    try {
        const answer = await get(`installs/${encodeURIComponent(install.id)}/verify`);
        const faults = answer.faults ?? [];
        const isWarning = (fault) => fault.severity === "warning" || fault.isWarning === true;
        const errors = faults.filter((fault) => !isWarning(fault));
        const summary = errors.length > 0
            ? callout("bad", `${count(errors.length, "fault")}: a phone would refuse it.`)
            : callout("good", faults.length > 0 ? "No fault. What may be worth a look:" : "No fault: every signature, seal and profile is right.");
        const place = (fault) => (fault.place && !fault.message?.includes(fault.place) ? `${fault.place}: ` : "");
        result.replaceChildren(
            summary,
            ...[...errors, ...faults.filter(isWarning)].map((fault) =>
                callout(isWarning(fault) ? "warn" : "bad", place(fault) + fault.message, fault.remedy)),
        );
    } catch (problem) {
        result.replaceChildren(callout("bad", problem.message, problem.remedy));
    } finally {
        check.disabled = false;
    }
}

/** How long a new link lasts, in seconds. */
const linkSeconds = 3600;

const linkPath = (install) => `installs/${encodeURIComponent(install.id)}/link`;

async function newLink(install) {
    const answer = await post(linkPath(install), { seconds: linkSeconds });
    return answer.link ?? answer;
}

async function makeLink(install, onLink) {
    try {
        const changed = { ...install, link: await newLink(install) };
        onLink(changed);
        showLink(changed, { mayAct: true, onChange: onLink });
    } catch (problem) {
        tell(problem);
    }
}

/** The link that a phone opens, with its QR code; `onChange` is told what the server said of a new one. */
export function showLink(install, { mayAct, onChange }) {
    const picture = el("img", { class: "qr", alt: "QR code of the link", width: "220", height: "220" });
    const address = el("a", { class: "link-address", target: "_blank", rel: "noreferrer", dir: "ltr" });
    const expiry = el("p", { class: "quiet-text" });
    const show = (link) => {
        const url = new URL(link.url, location.href);
        // The picture lies beside the page that the link leads to, and this server has both.
        const page = url.pathname.slice(Math.max(url.pathname.lastIndexOf("/i/"), 0));
        picture.src = new URL(`.${page.replace(/\/?$/, "/qr.svg")}`, document.baseURI);
        address.href = url.href;
        setText(address, url.href);
        setText(expiry, link.expiresAt ? `Open it in Safari on the phone. It lasts until ${moment(link.expiresAt)}.` : "Open it in Safari on the phone.");
    };
    show(install.link);
    const copy = button("copy", "Copy", async () => {
        try {
            await navigator.clipboard.writeText(address.href);
            toast("The link is copied.");
        } catch {
            getSelection().selectAllChildren(address);
            toast("Press Ctrl+C or ⌘C to copy the link.");
        }
    });
    const renew = button("retry", "New link", async () => {
        try {
            const link = await newLink(install);
            show(link);
            onChange({ ...install, link });
            toast("The old link has ended; this is the new one.");
        } catch (problem) {
            tell(problem);
        }
    });
    const revoke = button("close", "Revoke", async () => {
        try {
            await remove(linkPath(install));
            onChange({ ...install, link: undefined });
            node.close();
            toast("The link leads nowhere any more.");
        } catch (problem) {
            tell(problem);
        }
    }, "danger");
    const node = dialog({
        title: `${install.title} on a phone`,
        body: [el("div", { class: "link-body" }, el("div", { class: "qr-frame" }, picture), address, expiry)],
        actions: mayAct ? [copy, renew, revoke] : [copy],
        size: "small",
    });
    copy.focus();
    return node;
}
