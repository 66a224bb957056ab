// The recovery sheet: of a household that a phone founded it is made here, of another one by its computer.
import { element } from "../../ui/element.js";
import { banner, button, card, row, rows, section, tile } from "../../ui/parts.js";
import { keysAfterRevoking, sentenceOf } from "../../ui/words.js";
import { computerSheet } from "./computer-sheet.js";

/** @type {SettingsPage} */
export async function recovery(context) {
    if (!context.companion.isPhoneFounded) return computerSheet();
    const [sheet] = await context.companion.administration.sheets();
    const make = () => context.go("settings/recovery/new");
    return {
        title: "Recovery sheet",
        body: [
            sheet
                ? rows(row({
                    start: tile("check", "good"), title: "There is a recovery sheet",
                    note: "It opens everything on a new phone, without a PIN.",
                }))
                : banner("warning", "warning", element("p", {},
                    "There is no recovery sheet. If your phones are lost, or the PIN is forgotten, so is everything.")),
            button(sheet ? "Make a new sheet" : "Make a recovery sheet", make,
                { kind: sheet ? "" : "primary", wide: true, icon: "note" }),
            sheet && button("Revoke the sheet", () => revoke(context, sheet.id), { kind: "danger", wide: true }),
            section("What it is for", [card(
                element("p", {},
                    "A printed sheet with a code. With it, a new phone opens your moments, notes, photos and shared "
                        + "vaults. There is no other way: nobody can reset a PIN."),
                element("p", { class: "soft" },
                    "Store it with your papers, not beside the phone, and not as a photo. A new sheet replaces the "
                        + "previous one, which stops working."))]),
            section("When a phone is lost", [card(
                element("p", {},
                    "Revoke it under Devices on another phone of yours. If you have none, open this hub’s address on a "
                        + "new phone, choose “Use a recovery sheet”, and revoke the lost one there."))]),
        ],
    };
}

/** @param {Context} context @param {string} id */
async function revoke(context, id) {
    const isSure = await context.confirmUnlock({
        title: "Revoke the sheet?", action: "Revoke",
        text: "It stops working, and the household’s keys are replaced. Without another sheet, everything is "
            + "lost with your phones.",
    });
    if (!isSure) return;
    try {
        const { pending } = await context.companion.administration.revoke(id);
        const later = pending ? `. ${keysAfterRevoking("household", pending)}` : "";
        context.toast(`The sheet was revoked${later}`);
        context.go("settings/recovery", { replace: true });
    } catch (error) {
        context.toast(sentenceOf(error));
    }
}
