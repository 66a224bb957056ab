// The integrity of this device and of the computer.
import { appVersion, offline, updates } from "../../workers/registration.js";
import { element } from "../../ui/element.js";
import { row, rows, section, tile } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { button } from "../../ui/parts.js";
import { counted, size } from "../../ui/words.js";

/** @typedef {import("../../household/household.js").Computer} Computer */
/** @typedef {import("../../formats/record-bodies.js").IntegrityFinding} IntegrityFinding */

/** Storage that is fuller than this is reported. */
const fullAt = 0.9;
const moods = /** @type {const} */ ({ ok: "good", warning: "warning", problem: "danger" });
const words = { ok: "OK", warning: "Degraded", problem: "A problem" };

/** @param {IntegrityFinding} finding */
const finding = ({ title, state, sentence }) => row({
    start: tile(state === "ok" ? "check" : "warning", moods[state]), title: `${title}`, note: sentence,
    end: state === "ok" ? null : element("span", { class: "visually-hidden" }, words[state]),
});

/** @param {string} title @param {IntegrityFinding[]} findings @param {Context} context */
function summary(title, findings, context) {
    const bad = findings.filter(({ state }) => state !== "ok");
    const good = findings.length - bad.length;
    const all = () => sheet(title, context.signal, (/** @type {(answer: true) => void} */ end) => [
        rows(...[...bad, ...findings.filter(({ state }) => state === "ok")].map(finding)),
        button("Done", () => end(true), { kind: "primary", wide: true }),
    ]);
    return section(title, [rows(
        ...bad.map(finding),
        row({
            start: tile("shield", bad.length ? "" : "good"),
            title: bad.length ? `${counted(good, "check")} passed` : "All checks passed",
            note: `${counted(findings.length, "check")}`, onclick: all,
        }))]);
}

/** @param {Context} context @param {Computer} computer */
export function computerIntegrity(context, computer) {
    return summary("Integrity of the computer", computer.integrity ?? [], context);
}

/**
 * Draws now and after each change.
 * @param {Context} context
 * @param {HTMLElement} place
 */
export async function deviceIntegrity(context, place) {
    const { companion, signal } = context;
    const draw = async () => {
        const [report, version] = await Promise.all([companion.report(), appVersion().catch(() => null)]);
        if (signal.aborted) return;
        place.replaceChildren(summary("Integrity of this device", findingsOf(report, version), context));
    };
    const again = () => void draw().catch(() => {});
    updates.addEventListener("state", again, { signal });
    companion.addEventListener("state", again, { signal });
    await draw();
}

/**
 * @param {Awaited<ReturnType<Context["companion"]["report"]>>} report
 * @param {{ version: string, hash: string } | null} version
 * @returns {IntegrityFinding[]}
 */
function findingsOf({ room, misbehaviour, refused, failed, deferred }, version) {
    const isFull = room.quota > 0 && room.usage / room.quota > fullAt;
    /**
     * @param {string} id
     * @param {string} title
     * @param {boolean} isGood
     * @param {string} good
     * @param {string} bad
     * @param {"warning" | "problem"} otherwise
     * @returns {IntegrityFinding}
     */
    const test = (id, title, isGood, good, bad, otherwise = "warning") =>
        ({ id, title, state: isGood ? "ok" : otherwise, sentence: isGood ? good : bad });
    return [
        test("context", "Connection", window.isSecureContext, "The browser counts this page as secure.",
            "The browser does not count this page as secure; open it through https.", "problem"),
        test("persisted", "Storage", room.persisted, "The browser keeps AppLocker’s data permanently.",
            "The browser may delete AppLocker’s data when space is low. Put AppLocker on the Home Screen."),
        test("room", "Free space", !isFull, `${size(room.usage)} of ${size(room.quota)} used.`,
            `Nearly full: ${size(room.usage)} of ${size(room.quota)} used. New alerts and notes may not fit; free ` +
                `space on this device.`),
        test("version", "App", version !== null && offline.state !== "failed",
            `Version ${version?.version}, hash ${version?.hash.slice(0, 16)}.`,
            offline.problem ?? "The version is unknown while the hub can’t be reached.",
            offline.state === "failed" ? "problem" : "warning"),
        test("hub", "Hub", misbehaviour.length === 0 && refused === 0, "It returned no invalid data.",
            misbehaviour.join(" ")
                || `${counted(refused, "record")} from the hub ${refused === 1 ? "was" : "were"} refused.`, "problem"),
        test("changes", "Changes", failed === 0 && deferred === 0, "Everything was sent and could be opened.",
            [failed > 0 && `${counted(failed, "change")} of this device could not be sent.`,
                deferred > 0 && `${counted(deferred, "record")} can’t be opened until your computer sends a key.`]
                    .filter(Boolean).join(" ")),
    ];
}
