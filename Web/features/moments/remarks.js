// Comments on moments and reactions to them. Each is a record of its own that never changes, so devices that write at
// the same time don't conflict; only its author removes it. docs/formats.md, "Remarks".
import { recordKey } from "../../formats/record-key.js";
import { nameAmong, newRemarkID, remarkBody } from "../../formats/remark-format.js";
import { RemarkIndex } from "./remark-index.js";
import { UnlockedIndex } from "./unlocked-index.js";

/** @typedef {import("./remark-index.js").Remark} Remark */
/** @typedef {import("./remark-index.js").ReactionKind} ReactionKind */
/** @typedef {import("../../formats/remark-format.js").Comment} Comment */
/** @typedef {import("../../formats/remark-format.js").Reaction} Reaction */
/** @typedef {{ id: string, vault: string }} OfMoment */

/** Removals written in one step. */
const step = 64;

export class Remarks {
    /** @type {UnlockedIndex<RemarkIndex>} */
    #index;

    /** @param {DeviceSession} device @param {import("../../sync/record-editor.js").RecordEditor} editor */
    constructor(device, editor) {
        this.device = device;
        this.editor = editor;
        this.#index = new UnlockedIndex(device, () => RemarkIndex.build(device));
        device.events.addEventListener("changed", (event) => {
            const { detail } = /** @type {CustomEvent<string[]>} */ (event);
            for (const key of detail) if (key.startsWith("remarks/")) this.#index.changed(key);
            // A missing key may have arrived.
            if (detail.some((key) => key.startsWith("keys/"))) this.forget();
        });
    }

    forget() {
        this.#index.forget();
    }

    /** As `UnlockedIndex.ready`. */
    index() {
        return this.#index.ready();
    }

    /** Whether its authors are the members of a shared vault. */
    get isShared() {
        return this.device.isShared;
    }

    /**
     * Names of authors in a shared vault: what their devices call themselves, each different from the others; "" in an
     * own vault.
     * @returns {Promise<(author: string) => string>}
     */
    async authorNames() {
        if (!this.isShared) return () => "";
        const names = await this.editor.household.ownNames();
        return (author) => {
            const shown = nameAmong(names, author) || author.slice(0, 8);
            return this.device.roster.member(author) ? shown : `${shown}, no longer a member`;
        };
    }

    /**
     * Stores a comment durably and sends it when the hub can be reached. Throws CompanionError `locked`, FormatError,
     * StoreError.
     * @param {OfMoment} moment
     * @param {string} text
     */
    comment(moment, text) {
        return this.add(moment, [{ kind: "comment", text, at: this.device.time.now() / 1000 }]);
    }

    /**
     * Adds or removes this author's reaction.
     * @param {OfMoment} moment
     * @param {ReactionKind} kind
     * @param {boolean} isOn
     */
    async react(moment, kind, isOn) {
        const own = (await this.index()).all(moment).filter((remark) => remark.kind === kind && remark.isOwn);
        if (!isOn) return this.#remove(own);
        if (own.length === 0) await this.add(moment, [{ kind, at: this.device.time.now() / 1000 }]);
    }

    /**
     * @param {OfMoment} moment
     * @param {(Omit<Comment, "moment"> | Omit<Reaction, "moment">)[]} contents
     */
    add(moment, contents) {
        return this.editor.exclusive(async (keys) => {
            await this.editor.commit({ waiting: await this.records(moment, contents, keys) });
        });
    }

    /**
     * Not stored yet: a restored moment is stored together with its remarks.
     * @param {OfMoment} moment
     * @param {(Omit<Comment, "moment"> | Omit<Reaction, "moment">)[]} contents
     * @param {import("../../household/keys.js").UnlockedKeys} keys
     */
    records({ id, vault }, contents, keys) {
        const author = this.isShared ? keys.device : keys.household;
        return Promise.all(contents.map(async (content) => {
            const name = { vault, collection: "remarks", id: await newRemarkID(vault, author), revision: 1 };
            const body = remarkBody(/** @type {Comment | Reaction} */ ({ ...content, moment: id }));
            const record = await keys.sealBody(name, body, 0);
            return { key: recordKey("remarks", name.id), record, isPushed: this.isShared };
        }));
    }

    /** @param {Remark} remark its author's own */
    remove(remark) {
        return this.#remove([remark]);
    }

    /** @param {Remark[]} remarks @param {string} [after] as of a pending change */
    async #remove(remarks, after) {
        for (let start = 0; start < remarks.length; start += step) {
            await this.editor.exclusive(async (keys) => {
                const waiting = [];
                for (const remark of remarks.slice(start, start + step)) {
                    const { key, record } = await this.device.stored("remarks", remark.id);
                    // Another tab did it first.
                    if (!record?.sealed) continue;
                    const { name, replaces, ancestors } = await this.editor.next("remarks", remark, keys);
                    waiting.push({ key, record: { ...(await keys.tombstone(name, replaces)), ancestors }, after });
                }
                if (waiting.length > 0) await this.editor.commit({ waiting });
            });
        }
    }

    /**
     * Removes this author's remarks on a moment that was erased.
     * @param {string} moment
     */
    async removeAll(moment) {
        const own = (await this.index()).all({ id: moment }).filter(({ isOwn }) => isOwn);
        await this.#remove(own, recordKey("moments", moment));
    }

    /**
     * The same of all moments that any device erased.
     * @param {(moment: string) => boolean} isHere whether it exists
     */
    async sweep(isHere) {
        for (const moment of (await this.index()).moments) {
            if (isHere(moment)) continue;
            const { record } = await this.device.stored("moments", moment);
            // It may not have arrived yet.
            if (record && !record.sealed) await this.removeAll(moment);
        }
    }
}
