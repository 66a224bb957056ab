// ECDSA with P-256 and SHA-256, r and s in 64 bytes. docs/formats.md, "Signature" and "Signed record".
import { base64, concat, fields, hex, u32, unbase64, unhex } from "./bytes.js";
import { nameFields } from "./envelope.js";
import { sha256 } from "./primitives.js";

/** @typedef {import("./envelope.js").RecordName} RecordName */
/**
 * A record as it is transferred (docs/hub-protocol.md).
 * @typedef {{ collection: string, id: string, vault: string, revision: number, epoch: number, author: string,
 *   sealed?: string | null, blobs: string[], signature: string, sequence?: number, replaces?: number,
 *   ancestors?: string | null }} HubRecord
 */

const ecdsa = { name: "ECDSA", hash: "SHA-256" };

/** @param {Uint8Array} message @param {string} purpose */
const signed = (message, purpose) => fields("applocker/1/signature", purpose, message);

/** @param {CryptoKey} key @param {Uint8Array} message @param {string} purpose */
export const sign = async (key, message, purpose) =>
    new Uint8Array(await crypto.subtle.sign(ecdsa, key, signed(message, purpose)));

/**
 * Plain ECDSA, over bytes without a purpose.
 * @param {CryptoKey} key
 * @param {Uint8Array} signature
 * @param {Uint8Array} bytes
 */
export const isSignature = async (key, signature, bytes) =>
    signature.length === 64 && (await crypto.subtle.verify(ecdsa, key, signature, bytes));

/** @param {CryptoKey} key @param {Uint8Array} signature @param {Uint8Array} message @param {string} purpose */
export const verify = (key, signature, message, purpose) => isSignature(key, signature, signed(message, purpose));

/**
 * A device's id, derived from its public signing key.
 * @param {Uint8Array} point
 */
export const deviceID = async (point) => hex((await sha256(point)).slice(0, 16));

/**
 * What stands for the content of a record in its signature: SHA-256, or nothing for a tombstone.
 * @param {Uint8Array | null} sealed
 */
export const contentDigest = async (sealed) => (sealed ? sha256(sealed) : new Uint8Array());

/**
 * What an author signs of a record.
 * @param {RecordName} name
 * @param {{ epoch: number, author: string, blobs: string[], digest: Uint8Array }} rest
 */
const recordMessage = (name, { epoch, author, blobs, digest }) =>
    fields(...nameFields(name), u32(epoch), unhex(author), concat(...blobs.map(unhex)), digest);

/**
 * @param {CryptoKey} key
 * @param {RecordName} name
 * @param {{ epoch: number, author: string, blobs?: string[], sealed: Uint8Array | null, replaces?: number }} rest
 * @returns {Promise<HubRecord>}
 */
export async function signRecord(key, name, { epoch, author, blobs = [], sealed, replaces }) {
    const message = recordMessage(name, { epoch, author, blobs, digest: await contentDigest(sealed) });
    return {
        collection: name.collection, id: name.id, vault: name.vault, revision: Number(name.revision), epoch, author,
        ...(sealed ? { sealed: base64(sealed) } : {}), blobs, signature: base64(await sign(key, message, "record")),
        ...(replaces === undefined ? {} : { replaces }),
    };
}

/**
 * @param {CryptoKey} authorKey
 * @param {RecordName} name
 * @param {{ epoch: number, author: string, blobs: string[], digest: Uint8Array }} rest
 * @param {Uint8Array} signature
 */
export const verifyRecord = (authorKey, name, rest, signature) =>
    verify(authorKey, signature, recordMessage(name, rest), "record");

/**
 * Null for a tombstone.
 * @param {HubRecord} record
 */
export const sealedBytes = (record) => (typeof record.sealed === "string" ? unbase64(record.sealed) : null);
