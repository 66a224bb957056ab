// Sealed to a public key: HPKE (RFC 9180) in base mode with DHKEM(P-256, HKDF-SHA256), HKDF-SHA256 and AES-256-GCM, one
// message a context. docs/formats.md, "Box".
import { ByteReader, concat, equalInConstantTime, fields, u16, utf8, wipe } from "./bytes.js";
import { nameFields } from "./envelope.js";
import { FormatError } from "./errors.js";
import { agree, freshPair, importPrivate, importPublic, publicKeyOf } from "./p256.js";
import { pad, unpad } from "./padding.js";
import { gcmOpen, gcmSeal, importGCMKey, labelled, sha256 } from "./primitives.js";

/** @typedef {import("./envelope.js").RecordName} RecordName */

const empty = new Uint8Array();
const kem = labelled(concat(utf8("KEM"), u16(0x0010)));
const suite = labelled(concat(utf8("HPKE"), u16(0x0010), u16(0x0001), u16(0x0002)));

/** @typedef {{ key: CryptoKey, point: Uint8Array }} BoxOwner */

/**
 * @param {Uint8Array} scalar 32 bytes, from a key ring. Throws FormatError `malformed`.
 * @returns {Promise<BoxOwner>}
 */
export async function boxOwner(scalar) {
    const point = publicKeyOf(scalar);
    return { key: await importPrivate(scalar, point, "ECDH"), point };
}

/** @param {Uint8Array} dh @param {Uint8Array} enc @param {Uint8Array} recipient @param {Uint8Array} info */
async function schedule(dh, enc, recipient, info) {
    const extracted = await kem.extract(empty, "eae_prk", dh);
    const shared = await kem.expand(extracted, "shared_secret", concat(enc, recipient), 32);
    const context = concat(
        [0], await suite.extract(empty, "psk_id_hash", empty), await suite.extract(empty, "info_hash", info));
    const secret = await suite.extract(shared, "secret", empty);
    const bytes = await suite.expand(secret, "key", context, 32);
    const nonce = await suite.expand(secret, "base_nonce", context, 12);
    const key = await importGCMKey(bytes);
    wipe(dh, extracted, shared, secret, bytes);
    return { key, nonce };
}

/**
 * The first message of an HPKE context.
 * @param {Uint8Array} sealed
 * @param {Uint8Array} enc
 * @param {Uint8Array} info
 * @param {Uint8Array} data
 * @param {BoxOwner} owner
 */
export async function openMessage(sealed, enc, info, data, owner) {
    const damaged = new FormatError("damaged", "The box was changed, truncated or moved from another record.");
    let dh;
    try {
        dh = await agree(owner.key, await importPublic(enc, "ECDH"));
    } catch {
        throw damaged;
    }
    const { key, nonce } = await schedule(dh, enc, owner.point, info);
    const opened = await gcmOpen(key, sealed, data, nonce);
    if (!opened) throw damaged;
    return opened;
}

const recordInfo = fields("applocker/1/box", "record");

/**
 * A record's body to a public key. Throws FormatError: malformed, tooLarge.
 * @param {Uint8Array} body
 * @param {RecordName} name
 * @param {Uint8Array} recipient 65 bytes
 */
export async function sealBox(body, name, recipient) {
    const theirs = await importPublic(recipient, "ECDH");
    const { scalar, point: enc } = await freshPair();
    const dh = await agree(await importPrivate(scalar, enc, "ECDH"), theirs);
    wipe(scalar);
    const { key, nonce } = await schedule(dh, enc, recipient, recordInfo);
    const padded = pad(body);
    const sealed = await gcmSeal(key, padded, fields(...nameFields(name)), nonce);
    wipe(padded);
    return concat(utf8("APBX"), [1], (await sha256(recipient)).slice(0, 8), enc, sealed);
}

/**
 * Throws FormatError: malformed, unknownVersion, wrongKey, damaged.
 * @param {Uint8Array} box
 * @param {RecordName} name
 * @param {BoxOwner} owner
 */
export async function openBox(box, name, owner) {
    const reader = new ByteReader(box, "sealed box");
    reader.magic("APBX");
    if (!equalInConstantTime(reader.bytes(8), (await sha256(owner.point)).slice(0, 8))) {
        throw new FormatError("wrongKey", "The box was sealed to another key; it can’t be opened here.");
    }
    const enc = reader.bytes(65);
    const body = unpad(await openMessage(reader.rest(), enc, recordInfo, fields(...nameFields(name)), owner));
    if (!body) throw new FormatError("damaged", "The box was changed, truncated or moved from another record.");
    return body;
}
