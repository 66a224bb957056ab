// The computer that screens show, remembered between visits.
import { element } from "./element.js";
import { segments } from "./parts.js";

/** @typedef {import("../household/household.js").Computer} Computer */

const fact = "chosenComputer";
/** How often the hub is asked which devices are connected, in milliseconds. */
const askEvery = 30_000;
/** A connected computer reports every five minutes. */
const reportsEvery = 330_000;

/** @param {Companion} companion @param {Computer[]} computers @returns {Promise<Computer | null>} */
export async function chosenComputer(companion, computers) {
    const kept = await companion.settings.get(fact, "");
    return computers.find(({ id }) => id === kept) ?? computers[0] ?? null;
}

/** @param {Companion} companion @param {string} id */
export async function chooseComputer(companion, id) {
    await companion.settings.set(fact, id);
}

/**
 * Null if there is only one.
 * @param {{ id: string, name: string }[]} computers
 * @param {string} chosen
 * @param {(id: string) => void} pick
 */
export function computerPicker(computers, chosen, pick) {
    if (computers.length < 2) return null;
    if (computers.length <= 3) {
        return segments("Computer", computers.map(({ id, name }) => /** @type {[string, string]} */ ([id, name])),
            chosen, pick);
    }
    return element("label", { class: "field" }, element("span", { class: "field-label" }, "Computer"),
        element("select", {
            class: "input", dir: "auto",
            onchange: (/** @type {Event} */ event) => pick(/** @type {HTMLSelectElement} */ (event.target).value),
        }, ...computers.map(({ id, name }) => element("option", { value: id, selected: id === chosen }, name))));
}

/**
 * Which devices are connected, as the hub reports it. `lastSeen`: seconds since 1970.
 * @typedef {Map<string, { isConnected: boolean, lastSeen: number | null }>} Presence
 */

/** @param {Companion} companion @param {(presence: Presence) => void} changed @param {AbortSignal} signal */
export function followPresence(companion, changed, signal) {
    const ask = async () => {
        if (document.hidden || signal.aborted) return;
        const devices = await companion.household.devices().catch(() => []);
        if (signal.aborted) return;
        changed(new Map(devices.flatMap(({ id, atHub }) =>
            (atHub ? [[id, { isConnected: atHub.isConnected, lastSeen: atHub.lastSeen ?? null }]] : []))));
    };
    const timer = setInterval(ask, askEvery);
    signal.addEventListener("abort", () => clearInterval(timer), { once: true });
    companion.addEventListener("connection", ask, { signal });
    ask();
}

/**
 * When a computer was last seen; null while it is connected.
 * @param {Companion} companion
 * @param {Computer} computer
 * @param {Presence} presence
 * @returns {number | null} seconds since 1970
 */
export function lastSeen(companion, computer, presence) {
    const { connection } = companion.syncLoop;
    const now = companion.now();
    const known = presence.get(computer.id);
    const isFollowed = connection === "live" || connection === "other";
    // A hub that withholds reports could claim a connection. Reports count from their arrival: the computer's clock may
    // have been wrong meanwhile.
    const hasReported = known
        ? known.isConnected && now - computer.arrived < reportsEvery
        : now - computer.reported < reportsEvery;
    if (isFollowed && hasReported) return null;
    return Math.max(computer.reported / 1000, known?.lastSeen ?? 0);
}
