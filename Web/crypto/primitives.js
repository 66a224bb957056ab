// WebCrypto as the formats use it.
import { concat, equalInConstantTime, utf8, wipe } from "./bytes.js";

/**
 * Bytes, or an HKDF key that no script can read.
 * @typedef {Uint8Array | CryptoKey} Secret
 */

/** AES-GCM's, in bytes. */
export const tagLength = 16;

/** For a key that seals exactly one message. */
export const zeroNonce = new Uint8Array(12);

/** @param {Uint8Array} bytes */
export const sha256 = async (bytes) => new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));

/** @param {Uint8Array} secret */
export const hkdfKey = (secret) => crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);

/**
 * HKDF-SHA256, RFC 5869.
 * @param {Secret} secret
 * @param {Uint8Array} salt
 * @param {Uint8Array | string} info
 */
export async function hkdf(secret, salt, info, count = 32) {
    const key = secret instanceof CryptoKey ? secret : await hkdfKey(secret);
    const bound = typeof info === "string" ? utf8(info) : info;
    const bits = await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info: bound }, key, count * 8);
    return new Uint8Array(bits);
}

/**
 * PBKDF2-HMAC-SHA256, RFC 8018.
 * @param {Uint8Array} passcode
 * @param {Uint8Array} salt
 * @param {number} rounds
 */
export async function pbkdf2(passcode, salt, rounds, count = 32) {
    const key = await crypto.subtle.importKey("raw", passcode, "PBKDF2", false, ["deriveBits"]);
    const bits = await crypto.subtle.deriveBits(
        { name: "PBKDF2", hash: "SHA-256", salt, iterations: rounds }, key, count * 8);
    return new Uint8Array(bits);
}

/** @param {Uint8Array} bytes 32, wiped */
async function gcmKey(bytes) {
    const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["encrypt", "decrypt"]);
    wipe(bytes);
    return key;
}

/**
 * Copies the bytes, which stay the caller's.
 * @param {Uint8Array} bytes 32
 */
export const importGCMKey = (bytes) => gcmKey(bytes.slice());

/**
 * Ciphertext and tag.
 * @param {CryptoKey} key
 * @param {Uint8Array} plaintext
 */
export async function gcmSeal(key, plaintext, data = new Uint8Array(), nonce = zeroNonce) {
    return new Uint8Array(
        await crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce, additionalData: data }, key, plaintext));
}

/**
 * Null if the tag does not match.
 * @param {CryptoKey} key
 * @param {Uint8Array} sealed
 */
export async function gcmOpen(key, sealed, data = new Uint8Array(), nonce = zeroNonce) {
    if (sealed.length < tagLength) return null;
    try {
        return new Uint8Array(
            await crypto.subtle.decrypt({ name: "AES-GCM", iv: nonce, additionalData: data }, key, sealed));
    } catch {
        return null;
    }
}

/**
 * A key for one message, derived with a fresh salt, and a commitment to it.
 * @param {Secret} secret
 * @param {Uint8Array} salt
 * @param {Uint8Array} info the purpose and the bound context
 */
export async function committedKey(secret, salt, info) {
    const output = await hkdf(secret, salt, info, 71);
    const commitment = output.slice(32, 64);
    const noncePrefix = output.slice(64);
    const key = await gcmKey(output.slice(0, 32));
    wipe(output);
    return {
        key,
        commitment,
        noncePrefix,
        /** @param {Uint8Array} stored */
        matches: (stored) => equalInConstantTime(commitment, stored),
    };
}

/**
 * HKDF with the labels of RFC 9180, section 4.
 * @param {Uint8Array} suite
 */
export function labelled(suite) {
    const version = utf8("HPKE-v1");
    /** @param {Uint8Array} salt @param {Uint8Array} bytes */
    const hmac = async (salt, bytes) => {
        const key = await crypto.subtle.importKey(
            "raw", salt.length > 0 ? salt : new Uint8Array(32), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
        return new Uint8Array(await crypto.subtle.sign("HMAC", key, bytes));
    };
    return {
        /** @param {Uint8Array} salt @param {string} label @param {Uint8Array} material */
        extract: (salt, label, material) => hmac(salt, concat(version, suite, utf8(label), material)),
        /**
         * At most 32 bytes: one block.
         * @param {Uint8Array} key
         * @param {string} label
         * @param {Uint8Array} info
         * @param {number} count
         */
        expand: async (key, label, info, count) => {
            const block = concat([0, count], version, suite, utf8(label), info, [1]);
            return (await hmac(key, block)).slice(0, count);
        },
    };
}
