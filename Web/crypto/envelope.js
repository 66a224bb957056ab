// A small record, sealed under a vault key by way of an item key of its own. docs/formats.md, "Record envelope".
import { ByteReader, concat, fields, randomBytes, u32, u64, unhex, utf8, wipe } from "./bytes.js";
import { FormatError } from "./errors.js";
import { maximumPadded, minimumPadded, pad, unpad } from "./padding.js";
import { committedKey, gcmOpen, gcmSeal, hkdf, importGCMKey, tagLength } from "./primitives.js";

/**
 * Where a record belongs; ids in hexadecimal.
 * @typedef {{ vault: string, collection: string, id: string, revision: number | bigint }} RecordName
 */
/** @typedef {import("./primitives.js").Secret} Secret */

/** @param {RecordName} name */
export const nameFields = (name) => [unhex(name.vault), utf8(name.collection), unhex(name.id), u64(name.revision)];

/** @param {string} label @param {RecordName} name @param {number} epoch */
const bound = (label, name, epoch) => fields(label, ...nameFields(name), u32(epoch));

/** @param {Uint8Array} itemKey */
async function bodyKey(itemKey) {
    const bytes = await hkdf(itemKey, new Uint8Array(), "applocker/1/body-key");
    const key = await importGCMKey(bytes);
    wipe(bytes);
    return key;
}

/**
 * Throws FormatError `tooLarge`.
 * @param {Uint8Array} body
 * @param {RecordName} name
 * @param {Secret} vaultKey
 * @param {number} epoch of the key, from 1
 */
export async function sealEnvelope(body, name, vaultKey, epoch) {
    const padded = pad(body);
    const itemKey = randomBytes(32);
    const sealedBody = await gcmSeal(await bodyKey(itemKey), padded, bound("applocker/1/body", name, epoch));
    const salt = randomBytes(32);
    const data = bound("applocker/1/wrap", name, epoch);
    const committed = await committedKey(vaultKey, salt, data);
    const wrapped = await gcmSeal(committed.key, itemKey, data);
    wipe(padded, itemKey);
    return concat(utf8("APEV"), [1, 0, 0, 0], u32(epoch), u32(epoch), salt, committed.commitment, wrapped, sealedBody);
}

/**
 * Reads what needs no key. Throws FormatError: malformed, unknownVersion.
 * @param {Uint8Array} sealed
 */
export function readEnvelope(sealed) {
    const reader = new ByteReader(sealed, "sealed record");
    reader.magic("APEV");
    reader.zeros(3);
    const wrapEpoch = reader.number(4);
    const bodyEpoch = reader.number(4);
    const [salt, commitment, wrapped] = [reader.bytes(32), reader.bytes(32), reader.bytes(48)];
    const length = reader.remaining - tagLength;
    if (bodyEpoch === 0 || bodyEpoch > wrapEpoch || length < minimumPadded || length > maximumPadded) {
        throw reader.malformed();
    }
    return { wrapEpoch, bodyEpoch, salt, commitment, wrapped, body: reader.rest() };
}

/**
 * Throws FormatError: malformed, unknownVersion, wrongKey, damaged.
 * @param {Uint8Array} sealed
 * @param {RecordName} name
 * @param {Secret} vaultKey of the envelope's `wrapEpoch`
 */
export async function openEnvelope(sealed, name, vaultKey) {
    const envelope = readEnvelope(sealed);
    const data = bound("applocker/1/wrap", name, envelope.wrapEpoch);
    const committed = await committedKey(vaultKey, envelope.salt, data);
    if (!committed.matches(envelope.commitment)) {
        throw new FormatError("wrongKey", "The record was sealed under another name or another key, or was damaged.");
    }
    const damaged = new FormatError("damaged", "The record was changed or truncated.");
    const itemKey = await gcmOpen(committed.key, envelope.wrapped, data);
    if (!itemKey) throw damaged;
    const key = await bodyKey(itemKey);
    wipe(itemKey);
    const padded = await gcmOpen(key, envelope.body, bound("applocker/1/body", name, envelope.bodyEpoch));
    const body = padded && unpad(padded);
    if (!body) throw damaged;
    return body;
}
