// Pending changes, problems with the hub, and storage.
import { element } from "../../ui/element.js";
import { redrawing } from "../../ui/live.js";
import { advanced, badge, banner, button, points, row, rows, section, tile } from "../../ui/parts.js";
import { storageShare } from "../../ui/storage-share.js";
import { sentenceOf } from "../../ui/words.js";

/** @type {Record<string, [string, "good" | "warning" | "danger" | ""]>} */
const connections = {
    live: ["Up to date", "good"], other: ["Another tab is connected", "good"], connecting: ["Connecting…", ""],
    waiting: ["Not connected", "warning"], removed: ["This device was revoked", "danger"], off: ["Off", "warning"],
};

/** @type {SettingsPage} */
export async function syncPage({ companion, signal, toast }) {
    const body = element("div", { class: "settings-parts" });
    const status = element("p", { class: "section-foot", role: "status" });
    const cursor = element("span", { class: "numbers" });
    // Not drawn again, so that it stays unfolded.
    const more = advanced(rows(row({
        title: "Sequence number", note: "Of the last record received from the hub", end: cursor,
    })));
    const read = async () => {
        const report = await companion.report();
        return () => {
            const [word, mood] = connections[report.connection] ?? connections.off;
            const { persisted } = report.room;
            cursor.textContent = String(report.cursor);
            body.replaceChildren(...[
                report.misbehaviour.length > 0 && banner("warning", "danger",
                    element("p", {}, "Problems with the hub:"), points(...report.misbehaviour)),
                section("Sync", [rows(
                    row({ start: tile("cloud", mood), title: word, note: report.problem
                        ?? report.device?.hub.replace(/^https?:\/\//, "") }),
                    row({ title: "Pending changes", end: String(report.waiting) }),
                    report.failed > 0 && row({
                        title: "Changes the hub refused", note: "Marked in your notes; they are only on this device.",
                        end: badge(String(report.failed), "danger"),
                    }),
                    report.deferred > 0 && row({
                        title: "Records waiting for keys", note: "They open once another device sends the keys.",
                        end: String(report.deferred),
                    }),
                    report.refused > 0 && row({
                        title: "Records refused", note: "Their signature or seal is invalid.",
                        end: badge(String(report.refused), "danger"),
                    }),
                ), button("Sync now", sync, { wide: true, icon: "refresh" }), status]),
                section("Storage", [rows(
                    row({
                        start: tile(persisted ? "check" : "warning", persisted ? "good" : "warning"),
                        title: persisted ? "Stored permanently" : "The browser may clear it",
                        note: persisted
                            ? "The browser keeps AppLocker’s data permanently."
                            : "When space is low, or AppLocker is not opened for a long time. "
                                + "Put it on the Home Screen to prevent that.",
                    }),
                    row({ title: "Used here", note: "Of what the browser allows", end: storageShare(report.room) }),
                ), !persisted && button("Request permanent storage", keep, { wide: true })]),
                more,
            ].flatMap((part) => part || []));
        };
    };
    const sync = async () => {
        const slow = setTimeout(() => {
            status.textContent = "Syncing…";
        }, 300);
        let word = "Everything is up to date.";
        try {
            await companion.refresh();
        } catch (error) {
            word = sentenceOf(error);
        }
        clearTimeout(slow);
        if (signal.aborted) return;
        again();
        status.textContent = word;
    };
    const keep = async () => {
        const isKept = await companion.persistStorage();
        if (signal.aborted) return;
        toast(isKept
            ? "Storage is permanent now"
            : "The browser refused. Put AppLocker on the Home Screen, then try again.");
        again();
    };
    const again = redrawing(read, signal);
    for (const kind of ["connection", "outbox", "state", "changed"]) {
        companion.addEventListener(kind, again, { signal });
    }
    (await read())();
    return { title: "Sync and storage", body: [body] };
}
