// Shows the outcome of revoking a device.
import { revokeDevice } from "./revoke-device.js";
import { element } from "../../ui/element.js";
import { button, row, tile } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";

/** @typedef {import("./revoke-device.js").Revocation} Revocation */

const moods = /** @type {const} */ ({ removed: "good", notIn: "", unclear: "warning", failed: "danger" });

/** @param {Revocation} revocation */
const line = ({ part, name, outcome, sentence }) => element("li", {}, row({
    start: tile(part === "household" ? "home" : "heart", moods[outcome]),
    title: part === "household" ? "Household" : `Shared vault “${name}”`, note: sentence,
}));

/** @param {Revocation[]} revocations @param {boolean} isByThis */
function rest(revocations, isByThis) {
    const isRevoked = revocations.some(({ part, outcome }) => part === "household" && outcome === "removed");
    return [
        isRevoked
            ? "It erases its data as soon as AppLocker is open there and reaches the hub. Unsent changes are lost."
            : `It is still in your household. Try again${
                isByThis ? "." : ", or run “applocker devices revoke” at a computer."}`,
        "Shared vaults without this device are not listed: another member has to remove it there.",
    ];
}

/**
 * Ends when the sheet is closed.
 * @param {Context} context
 * @param {{ id: string, name: string } | null} computer as of `revokeDevice`
 * @param {{ id: string, name: string }} device
 */
export async function revokeAndReport({ companion, signal, toast }, computer, device) {
    const list = element("ul", { class: "card rows" });
    const state = element("p", { class: "soft note" }, "Revoking…");
    let isShown = true;
    const closed = sheet(`Revocation of ${device.name}`, signal, (/** @type {(answer: null) => void} */ end) => [
        element("div", { role: "status", class: "settings-form" }, list, state),
        button("Close", () => end(null), { wide: true }),
    ]).then(() => (isShown = false));
    /** @type {Revocation[]} */
    const revocations = [];
    for await (const revocation of revokeDevice(companion, computer, device.id)) {
        revocations.push(revocation);
        list.append(line(revocation));
    }
    const sentences = rest(revocations, computer === null);
    state.replaceWith(...sentences.map((sentence) => element("p", { class: "soft note" }, sentence)));
    const open = revocations.filter(({ outcome }) => outcome === "failed" || outcome === "unclear");
    if (!isShown && companion.state === "unlocked") {
        toast(open.length === 0 ? `${device.name} was revoked` : open.map(({ sentence }) => sentence).join(" "));
    }
    await closed;
}
