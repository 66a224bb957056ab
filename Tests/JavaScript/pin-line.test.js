// The disguise as notes: a number is offered as a PIN only by a deliberate gesture.
import { PINLine } from "/features/disguise/pin-line.js";
import { equal } from "./harness.js";

/** Types at the end of the note, a tenth of a second apart by default. @param {string} keys "⏎" is Enter */
function typed(keys, line = new PINLine(), pause = 100) {
    const offers = [];
    let text = "";
    let time = 0;
    for (const key of keys) {
        time += pause;
        text += key === "⏎" ? "\n" : key;
        if (key !== "⏎") line.forget();
        const offer = key === "⏎" ? line.entered(text, "", time) : null;
        if (offer !== null) offers.push(offer);
    }
    return { line, offers, text };
}

/** @type {import("./harness.js").Tests} */
export const tests = {
    aLineOfDigitsWithEnterTwiceIsOfferedAsAPIN() {
        equal(typed("628495⏎⏎").offers, ["628495"], "six digits");
        equal(typed("039184⏎⏎").offers, ["039184"], "with its leading zero");
        equal(typed("milk⏎bread⏎628495⏎⏎").offers, ["628495"], "after other lines");
        equal(typed("628495⏎⏎⏎⏎").offers, ["628495"], "once");
        const longest = "12345678901234567890123456789012";
        equal(typed(`${longest}⏎⏎`).offers, [longest], "32 digits");
        const { line } = typed("628495⏎");
        equal(line.entered("628495\n\n", "\nmilk", 800), "628495", "between other lines");
    },

    ordinaryNotesOfferNoPIN() {
        for (const keys of [
            "628495⏎", "628495⏎milk⏎", "62849⏎⏎", "628495 ⏎⏎", "tel 628495⏎⏎", "628-495⏎⏎", "628495⏎-⏎",
            "⏎⏎", "milk⏎⏎", "628495⏎x⏎⏎", "123456789012345678901234567890123⏎⏎"]) {
            equal(typed(keys).offers, [], keys);
        }
        equal(typed("628495⏎⏎", new PINLine(), 2000).offers, [], "Enter pressed twice, slowly");
        const divided = new PINLine();
        equal(divided.entered("628495\n", "17", 0), null, "Enter within a number");
        equal(divided.entered("628495\n\n", "17", 100), null, "and once more");
        const { line, text } = typed("628495⏎");
        line.forget();
        equal(line.entered(`${text}\n`, "", 700), null, "Enter that is held down");
        equal(line.entered("milk\n\n", "", 800), null, "elsewhere");
    },

    theHeldLineIsOfferedAsAPIN() {
        const line = new PINLine();
        equal(line.held("milk\n628495", ""), "628495", "at the end");
        equal(line.held("milk\n628", "495\nbread"), "628495", "the caret within it");
        equal(line.held("628495\n", ""), "628495", "after Enter");
        equal(line.held("628495\n\n", ""), null, "two lines above");
        equal(line.held("628495 milk", ""), null, "with a word");
        equal(line.held("62849", ""), null, "five digits");
        equal(line.held("", ""), null, "nothing");
        const after = typed("628495⏎").line;
        after.held("628495\n", "");
        equal(after.entered("628495\n\n", "", 700), null, "a held line, offered again");
    },
};
