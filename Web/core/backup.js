// A backup of the notes that this device can read: `.aplockerbackup`, as a computer writes and reads it. docs/formats.md, "Backup".
import { ByteReader, concat, isID, randomBytes, textOf, u64, unbase64, utf8, wipe } from "../crypto/bytes.js";
import { openEnvelope, readEnvelope } from "../crypto/envelope.js";
import { FormatError } from "../crypto/errors.js";
import { KeyRing, ringKind } from "../crypto/ring.js";
import { KeySlots, slotsLength } from "../crypto/slots.js";
import { openContent, sealContent, streamName } from "../crypto/stream.js";
import { readBody } from "./bodies.js";
import { CompanionError } from "./errors.js";

/** @typedef {import("./companion.js").Companion} Companion */
/** @typedef {import("./bodies.js").NoteContent} NoteContent */

export const entryKind = Object.freeze({ manifest: 1, settings: 2, ring: 3, record: 4, blob: 5, end: 255 });
export const start = concat(utf8("APLK"), [2, 1, 0, 0]);
export const name = streamName({ purpose: "backup" });
/** A file is guessed at without anybody counting. */
export const rounds = 2_000_000;
const leastLength = 10;
export const headerLength = start.length + slotsLength;
/** Of a backup that is read here, in bytes: all of it is in memory. */
const maximumSize = 256 << 20;

/** @param {string} passphrase Throws CompanionError `weakPIN`. */
export function checkPassphrase(passphrase) {
    if ([...passphrase].length < leastLength || new Set(passphrase).size < 5) {
        throw new CompanionError("weakPIN", `A passphrase has at least ${leastLength} characters of some variety; four words are good.`);
    }
}

/** @param {number} kind @param {Uint8Array} bytes */
const entry = (kind, bytes) => concat([kind], u64(bytes.length), bytes);

/** @param {unknown} value */
const json = (value) => utf8(JSON.stringify(value));

/**
 * Throws CompanionError `locked`, `weakPIN`, StoreError.
 * @param {Companion} companion
 * @param {string} passphrase
 * @returns {Promise<{ bytes: Uint8Array, notes: number }>}
 */
export async function writeBackup({ device }, passphrase) {
    checkPassphrase(passphrase);
    const keys = device.keys.held();
    try {
        const waiting = (await device.store.waiting()).map(({ record }) => record);
        const known = (await device.store.records("notes")).map(({ record }) => record);
        const newest = new Map([...known, ...waiting].filter(({ collection }) => collection === "notes").map((record) => [record.id, record]));
        const records = [...newest.values()].filter(({ sealed, vault }) => {
            if (!sealed) return false;
            return keys.ring.key(ringKind.vault, vault, readEnvelope(unbase64(sealed)).wrapEpoch) !== undefined;
        });
        const manifest = { version: 2, created: new Date(device.time.now()).toISOString().replace(/\.\d+Z$/, "Z"), contents: "everything", records: records.length, blobs: 0 };
        const ring = keys.ring.plaintext;
        const content = concat(
            entry(entryKind.manifest, json(manifest)), entry(entryKind.ring, ring),
            ...records.map(({ collection, id, vault, revision, epoch, author, sealed }) =>
                entry(entryKind.record, json({ collection, id, vault, revision, epoch, author, deleted: false, sealed }))),
            entry(entryKind.end, new Uint8Array()));
        const bytes = await behindPassphrase(content, passphrase);
        wipe(ring, content);
        return { bytes, notes: records.length };
    } finally {
        keys.wipe();
    }
}

/** @param {Uint8Array} content @param {string} passphrase */
async function behindPassphrase(content, passphrase) {
    const rootKey = randomBytes(32);
    const slots = KeySlots.fresh(rounds, { usesMixedSecret: false });
    const stretched = await slots.stretch(utf8(passphrase));
    const kek = await slots.kek(stretched, null);
    const filled = await slots.setting(0, rootKey, kek);
    const sealed = await sealContent(content, name, rootKey);
    wipe(rootKey, stretched, kek);
    return concat(start, filled.bytes, sealed);
}

/**
 * The notes of a backup, of a companion or of a computer that chose no scrypt. Throws FormatError.
 * @param {Uint8Array} bytes
 * @param {string} passphrase
 * @returns {Promise<{ notes: NoteContent[], created: string, others: number }>} `others`: what is no note, or does not open
 */
export async function readBackup(bytes, passphrase) {
    const isOne = bytes.length > headerLength && bytes.length <= maximumSize && start.every((byte, index) => bytes[index] === byte);
    if (!isOne) throw new FormatError("malformed", "This is no backup of this AppLocker. Import backups of the earlier one at your computer.");
    const slots = KeySlots.read(bytes.slice(start.length, headerLength));
    if (slots.derivation !== "pbkdf2") {
        throw new FormatError("unknownAlgorithm", "This backup was made on a computer; import it there, with “applocker backup import”.");
    }
    const stretched = await slots.stretch(utf8(passphrase));
    const kek = await slots.kek(stretched, null);
    const found = await slots.open(kek);
    wipe(stretched, kek);
    if (!found) throw new FormatError("wrongKey", "The passphrase does not open this backup.");
    const content = await openContent(bytes.subarray(headerLength), name, found.rootKey);
    wipe(found.rootKey);
    try {
        return await notesIn(content);
    } finally {
        wipe(content);
    }
}

/** @param {Uint8Array} content */
async function notesIn(content) {
    const reader = new ByteReader(content, "backup");
    const damaged = new FormatError("malformed", "The backup's content is not what AppLocker writes.");
    /** @type {{ version: number, created: string, records: number } | null} */
    let manifest = null;
    /** @type {KeyRing | null} */
    let ring = null;
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

/** @param {any} record @param {KeyRing | null} ring @returns {Promise<NoteContent | null>} */
async function noteIn(record, ring) {
    if (record?.collection !== "notes" || !isID(record.id) || !isID(record.vault) || typeof record.sealed !== "string") return null;
    const sealed = unbase64(record.sealed);
    const key = ring?.key(ringKind.vault, record.vault, readEnvelope(sealed).wrapEpoch);
    return key ? readBody("notes", await openEnvelope(sealed, record, key)) : null;
}

/**
 * Adds what is missing; a note that is here with the same title and text is left out. Throws CompanionError, StoreError.
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

