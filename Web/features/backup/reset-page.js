// Erases Everline: every moment, every photo.
import { countToErase, resetMoments } from "./moment-reset.js";
import { element } from "../../ui/element.js";
import { banner, button, card, field, points, section } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { shown, Transfer } from "./transfer.js";
import { counted, sentenceOf } from "../../ui/words.js";

/** Typed as a confirmation. */
const word = "erase";

/** @type {SettingsPage} */
export async function resetPage(context) {
    const status = element("p", { class: "section-foot", role: "status" });
    const going = element("div", { class: "settings-parts" });
    const { moments, photos } = await countToErase(context.companion);
    const start = button("Reset Everline…", () => begin(context, { start, going, status }),
        { kind: "danger-strong", wide: true, icon: "trash" });
    return {
        title: "Reset Everline",
        body: [
            banner("warning", "danger", moments + photos === 0
                ? "Everline is already empty; remaining files are removed."
                : `${counted(moments, "moment")} and ${counted(photos, "photo")}, those in the trash too, `
                    + `are permanently erased.`),
            section("What is erased", [card(points(
                "First the keys and drafts on this device: the keys of the photos, the stored list and drafts.",
                "Then every moment, photo and special date, also the day you count from, here, at the hub and on "
                    + "your other devices, as soon as each is connected. The hub frees their space within a day."))]),
            section("What stays", [card(points(
                "What you exported, and backups of your devices.",
                "Your notes, and the vault’s key, which also seals them.",
                "Vaults that you share: leave them under “Shared vaults”. Their content stays with your partner.",
                "Unsent offline changes of other devices return as copies."))]),
            element("div", { class: "settings-parts" }, start, going, status),
        ],
    };
}

/** @param {Context} context @param {{ start: HTMLElement, going: HTMLElement, status: HTMLElement }} parts */
async function begin(context, { start, going, status }) {
    const { companion, signal } = context;
    status.textContent = "";
    const isSure = await context.confirmUnlock({
        title: "Reset Everline?", text: "This can’t be undone.", action: "Reset",
    });
    if (!isSure || signal.aborted || !(await typesTheWord(signal)) || signal.aborted) return;
    start.hidden = true;
    const erasing = new Transfer("Erasing", signal);
    shown(going, erasing.element);
    try {
        const { moments, photos } = await erasing.run((stop) => resetMoments(companion, {
            signal: stop, progress: (done, all) => erasing.show(done, all, `${done} of ${all}`),
        }));
        if (signal.aborted) return;
        const { connection } = companion.syncLoop;
        status.textContent = `${counted(moments, "moment")} and ${counted(photos, "photo")} erased here. `
            + (connection === "live" || connection === "other"
                ? "Your other devices erase theirs now, or once they are on."
                : "The hub can’t be reached: it and your other devices are updated when this one is connected again.");
    } catch (error) {
        if (!signal.aborted) status.textContent = sentenceOf(error);
    }
    start.hidden = false;
}

/** @param {AbortSignal} signal */
async function typesTheWord(signal) {
    const typed = await sheet("Erase everything?", signal, (/** @type {(answer: boolean) => void} */ end) => {
        const problem = element("p", { class: "problem note", role: "alert" });
        const label = field(`Type “${word}”`, { autocomplete: "off", autocapitalize: "none", spellcheck: "false" });
        const submit = (/** @type {Event} */ event) => {
            event.preventDefault();
            const text = /** @type {HTMLInputElement} */ (label.lastElementChild).value.trim().toLowerCase();
            if (text === word) end(true);
            else problem.textContent = `Type the word “${word}”, or cancel.`;
        };
        return [element("form", { class: "settings-form", onsubmit: submit }, label, problem,
            element("div", { class: "buttons buttons-even" },
                button("Cancel", () => end(false)),
                element("button", { class: "button button-danger-strong", type: "submit" }, "Erase everything")))];
    });
    return typed === true;
}
