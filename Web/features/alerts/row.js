// An alert as a row, and in full.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { button, iconButton, tile } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { dayAndTime, named, timeOfDay } from "../../ui/words.js";

/** @typedef {import("../../household/merge-alerts.js").MergedAlert} MergedAlert */
/** @typedef {import("../../formats/record-bodies.js").EventKind} EventKind */
/** @typedef {import("../../ui/icon.js").IconName} IconName */
/** @typedef {import("../../ui/parts.js").Mood} Mood */

/** @type {Record<EventKind, { icon: IconName, mood: Mood, words: string }>} */
const kinds = {
    blocked: { icon: "lock", mood: "danger", words: "Blocked" },
    failed: { icon: "warning", mood: "warning", words: "Wrong passcode" },
    photographed: { icon: "camera", mood: "warning", words: "Intruder photo" },
    unlocked: { icon: "unlock", mood: "", words: "Unlocked" },
    relocked: { icon: "lock", mood: "good", words: "Locked again" },
    degraded: { icon: "warning", mood: "danger", words: "Protection degraded" },
    started: { icon: "computer", mood: "", words: "AppLocker started" },
    stopped: { icon: "computer", mood: "warning", words: "AppLocker stopped" },
    apps: { icon: "apps", mood: "warning", words: "Locked apps changed" },
    rules: { icon: "clock", mood: "warning", words: "Rules changed" },
    backup: { icon: "cloud", mood: "warning", words: "Backup" },
    recovery: { icon: "key", mood: "warning", words: "Recovery sheet" },
    changed: { icon: "settings", mood: "", words: "Changed" },
    hub_misbehaved: { icon: "warning", mood: "danger", words: "Invalid hub response" },
};
/** @type {{ icon: IconName, mood: Mood, words: string }} of a newer computer's events */
const other = { icon: "bell", mood: "", words: "Alert" };

/** @param {EventKind} kind */
export const kindOf = (kind) => kinds[kind] ?? other;

/** @param {MergedAlert} alert */
export const titleOf = (alert) => alert.appName ?? alert.app ?? kindOf(alert.kind).words;

/** Share of its width over which a swipe deletes an alert. */
const goesAt = 0.35;
/** A touch that moves less, in pixels, is a tap. */
const tapSlop = 10;

/**
 * @param {MergedAlert} alert
 * @param {{ open: () => void, remove: () => void, photo: Node | null, namesComputer: boolean }} what `namesComputer`:
 *   the household has several
 */
export function alertRow(alert, { open, remove, photo, namesComputer }) {
    const { icon: name, mood, words } = kindOf(alert.kind);
    const title = titleOf(alert);
    const count = alert.keys.length;
    let wasSwiped = false;
    const over = element("div", { class: "alert-over" },
        element("button", {
            type: "button", class: "row alert-main", onclick: () => {
                if (!wasSwiped) open();
                wasSwiped = false;
            },
        }, tile(name, mood), element("span", { class: "row-text" },
            element("span", { class: "row-title", dir: "auto" }, title),
            element("span", { class: "row-note", dir: "auto" }, title === words ? "" : `${words} · `, alert.sentence),
        namesComputer && element("span", { class: "row-note", dir: "auto" }, alert.computerName)),
        element("span", { class: "row-end alert-end" }, timeOfDay(alert.time / 1000),
            count > 1 && element("span", { class: "badge" }, `${count} times`))),
        iconButton("trash", `Delete alert: ${named(title)}, ${timeOfDay(alert.time / 1000)}`, remove,
            { class: "button button-icon alert-delete" }));
    swipe(over, remove, () => {
        wasSwiped = true;
    });
    return element("li", { class: "alert" },
        element("div", { class: "alert-under", "aria-hidden": "true" }, icon("trash")), over, photo);
}

/**
 * Deletes the alert on a swipe to the left.
 * @param {HTMLElement} node
 * @param {() => void} remove
 * @param {() => void} swiped
 */
function swipe(node, remove, swiped) {
    /** @type {{ x: number, y: number, id: number, isOn: boolean } | null} */
    let start = null;
    const back = () => {
        start = null;
        node.classList.remove("alert-swiped");
        node.style.removeProperty("translate");
    };
    node.addEventListener("pointerdown", (event) => {
        if (event.pointerType !== "mouse" && event.isPrimary) {
            start = { x: event.clientX, y: event.clientY, id: event.pointerId, isOn: false };
        }
    });
    node.addEventListener("pointermove", (event) => {
        if (!start || event.pointerId !== start.id) return;
        const [dx, dy] = [event.clientX - start.x, event.clientY - start.y];
        if (!start.isOn) {
            if (Math.abs(dy) > tapSlop && Math.abs(dy) > Math.abs(dx)) return back();
            if (dx > -tapSlop || Math.abs(dy) > -dx) return;
            start.isOn = true;
            node.classList.add("alert-swiped");
            node.setPointerCapture(event.pointerId);
            swiped();
        }
        node.style.setProperty("translate", `${Math.min(0, dx)}px`);
    });
    node.addEventListener("pointerup", (event) => {
        const isGoing = start?.isOn && start.x - event.clientX > node.offsetWidth * goesAt;
        back();
        if (isGoing) remove();
    });
    node.addEventListener("pointercancel", back);
}

/** @type {Record<string, string>} stable codes of the activity log; others are shown as they are */
const reasons = {
    locked: "It is locked and needs the passcode.", lockedOut: "Too many wrong passcodes were entered.",
    tooManyWaiting: "Too many launches were already waiting.", nobodyToAsk: "No prompter or phone was connected.",
    relocked: "Everything was locked before an answer.", passcodeGiven: "The correct passcode was entered.",
    approvedRemotely: "It was approved on another device.", deniedRemotely: "It was denied on another device.",
    cancelled: "The prompt was cancelled at the computer.", noAnswer: "Nobody answered in time.",
    prompterGone: "The prompt window was closed.", launcherGone: "The program ended before an answer.",
    unlockedByPasscode: "The correct passcode was entered.", unlockedRemotely: "It was unlocked on another device.",
    extended: "It stays unlocked for longer.",
};

/**
 * All fields in words.
 * @param {MergedAlert} alert
 * @param {{ remove: () => void, photo: Node | null }} what
 * @param {AbortSignal} signal
 */
export async function alertDetail(alert, { remove, photo }, signal) {
    const count = alert.keys.length;
    const fields = [
        ["Event", kindOf(alert.kind).words], ["App", alert.appName ?? alert.app], ["Computer", alert.computerName],
        ["Time", dayAndTime(alert.time / 1000)],
        ["Count", count > 1 ? `${count} times, the last at ${timeOfDay(alert.lastTime / 1000)}` : "Once"],
        ["Reason", alert.reason && (reasons[alert.reason] ?? alert.reason.replaceAll("_", " "))],
    ];
    const answer = await sheet(titleOf(alert), signal, (/** @type {(answer: "delete" | "done") => void} */ end) => [
        element("p", { class: "alert-sentence", dir: "auto" }, alert.sentence),
        photo,
        element("dl", { class: "alert-fields" }, ...fields.flatMap(([name, value]) => (value ? [
            element("div", { class: "alert-field" }, element("dt", { class: "soft" }, name),
                element("dd", { dir: "auto" }, value))] : []))),
        element("div", { class: "buttons buttons-even" },
            button("Delete", () => end("delete"), { kind: "danger", icon: "trash" }),
            button("Done", () => end("done"), { kind: "primary", autofocus: true })),
    ]);
    if (answer === "delete") remove();
}
