// The devices of the household: names, when they were last seen, and revoking one.
import { element, keyed } from "../../ui/element.js";
import { live } from "../../ui/live.js";
import { badge, banner, button, row, section, tile } from "../../ui/parts.js";
import { askText, sheet } from "../../ui/sheet.js";
import { inviteDevice } from "../../ui/invite-sheet.js";
import { ago, sentenceOf } from "../../ui/words.js";
import { revokeAndReport } from "./revocation-sheet.js";
import { sendWithToasts } from "../../ui/command-progress.js";

/** @typedef {Awaited<ReturnType<import("../../household/household.js").Household["devices"]>>[number]} Device */

const longestName = 64;

/**
 * The computer to ask: it has to be running.
 * @param {Context} context
 * @param {Device[]} devices
 */
export function computerToAsk({ companion }, devices) {
    const computers = devices.filter(({ role }) => role === "computer");
    return computers.find(({ atHub }) => atHub?.isConnected)
        ?? computers.find(({ id }) => id === companion.own.computer)
        ?? computers[0] ?? null;
}

/** @param {Device} device */
const kindOf = ({ role, isSheet }) => (isSheet ? "Sheet" : role === "computer" ? "Computer" : "Phone or browser");

/**
 * Whether this device may revoke it, by itself or through a computer.
 * @param {Companion} companion
 * @param {Device} device
 */
const mayRevoke = ({ isPhoneFounded }, { role }) => isPhoneFounded || role === "companion";

/** @param {Device} device */
function seen({ atHub, isSheet, isThis }) {
    if (isSheet) return "Opens everything on a new phone";
    if (isThis) return "In use now";
    if (!atHub) return "Unknown while offline";
    if (atHub.isConnected) return "Connected now";
    return atHub.lastSeen ? `Seen ${ago(atHub.lastSeen)}` : "Not seen yet";
}

/** @type {SettingsPage} */
export async function devices(context) {
    const { companion, signal } = context;
    const list = element("ul", { class: "card rows" });
    const away = element("div", { hidden: true });
    /** @type {Device[]} */
    let known = [];
    const read = async () => {
        known = await companion.household.devices();
        return () => {
            away.hidden = known.some(({ atHub }) => atHub !== null);
            away.replaceChildren(banner("offline", "warning",
                "The hub can’t be reached, so devices can’t be renamed or revoked now."));
            keyed(list, known, ({ id }) => id, (device) => element("li", {}, row({
                start: tile(device.isSheet ? "note" : device.role === "computer" ? "computer" : "phone",
                    device.atHub?.isConnected ? "good" : ""),
                title: device.name,
                note: `${kindOf(device)} · ${seen(device)}`,
                end: device.isThis ? badge("This one") : null, onclick: () => open(context, device, known),
            })), (device) => JSON.stringify([device.name, device.isThis, seen(device)]));
        };
    };
    await live(companion, ["devices"], read, signal, [[companion, "connection"]]);
    return {
        title: "Devices",
        body: [context.query.has("recovered") && recovered(), away, ...(companion.isPhoneFounded
            ? [section(null, [list]), additions(context)]
            : [section(null, [list], { foot: "To add a phone, run “applocker pair” at a computer." })])],
    };
}

/** After a recovery: which phone was lost is known to the owner alone. */
const recovered = () => banner("warning", "warning",
    element("p", {}, "This phone has everything again. If another phone was lost, choose it in this list and revoke "
        + "it: what is written from then on stays closed to it."));

/** @param {Context} context of a household that a phone founded */
function additions(context) {
    const { administration } = context.companion;
    const phone = () => inviteDevice(context, administration.inviting("administrator"), {
        question: {
            title: "Add a phone of yours?", action: "Add",
            text: "Everything of yours opens on it: moments, notes and photos. For your partner’s phone use a shared "
                + "vault instead.",
        },
        text: "Scan this code with the other phone, or open the link there.",
        code: `Or open ${location.host} there, choose “Type a code”, and type:`,
        warning: "Confirm only if this phone is in your hand. Everything of yours opens on it.",
        admitted: "The phone was added",
    });
    const computer = () => inviteDevice(context, administration.inviting("computer"), {
        question: {
            title: "Connect a computer?", action: "Continue",
            text: "AppLocker locks apps on it, and this phone gets its alerts. It may also admit and revoke devices of "
                + "your household.",
        },
        text: "On the computer, install AppLocker and run “applocker hub join”, then this link.",
        warning: "Confirm only if you started this on your computer.",
        admitted: "The computer was connected",
    });
    return element("div", { class: "settings-form" },
        button("Add a phone", phone, { wide: true, icon: "phone" }),
        button("Connect a computer", computer, { wide: true, icon: "computer" }),
        element("p", { class: "section-foot" },
            "A computer is optional: it locks apps, and reports to your phones who tried to open them."));
}

/** @param {Context} context @param {Device} device @param {Device[]} all */
async function open(context, device, all) {
    const choice = await sheet(device.name, context.signal, (/** @type {(answer: string | null) => void} */ end) => [
        element("p", { class: "soft" },
            `${kindOf(device)} of your household. ${seen(device)}.`),
        element("p", { class: "caption soft" }, "Its key begins with ",
            element("code", {}, device.id.slice(0, 8)), "."),
        !device.isSheet && button("Rename", () => end("rename"), { wide: true }),
        mayRevoke(context.companion, device)
            && button(device.isThis ? "Revoke this device" : "Revoke it", () => end("revoke"),
                { wide: true, kind: "danger" }),
        !mayRevoke(context.companion, device)
            && element("p", { class: "caption soft" },
                "A computer can be revoked only at a computer, with the passcode."),
        button("Close", () => end(null), { wide: true, kind: "plain" }),
    ]);
    if (choice === "rename") await rename(context, device, all);
    if (choice === "revoke" && device.isThis) context.go("settings/remove");
    else if (choice === "revoke") await revoke(context, device, all);
}

/** @param {Context} context @param {Device} device @param {Device[]} all */
async function rename(context, device, all) {
    const name = await askText(context.signal, `Rename ${device.name}`, "", {
        label: "Name", value: device.name, maxlength: longestName, action: "Rename", problem: (typed) => {
            const bytes = new TextEncoder().encode(typed).length;
            return bytes === 0 ? "A device needs a name."
                : bytes > longestName ? "This name is too long; use fewer letters." : null;
        },
    });
    if (!name || name === device.name) return;
    const { administration, isPhoneFounded } = context.companion;
    const computer = computerToAsk(context, all);
    if ((!isPhoneFounded && !computer) || !(await context.confirmUnlock({
        title: "Rename this device?", text: `“${device.name}” becomes “${name}” on every device.`, action: "Rename",
    }))) return;
    if (isPhoneFounded) {
        await administration.rename(device.id, name)
            .then(() => context.toast("Renamed"), (error) => context.toast(sentenceOf(error)));
    } else if (computer) {
        await sendWithToasts(context, computer, { renameDevice: { device: device.id, name } }, "Renamed");
    }
}

/** @param {Context} context @param {Device} device @param {Device[]} all */
async function revoke(context, device, all) {
    const { isPhoneFounded } = context.companion;
    const computer = isPhoneFounded ? null : computerToAsk(context, all);
    if (!computer && !isPhoneFounded) return;
    const loses = computer ? "see alerts, notes or photos, or approve launches" : "open anything new";
    const isSure = await context.confirmUnlock({
        title: `Revoke ${device.name}?`,
        text: `It can no longer ${loses}. Your keys are replaced, also those of shared vaults that both devices are in.`
            + " It erases its data, including unsent changes, as soon as AppLocker is open there and reaches the hub. "
            + `To use it again, ${computer ? "pair it again" : "set it up again"}.`,
        action: "Revoke",
    });
    if (isSure) await revokeAndReport(context, computer, device);
}
