// Finds the PIN in what is written on a note pad. A line of digits alone is offered as a PIN when Enter is pressed
// twice after it, or Done is held; writing a number presses Enter once.
import { mostDigits, usualLength } from "../../household/pin-rules.js";

/** Milliseconds in which Enter is pressed twice. */
const twiceWithin = 1500;

/** @param {string} line */
const digitsOf = (line) => (/^\d+$/.test(line) && line.length >= usualLength && line.length <= mostDigits ? line : "");

export class PINLine {
    #offer = "";
    #enteredAt = -Infinity;

    /**
     * Enter was pressed.
     * @param {string} before the text before the caret, which is on the new line
     * @param {string} after the text behind it
     * @param {number} time milliseconds
     * @returns {string | null} the digits that are offered as a PIN
     */
    entered(before, after, time) {
        const lines = before.split("\n");
        const [number = "", blank] = lines.slice(-3);
        const isOffered = this.#offer !== "" && time - this.#enteredAt <= twiceWithin
            && number === this.#offer && blank === "";
        // Enter within a line divides it: what was before the caret was not alone.
        const isAlone = lines[lines.length - 1] === "" && /^(?:\n|$)/.test(after);
        this.#offer = isAlone && !isOffered ? digitsOf(lines[lines.length - 2] ?? "") : "";
        this.#enteredAt = time;
        return isOffered ? number : null;
    }

    /**
     * The digits of the caret's line, or of the line before an empty one.
     * @param {string} before the text before the caret
     * @param {string} after the text behind it
     * @returns {string | null}
     */
    held(before, after) {
        this.forget();
        const lines = before.split("\n");
        const line = lines[lines.length - 1] + after.split("\n")[0];
        return digitsOf(line || (lines[lines.length - 2] ?? "")) || null;
    }

    /** Something else was typed. */
    forget() {
        this.#offer = "";
    }
}
