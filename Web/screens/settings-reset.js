// Erases Everline: every moment, every photo.
import { countToErase, resetMoments } from "../core/moment-reset.js";
import { element } from "../views/element.js";
import { banner, button, card, field, section } from "../views/parts.js";
import { sheet } from "../views/sheet.js";
import { shown, Transfer } from "../views/transfer.js";
import { counted, sentenceOf } from "../views/words.js";

/** @typedef {import("../views/shell.js").Context} Context */

/** To be typed: no tap by mistake erases years. */
const word = "erase";

/** @type {import("./settings.js").SettingsPage} */
export async function resetPage(context) {
    const told = element("p", { class: "section-foot", role: "status" });
    const going = element("div", { class: "settings-parts" });
    const { moments, photos } = await countToErase(context.companion);
    const start = button("Reset Everline…", () => begin(context, { start, going, told }), { kind: "danger-strong", wide: true, icon: "trash" });
    return {
        title: "Reset Everline",
        body: [
            banner("warning", "danger", moments + photos === 0 ? "Everline is empty already; what was left behind is swept."
                : `${counted(moments, "moment")} and ${counted(photos, "photo")}, those in the trash too, are erased for good.`),
            section("What is erased", [card(element("ul", { class: "settings-points" },
                element("li", {}, "First what opens them on this device: the keys of the photos, the kept list, what is half-written and the day you count from."),
                element("li", {}, "Then every moment and photo, here, at the hub, on your computers and on your other devices, as soon as each of them hears of it. The hub frees their room within a day.")))]),
            section("What stays", [card(element("ul", { class: "settings-points" },
                element("li", {}, "What you exported, and backups of your computer or of this device."),
                element("li", {}, "Your notes, and the vault’s own key: they are under it, too."),
                element("li", {}, "Vaults that you share: leave them under “Shared vaults”. What is in them stays with your partner."),
                element("li", {}, "What another device changed without a network and has not sent comes back as a copy.")))]),
            element("div", { class: "settings-parts" }, start, going, told),
        ],
    };
}

/**
 * @param {Context} context
 * @param {{ start: HTMLElement, going: HTMLElement, told: HTMLElement }} parts
 */
async function begin(context, { start, going, told }) {
    const { companion, signal } = context;
    told.textContent = "";
    const isSure = await context.confirmWithGate({ title: "Reset Everline?", text: "Nobody can bring back what is erased.", action: "Continue" });
    if (!isSure || signal.aborted || !(await typesTheWord(signal)) || signal.aborted) return;
    start.hidden = true;
    const erasing = new Transfer("Erasing", signal);
    shown(going, erasing.element);
    try {
        const { moments, photos } = await erasing.run((stop) => resetMoments(companion, {
            signal: stop, progress: (done, all) => erasing.show(done, all, `${done} of ${all}`),
        }));
        if (signal.aborted) return;
        const { connection } = companion.following;
        told.textContent = `${counted(moments, "moment")} and ${counted(photos, "photo")} erased here. `
            + (connection === "live" || connection === "other" ? "Your other devices erase theirs now, or once they are on."
                : "The hub can’t be reached: it and your other devices hear of it when this one is connected again.");
    } catch (error) {
        if (!signal.aborted) told.textContent = sentenceOf(error);
    }
    start.hidden = false;
}

/** @param {AbortSignal} signal */
async function typesTheWord(signal) {
    const typed = await sheet("Erase all of it?", signal, (/** @type {(answer: boolean) => void} */ end) => {
        const problem = element("p", { class: "problem note", role: "alert" });
        const label = field(`Type “${word}”`, { autocomplete: "off", autocapitalize: "none", spellcheck: "false" });
        const submit = (/** @type {Event} */ event) => {
            event.preventDefault();
            const text = /** @type {HTMLInputElement} */ (label.lastElementChild).value.trim().toLowerCase();
            if (text === word) end(true);
            else problem.textContent = `Type the word “${word}”, or cancel.`;
        };
        return [element("form", { class: "settings-form", onsubmit: submit }, label, problem, element("div", { class: "buttons buttons-even" },
            button("Cancel", () => end(false)), element("button", { class: "button button-danger-strong", type: "submit" }, "Erase everything")))];
    });
    return typed === true;
}
