// A code that is typed where the pairing link can be neither scanned nor pasted. docs/formats.md, "Typed code".
import { base32, isBase32, plainCode, unbase32 } from "./base32.js";
import { ByteReader, fields, hex, unhex, utf8 } from "./bytes.js";
import { FormatError } from "./errors.js";
import { roles } from "./invitation.js";
import { gcmOpen, hkdf, importGCMKey, sha256 } from "./primitives.js";

/** @typedef {import("./invitation.js").Invitation} Invitation */

export const groupCount = 4;
/** With its check digit. */
export const groupLength = 5;
const empty = new Uint8Array();

/**
 * Whether a group of five digits has no mistake.
 * @param {string} group of `plainCode`
 * @param {number} index from 0
 */
export async function isRightGroup(group, index) {
    if (group.length !== groupLength || !isBase32(group)) return false;
    const typed = utf8(group.slice(0, -1));
    const hash = await sha256(fields("applocker/1/pair-code-check", new Uint8Array([index]), typed));
    return group.slice(-1) === base32(hash, 1);
}

/**
 * The invitation's id and secret. Throws FormatError `malformed`.
 * @param {string} typed
 * @returns {Promise<Pick<Invitation, "id" | "secret">>}
 */
export async function readCode(typed) {
    const plain = plainCode(typed);
    const groups = Array.from({ length: groupCount }, (_, index) =>
        plain.slice(index * groupLength, (index + 1) * groupLength));
    const areRight = await Promise.all(groups.map(isRightGroup));
    if (plain.length !== groupCount * groupLength || areRight.includes(false)) {
        throw new FormatError("malformed", "The code has a typing mistake; compare it with the computer’s.");
    }
    const code = unbase32(groups.map((group) => group.slice(0, -1)).join(""), 10);
    return {
        id: hex(await hkdf(code, empty, "applocker/1/pair-code-id", 16)),
        secret: await hkdf(code, empty, "applocker/1/pair-code-secret"),
    };
}

/**
 * The fields of a link that the code does not contain. Throws FormatError: damaged, malformed, unknownVersion.
 * @param {Pick<Invitation, "id" | "secret">} code
 * @param {Uint8Array} sealed as the hub returned it
 * @returns {Promise<Pick<Invitation, "role" | "household" | "computer">>}
 */
export async function openDetails({ id, secret }, sealed) {
    const key = await importGCMKey(await hkdf(secret, empty, "applocker/1/pair-details"));
    const opened = await gcmOpen(key, sealed, fields("applocker/1/pair-details", unhex(id)));
    if (!opened) throw new FormatError("damaged", "The hub returned another invitation; it can’t be trusted.");
    const reader = new ByteReader(opened, "invitation");
    const role = roles[reader.number(1) - 1];
    if (!role) {
        throw new FormatError("unknownVersion", "The invitation was made by a newer AppLocker; update this one.");
    }
    const [household, computer] = [reader.id(), reader.id()];
    reader.end();
    return { role, household, computer };
}
