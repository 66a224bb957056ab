// A QR code (ISO/IEC 18004) of some text: bytes, error correction level M, versions 1 to 20.
import { utf8 } from "../crypto/bytes.js";

/** Of level M, by version from 1: codewords of error correction in each block, and blocks. */
const correction = [10, 16, 26, 18, 24, 16, 18, 22, 22, 26, 30, 22, 22, 24, 24, 28, 28, 26, 26, 26];
const blockCounts = [1, 1, 1, 2, 2, 4, 4, 4, 5, 5, 5, 8, 9, 9, 10, 10, 11, 13, 14, 16];
/** @type {((row: number, column: number) => number)[]} a module is inverted where it is 0 */
const masks = [
    (y, x) => (x + y) % 2, (y) => y % 2, (_, x) => x % 3, (y, x) => (x + y) % 3,
    (y, x) => (Math.floor(x / 3) + Math.floor(y / 2)) % 2, (y, x) => (x * y) % 2 + (x * y) % 3,
    (y, x) => ((x * y) % 2 + (x * y) % 3) % 2, (y, x) => ((x + y) % 2 + (x * y) % 3) % 2,
];

/**
 * Multiplication in GF(2^8) with the polynomial 0x11d.
 * @param {number} one
 * @param {number} other
 */
function product(one, other) {
    let result = 0;
    for (let bit = 7; bit >= 0; bit -= 1) {
        result = (result << 1) ^ ((result >>> 7) * 0x11d);
        result ^= ((other >>> bit) & 1) * one;
    }
    return result;
}

/**
 * The divisor's coefficients without the leading 1.
 * @param {number} degree
 */
function divisorOf(degree) {
    const divisor = [...new Array(degree - 1).fill(0), 1];
    for (let index = 0, root = 1; index < degree; index += 1, root = product(root, 2)) {
        for (let place = 0; place < degree; place += 1) {
            divisor[place] = product(divisor[place], root) ^ (divisor[place + 1] ?? 0);
        }
    }
    return divisor;
}

/** @param {number[]} data @param {number[]} divisor */
function remainderOf(data, divisor) {
    const remainder = divisor.map(() => 0);
    for (const byte of data) {
        const factor = byte ^ Number(remainder.shift());
        remainder.push(0);
        for (const [place, coefficient] of divisor.entries()) remainder[place] ^= product(coefficient, factor);
    }
    return remainder;
}

/**
 * All codewords of a version.
 * @param {number} version
 */
function capacityOf(version) {
    const aligned = version > 1 ? Math.floor(version / 7) + 2 : 0;
    const bits = (16 * version + 128) * version + 64
        - (aligned ? (25 * aligned - 10) * aligned - 55 : 0) - (version > 6 ? 36 : 0);
    return Math.floor(bits / 8);
}

/** @param {number} version */
const dataOf = (version) => capacityOf(version) - correction[version - 1] * blockCounts[version - 1];

/**
 * The data of all blocks in turn, then their error correction.
 * @param {Uint8Array} text
 * @param {number} version
 */
function codewords(text, version) {
    const countBits = version < 10 ? 8 : 16;
    const bits = [0, 1, 0, 0, ...bitsOf(text.length, countBits), ...[...text].flatMap((byte) => bitsOf(byte, 8))];
    const size = dataOf(version) * 8;
    bits.push(...new Array(Math.min(4, size - bits.length)).fill(0));
    while (bits.length % 8 !== 0) bits.push(0);
    for (let filler = 0xec; bits.length < size; filler ^= 0xec ^ 0x11) bits.push(...bitsOf(filler, 8));
    const bytes = Array.from({ length: size / 8 }, (_, index) =>
        bits.slice(index * 8, index * 8 + 8).reduce((sum, bit) => sum * 2 + bit, 0));
    const count = blockCounts[version - 1];
    const [short, longer] = [Math.floor(bytes.length / count), bytes.length % count];
    const divisor = divisorOf(correction[version - 1]);
    const blocks = Array.from({ length: count }, (_, index) =>
        bytes.splice(0, short + Number(index >= count - longer)));
    const checks = blocks.map((block) => remainderOf(block, divisor));
    return [blocks, checks].flatMap((parts) => Array.from({ length: Math.max(...parts.map(({ length }) => length)) },
        (_, index) => parts.flatMap((part) => (index < part.length ? [part[index]] : [])))).flat();
}

/**
 * Most significant first.
 * @param {number} value
 * @param {number} count
 */
const bitsOf = (value, count) => Array.from({ length: count }, (_, index) => (value >>> (count - 1 - index)) & 1);

/**
 * A code's remainder, for the format and the version.
 * @param {number} value
 * @param {number} generator
 */
function checked(value, generator) {
    const degree = 31 - Math.clz32(generator);
    let rest = value << degree;
    for (let bit = 31 - Math.clz32(rest || 1); bit >= degree; bit -= 1) {
        if ((rest >>> bit) & 1) rest ^= generator << (bit - degree);
    }
    return (value << degree) | rest;
}

/** Modules of a code; undefined where data goes. */
class Grid {
    /** @param {number} version */
    constructor(version) {
        this.size = version * 4 + 17;
        /** @type {(boolean | undefined)[][]} */
        this.modules = Array.from({ length: this.size }, () => new Array(this.size).fill(undefined));
        this.#finders();
        this.#alignments(version);
        for (let at = 8; at < this.size - 8; at += 1) this.modules[6][at] = this.modules[at][6] = at % 2 === 0;
        this.format(0);
        if (version > 6) this.#version(version);
    }

    /** Squares around a centre: dark where the distance is not light. */
    #square(/** @type {number} */ row, /** @type {number} */ column, /** @type {number} */ reach,
        /** @type {number[]} */ light) {
        for (let y = -reach; y <= reach; y += 1) {
            for (let x = -reach; x <= reach; x += 1) {
                const [at, by] = [row + y, column + x];
                if (at < 0 || by < 0 || at >= this.size || by >= this.size) continue;
                this.modules[at][by] = !light.includes(Math.max(Math.abs(x), Math.abs(y)));
            }
        }
    }

    #finders() {
        const far = this.size - 4;
        for (const [row, column] of [[3, 3], [3, far], [far, 3]]) this.#square(row, column, 4, [2, 4]);
    }

    /** @param {number} version */
    #alignments(version) {
        if (version === 1) return;
        const count = Math.floor(version / 7) + 2;
        const step = Math.ceil((version * 4 + 4) / (count * 2 - 2)) * 2;
        const places = [6, ...Array.from({ length: count - 1 }, (_, index) => this.size - 7 - index * step).reverse()];
        for (const row of places) {
            for (const column of places) {
                if (this.modules[row][column] === undefined) this.#square(row, column, 2, [1]);
            }
        }
    }

    /**
     * Level M and the mask, twice.
     * @param {number} mask
     */
    format(mask) {
        const bits = bitsOf(checked(mask, 0x537) ^ 0x5412, 15).map(Boolean).reverse();
        const { modules, size } = this;
        for (const [index, dark] of bits.entries()) {
            const near = index < 6 ? index : index < 8 ? index + 1 : 0;
            if (index < 8) modules[near][8] = dark;
            else modules[8][index === 8 ? 7 : 14 - index] = dark;
            if (index < 8) modules[8][size - 1 - index] = dark;
            else modules[size - 15 + index][8] = dark;
        }
        modules[size - 8][8] = true;
    }

    /** @param {number} version */
    #version(version) {
        for (const [index, bit] of bitsOf(checked(version, 0x1f25), 18).reverse().entries()) {
            const [far, near] = [this.size - 11 + (index % 3), Math.floor(index / 3)];
            this.modules[far][near] = this.modules[near][far] = bit === 1;
        }
    }

    /** The places of data, in its order: upwards and downwards in pairs of columns. */
    * places() {
        for (let right = this.size - 1, up = true; right > 0; right -= 2, up = !up) {
            if (right === 6) right = 5;
            for (let step = 0; step < this.size; step += 1) {
                const row = up ? this.size - 1 - step : step;
                for (const column of [right, right - 1]) {
                    if (this.modules[row][column] === undefined) yield [row, column];
                }
            }
        }
    }
}

/**
 * How hard a code is to read.
 * @param {boolean[][]} modules
 */
function penaltyOf(modules) {
    const lines = [modules, modules[0].map((_, column) => modules.map((row) => row[column]))]
        .flatMap((all) => all.map((line) => line.map(Number).join("")));
    let penalty = 0;
    for (const line of lines) {
        for (const [run] of line.matchAll(/0{5,}|1{5,}/g)) penalty += run.length - 2;
        penalty += 40 * [...line.matchAll(/(?=10111010000|00001011101)/g)].length;
    }
    for (let row = 1; row < modules.length; row += 1) {
        for (let column = 1; column < modules.length; column += 1) {
            const four = [modules[row][column], modules[row - 1][column], modules[row][column - 1],
                modules[row - 1][column - 1]];
            if (four.every((one) => one === four[0])) penalty += 3;
        }
    }
    const dark = modules.flat().filter(Boolean).length / modules.length ** 2;
    return penalty + 10 * Math.floor(Math.abs(dark - 0.5) * 20);
}

/**
 * Rows of modules, dark ones true, without the quiet zone of four. Throws RangeError for over 600 bytes or so.
 * @param {string} text
 * @returns {boolean[][]}
 */
export function qrCode(text) {
    const bytes = utf8(text);
    const version = blockCounts.findIndex((_, index) =>
        bytes.length + (index < 9 ? 2 : 3) <= dataOf(index + 1)) + 1;
    if (version === 0) throw new RangeError("This text does not fit into a QR code; shorten it.");
    const bits = codewords(bytes, version).flatMap((byte) => bitsOf(byte, 8));
    const codes = masks.map((mask, number) => {
        const grid = new Grid(version);
        const places = [...grid.places()];
        grid.format(number);
        for (const [index, [row, column]] of places.entries()) {
            grid.modules[row][column] = (bits[index] ?? 0) === (mask(row, column) === 0 ? 0 : 1);
        }
        return grid.modules.map((line) => line.map(Boolean));
    });
    const penalties = codes.map(penaltyOf);
    return codes[penalties.indexOf(Math.min(...penalties))];
}
