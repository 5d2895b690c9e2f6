// What signing would change, before it does.

import { el } from "./dom.js";
import { callout } from "./dialogs.js";
import { count } from "./words.js";

/** So many changes are open at once; of more, the rest is behind a line. */
const shownChanges = 40;

/** The plan of one archive: refusals first, as nothing happens before they are gone, then warnings, then changes. */
export function planView(plan) {
    const refusals = plan.refusals ?? [];
    const warnings = warningsOf(plan);
    const changes = changesOf(plan);
    const parts = [
        ...refusals.map((refusal) => callout("bad", refusal.message ?? String(refusal), refusal.remedy)),
        ...warnings.map((warning) => callout("warn", warning.message ?? String(warning), warning.remedy)),
    ];
    if (changes.length > 0) parts.push(changeList(changes));
    else if (refusals.length === 0) parts.push(callout("plain", "It is signed, and nothing else is changed in it."));
    return el("div", { class: "plan" }, ...parts);
}

/** `4 changes, 1 warning`. */
export function planSummary(plan) {
    const refusals = plan.refusals?.length ?? 0;
    if (refusals > 0) return `Cannot be signed: ${count(refusals, "reason")}`;
    const warnings = warningsOf(plan).length;
    return [count(changesOf(plan).length, "change"), warnings > 0 && count(warnings, "warning")].filter(Boolean).join(", ");
}

/** The changes, also of the form that `ferry inspect --plan --json` has. */
function changesOf(plan) {
    if (plan.changes) return plan.changes;
    const changes = [];
    for (const { path, ...bundle } of plan.bundles ?? []) {
        if (bundle.isDropped) changes.push({ path, what: "left out" });
        if (bundle.isDropped) continue;
        if (bundle.isNew) changes.push({ path, what: "new" });
        if (bundle.identifier && bundle.identifier !== bundle.oldIdentifier) {
            changes.push({ path, what: "id", from: bundle.oldIdentifier, to: bundle.identifier });
        }
        if (bundle.profile) changes.push({ path, what: "profile", to: bundle.profile });
        for (const { key, old, new: value } of bundle.infoPlist ?? []) {
            if (key !== "CFBundleIdentifier") changes.push({ path, what: key, from: old, to: value });
        }
        for (const [key, reason] of Object.entries(bundle.droppedEntitlements ?? {})) {
            changes.push({ path, what: `without ${key}`, to: reason });
        }
    }
    const files = { added: plan.addedFiles, changed: plan.changedFiles, removed: plan.removedFiles, "load commands": plan.changedCode };
    for (const [what, names] of Object.entries(files)) {
        for (const name of names ?? []) changes.push({ path: "Files", what, to: name });
    }
    return changes;
}

function warningsOf(plan) {
    return [...(plan.warnings ?? []), ...(plan.bundles ?? []).flatMap((bundle) => bundle.warnings ?? [])];
}

function changeList(changes) {
    const byPath = new Map();
    for (const change of changes.slice(0, shownChanges)) {
        // Every app lies in this folder of its archive.
        const path = (change.path ?? "").replace(/^Payload\//, "");
        if (!byPath.has(path)) byPath.set(path, []);
        byPath.get(path).push(change);
    }
    const groups = [...byPath].map(([path, list]) =>
        el(
            "section",
            { class: "plan-group" },
            path && el("h4", { class: "path", text: path, dir: "ltr" }),
            el("dl", {}, ...list.flatMap((change) => [el("dt", { text: change.what ?? "changed", dir: "auto" }), changeValue(change)])),
        ),
    );
    const hidden = changes.length - shownChanges;
    if (hidden > 0) groups.push(el("p", { class: "quiet-text", text: `and ${count(hidden, "more change")}` }));
    return el("div", { class: "changes" }, ...groups);
}

function changeValue({ from, to }) {
    const words = (value) => (typeof value === "string" ? value : JSON.stringify(value));
    const isThere = (value) => value !== undefined && value !== null && value !== "";
    return el(
        "dd",
        {},
        isThere(from) && el("del", { text: words(from), dir: "auto" }),
        isThere(from) && isThere(to) && el("span", { class: "arrow", "aria-label": "becomes", role: "img", text: "→" }),
        isThere(to) && el("ins", { text: words(to), dir: "auto" }),
    );
}
