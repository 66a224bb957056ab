// The content of the records of remarks: comments on a moment and reactions to it. docs/formats.md, "Remarks".
import { hex, isID, randomBytes, textOf, utf8 } from "../crypto/bytes.js";
import { FormatError } from "../crypto/errors.js";
import { isTime } from "./moment-format.js";
import { remarkTag } from "./remark-author.js";

/** @typedef {"heart" | "laugh" | "wow" | "sad" | "thanks"} ReactionKind */
/**
 * `at`: seconds since 1970. `text`: of a comment. `from`: who wrote a restored comment, as the device that restored it
 * reports.
 * @typedef {{ moment: string, kind: "comment", at: number, text: string, from?: string }} Comment
 * @typedef {{ moment: string, kind: ReactionKind, at: number }} Reaction
 */

/** @type {readonly ReactionKind[]} */
export const reactionKinds = Object.freeze(["heart", "laugh", "wow", "sad", "thanks"]);
/** Of a comment, in UTF-16 code units. */
export const maximumText = 2_000;
const maximumFrom = 64;
/** A longer record is not opened. */
const maximumSealed = 20_000;

/** @param {unknown} value @param {number} most */
const isText = (value, most) => typeof value === "string" && value.length <= most
    && /[\p{L}\p{M}\p{N}\p{P}\p{S}]/u.test(value);

/** @param {any} value @returns {value is Comment | Reaction} */
function isRemark(value) {
    const { moment, kind, at, text, from } = value ?? {};
    if (!isID(moment) || !isTime(at)) return false;
    return kind === "comment"
        ? isText(text, maximumText) && (from === undefined || isText(from, maximumFrom))
        : reactionKinds.includes(kind);
}

/** @param {Uint8Array} sealed */
export const isShortEnough = (sealed) => sealed.length <= maximumSealed;

/**
 * Null if it is invalid, or of an unknown kind.
 * @param {Uint8Array} body
 * @returns {Comment | Reaction | null}
 */
export function readRemark(body) {
    try {
        const value = JSON.parse(textOf(body));
        if (!isRemark(value)) return null;
        const { moment, at } = value;
        if (value.kind !== "comment") return { moment, kind: value.kind, at };
        const { text, from } = value;
        return { moment, kind: "comment", at, text, ...(from === undefined ? {} : { from }) };
    } catch {
        return null;
    }
}

/**
 * Throws FormatError `malformed` for content that readers refuse.
 * @param {Comment | Reaction} remark
 */
export function remarkBody(remark) {
    if (!isRemark(remark)) {
        throw new FormatError("malformed", `A comment has 1 to ${maximumText.toLocaleString()} characters.`);
    }
    return utf8(JSON.stringify(remark));
}

/**
 * A name within a sentence, without what is invisible or changes the direction; "" if nothing is left.
 * @param {string} name
 */
export function shownName(name) {
    const plain = name.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, "").trim();
    return isText(plain, Infinity) ? [...plain].slice(0, maximumFrom / 2).join("") : "";
}

/**
 * The name of one member as it is shown: with the start of its id if another one's is alike; "" without a name.
 * @param {ReadonlyMap<string, string>} names what the members call themselves, by id
 * @param {string} id
 */
export function nameAmong(names, id) {
    const name = shownName(names.get(id) ?? "");
    // "You" is the reader.
    const inUse = ["you", ...[...names.values()].map((other) => shownName(other).toLocaleLowerCase())];
    const isUsedTwice = inUse.filter((one) => one === name.toLocaleLowerCase()).length > 1;
    return name && isUsedTwice ? `${name} (${id.slice(0, 4)})` : name;
}

/** @param {string} vault @param {string} author as of `remarkTag` */
export const newRemarkID = async (vault, author) => `${await remarkTag(vault, author)}${hex(randomBytes(8))}`;
