// A backup of the notes that this device can read: `.aplockerbackup`, in the format of computers. docs/formats.md,
// "Backup".
import { ByteReader, concat, isID, randomBytes, textOf, u64, unbase64, utf8, wipe } from "../../crypto/bytes.js";
import { openEnvelope, readEnvelope } from "../../crypto/envelope.js";
import { FormatError } from "../../crypto/errors.js";
import { KeyRing, ringKind } from "../../crypto/ring.js";
import { KeySlots, slotsLength } from "../../crypto/slots.js";
import { openContent, sealContent, streamName } from "../../crypto/stream.js";
import { readBody } from "../../formats/record-bodies.js";
import { CompanionError } from "../../household/errors.js";

/** @typedef {import("../../formats/record-bodies.js").NoteContent} NoteContent */
/**
 * The JSON of the first entry and of a record's; `sealed` is base64. `blobs` is absent if there are none.
 * @typedef {{ version: number, created: string, contents: string, records: number, blobs: number }} BackupManifest
 * @typedef {{ collection: string, id: string, vault: string, revision: number, epoch: number, author: string,
 *   deleted: boolean, sealed?: string | null, blobs?: string[], by?: string }} BackupRecord
 */

export const entryKind = Object.freeze({ manifest: 1, settings: 2, ring: 3, record: 4, blob: 5, end: 255 });
const start = concat(utf8("APLK"), [2, 1, 0, 0]);
export const name = streamName({ purpose: "backup" });
/** Nothing limits guesses at a file's passphrase. */
const rounds = 2_000_000;
const leastLength = 10;
export const headerLength = start.length + slotsLength;
/** Largest backup that is read here, in bytes: it is held in memory. */
const maximumSize = 256 << 20;

/** @param {string} passphrase Throws CompanionError `weakPIN`. */
export function checkPassphrase(passphrase) {
    if ([...passphrase].length < leastLength || new Set(passphrase).size < 5) {
        throw new CompanionError("weakPIN",
            `The passphrase needs at least ${leastLength} varied characters. Four words are enough.`);
    }
}

/** @param {number} kind @param {Uint8Array} bytes */
const entry = (kind, bytes) => concat([kind], u64(bytes.length), bytes);

/** @param {unknown} value */
const json = (value) => utf8(JSON.stringify(value));

/** @param {number} now milliseconds since 1970 @param {number} records @param {number} blobs */
export function manifestOf(now, records, blobs) {
    /** @type {BackupManifest} */
    const manifest = {
        version: 2, created: new Date(now).toISOString().replace(/\.\d+Z$/, "Z"), contents: "everything", records,
        blobs,
    };
    return json(manifest);
}

/** @param {HubRecord} record @param {{ blobs?: string[], by?: string }} [more] */
export function recordEntry({ collection, id, vault, revision, epoch, author, sealed }, more) {
    /** @type {BackupRecord} */
    const record = { collection, id, vault, revision, epoch, author, deleted: false, sealed, ...more };
    return json(record);
}

/**
 * Throws CompanionError `locked`, `weakPIN`, StoreError.
 * @param {Companion} companion
 * @param {string} passphrase
 * @returns {Promise<{ bytes: Uint8Array, notes: number }>}
 */
export async function writeBackup({ device }, passphrase) {
    checkPassphrase(passphrase);
    const keys = device.keys.cloneVaultKeys();
    try {
        const records = (await device.storedAll("notes")).map(({ record }) => record).filter(({ sealed, vault }) =>
            sealed && keys.ring.key(ringKind.vault, vault, readEnvelope(unbase64(sealed)).wrapEpoch) !== undefined);
        const ring = keys.ring.plaintext;
        const content = concat(
            entry(entryKind.manifest, manifestOf(device.time.now(), records.length, 0)), entry(entryKind.ring, ring),
            ...records.map((record) => entry(entryKind.record, recordEntry(record))),
            entry(entryKind.end, new Uint8Array()));
        const { rootKey, header } = await sealHeader(passphrase);
        const bytes = concat(header, await sealContent(content, name, rootKey));
        wipe(ring, content, rootKey);
        return { bytes, notes: records.length };
    } finally {
        keys.wipe();
    }
}

/**
 * A new root key, and its header under the passphrase. docs/formats.md, "Backup".
 * @param {string} passphrase
 */
export async function sealHeader(passphrase) {
    const rootKey = randomBytes(32);
    const slots = KeySlots.fresh(rounds, { usesMixedSecret: false });
    const stretched = await slots.stretch(utf8(passphrase));
    const kek = await slots.kek(stretched, null);
    const filled = await slots.setting(0, rootKey, kek);
    wipe(stretched, kek);
    return { rootKey, header: concat(start, filled.bytes) };
}

/**
 * The root key of a backup. Throws FormatError.
 * @param {Uint8Array} header
 * @param {string} passphrase
 */
export async function openHeader(header, passphrase) {
    if (header.length < headerLength || !start.every((byte, index) => header[index] === byte)) {
        throw new FormatError("malformed",
            "This is not a backup of this version of AppLocker. Import backups of the earlier version at a computer.");
    }
    const slots = KeySlots.read(header.slice(start.length, headerLength));
    if (slots.derivation !== "pbkdf2") {
        throw new FormatError("unknownAlgorithm",
            "This backup was made on a computer; import it there, with “applocker backup import”.");
    }
    const stretched = await slots.stretch(utf8(passphrase));
    const kek = await slots.kek(stretched, null);
    const found = await slots.open(kek);
    wipe(stretched, kek);
    if (!found) throw new FormatError("wrongKey", "The passphrase does not open this backup.");
    return found.rootKey;
}

/**
 * The notes of a companion's backup, or of a computer's without scrypt. Throws FormatError.
 * @param {Uint8Array} bytes
 * @param {string} passphrase
 * @returns {Promise<{ notes: NoteContent[], created: string, others: number }>} `others`: others, or what does not
 *   open
 */
export async function readBackup(bytes, passphrase) {
    const isOne = bytes.length > headerLength && bytes.length <= maximumSize;
    const rootKey = await openHeader(isOne ? bytes.subarray(0, headerLength) : new Uint8Array(), passphrase);
    const content = await openContent(bytes.subarray(headerLength), name, rootKey);
    wipe(rootKey);
    try {
        return await notesIn(content);
    } finally {
        wipe(content);
    }
}

/** @param {Uint8Array} content */
async function notesIn(content) {
    const reader = new ByteReader(content, "backup");
    const damaged = new FormatError("malformed", "The backup’s content is invalid.");
    /** @type {BackupManifest | null} */
    let manifest = null;
    /** @type {KeyRing | null} */
    let ring = null;
    /** @type {BackupRecord[]} */
    const records = [];
    for (let isOver = false; !isOver;) {
        const [kind, length] = [reader.number(1), Number(reader.u64())];
        const bytes = reader.bytes(length);
        if ((manifest === null) !== (kind === entryKind.manifest)) throw damaged;
        if (kind === entryKind.manifest) manifest = JSON.parse(textOf(bytes));
        else if (kind === entryKind.ring) ring = KeyRing.read(bytes);
        else if (kind === entryKind.record) records.push(JSON.parse(textOf(bytes)));
        else if (kind === entryKind.end) isOver = true;
        else if (kind !== entryKind.settings && kind !== entryKind.blob) throw damaged;
    }
    reader.end();
    if (manifest?.version !== 2 || manifest.records !== records.length) throw damaged;
    const opened = await Promise.all(records.map((record) => noteIn(record, ring).catch(() => null)));
    ring?.wipe();
    const notes = opened.flatMap((note) => note ?? []);
    return { notes, created: String(manifest.created), others: records.length - notes.length };
}

/** @param {BackupRecord | null} record @param {KeyRing | null} ring @returns {Promise<NoteContent | null>} */
async function noteIn(record, ring) {
    if (record?.collection !== "notes" || !isID(record.id)
        || !isID(record.vault) || typeof record.sealed !== "string") {
        return null;
    }
    const sealed = unbase64(record.sealed);
    const key = ring?.key(ringKind.vault, record.vault, readEnvelope(sealed).wrapEpoch);
    return key ? readBody("notes", await openEnvelope(sealed, record, key)) : null;
}

/**
 * Adds missing notes; one with the same title and text is skipped. Throws CompanionError, StoreError.
 * @param {Companion} companion
 * @param {NoteContent[]} notes
 * @returns {Promise<number>} how many were added
 */
export async function addNotes({ notes: kept }, notes) {
    const { notes: here } = await kept.list();
    const known = new Set(here.map(({ title, body }) => JSON.stringify([title, body])));
    const missing = notes.filter(({ title, body }) => !known.has(JSON.stringify([title, body])));
    for (const { title, body, created } of missing) await kept.save(null, { title, body, created });
    return missing.length;
}
