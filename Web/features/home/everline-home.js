// Home of a household without a computer: Everline, who shares it, and the devices.
import { element } from "../../ui/element.js";
import { isContentOpen } from "../../ui/content-lock.js";
import { icon } from "../../ui/icon.js";
import { live } from "../../ui/live.js";
import { banner, button, row, rows, section, tile } from "../../ui/parts.js";
import { vaultRows } from "../../ui/vault-choice.js";
import { ago, counted, named } from "../../ui/words.js";
import { checksRow } from "./checks.js";
import { followDates } from "./dates.js";

/** Moments that are named. */
const latest = 3;

/**
 * @param {Context} context
 * @returns {Promise<HTMLElement[]>}
 */
export async function everlineHome(context) {
    const { companion, signal } = context;
    const [sheet, today, next, everline, sharing, devices, checked] =
        Array.from({ length: 7 }, () => element("div", { class: "home-part" }));
    await Promise.all([
        live(companion, ["moments"], () => readMoments(context, everline), signal),
        live(companion, ["devices"], () => readSheet(context, sheet), signal),
        live(companion, ["devices"], () => readDevices(context, devices), signal, [[companion, "connection"]]),
        live(companion, [], () => readSharing(context, sharing), signal, [[companion.vaults, "changed"]]),
        checksRow(context, checked), followDates(context, today, next),
    ]);
    return [element("div", { class: "home-columns" },
        element("div", { class: "home-main" }, today, sheet, everline, next, sharing),
        element("div", { class: "home-side" }, devices, checked))];
}

/** @param {Context} context @param {HTMLElement} place */
async function readMoments({ companion, go }, place) {
    // Their titles are shown once the PIN was confirmed, as in Everline itself.
    const isOpen = await isContentOpen(companion);
    const { moments } = isOpen ? await companion.moments.list() : { moments: [] };
    const [newest] = moments;
    return () => place.replaceChildren(element("section", { class: "home-everline", "aria-label": "Everline" },
        element("div", { class: "home-everline-head" }, icon("heart"),
            element("div", {},
                element("h2", { class: "home-everline-title" }, "Everline"),
                element("p", { class: "soft" }, newest
                    ? `${counted(moments.length, "moment")}, the latest ${ago(newest.date, companion.now() / 1000)}`
                    : "Your moments, with words and photos, sealed on your phones."))),
        newest && rows(...moments.slice(0, latest).map((moment) => row({
            start: tile(moment.photos.length > 0 ? "photo" : "note"), href: `#/moments/${moment.id}`,
            title: named(moment.title || moment.words.split("\n")[0] || "Untitled"),
            note: ago(moment.date, companion.now() / 1000),
        }))),
        element("div", { class: "buttons buttons-even" },
            isOpen && button(newest ? "New moment" : "Write the first moment", () => go("moments/new"),
                { kind: "primary", icon: "plus" }),
            (newest || !isOpen) && button(isOpen ? "All moments" : "Open Everline", () => go("moments"),
                { kind: isOpen ? "" : "primary" }))));
}

/** @param {Context} context @param {HTMLElement} place */
async function readSharing({ companion }, place) {
    const vaults = await vaultRows(companion);
    return () => place.replaceChildren(section("Vaults", [rows(...vaults,
        vaults.length === 0 && row({
            start: tile("people"), title: "Invite your partner", href: "#/settings/vaults",
            note: "A shared vault has moments of you both. Your own stay yours.",
        }))]));
}

/** @param {Context} context @param {HTMLElement} place */
async function readDevices({ companion }, place) {
    const devices = (await companion.household.devices()).filter(({ isSheet }) => !isSheet);
    return () => place.replaceChildren(section("Devices", [rows(...devices.map(({ name, isThis, atHub }) => row({
        start: tile("phone", atHub?.isConnected ? "good" : ""), title: named(name), href: "#/settings/devices",
        note: isThis ? "This one" : atHub?.isConnected ? "Connected now" : "Not connected now",
    })))]));
}

/** @param {Context} context @param {HTMLElement} place */
async function readSheet({ companion, go }, place) {
    const sheets = await companion.administration.sheets();
    return () => place.replaceChildren(...(sheets.length > 0 ? [] : [banner("warning", "warning",
        element("p", {}, "There is no recovery sheet: if this phone is lost, its data is lost too."),
        button("Make a recovery sheet", () => go("settings/recovery/new")))]));
}
