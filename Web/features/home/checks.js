// What this device and the computers check about themselves: a count on Home, and all of it on a screen of its own.
import { appVersion, offline, updates } from "../../workers/registration.js";
import { drawn, element } from "../../ui/element.js";
import { live } from "../../ui/live.js";
import { row, rows, section, tile } from "../../ui/parts.js";
import { storageShare } from "../../ui/storage-share.js";
import { counted, named } from "../../ui/words.js";
import { factsOf, findingsOf, weaknessesOf } from "./computer.js";

/** @typedef {import("../../household/household.js").Computer} Computer */
/** @typedef {import("./computer.js").Finding} Finding */

/** Storage that is fuller than this is reported. */
const fullAt = 0.9;
const moods = /** @type {const} */ ({ ok: "good", warning: "warning", problem: "danger" });
const words = { ok: "Passed", warning: "Could be stronger", problem: "A problem" };

/**
 * Calls `draw` now and after each change.
 * @param {Context} context
 * @param {(computers: Computer[], device: Finding[]) => void} draw
 */
async function followFindings({ companion, signal }, draw) {
    const read = async () => {
        const [computers, report, version] = await Promise.all(
            [companion.household.computers(), companion.report(), appVersion().catch(() => null)]);
        const problem = companion.notificationProblem;
        return () => draw(computers, deviceFindings(report, version, problem));
    };
    await live(companion, ["status"], read, signal,
        [[updates, "state"], [companion, "state"], [companion, "notifications"]]);
}

/**
 * A row with how many checks did not pass, which leads to all of them.
 * @param {Context} context
 * @param {HTMLElement} place
 */
export function checksRow(context, place) {
    return followFindings(context, (computers, device) => {
        const bad = [...computers.flatMap(weaknessesOf), ...device.filter(({ state }) => state !== "ok")];
        const isProblem = bad.some(({ state }) => state === "problem");
        drawn(place, [bad.length, isProblem], () => rows(row({
            start: tile("shield", isProblem ? "danger" : bad.length ? "warning" : "good"), href: "#/home/checks",
            title: bad.length ? `${counted(bad.length, "thing")} could be stronger` : "All checks passed",
        })));
    });
}

/** @param {Context} context @returns {Promise<Page>} */
export async function checks(context) {
    const body = element("div", { class: "settings-parts" });
    await followFindings(context, (computers, device) => body.replaceChildren(
        ...computers.map((computer) => section(named(computer.name), [
            element("dl", { class: "card home-facts" }, ...factsOf(computer).map(([name, value]) =>
                element("div", { class: "home-fact" },
                    element("dt", { class: "caption soft" }, name), element("dd", {}, value)))),
            findingsList(findingsOf(computer))])),
        section("This device", [findingsList(device)])));
    return { title: "Checks", back: "home", body: [body] };
}

/** @param {Finding[]} findings */
const findingsList = (findings) => element("ul", { class: "card rows", hidden: findings.length === 0 },
    ...findings.map(({ title, state, sentence }) => element("li", {}, row({
        start: tile(state === "ok" ? "check" : "warning", moods[state]), title, note: sentence,
        end: element("span", { class: "visually-hidden" }, words[state]),
    }))));

/**
 * @param {Awaited<ReturnType<Context["companion"]["report"]>>} report
 * @param {{ version: string } | null} version
 * @param {string | null} notificationProblem
 * @returns {Finding[]}
 */
function deviceFindings({ room, misbehaviour, refused, failed, deferred }, version,
    notificationProblem) {
    const isFull = room.quota > 0 && room.usage / room.quota > fullAt;
    const test = (/** @type {string} */ title, /** @type {boolean} */ isGood, /** @type {string} */ good,
        /** @type {string} */ bad, /** @type {Finding["state"]} */ otherwise = "warning") =>
        ({ title, state: isGood ? "ok" : otherwise, sentence: isGood ? good : bad });
    /** @type {Finding[]} */
    const notifications = notificationProblem === null ? []
        : [{ title: "Notifications", state: "warning", sentence: notificationProblem }];
    return [
        test("Connection", window.isSecureContext, "The browser counts this page as secure.",
            "The browser does not count this page as secure; open it through https.", "problem"),
        test("Storage", room.persisted, "The browser keeps AppLocker’s data permanently.",
            "The browser may delete AppLocker’s data when space is low. Put AppLocker on the Home Screen."),
        test("Free space", !isFull,
            room.quota === 0 ? "The browser does not report how much is used." : `${storageShare(room)} used.`,
            `Nearly full: ${storageShare(room).toLowerCase()} used. New alerts and notes may not fit; free space on ` +
                "this device."),
        test("App", version !== null && offline.state !== "failed", `Version ${version?.version}.`,
            offline.problem ?? "The version is unknown while the hub can’t be reached.",
            offline.state === "failed" ? "problem" : "warning"),
        test("Hub", misbehaviour.length === 0 && refused === 0, "It returned no invalid data.",
            misbehaviour.join(" ")
                || `${counted(refused, "record")} from the hub ${refused === 1 ? "was" : "were"} refused.`, "problem"),
        test("Changes", failed === 0 && deferred === 0, "Everything was sent and could be opened.",
            [failed > 0 && `${counted(failed, "change")} of this device could not be sent.`,
                deferred > 0 && `${counted(deferred, "record")} can’t be opened until another device sends a key.`]
                    .filter(Boolean).join(" ")),
        ...notifications,
    ];
}
