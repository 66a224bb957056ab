// The keys of a calculator. A number that was typed alone is offered as a PIN when = is pressed twice, or held;
// calculating presses it once.
import { mostDigits } from "../../household/pin-rules.js";
import { evaluate, parsed, written } from "./calculation.js";

/** @typedef {import("./calculation.js").Fraction} Fraction */
/** @typedef {import("./calculation.js").Operator} Operator */
/**
 * What was typed (`text`) or calculated (`value`).
 * @typedef {{ text: string, value: Fraction | null, isNegative: boolean, percents: number }} Entry
 */

const leastDigits = 6;
/** Milliseconds in which = is pressed twice. */
const twiceWithin = 1500;
const mostSteps = 200;

/** @param {string} text */
const entry = (text) => ({ text, value: /** @type {Fraction | null} */ (null), isNegative: false, percents: 0 });

/**
 * Separates thousands.
 * @param {string} number
 */
function grouped(number) {
    const [, sign, whole, rest] = /^(-?)(\d*)(.*)$/.exec(number) ?? [];
    return sign.replace("-", "−") + (whole.replace(/^0+(?=\d)/, "") || "0").replace(/\B(?=(\d{3})+$)/g, ",") + rest;
}

/** @param {Entry} entry */
function shownEntry({ text, value, isNegative, percents }) {
    const number = value ? written(value) : text;
    const sign = isNegative ? (number.startsWith("-") ? number.slice(1) : `-${number}`) : number;
    return grouped(sign) + "%".repeat(percents);
}

export class Calculator {
    /** @type {(Entry | Operator)[]} */
    #parts = [];
    #above = "";
    #problem = "";
    #isDone = false;
    #offer = "";
    #equalsAt = -Infinity;

    /** The calculation so far. */
    get line() {
        if (this.#isDone || this.#problem) return this.#above;
        const before = typeof this.#parts[this.#parts.length - 1] === "string" ? this.#parts : this.#parts.slice(0, -1);
        return this.#written(before);
    }

    /** The number. */
    get display() {
        if (this.#problem) return this.#problem;
        const last = [...this.#parts].reverse().find((part) => typeof part !== "string");
        return last ? shownEntry(/** @type {Entry} */ (last)) : "0";
    }

    /** @param {(Entry | Operator)[]} parts */
    #written(parts) {
        return parts.map((part) => (typeof part === "string" ? part : shownEntry(part))).join(" ");
    }

    get #last() {
        const last = this.#parts[this.#parts.length - 1];
        return typeof last === "string" || last === undefined ? null : last;
    }

    /** The digits, if nothing else was typed. */
    get #bare() {
        const last = this.#last;
        const isBare = this.#parts.length === 1 && last
            && !last.value && !last.isNegative && last.percents === 0 && /^\d+$/.test(last.text);
        return isBare && last.text.length >= leastDigits ? last.text : "";
    }

    /**
     * @param {string} key "0" to "9", ".", "+", "−", "×", "÷", "%", "±", "=", "C", "⌫"
     * @param {number} time milliseconds
     * @returns {string | null} the digits that are offered as a PIN
     */
    press(key, time) {
        if (key === "=") return this.#equals(time);
        this.#offer = "";
        if (key === "C" || this.#problem) this.#clear();
        if (/^[\d.]$/.test(key)) this.#digit(key);
        else if (key === "+" || key === "−" || key === "×" || key === "÷") this.#operator(key);
        else if (key === "%" && this.#last && this.#last.percents < 2) this.#last.percents += 1;
        else if (key === "±" && this.#last) this.#last.isNegative = !this.#last.isNegative;
        else if (key === "⌫") this.#erase();
        this.#isDone = false;
        return null;
    }

    /** @returns {string | null} as `press` */
    hold() {
        const digits = this.#bare || this.#offer;
        this.#offer = "";
        return digits || null;
    }

    forget() {
        this.#clear();
        this.#offer = "";
    }

    #clear() {
        this.#parts = [];
        [this.#above, this.#problem, this.#isDone] = ["", "", false];
    }

    /** @param {string} key */
    #digit(key) {
        if (this.#isDone) this.#clear();
        let last = this.#last;
        if (last && (last.value || last.percents > 0)) this.#parts.pop();
        last = this.#last;
        if (!last) {
            if (this.#parts.length >= mostSteps) return;
            last = entry("");
            this.#parts.push(last);
        }
        if (key === "." && last.text.includes(".")) return;
        if (last.text.replace(".", "").length >= mostDigits) return;
        last.text += key === "." && last.text === "" ? "0." : key;
    }

    /** @param {Operator} operator */
    #operator(operator) {
        if (this.#parts.length === 0) this.#parts.push(entry("0"));
        if (!this.#last) this.#parts.pop();
        if (this.#parts.length < mostSteps) this.#parts.push(operator);
    }

    #erase() {
        const last = this.#last;
        if (this.#isDone) this.#clear();
        else if (last && last.percents > 0) last.percents -= 1;
        else if (last && last.text.length > 1) last.text = last.text.slice(0, -1);
        else this.#parts.pop();
    }

    /** @param {number} time */
    #equals(time) {
        if (this.#isDone) {
            const digits = time - this.#equalsAt <= twiceWithin ? this.#offer : "";
            // Once: pressing it again does not retry.
            this.#offer = "";
            return digits || null;
        }
        if (this.#problem || this.#parts.length === 0) return null;
        this.#offer = this.#bare;
        this.#equalsAt = time;
        if (!this.#last) this.#parts.pop();
        this.#above = `${this.#written(this.#parts)} =`;
        try {
            const [first, ...rest] = this.#parts;
            /** @type {[Operator, import("./calculation.js").Operand][]} */
            const steps = [];
            for (let index = 0; index < rest.length; index += 2) {
                steps.push([/** @type {Operator} */ (rest[index]), operand(/** @type {Entry} */ (rest[index + 1]))]);
            }
            const value = evaluate(operand(/** @type {Entry} */ (first)), steps);
            this.#parts = [{ ...entry(""), value }];
        } catch (error) {
            this.#problem = /** @type {Error} */ (error).message;
        }
        this.#isDone = true;
        return null;
    }
}

/** @param {Entry} entry @returns {import("./calculation.js").Operand} */
function operand({ text, value, isNegative, percents }) {
    const { numerator, denominator } = value ?? parsed(text);
    return { value: { numerator: isNegative ? -numerator : numerator, denominator }, percents };
}
