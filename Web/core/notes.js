// Notes: opened behind the gate, changed offline too, and kept twice where two devices changed one.
import { sealedBytes } from "../crypto/signature.js";
import { keyOf } from "../store/store.js";
import { readBody } from "./bodies.js";
import { knowsVault } from "./drawer.js";
import { CompanionError } from "./errors.js";
import { searching } from "./search.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../crypto/signature.js").HubRecord} HubRecord */
/**
 * `base`: the revision of the hub's that it stands on, 0 for a new one. `isWaiting`: not at the hub yet; `problem`: the code
 * that the hub refused it with. `signature`: of the record, tells one version from another. Times are seconds since 1970.
 * @typedef {{ id: string, vault: string, revision: number, base: number, signature: string, title: string, body: string,
 *   created: number, modified: number, isWaiting: boolean, problem: string | null }} Note
 */

/**
 * What a search looks through.
 * @param {Pick<Note, "title" | "body">} note
 */
export const searchText = ({ title, body }) => `${title}\n${body}`.toLocaleLowerCase();

export class Notes {
    /**
     * By "collection/id", as long as the gate is open.
     * @type {Map<string, { signature: string, note: Note }>}
     */
    #opened = new Map();

    /** @param {Device} device @param {import("./editing.js").Editing} editing */
    constructor(device, editing) {
        this.device = device;
        this.editing = editing;
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
            id: record.id, vault: record.vault, revision: record.revision, signature: record.signature,
            title: content.title, body: content.body, created: content.created, modified: content.modified, ...rest,
        };
        this.device.still(keys);
        this.#opened.set(key, { signature: record.signature, note });
        return note;
    }

    /**
     * The newest first. Throws CompanionError `locked`.
     * @param {string} [search] words that title or text have, all of them
     * @returns {Promise<{ notes: Note[], unreadable: number }>} `unreadable`: those of a vault of which it
     *   has keys, but not theirs; what is of another vault is not there
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
        const own = records.filter(([, { vault }]) => knowsVault(keys.ring, vault));
        const opened = await Promise.all(own.map(([key, record, base]) => {
            const line = lines.get(key);
            return this.#open(key, line?.record ?? record, line?.record.replaces ?? base, line).catch((error) => {
                if (error instanceof CompanionError && error.code === "locked") throw error;
                unreadable += 1;
                return null;
            });
        }));
        this.device.still(keys);
        const isFound = searching(search);
        const notes = opened.flatMap((note) => note ?? []).filter((note) => isFound(() => searchText(note)));
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
        const isOwn = record && knowsVault(this.device.keys.ring, record.vault);
        const note = isOwn && (await this.#open(key, record, line?.record.replaces ?? record.revision, line));
        if (!note) throw new CompanionError("notFound", "There is no such note any more.");
        return note;
    }

    /**
     * Keeps a change on this device, durably, and sends it when the hub can be reached. What was asked while the gate was open
     * is kept even if it closes meanwhile. Throws CompanionError, StoreError.
     * @param {Note | null} note as it was read, or null for a new one
     * @param {{ title: string, body: string, created?: number }} content `created`: of a new one that is older than now
     * @returns {Promise<Note>} to be changed further
     */
    save(note, { title, body, created }) {
        return this.editing.alone(async (keys) => {
            const now = this.device.time.now() / 1000;
            const content = { title, body, created: note?.created ?? created ?? now, modified: now };
            const { name, replaces, ancestors } = await this.editing.next("notes", note, keys);
            const record = { ...(await keys.sealContent(name, content, replaces)), ancestors };
            await this.editing.keep({ waiting: [{ key: keyOf("notes", name.id), record }] });
            return { ...name, ...content, base: replaces, signature: record.signature, isWaiting: true, problem: null };
        });
    }

    /**
     * @param {Note} note as it was read
     * @returns {Promise<Note>} to be saved again where the removal was a mistake
     */
    remove(note) {
        return this.editing.alone(async (keys) => {
            const { name, replaces, ancestors } = await this.editing.next("notes", note, keys);
            const record = { ...(await keys.tombstone(name, replaces)), ancestors };
            await this.editing.keep({ waiting: [{ key: keyOf("notes", name.id), record }] });
            return { ...note, revision: name.revision, base: replaces, signature: record.signature };
        });
    }
}
