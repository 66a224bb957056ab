// A computer's state in words; weaknesses stand out.
import { element } from "../../ui/element.js";
import { badge, banner, tile } from "../../ui/parts.js";
import { ago, counted, countdown, named, timeOfDay } from "../../ui/words.js";
import { secondsWords } from "../../ui/grants.js";

/** @typedef {import("../../household/household.js").Computer} Computer */
/** @typedef {{ mood: "warning" | "danger", text: string }} Problem */

/** Smaller clock differences are not reported, in milliseconds. */
const clockMatters = 90_000;

/**
 * The worst first.
 * @param {Computer} computer
 * @returns {Problem[]}
 */
export function problemsOf({ status, hubProblems, missingEvents, integrity, clockLead, reported }) {
    /** @type {(Problem | false | undefined)[]} */
    const found = [
        !status.isSetUp && { mood: "danger", text: "No passcode is set at this computer, so nothing is locked." },
        status.protection === "gate_away" && {
            mood: "danger",
            text: "The gate (applocker-gate) is not running. Locked apps can’t be started until it runs again.",
        },
        !status.monitoring.isOn && {
            mood: "danger", text: `Monitoring is off${offUntil(status, reported)}: no app is locked.`,
        },
        status.protection === "weak" && {
            mood: "warning",
            text: "Weak mode: a locked app is stopped only after it has started. "
                + "Run “applocker doctor” there for the reason.",
        },
        ...status.degraded.map((text) => /** @type {Problem} */ ({ mood: "warning", text })),
        ...(integrity ?? []).filter(({ state }) => state === "problem")
            .map(({ title, sentence }) => /** @type {Problem} */ ({ mood: "danger", text: `${title}: ${sentence}` })),
        ...hubProblems.map((text) =>
            /** @type {Problem} */ ({ mood: "danger", text: `The hub can’t be trusted: ${text}` })),
        missingEvents > 0 && {
            mood: "warning",
            text: `${counted(missingEvents, "alert")} of this computer never arrived; the hub withheld or lost ` +
                `${missingEvents === 1 ? "it" : "them"}.`,
        },
        status.lockout.remainingSeconds > 0 && {
            mood: "warning",
            text: `${counted(status.lockout.failures, "wrong passcode")} at the computer; locked out for ` +
                `${secondsWords(status.lockout.remainingSeconds)}.`,
        },
        Math.abs(clockLead) > clockMatters && {
            mood: "warning",
            text: `This computer’s clock and this device’s differ by ${countdown(Math.abs(clockLead) / 1000)}. `
                + `Alert times are by the computer’s clock.`,
        },
    ];
    const problems = found.flatMap((problem) => problem || []);
    return [...problems.filter(({ mood }) => mood === "danger"), ...problems.filter(({ mood }) => mood === "warning")];
}

/** @param {Computer["status"]} status @param {number} reported */
function offUntil({ monitoring }, reported) {
    return monitoring.endsInSeconds ? ` until ${timeOfDay(reported / 1000 + monitoring.endsInSeconds)}` : "";
}

/**
 * @param {Companion} companion
 * @param {Computer} computer
 * @param {number | null} seen seconds since 1970; null while it is there
 * @param {Computer[]} all the problems of other computers are shown too
 */
export function computerCard(companion, computer, seen, all) {
    const { status } = computer;
    const problems = problemsOf(computer);
    const others = all.filter((other) => other.id !== computer.id)
        .flatMap((other) => problemsOf(other)
        .map((problem) => ({ ...problem, text: `${named(other.name)}: ${problem.text}` })));
    const lockedNow = status.lockedApps - status.unlockedApps;
    /** @type {[string, string, ("" | "good" | "warning" | "danger")?][]} */
    const facts = [
        ["Monitoring", status.monitoring.isOn
            ? "On"
            : `Off${offUntil(status, computer.reported)}`, status.monitoring.isOn ? "good" : "danger"],
        ["Locked apps", status.unlockedApps
            ? `${lockedNow} of ${status.lockedApps}, ${status.unlockedApps} unlocked`
            : String(status.lockedApps)],
        ["Protection", {
            held: "Launches are held before they run", weak: "Apps are stopped after they start",
            gate_away: "Launches are denied",
        }[status.protection] ?? status.protection],
        ["Prompt window", status.prompterConnected ? "Running" : "Not running"],
    ];
    return element("section", { class: "home-computer", "aria-label": computer.name },
        problemBanner("danger", [...problems, ...others]), problemBanner("warning", [...problems, ...others]),
        element("div", { class: "card" },
            element("div", { class: "row home-computer-head" }, tile("computer"),
                element("div", { class: "row-text" },
                    element("h2", { class: "row-title home-computer-name", dir: "auto" }, computer.name),
                    element("span", { class: "row-note" }, reportWords(companion, computer, seen))),
                seen === null ? badge("Online", "good") : badge("Offline", "warning")),
            element("dl", { class: "home-facts" }, ...facts.map(([name, value, mood]) =>
                element("div", { class: "home-fact" }, element("dt", { class: "caption soft" }, name),
                    element("dd", { class: mood ? `home-fact-${mood}` : "" }, value))))));
}

/** @param {Problem["mood"]} mood @param {Problem[]} problems */
function problemBanner(mood, problems) {
    const found = problems.filter((problem) => problem.mood === mood);
    if (found.length === 0) return null;
    const title = mood === "danger" ? "Problems" : "Protection is degraded";
    return element("div", { class: "home-banner" }, banner("warning", mood,
        element("h2", { class: "home-banner-title" }, title),
        element("ul", { class: "home-problems" }, ...found.map(({ text }) => element("li", { dir: "auto" }, text)))));
}

/** @param {Companion} companion @param {Computer} computer @param {number | null} seen */
function reportWords(companion, computer, seen) {
    const now = companion.now() / 1000;
    const version = `AppLocker ${computer.status.version}`;
    return seen === null ? version : `Last seen ${ago(seen, now)}; status from ${timeOfDay(computer.reported / 1000)}`;
}
