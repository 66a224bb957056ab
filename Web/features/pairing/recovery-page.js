// A new phone opens everything with the recovery sheet of its household.
import { readCode } from "../../crypto/recovery-code.js";
import { readRecoveryLink } from "../../crypto/derived-device.js";
import { element } from "../../ui/element.js";
import { backButton, entryPage, nextStep, replacePage } from "../../ui/entry-page.js";
import { button, codeField } from "../../ui/parts.js";
import { canScan } from "../../ui/can-scan.js";
import { entryLinkIn } from "./entry-link.js";
import { nameForm } from "./name-form.js";

/**
 * @param {Companion} companion
 * @param {import("./entry-link.js").EntryLink | null} entry null: the code is typed
 * @param {AbortSignal} signal
 * @param {() => HTMLElement} back
 */
export function recoveryPage(companion, entry, signal, back) {
    const code = codeField("Code on the sheet", { name: "code", placeholder: "XXXX-XXXX-XXXX-…", required: true });
    const typed = () => /** @type {HTMLInputElement} */ (code.lastElementChild).value;
    const form = nameForm("Open everything here", async (name) => {
        const sheet = entry
            ? readRecoveryLink(entry.link)
            : { hub: location.origin, household: null, secret: await readCode(typed()) };
        await companion.recover({ ...sheet, hub: location.origin }, name);
    }, ...(entry ? [] : [code]));
    const scanSheet = async () => {
        const { scan } = await import("../../ui/scan.js");
        const link = await scan(signal, (found) => found.startsWith(location.origin)
            && entryLinkIn(found)?.kind === "recover");
        if (link) replacePage(page, recoveryPage(companion, entryLinkIn(link), signal, back));
    };
    const page = entryPage("Use your recovery sheet",
        entry
            ? "The sheet opens everything of your household on this phone: moments, notes, photos and shared vaults."
            : `Type the code of the sheet whose address is ${location.host}. It opens everything of your household on `
                + "this phone.",
        element("div", { class: "entry-page-form" },
            !entry && canScan() && button("Scan the sheet", scanSheet, { wide: true, icon: "camera" })),
        form, nextStep("phone", "Next: choose a PIN, then revoke the phone that you lost."),
        backButton(() => replacePage(page, back())));
    return page;
}
