// A device whose keys are derived from one secret: a recovery sheet, and a household's spare member of a shared vault.
// docs/formats.md, "Households of phones".
import { base64url, ByteReader, concat, fields, unbase64url, unhex } from "./bytes.js";
import { FormatError } from "./errors.js";
import { publicKeyOf, scalarOf } from "./p256.js";
import { hkdf } from "./primitives.js";
import { deviceID } from "./signature.js";

/**
 * `token`: at the hub. The pairs as of `freshPair`.
 * @typedef {{ scalar: Uint8Array, point: Uint8Array }} Pair
 * @typedef {{ id: string, signing: Pair, box: Pair, token: Uint8Array }} DerivedDevice
 */
/** @typedef {"applocker/1/sheet" | "applocker/1/spare"} Purpose */

const empty = new Uint8Array();
const recoverMark = "/#recover=";
const [pairLength, tokenLength, secretLength] = [48, 32, 20];

/**
 * The token alone, which finds the household at the hub.
 * @param {Uint8Array} secret
 * @param {Purpose} purpose
 */
export const derivedToken = (secret, purpose) => hkdf(secret, empty, fields(purpose, "token"), tokenLength);

/**
 * The household is part of its keys: with another household's id the keys match no device.
 * @param {Uint8Array} secret
 * @param {Purpose} purpose
 * @param {string} household
 * @returns {Promise<DerivedDevice>}
 */
export async function derivedDevice(secret, purpose, household) {
    const pair = async (/** @type {string} */ kind) => {
        const scalar = scalarOf(await hkdf(secret, empty, fields(purpose, kind, unhex(household)), pairLength));
        return { scalar, point: publicKeyOf(scalar) };
    };
    const [signing, box] = [await pair("signing"), await pair("box")];
    return { id: await deviceID(signing.point), signing, box, token: await derivedToken(secret, purpose) };
}

/** @param {{ hub: string, household: string, secret: Uint8Array }} sheet */
export const recoveryLink = ({ hub, household, secret }) =>
    `${hub}${recoverMark}${base64url(concat([1], unhex(household), secret))}`;

/**
 * Throws FormatError: malformed, unknownVersion.
 * @param {string} link
 * @returns {{ hub: string, household: string, secret: Uint8Array }}
 */
export function readRecoveryLink(link) {
    const start = link.indexOf(recoverMark);
    const bytes = start < 0 ? null : unbase64url(link.slice(start + recoverMark.length));
    if (!bytes) throw new FormatError("malformed", "The sheet’s link is incomplete; scan its code again.");
    const reader = new ByteReader(bytes, "recovery sheet’s link");
    if (reader.number(1) !== 1) {
        throw new FormatError("unknownVersion", "The sheet was made by a newer AppLocker; update this one.");
    }
    const [household, secret] = [reader.id(), reader.bytes(secretLength)];
    reader.end();
    return { hub: link.slice(0, start), household, secret };
}
