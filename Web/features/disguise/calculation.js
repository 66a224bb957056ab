// Exact arithmetic for a calculator: fractions of integers, so that 0.1 + 0.2 is 0.3 and a third times three is 1.

/**
 * In lowest terms, `denominator` above zero.
 * @typedef {{ numerator: bigint, denominator: bigint }} Fraction
 */
/** @typedef {"+" | "−" | "×" | "÷"} Operator */
/**
 * `percents`: number of percent signs after it.
 * @typedef {{ value: Fraction, percents: number }} Operand
 */

/** The message is what the display shows. */
export class CalculationError extends Error {
    /** @param {"divisionByZero" | "tooLarge"} code @param {string} message */
    constructor(code, message) {
        super(message);
        this.name = "CalculationError";
        this.code = code;
    }
}

/** Powers of ten: larger numbers are refused and finer ones rounded, which bounds the memory. */
const [largest, finest] = [100n, 100n];
const significant = 12;
/** Integers of so many digits are shown exactly. */
const wholeDigits = 15;

/** @param {bigint} one @param {bigint} other */
function commonDivisor(one, other) {
    while (other !== 0n) [one, other] = [other, one % other];
    return one;
}

/** @param {bigint} value */
const absolute = (value) => (value < 0n ? -value : value);

/**
 * The nearest integer, halves away from zero.
 * @param {bigint} numerator
 * @param {bigint} denominator above zero
 */
function rounded(numerator, denominator) {
    const half = (absolute(numerator) * 2n + denominator) / (denominator * 2n);
    return numerator < 0n ? -half : half;
}

/**
 * Throws CalculationError `tooLarge`.
 * @param {bigint} numerator
 * @param {bigint} denominator not zero
 * @returns {Fraction}
 */
export function fraction(numerator, denominator = 1n) {
    if (denominator < 0n) [numerator, denominator] = [-numerator, -denominator];
    if (denominator > 10n ** finest) {
        [numerator, denominator] = [rounded(numerator * 10n ** finest, denominator), 10n ** finest];
    }
    const divisor = commonDivisor(absolute(numerator), denominator);
    if (absolute(numerator) >= denominator * 10n ** largest) throw new CalculationError("tooLarge", "Too large");
    return { numerator: numerator / divisor, denominator: denominator / divisor };
}

/** @param {string} text digits with at most one point: "12", "0.5", "5." @returns {Fraction} */
export function parsed(text) {
    const [whole, decimals = ""] = text.split(".");
    return fraction(BigInt(`${whole}${decimals}` || "0"), 10n ** BigInt(decimals.length));
}

/** @param {Fraction} one @param {Fraction} other */
const product = (one, other) => fraction(one.numerator * other.numerator, one.denominator * other.denominator);

/** @param {Fraction} one @param {Fraction} other */
function quotient(one, other) {
    if (other.numerator === 0n) throw new CalculationError("divisionByZero", "Can’t divide by 0");
    return fraction(one.numerator * other.denominator, one.denominator * other.numerator);
}

/** @param {Fraction} one @param {Fraction} other */
const sum = (one, other) =>
    fraction(one.numerator * other.denominator + other.numerator * one.denominator,
        one.denominator * other.denominator);

/** @param {Operand} operand */
const plain = ({ value, percents }) =>
    (percents === 0 ? value : fraction(value.numerator, value.denominator * 100n ** BigInt(percents)));

/**
 * × and ÷ before + and −. An added or subtracted percentage refers to what precedes it: 200 + 10 % is 220. Throws
 * CalculationError `divisionByZero`, `tooLarge`.
 * @param {Operand} first
 * @param {[Operator, Operand][]} rest
 * @returns {Fraction}
 */
export function evaluate(first, rest) {
    /** @type {{ isSubtracted: boolean, value: Fraction, percentage: boolean }[]} */
    const terms = [{ isSubtracted: false, value: plain(first), percentage: false }];
    for (const [operator, operand] of rest) {
        const last = terms[terms.length - 1];
        if (operator === "×" || operator === "÷") {
            last.value = (operator === "×" ? product : quotient)(last.value, plain(operand));
            last.percentage = false;
        } else {
            terms.push({ isSubtracted: operator === "−", value: plain(operand), percentage: operand.percents > 0 });
        }
    }
    return terms.reduce((total, { isSubtracted, value, percentage }, index) => {
        if (index === 0) return value;
        const part = percentage ? product(total, value) : value;
        return sum(total, isSubtracted ? fraction(-part.numerator, part.denominator) : part);
    }, terms[0].value);
}

/**
 * For the display: at most 12 significant digits, integers up to 15, otherwise with a power of ten.
 * @param {Fraction} value
 * @returns {string}
 */
export function written({ numerator, denominator }) {
    if (numerator === 0n) return "0";
    const sign = numerator < 0n ? "-" : "";
    const size = absolute(numerator);
    if (denominator === 1n && size < 10n ** BigInt(wholeDigits)) return `${sign}${size}`;
    let exponent = String(size).length - String(denominator).length;
    if (power(size, denominator, -exponent) < 1) exponent -= 1;
    let digits = String(scaled(size, denominator, significant - 1 - exponent));
    // 9.99…9 becomes 10.
    if (digits.length > significant) [digits, exponent] = [digits.slice(0, significant), exponent + 1];
    digits = digits.replace(/0+$/, "");
    if (exponent >= wholeDigits || exponent < -9) {
        return `${sign}${digits[0]}${digits.length > 1 ? `.${digits.slice(1)}` : ""}e${exponent}`;
    }
    if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
    const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
    const decimals = digits.slice(exponent + 1);
    return `${sign}${whole}${decimals && `.${decimals}`}`;
}

/**
 * numerator / denominator × 10^places, rounded.
 * @param {bigint} numerator
 * @param {bigint} denominator
 * @param {number} places
 */
const scaled = (numerator, denominator, places) =>
    (places >= 0
        ? rounded(numerator * 10n ** BigInt(places), denominator)
        : rounded(numerator, denominator * 10n ** BigInt(-places)));

/**
 * Whether numerator / denominator × 10^places is below one: 0, otherwise 1.
 * @param {bigint} numerator
 * @param {bigint} denominator
 * @param {number} places
 */
const power = (numerator, denominator, places) =>
    ((places >= 0
        ? numerator * 10n ** BigInt(places) < denominator
        : numerator < denominator * 10n ** BigInt(-places)) ? 0 : 1);
