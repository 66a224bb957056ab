// One sheet for the removal of a device: what was done, and what could not be.
import { removeDevice } from "../core/removing.js";
import { element } from "../views/element.js";
import { button, row, tile } from "../views/parts.js";
import { sheet } from "../views/sheet.js";

/** @typedef {import("../views/shell.js").Context} Context */
/** @typedef {import("../core/removing.js").Removal} Removal */

const moods = /** @type {const} */ ({ removed: "good", notIn: "", unclear: "warning", failed: "danger" });

/** @param {Removal} removal */
const line = ({ part, name, outcome, sentence }) => element("li", {}, row({
    start: tile(part === "household" ? "computer" : "heart", moods[outcome]),
    title: part === "household" ? "Household" : `Shared vault “${name}”`, note: sentence,
}));

/** @param {Removal[]} removals */
function rest(removals) {
    const isRevoked = removals.some(({ part, outcome }) => part === "household" && outcome === "removed");
    return [
        isRevoked ? "It erases what it has as soon as AppLocker is open there and reaches the hub. What it has not sent is lost."
            : "It still belongs to your household. Try again, or run “applocker devices revoke” at a computer.",
        "Shared vaults that this device is not in are not listed: there another member has to remove it.",
    ];
}

/**
 * Ends once the sheet is closed.
 * @param {Context} context
 * @param {{ id: string, name: string }} computer
 * @param {{ id: string, name: string }} device
 */
export async function removeAndReport({ companion, signal, tell }, computer, device) {
    const list = element("ul", { class: "card rows" });
    const state = element("p", { class: "soft note" }, "Removing…");
    let isShown = true;
    const closed = sheet(`Removal of ${device.name}`, signal, (/** @type {(answer: null) => void} */ end) => [
        element("div", { role: "status", class: "settings-form" }, list, state), button("Close", () => end(null), { wide: true }),
    ]).then(() => (isShown = false));
    /** @type {Removal[]} */
    const removals = [];
    for await (const removal of removeDevice(companion, computer, device.id)) {
        removals.push(removal);
        list.append(line(removal));
    }
    state.replaceWith(...rest(removals).map((sentence) => element("p", { class: "soft note" }, sentence)));
    const open = removals.filter(({ outcome }) => outcome === "failed" || outcome === "unclear");
    if (!isShown && companion.state === "unlocked") {
        tell(open.length === 0 ? `${device.name} was removed` : open.map(({ sentence }) => sentence).join(" "));
    }
    await closed;
}
