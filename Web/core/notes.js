// Notes: opened behind the gate, changed offline too, and kept twice where two devices changed one.
import { randomID } from "../crypto/bytes.js";
import { ringKind } from "../crypto/ring.js";
import { sealedBytes } from "../crypto/signature.js";
import { keyOf } from "../store/store.js";
import { readBody } from "./bodies.js";
import { CompanionError } from "./errors.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../crypto/signature.js").HubRecord} HubRecord */
/**
 * `base`: the revision of the hub's that it stands on, 0 for a new one. `isWaiting`: not at the hub yet; `problem`: the code
 * that the hub refused it with. Times are seconds since 1970.
 * @typedef {{ id: string, vault: string, revision: number, base: number, title: string, body: string, created: number,
 *   modified: number, isWaiting: boolean, problem: string | null }} Note
 */

export class Notes {
    /**
     * By "collection/id", as long as the gate is open.
     * @type {Map<string, { signature: string, note: Note }>}
     */
    #opened = new Map();

    /** @param {Device} device @param {import("./household.js").Household} household @param {() => void} send */
    constructor(device, household, send) {
        this.device = device;
        this.household = household;
        this.send = send;
    }

    /** Nothing of a note stays. */
    forget() {
        this.#opened.clear();
    }

    /**
     * @param {string} key
     * @param {HubRecord} record
     * @param {number} base
     * @param {import("../store/store.js").Waiting | undefined} line
     * @returns {Promise<Note | null>} null for a tombstone
     */
    async #open(key, record, base, line) {
        const sealed = sealedBytes(record);
        if (!sealed) return null;
        const keys = this.device.keys;
        const rest = { base, isWaiting: line !== undefined, problem: line?.problem ?? null };
        const known = this.#opened.get(key);
        if (known?.signature === record.signature) return { ...known.note, ...rest };
        const content = readBody("notes", await keys.openContent(record, sealed));
        if (!content) throw new CompanionError("noKey", "This note was written by a newer AppLocker; update this one.");
        const note = {
            id: record.id, vault: record.vault, revision: record.revision, title: content.title, body: content.body,
            created: content.created, modified: content.modified, ...rest,
        };
        this.device.still(keys);
        this.#opened.set(key, { signature: record.signature, note });
        return note;
    }

    /**
     * The newest first. Throws CompanionError `locked`.
     * @param {string} [search] words that title or text have, all of them
     * @returns {Promise<{ notes: Note[], unreadable: number }>} `unreadable`: those that this device has no key for
     */
    async list(search = "") {
        const { keys } = this.device;
        const lines = new Map((await this.device.store.waiting()).map((line) => [line.key, line]));
        const rows = await this.device.store.records("notes");
        /** @type {[string, HubRecord, number][]} */
        const records = rows.map(({ key, record }) => [key, record, record.revision]);
        const known = new Set(rows.map(({ key }) => key));
        for (const [key, { record }] of lines) {
            if (record.collection === "notes" && !known.has(key)) records.push([key, record, 0]);
        }
        let unreadable = 0;
        const opened = await Promise.all(records.map(([key, record, base]) => {
            const line = lines.get(key);
            return this.#open(key, line?.record ?? record, line?.record.replaces ?? base, line).catch((error) => {
                if (error instanceof CompanionError && error.code === "locked") throw error;
                unreadable += 1;
                return null;
            });
        }));
        this.device.still(keys);
        const words = search.toLocaleLowerCase().split(/\s+/).filter(Boolean);
        const notes = opened.flatMap((note) => note ?? []).filter((note) => {
            const text = `${note.title}\n${note.body}`.toLocaleLowerCase();
            return words.every((word) => text.includes(word));
        });
        return { notes: notes.sort((one, other) => other.modified - one.modified), unreadable };
    }

    /**
     * Throws CompanionError `locked`, `notFound`.
     * @param {string} id
     * @returns {Promise<Note>}
     */
    async read(id) {
        const key = keyOf("notes", id);
        const [line, row] = [await this.device.store.waitingFor(key), await this.device.store.record(key)];
        const record = line?.record ?? row?.record;
        const note = record && (await this.#open(key, record, line?.record.replaces ?? record.revision, line));
        if (!note) throw new CompanionError("notFound", "There is no such note any more.");
        return note;
    }

    /** @returns {Promise<string>} */
    async #vault() {
        const vault = (await this.household.mainVault())
            ?? this.device.keys.ring.entries.filter((entry) => entry.kind === ringKind.vault).at(-1)?.vault;
        if (!vault) throw new CompanionError("noKey", "This device was not given the key of a vault; set the computer up first.");
        return vault;
    }

    /**
     * Keeps a change on this device, durably, and sends it when the hub can be reached. Throws CompanionError, StoreError.
     * @param {Note | null} note as it was read, or null for a new one
     * @param {{ title: string, body: string }} content
     * @returns {Promise<Note>} to be changed further
     */
    save(note, { title, body }) {
        return this.device.tabs.alone("edit", async () => {
            const { device } = this;
            const now = device.time.now() / 1000;
            const content = { title, body, created: note?.created ?? now, modified: now };
            const { name, replaces } = await this.#next(note);
            const record = await device.keys.sealContent(name, content, replaces);
            await this.#keep(keyOf("notes", name.id), record);
            return { ...name, ...content, base: replaces, isWaiting: true, problem: null };
        });
    }

    /**
     * @param {Note} note as it was read
     * @returns {Promise<Note>} to be saved again where the removal was a mistake
     */
    remove(note) {
        return this.device.tabs.alone("edit", async () => {
            const { name, replaces } = await this.#next(note);
            await this.#keep(keyOf("notes", name.id), await this.device.keys.tombstone(name, replaces));
            return { ...note, revision: name.revision, base: replaces };
        });
    }

    /**
     * The name of the next revision, and which of the hub's it replaces.
     * @param {Note | null} note
     */
    async #next(note) {
        const id = note?.id ?? randomID();
        const vault = note?.vault ?? (await this.#vault());
        const key = keyOf("notes", id);
        const [line, row] = [await this.device.store.waitingFor(key), await this.device.store.record(key)];
        const newest = Math.max(line?.record.revision ?? 0, row?.record.revision ?? 0, note?.revision ?? 0);
        // What was read may have reached the hub meanwhile: then it stands on itself there.
        const base = row && note && row.record.revision === note.revision ? note.revision : note?.base ?? 0;
        return { name: { vault, collection: "notes", id, revision: newest + 1 }, replaces: line?.record.replaces ?? base };
    }

    /** @param {string} key @param {HubRecord} record */
    async #keep(key, record) {
        await this.device.store.write({ waiting: [{ key, record }] });
        this.device.changed([key]);
        this.send();
    }
}
