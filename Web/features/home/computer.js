// A computer's state in words; weaknesses stand out.
import { element } from "../../ui/element.js";
import { badge, banner, tile } from "../../ui/parts.js";
import { ago, counted, countdown, named, timeOfDay } from "../../ui/words.js";
import { secondsWords } from "../../ui/grants.js";

/** @typedef {import("../../household/household.js").Computer} Computer */
/** @typedef {import("../../formats/record-bodies.js").IntegrityFinding} IntegrityFinding */
/** @typedef {Pick<IntegrityFinding, "title" | "state" | "sentence">} Finding */

/** Smaller clock differences are not reported, in milliseconds. */
const clockMatters = 90_000;
const order = ["problem", "warning", "ok"];

/** @param {boolean} isFound @param {Finding["state"]} state @param {string} title @param {string} sentence */
const when = (isFound, state, title, sentence) => (isFound ? [{ state, title, sentence }] : []);

/**
 * What a computer reported about itself, and what this device noticed about it; the worst first.
 * @param {Computer} computer
 * @returns {Finding[]}
 */
export function findingsOf({ status, hubProblems, missingEvents, integrity, clockLead, reported }) {
    const { failures, remainingSeconds } = status.lockout;
    const found = [
        ...when(!status.isSetUp, "problem", "Passcode",
            "No passcode is set at this computer, so nothing is locked."),
        ...when(status.protection === "gate_away", "problem", "Gate",
            "The gate (applocker-gate) is not running. Locked apps can’t be started until it runs again."),
        ...when(!status.monitoring.isOn, "problem", "Monitoring",
            `Monitoring is off${offUntil(status, reported)}: no app is locked.`),
        ...hubProblems.flatMap((text) => when(true, "problem", "Hub", `The hub can’t be trusted: ${text}`)),
        ...when(status.protection === "weak", "warning", "Weak mode", "A locked app is stopped only after it has "
            + "started. Run “applocker doctor” there for the reason."),
        ...status.degraded.flatMap((text) => when(true, "warning", "Protection", text)),
        ...when(missingEvents > 0, "warning", "Alerts", `${counted(missingEvents, "alert")} of this computer never `
            + `arrived; the hub withheld or lost ${missingEvents === 1 ? "it" : "them"}.`),
        ...when(remainingSeconds > 0, "warning", "Wrong passcodes", `${counted(failures, "wrong passcode")} at the `
            + `computer; locked out for ${secondsWords(remainingSeconds)}.`),
        ...when(Math.abs(clockLead) > clockMatters, "warning", "Clock", "This computer’s clock and this device’s "
            + `differ by ${countdown(Math.abs(clockLead) / 1000)}. Alert times are by the computer’s clock.`),
        ...integrity ?? [],
    ];
    return found.sort((one, other) => order.indexOf(one.state) - order.indexOf(other.state));
}

/** @param {Computer} computer */
export const weaknessesOf = (computer) => findingsOf(computer).filter(({ state }) => state !== "ok");

/** @param {Computer["status"]} status @param {number} reported */
function offUntil({ monitoring }, reported) {
    return monitoring.endsInSeconds ? ` until ${timeOfDay(reported / 1000 + monitoring.endsInSeconds)}` : "";
}

/**
 * "Protected · 6 of 7 locked"
 * @param {Computer} computer
 */
export function statusLine({ status, reported }) {
    if (!status.isSetUp) return "Not protected · no passcode is set";
    if (!status.monitoring.isOn) return `Not protected · monitoring is off${offUntil(status, reported)}`;
    const { lockedApps, unlockedApps } = status;
    const locked = lockedApps === 0 ? "no app is locked" : `${lockedApps - unlockedApps} of ${lockedApps} locked`;
    const protection = { held: "Protected", weak: "Weak mode", gate_away: "Launches are denied" }[status.protection];
    return `${protection ?? status.protection} · ${locked}`;
}

/**
 * Details of a computer: their names and values.
 * @param {Computer} computer
 * @returns {[string, string][]}
 */
export const factsOf = ({ status, reported }) => [
    ["Monitoring", status.monitoring.isOn ? "On" : `Off${offUntil(status, reported)}`],
    ["Locked apps", status.unlockedApps
        ? `${status.lockedApps - status.unlockedApps} of ${status.lockedApps}, ${status.unlockedApps} unlocked`
        : String(status.lockedApps)],
    ["Protection", {
        held: "Launches are held before they run", weak: "Apps are stopped after they start",
        gate_away: "Launches are denied",
    }[status.protection] ?? status.protection],
    ["Prompt", status.prompterConnected ? "Running" : "No prompt running"],
    ["Version", `AppLocker ${status.version}`],
    ["Status from", timeOfDay(reported / 1000)],
];

/**
 * Its name and one line; what is dangerous stands out above it.
 * @param {Companion} companion
 * @param {Computer} computer
 * @param {number | null} seen seconds since 1970; null while it is connected
 * @param {Computer[]} all the problems of other computers are shown too
 */
export function computerCard(companion, computer, seen, all) {
    const problems = [computer, ...all.filter(({ id }) => id !== computer.id)].flatMap((one) => findingsOf(one)
        .filter(({ state }) => state === "problem")
        .map(({ title, sentence }) => `${one === computer ? title : `${named(one.name)}: ${title}`}: ${sentence}`));
    return element("section", { class: "home-computer", "aria-label": computer.name },
        problems.length > 0 && banner("warning", "danger",
            element("h2", { class: "home-banner-title" }, "Problems"),
            element("ul", { class: "home-problems" }, ...problems.map((text) => element("li", { dir: "auto" }, text)))),
        element("div", { class: "card" }, element("div", { class: "row" }, tile("computer"),
            element("div", { class: "row-text" },
                element("h2", { class: "row-title home-computer-name", dir: "auto" }, computer.name),
                element("p", { class: "home-status" }, statusLine(computer)),
                seen !== null && element("p", { class: "row-note" }, `Last seen ${ago(seen, companion.now() / 1000)}; `
                    + `status from ${timeOfDay(computer.reported / 1000)}`)),
            seen === null ? badge("Online", "good") : badge("Offline", "warning"))));
}
