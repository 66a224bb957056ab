// Bytes, numbers and text as docs/formats.md has them.
import { FormatError } from "./errors.js";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** @param {string} text */
export const utf8 = (text) => encoder.encode(text);

/**
 * Throws a TypeError for invalid UTF-8.
 * @param {Uint8Array} bytes
 */
export const textOf = (bytes) => decoder.decode(bytes);

/** @param {...(Uint8Array | number[])} parts */
export function concat(...parts) {
    const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
    let offset = 0;
    for (const part of parts) {
        all.set(part, offset);
        offset += part.length;
    }
    return all;
}

/**
 * Overwrites secrets. The engine may have copies that a script can't reach.
 * @param {...(Uint8Array | null | undefined)} secrets
 */
export function wipe(...secrets) {
    for (const secret of secrets) secret?.fill(0);
}

/** @param {number} count */
export const randomBytes = (count) => crypto.getRandomValues(new Uint8Array(count));

/** A random id: 32 lower-case hexadecimal digits. */
export const randomID = () => hex(randomBytes(16));

/** @param {number} number */
export const u16 = (number) => Uint8Array.of(number >>> 8, number);

/** @param {number} number */
export const u32 = (number) => Uint8Array.of(number >>> 24, number >>> 16, number >>> 8, number);

/** @param {number | bigint} number */
export function u64(number) {
    const bytes = new Uint8Array(8);
    new DataView(bytes.buffer).setBigUint64(0, BigInt(number));
    return bytes;
}

/** @param {Uint8Array} bytes */
export const hex = (bytes) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {unknown} text */
export const isID = (text) => typeof text === "string" && /^[0-9a-f]{32}$/.test(text);

/**
 * Accepts lower case only.
 * @param {string} text
 */
export function unhex(text) {
    if (text.length % 2 !== 0 || !/^[0-9a-f]*$/.test(text)) {
        throw new FormatError("malformed", "These are not hexadecimal digits.");
    }
    return Uint8Array.from({ length: text.length / 2 },
        (_, index) => parseInt(text.slice(index * 2, index * 2 + 2), 16));
}

/** @param {Uint8Array} bytes */
export function base64(bytes) {
    let text = "";
    for (let start = 0; start < bytes.length; start += 0x8000) {
        text += String.fromCharCode(...bytes.subarray(start, start + 0x8000));
    }
    return btoa(text);
}

/** @param {string} text */
export function unbase64(text) {
    try {
        const plain = atob(text);
        return Uint8Array.from(plain, (character) => character.charCodeAt(0));
    } catch {
        throw new FormatError("malformed", "This is not base64.");
    }
}

/**
 * RFC 4648 section 5, without padding.
 * @param {Uint8Array} bytes
 */
export const base64url = (bytes) => base64(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/**
 * Null for any other than the canonical encoding.
 * @param {string} text
 */
export function unbase64url(text) {
    if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return null;
    const bytes = unbase64(text.replaceAll("-", "+").replaceAll("_", "/"));
    return base64url(bytes) === text ? bytes : null;
}

/**
 * Each field with its length as u32, so that no two lists have one encoding.
 * @param {...(string | Uint8Array)} list
 */
export function fields(...list) {
    return concat(
        ...list.flatMap((field) => {
            const bytes = typeof field === "string" ? utf8(field) : field;
            return [u32(bytes.length), bytes];
        }),
    );
}

/** @param {Uint8Array} one @param {Uint8Array} other */
export function equalInConstantTime(one, other) {
    if (one.length !== other.length) return false;
    let difference = 0;
    for (let index = 0; index < one.length; index += 1) difference |= one[index] ^ other[index];
    return difference === 0;
}

/** Reads bytes from the front and refuses to read past the end. */
export class ByteReader {
    /** @type {Uint8Array} */
    #unread;
    /** @type {string} */
    #subject;

    /** @param {Uint8Array} bytes @param {string} subject what is being read, for the sentence of an error */
    constructor(bytes, subject) {
        this.#unread = bytes;
        this.#subject = subject;
    }

    get remaining() {
        return this.#unread.length;
    }

    /** @param {number} count */
    bytes(count) {
        if (this.#unread.length < count) {
            throw new FormatError("malformed", `The ${this.#subject} is truncated or invalid.`);
        }
        const taken = this.#unread.slice(0, count);
        this.#unread = this.#unread.subarray(count);
        return taken;
    }

    /**
     * An integer of one to four bytes.
     * @param {number} count
     */
    number(count) {
        return this.bytes(count).reduce((sum, byte) => sum * 256 + byte, 0);
    }

    u64() {
        return new DataView(this.bytes(8).buffer).getBigUint64(0);
    }

    id() {
        return hex(this.bytes(16));
    }

    /**
     * The magic and the version that every format begins with.
     * @param {string} magic
     */
    magic(magic, version = 1) {
        if (hex(this.bytes(magic.length)) !== hex(utf8(magic))) {
            throw new FormatError("malformed", `This is not a ${this.#subject} of AppLocker.`);
        }
        const found = this.number(1);
        if (found !== version) {
            throw new FormatError(
                "unknownVersion",
                `The ${this.#subject} has version ${found}, this AppLocker reads version ${version}; update it.`);
        }
    }

    /** @param {number} count */
    zeros(count) {
        if (this.bytes(count).some((byte) => byte !== 0)) throw this.malformed();
    }

    rest() {
        return this.bytes(this.#unread.length);
    }

    end() {
        if (this.#unread.length > 0) throw this.malformed();
    }

    malformed() {
        return new FormatError("malformed", `The ${this.#subject} is damaged or was not made by AppLocker.`);
    }
}

/** @param {unknown} count @returns {count is number} */
export const isCount = (count) => Number.isSafeInteger(count) && Number(count) >= 0;
