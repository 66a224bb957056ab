// A new recovery sheet: printed or saved, then verified, and valid only from then on.
import { plainCode } from "../../crypto/base32.js";
import { canScan } from "../../ui/can-scan.js";
import { element } from "../../ui/element.js";
import { banner, button, codeField, section } from "../../ui/parts.js";
import { shareFile } from "../../ui/share-file.js";
import { sentenceOf } from "../../ui/words.js";
import { recovery } from "./settings.js";
import { sheetFile, sheetPaper } from "./sheet-paper.js";

/** @typedef {Awaited<ReturnType<Companion["administration"]["draftSheet"]>>} Sheet */

const back = "settings/recovery";
/** How many groups of the code are typed. */
const askedGroups = 2;

/** @type {SettingsPage} */
export async function newSheet(context) {
    const { companion, signal } = context;
    if (!companion.isPhoneFounded) return recovery(context);
    const sheets = await companion.administration.sheets();
    const sheet = await companion.administration.draftSheet();
    signal.addEventListener("abort", () => sheet.secret.fill(0), { once: true });
    const paper = sheetPaper(sheet);
    return {
        title: "Recovery sheet", back,
        body: [
            element("p", { class: "soft" },
                "Print this sheet, or save it where nobody else opens it. It is the only way back if your phones are "
                    + "lost."),
            paper,
            element("div", { class: "buttons buttons-even" },
                button("Print", () => window.print(), { kind: "primary", icon: "note" }),
                button("Save as a file", () => shareFile(sheetFile(paper)), { icon: "share" })),
            verification(context, sheet, sheets.length > 0),
            sheets.length === 0 && button("Later", () => context.go("moments", { replace: true }),
                { kind: "plain", wide: true }),
        ],
    };
}

/**
 * Two different places, in order.
 * @param {number} count
 */
function places(count) {
    const [one, other] = crypto.getRandomValues(new Uint32Array(askedGroups));
    const first = one % count;
    return [first, (first + 1 + (other % (count - 1))) % count].sort((a, b) => a - b);
}

/**
 * @param {Context} context
 * @param {Sheet} sheet
 * @param {boolean} replaces an older one
 */
function verification(context, sheet, replaces) {
    const { signal } = context;
    const problem = element("p", { class: "problem note", role: "alert" });
    const submit = element("button", { class: "button button-primary button-wide", type: "submit" }, "Use this sheet");
    const asked = places(sheet.groups.length);
    const fields = asked.map((place) =>
        codeField(`Group ${place + 1}`, { name: `group-${place + 1}`, maxlength: 5, required: true }));
    const use = async () => {
        problem.textContent = "";
        submit.disabled = true;
        try {
            if (!(await isAllowed(context, replaces))) return;
            await context.companion.administration.useSheet(sheet);
            if (signal.aborted) return;
            context.toast("The recovery sheet works now");
            context.go(replaces ? back : "moments", { replace: true });
        } catch (error) {
            problem.textContent = sentenceOf(error);
        } finally {
            submit.disabled = false;
        }
    };
    const check = (/** @type {Event} */ event) => {
        event.preventDefault();
        const isRight = asked.every((place, index) =>
            plainCode(/** @type {HTMLInputElement} */ (fields[index].lastElementChild).value) === sheet.groups[place]);
        if (isRight) return use();
        problem.textContent = "These are other groups than on the sheet; compare them.";
    };
    const scanSheet = async () => {
        const { scan } = await import("../../ui/scan.js");
        if (await scan(signal, (text) => text === sheet.link)) await use();
    };
    return section("Check the printed sheet", [
        element("form", { class: "settings-form", onsubmit: check },
            element("p", { class: "soft" }, "Type two groups of its code from the paper, to see that it can be read."),
            element("div", { class: "recovery-groups" }, ...fields), submit,
            canScan() && button("Scan the printed sheet instead", scanSheet, { wide: true, icon: "camera" }), problem),
        replaces && banner("warning", "warning", element("p", {}, "The previous sheet stops working then.")),
    ]);
}

/**
 * The PIN is asked once more, but not right after it was chosen.
 * @param {Context} context
 * @param {boolean} replaces
 */
const isAllowed = async (context, replaces) => context.companion.wasJustFounded || context.confirmUnlock({
    title: "Use this sheet?", action: "Use it",
    text: `It opens everything of your household on any phone.${replaces ? " The previous sheet stops working." : ""}`,
});
