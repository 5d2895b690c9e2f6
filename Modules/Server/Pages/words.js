// Numbers, times and stages in the words that the terminal and the island use.

const units = ["B", "kB", "MB", "GB", "TB", "PB"];

/** `999 B`, `1.5 kB`, `312 MB`; of a total `19.2/48.0 MB`, in the total's unit. */
export function bytes(count, total) {
    const numbers = [count, total].filter(Number.isFinite);
    if (numbers.length === 0) return "";
    let power = 1;
    let index = 0;
    while (numbers.at(-1) / power >= 999.5 && index + 1 < units.length) {
        power *= 1000;
        index += 1;
    }
    const number = (value) => {
        const scaled = Math.max(value / power, 0);
        return index === 0 || scaled >= 99.95 ? String(Math.round(scaled)) : scaled.toFixed(1);
    };
    return numbers.map(number).join("/") + " " + units[index];
}

/** `2 min left`: whole minutes as long as there are some, so that a line of text does not tick. */
export function timeLeft(seconds) {
    if (!Number.isFinite(seconds)) return "";
    if (seconds < 1) return "nearly done";
    if (seconds < 60) return `${Math.round(seconds)} s left`;
    if (seconds < 3600) return `${Math.round(seconds / 60)} min left`;
    const minutes = Math.round(seconds / 60);
    return `${Math.floor(minutes / 60)} h ${minutes % 60} min left`;
}

/** `1:35`, `1:02:03`: what a phone shows of a date that it counts down to. */
export function countdown(seconds) {
    const left = Math.max(0, Math.round(seconds));
    const two = (number) => String(number).padStart(2, "0");
    const minutes = Math.floor(left / 60) % 60;
    const hours = Math.floor(left / 3600);
    return hours > 0 ? `${hours}:${two(minutes)}:${two(left % 60)}` : `${minutes}:${two(left % 60)}`;
}

/** `just now`, `5 min ago`, `3 h ago`, else the day. */
export function ago(date, now) {
    const seconds = (now - date) / 1000;
    if (!Number.isFinite(seconds)) return "";
    if (seconds < 60) return "just now";
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
    if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
    return new Date(date).toLocaleDateString(undefined, { day: "numeric", month: "short", year: "numeric" });
}

/** `6.2 s`, `3 min 5 s`. */
export function duration(seconds) {
    if (!Number.isFinite(seconds) || seconds < 0) return "";
    if (seconds < 60) return `${seconds < 10 ? seconds.toFixed(1) : Math.round(seconds)} s`;
    if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${Math.round(seconds % 60)} s`;
    return `${Math.floor(seconds / 3600)} h ${Math.round((seconds % 3600) / 60)} min`;
}

export const moment = (text) =>
    new Date(text).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" });

/** `1 app`, `3 apps`. */
export const count = (number, one, many = one + "s") => `${number.toLocaleString()} ${number === 1 ? one : many}`;

const stages = {
    waiting: "Waiting",
    downloading: "Downloading",
    signing: "Signing",
    installing: "Installing",
};

/** Where an install is, or how it ended: `Downloading`, `Paused while downloading`, `Failed while signing`. */
export function stageWords(install) {
    switch (install.outcome) {
        case "installed": return "Installed";
        case "delivered": return "Delivered";
        case "cancelled": return "Stopped";
        case "failed": {
            const stage = stages[install.failedStage]?.toLowerCase();
            return stage ? `Failed while ${stage}` : "Failed";
        }
    }
    const stage = stages[install.stage] ?? "Working";
    if (isInterrupted(install)) return install.stage === "waiting" ? "Interrupted" : `Interrupted while ${stage.toLowerCase()}`;
    if (!install.held) return stage;
    return install.stage === "waiting" ? "Paused" : `Paused while ${stage.toLowerCase()}`;
}

/** One word for colours: `running`, `held`, `done`, `failed`, `stopped`. */
export function mood(install) {
    switch (install.outcome) {
        case "installed":
        case "delivered": return "done";
        case "failed": return "failed";
        case "cancelled": return "stopped";
        default: return isInterrupted(install) ? "stopped" : install.held ? "held" : "running";
    }
}

/** An install of the record whose process is gone: it has not ended, and goes on when it is told to. */
const isInterrupted = (install) => install.outcome === undefined && install.running === false && install.canRetry === true;

/** Whether nothing is done for it any more. */
export const isFinished = (install) =>
    install.outcome !== undefined || install.stage === "finished" || isInterrupted(install);

/** Which of eight quiet colours an app without a picture has; its identifier decides. */
export function colour(text) {
    let sum = 0;
    for (const letter of text) sum = (sum * 31 + letter.codePointAt(0)) % 65_521;
    return sum % 8;
}

/** The letter in its place. */
export const initial = (title) => [...title.trim()][0]?.toUpperCase() ?? "";
