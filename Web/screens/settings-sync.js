// What is on its way, what the hub did that it must not, and what this browser keeps.
import { element } from "../views/element.js";
import { badge, banner, button, row, rows, section, tile } from "../views/parts.js";
import { sentenceOf, size } from "../views/words.js";

/** @type {Record<string, [string, "good" | "warning" | "danger" | ""]>} */
const connections = {
    live: ["Up to date", "good"], other: ["Another tab is connected", "good"], connecting: ["Connecting…", ""],
    waiting: ["Not connected", "warning"], removed: ["This device was removed", "danger"], off: ["Off", "warning"],
};

/**
 * No more than says whether there is room: bytes would tell how much lies here beside what is shown.
 * @param {number} usage
 * @param {number} quota
 */
function share(usage, quota) {
    if (usage === 0 || quota === 0) return "Unknown";
    const percent = Math.ceil((usage / quota) * 20) * 5;
    return percent <= 5 ? "Less than 5 %" : `At most ${percent} %`;
}

/** @type {import("./settings.js").SettingsPage} */
export async function syncPage({ companion, signal, tell }) {
    const body = element("div", { class: "settings-parts" });
    const told = element("p", { class: "section-foot", role: "status" });
    const draw = async () => {
        const report = await companion.report();
        if (signal.aborted) return;
        const [word, mood] = connections[report.connection] ?? connections.off;
        const { persisted, usage, quota } = report.room;
        body.replaceChildren(...[
            report.misbehaviour.length > 0 && banner("warning", "danger", element("p", {}, "Problems with the hub:"),
                element("ul", { class: "settings-points" }, ...report.misbehaviour.map((sentence) => element("li", {}, sentence)))),
            section("Sync", [rows(
                row({ start: tile("cloud", mood), title: word, note: report.problem ?? report.device?.hub.replace(/^https?:\/\//, "") }),
                row({ title: "Changes on their way", end: String(report.waiting) }),
                report.failed > 0 && row({ title: "Changes the hub did not take", note: "Marked in your notes; they are on this device alone.", end: badge(String(report.failed), "danger") }),
                report.deferred > 0 && row({ title: "Records that wait for keys", note: "They open once your computer sends the keys.", end: String(report.deferred) }),
                report.refused > 0 && row({ title: "Records refused", note: "Their signature or seal did not hold.", end: badge(String(report.refused), "danger") }),
                row({ title: "Last change seen", note: "The hub counts them", end: element("span", { class: "numbers" }, String(report.cursor)) }),
            ), button("Sync now", sync, { wide: true, icon: "refresh" }), told]),
            section("Storage", [rows(
                row({
                    start: tile(persisted ? "check" : "warning", persisted ? "good" : "warning"),
                    title: persisted ? "Kept for good" : "The browser may clear it",
                    note: persisted ? "The browser promised to keep AppLocker’s data." : "If it needs room, or AppLocker is not opened for long. Put it on the Home Screen so that it stays.",
                }),
                row({ title: "Used here", end: share(usage, quota), note: quota > 0 ? `Of ${size(quota)} that the browser gives` : undefined }),
            ), !persisted && button("Ask the browser to keep it", keep, { wide: true })]),
        ].flatMap((part) => part || []));
    };
    const sync = async () => {
        const slow = setTimeout(() => {
            told.textContent = "Syncing…";
        }, 300);
        let word = "Everything is up to date.";
        try {
            await companion.refresh();
        } catch (error) {
            word = sentenceOf(error);
        }
        clearTimeout(slow);
        if (signal.aborted) return;
        await draw();
        told.textContent = word;
    };
    const keep = async () => {
        const isKept = await navigator.storage?.persist?.().catch(() => false);
        if (signal.aborted) return;
        tell(isKept ? "The browser keeps it now" : "The browser did not agree. Put AppLocker on the Home Screen, then ask again.");
        await draw();
    };
    const again = () => draw().catch(() => {});
    for (const kind of ["connection", "outbox", "state", "changed"]) companion.addEventListener(kind, again, { signal });
    await draw();
    return { title: "Sync and storage", body: [body] };
}
