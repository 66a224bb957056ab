// A code that is typed where the pairing link can be neither scanned nor pasted. docs/formats.md, "Typed code".
import { base32, isBase32, plainCode, unbase32 } from "./base32.js";
import { ByteReader, concat, fields, hex, randomBytes, unhex, utf8 } from "./bytes.js";
import { FormatError } from "./errors.js";
import { gcmOpen, gcmSeal, hkdf, importGCMKey, sha256 } from "./primitives.js";

/** @typedef {import("./invitation.js").Invitation} Invitation */
/**
 * What the link is for that it stands for: the role of the device that is paired, or a shared vault.
 * @typedef {import("./roster.js").DeviceRole | "vault"} CodeKind
 */

export const groupCount = 4;
/** With its check digit. */
export const groupLength = 5;
/** In bytes. */
const codeLength = 10;
const empty = new Uint8Array();
/**
 * The link's version, as in the details: that of a shared vault has the top bit set.
 * @type {Record<CodeKind, number>}
 */
const versions = { companion: 1, computer: 2, administrator: 3, vault: 0x81 };

/**
 * @param {string} digits of a group, without its check digit
 * @param {number} index from 0
 */
const checkDigit = async (digits, index) =>
    base32(await sha256(fields("applocker/1/pair-code-check", new Uint8Array([index]), utf8(digits))), 1);

/**
 * Whether a group of five digits has no mistake.
 * @param {string} group of `plainCode`
 * @param {number} index from 0
 */
export async function isRightGroup(group, index) {
    if (group.length !== groupLength || !isBase32(group)) return false;
    return group.slice(-1) === (await checkDigit(group.slice(0, -1), index));
}

/** @param {Uint8Array} code @returns {Promise<Pick<Invitation, "id" | "secret">>} */
const invitationOf = async (code) => ({
    id: hex(await hkdf(code, empty, "applocker/1/pair-code-id", 16)),
    secret: await hkdf(code, empty, "applocker/1/pair-code-secret"),
});

/**
 * A fresh code, and the invitation's id and secret. `text`: groups with "-" between.
 * @param {Uint8Array} code its 10 random bytes
 */
export async function makeCode(code = randomBytes(codeLength)) {
    const digits = base32(code, groupCount * (groupLength - 1));
    const groups = digits.match(new RegExp(`.{${groupLength - 1}}`, "g")) ?? [];
    const checked = await Promise.all(groups.map(async (group, index) => group + (await checkDigit(group, index))));
    return { text: checked.join("-"), ...(await invitationOf(code)) };
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
        throw new FormatError("malformed", "The code has a typing mistake; compare it with the one that is shown.");
    }
    return invitationOf(unbase32(groups.map((group) => group.slice(0, -1)).join(""), codeLength));
}

/** @param {Pick<Invitation, "secret">} code */
const detailsKey = async ({ secret }) => importGCMKey(await hkdf(secret, empty, "applocker/1/pair-details"));

/** @param {Pick<Invitation, "id">} code */
const boundDetails = ({ id }) => fields("applocker/1/pair-details", unhex(id));

/**
 * The fields of the invitation's link that the code does not contain, for the hub. Call it once: the key seals one
 * message.
 * @param {Omit<Invitation, "hub">} invitation of `makeCode`
 * @param {CodeKind} kind
 */
export const sealDetails = async (invitation, kind) => gcmSeal(await detailsKey(invitation),
    concat([versions[kind]], unhex(invitation.household), unhex(invitation.computer)),
    boundDetails(invitation));

/**
 * Opens what `sealDetails` seals. Throws FormatError: damaged, malformed, unknownVersion.
 * @param {Pick<Invitation, "id" | "secret">} code
 * @param {Uint8Array} sealed as the hub returned it
 * @returns {Promise<Pick<Invitation, "role" | "household" | "computer"> & { kind: CodeKind }>}
 */
export async function openDetails(code, sealed) {
    const opened = await gcmOpen(await detailsKey(code), sealed, boundDetails(code));
    if (!opened) throw new FormatError("damaged", "The hub returned another invitation; it can’t be trusted.");
    const reader = new ByteReader(opened, "invitation");
    const version = reader.number(1);
    const kind = /** @type {CodeKind[]} */ (Object.keys(versions)).find((one) => versions[one] === version);
    if (!kind) {
        throw new FormatError("unknownVersion", "The invitation was made by a newer AppLocker; update this one.");
    }
    const [household, computer] = [reader.id(), reader.id()];
    reader.end();
    // A member of a shared vault has the rights of a household's computer.
    return { kind, role: kind === "vault" ? "computer" : kind, household, computer };
}
