// Erases Everline: every moment, every photo.
import { countToErase, resetMoments } from "./moment-reset.js";
import { element } from "../../ui/element.js";
import { banner, button, card, field, points, section } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { shown, Transfer } from "./transfer.js";
import { counted, sentenceOf } from "../../ui/words.js";

/** Typed as a confirmation. */
const word = "erase";

const ownWords = {
    name: "Everline",
    erased: "here, at the hub and on your other devices, as soon as each is connected. The hub frees their space "
        + "within a day.",
    stays: ["Your notes, and the vault’s key, which also seals them.", "Your other vaults.",
        "Unsent offline changes of other devices return as copies."],
    question: "This can’t be undone.", others: "your other devices",
};

/**
 * What a reset of this vault does.
 * @param {Vault | null} vault
 */
const wordsOf = (vault) => (!vault ? ownWords : vault.isLocal ? {
    name: `“${vault.name}”`, erased: "on this device.", stays: ["The vault itself, your own moments and other vaults."],
    question: "This can’t be undone.", others: "",
} : {
    name: `“${vault.name}”`,
    erased: "here, at the hub and on the devices of all members, as soon as each is connected. The hub frees their "
        + "space within a day.",
    stays: ["The vault itself with its members, your own moments and other vaults.",
        "Unsent offline changes of the members return as copies."],
    question: "It is erased for all members. This can’t be undone.",
    others: "the other members’ devices",
});

/** @param {Context} context @param {Vault | null} vault */
export async function resetPage(context, vault) {
    const words = wordsOf(vault);
    const status = element("p", { class: "section-foot", role: "status" });
    const going = element("div", { class: "settings-parts" });
    const { moments, photos } = await countToErase(context.companion);
    const start = button(`Reset ${words.name}…`, () => begin(context, words, { start, going, status }),
        { kind: "danger-strong", wide: true, icon: "trash" });
    return {
        title: "Reset Everline",
        body: [
            banner("warning", "danger", moments + photos === 0
                ? `${words.name} is already empty; remaining files are removed.`
                : `${counted(moments, "moment")} and ${counted(photos, "photo")}, those in the trash too, `
                    + `are permanently erased.`),
            section("What is erased", [card(points(
                "First the keys and drafts on this device: the keys of the photos, the stored list and drafts.",
                `Then every moment, photo and special date, also the day you count from, ${words.erased}`))]),
            section("What stays", [card(points(
                "What you exported, and backups of your devices.", ...words.stays))]),
            element("div", { class: "settings-parts" }, start, going, status),
        ],
    };
}

/**
 * @param {Context} context
 * @param {ReturnType<typeof wordsOf>} words
 * @param {{ start: HTMLElement, going: HTMLElement, status: HTMLElement }} parts
 */
async function begin(context, words, { start, going, status }) {
    const { companion, signal } = context;
    status.textContent = "";
    const isSure = await context.confirmUnlock({
        title: `Reset ${words.name}?`, text: words.question, action: "Reset",
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
                ? words.others && `On ${words.others} they are erased now, or once those are on.`
                : `The hub can’t be reached: it and ${words.others} are updated when this one is connected again.`);
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
