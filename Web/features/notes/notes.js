// Notes: opened while unlocked, changed offline too, and kept twice if two devices changed one.
import { recordKey } from "../../formats/record-key.js";
import { sealedBytes } from "../../crypto/signature.js";
import { readBody } from "../../formats/record-bodies.js";
import { hasVaultKey } from "../../household/private-storage.js";
import { CompanionError } from "../../household/errors.js";
import { textMatcher } from "../../household/text-search.js";

/**
 * `author`: the device that wrote this version. `base`: the hub's revision that it is based on, 0 for a new one.
 * `isWaiting`: not at the hub yet; `problem`: the code of the hub's refusal. `signature`: of the record, distinguishes
 * its versions. Times are seconds since 1970.
 * @typedef {{ id: string, vault: string, revision: number, author: string, base: number, signature: string,
 *   title: string, body: string, created: number, modified: number, isWaiting: boolean, problem: string | null }} Note
 */

/**
 * Where a version that is not from this tab was written.
 * @param {Note} note
 * @param {Companion} companion
 */
export const writtenAt = ({ author }, { own }) => (author === own.device ? "in another tab" : "on another device");

/** @param {Pick<Note, "title" | "body">} note */
export const searchText = ({ title, body }) => `${title}\n${body}`.toLocaleLowerCase();

export class Notes {
    /** @type {Map<string, { signature: string, note: Note }>} by "collection/id", while unlocked */
    #opened = new Map();

    /** @param {DeviceSession} device @param {import("../../sync/record-editor.js").RecordEditor} editor */
    constructor(device, editor) {
        this.device = device;
        this.editor = editor;
    }

    forget() {
        this.#opened.clear();
    }

    /**
     * @param {string} key
     * @param {HubRecord} record
     * @param {number} base
     * @param {import("../../store/store.js").Waiting | undefined} line
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
        if (!content) {
            throw new CompanionError("noKey",
                "This note was written by a newer version of AppLocker. Update this app.");
        }
        const note = {
            id: record.id, vault: record.vault, revision: record.revision, author: record.author,
            signature: record.signature, title: content.title, body: content.body, created: content.created,
            modified: content.modified, ...rest,
        };
        this.device.requireUnlocked(keys);
        this.#opened.set(key, { signature: record.signature, note });
        return note;
    }

    /**
     * Newest first. Throws CompanionError `locked`.
     * @param {string} [search] words that title or text have, all of them
     * @returns {Promise<{ notes: Note[], unreadable: number }>} `unreadable`: those of a vault of which it
     *   has keys, but not theirs; what is of another vault is not there
     */
    async list(search = "") {
        const { keys } = this.device;
        let unreadable = 0;
        const own = (await this.device.storedAll("notes")).filter(({ record }) => hasVaultKey(keys.ring, record.vault));
        const opened = await Promise.all(own.map(({ key, record, base, line }) =>
            this.#open(key, record, base, line).catch((error) => {
                if (error instanceof CompanionError && error.code === "locked") throw error;
                unreadable += 1;
                return null;
            })));
        this.device.requireUnlocked(keys);
        const isFound = textMatcher(search);
        const notes = opened.flatMap((note) => note ?? []).filter((note) => isFound(() => searchText(note)));
        return { notes: notes.sort((one, other) => other.modified - one.modified), unreadable };
    }

    /**
     * Throws CompanionError `locked`, `notFound`.
     * @param {string} id
     * @returns {Promise<Note>}
     */
    async read(id) {
        const { key, line, record, base } = await this.device.stored("notes", id);
        const isOwn = record && hasVaultKey(this.device.keys.ring, record.vault);
        const note = isOwn && (await this.#open(key, record, base, line));
        if (!note) throw new CompanionError("notFound", "This note no longer exists.");
        return note;
    }

    /**
     * Stores a change durably, even if AppLocker is locked meanwhile, and sends it when the hub can be reached. Throws
     * CompanionError, StoreError.
     * @param {Note | null} note as it was read, or null for a new one
     * @param {{ title: string, body: string, created?: number }} content `created`: of a new one that is older than now
     * @returns {Promise<Note>} to be changed further
     */
    save(note, { title, body, created }) {
        return this.editor.exclusive(async (keys) => {
            const now = this.device.time.now() / 1000;
            /** @type {import("../../formats/record-bodies.js").NoteContent} */
            const content = { title, body, created: note?.created ?? created ?? now, modified: now };
            const { name, replaces, ancestors } = await this.editor.next("notes", note, keys);
            const record = { ...(await keys.sealContent(name, content, replaces)), ancestors };
            await this.editor.commit({ waiting: [{ key: recordKey("notes", name.id), record }] });
            const { author, signature } = record;
            return { ...name, ...content, author, base: replaces, signature, isWaiting: true, problem: null };
        });
    }

    /** @param {Note} note as it was read @returns {Promise<Note>} to be saved again where the removal was a mistake */
    remove(note) {
        return this.editor.exclusive(async (keys) => {
            const { name, replaces, ancestors } = await this.editor.next("notes", note, keys, true);
            const record = { ...(await keys.tombstone(name, replaces)), ancestors };
            await this.editor.commit({ waiting: [{ key: recordKey("notes", name.id), record }] });
            return { ...note, revision: name.revision, base: replaces, signature: record.signature };
        });
    }
}
