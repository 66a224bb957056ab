// The remarks of all moments, in memory while AppLocker is unlocked. What is not an author's own, too long or of an
// unknown kind is left out, whatever the hub or another member wrote.
import { sealedBytes } from "../../crypto/signature.js";
import { remarkTag } from "../../formats/remark-author.js";
import { isShortEnough, readRemark } from "../../formats/remark-format.js";
import { hasVaultKey } from "../../household/private-storage.js";

/** @typedef {import("../../store/store.js").Waiting} Waiting */
/**
 * `author`: a member of a shared vault; in a household's own vault the household. `isOwn`: this device may remove it.
 * `base`, `signature`, `isWaiting`, `problem`: as a moment's.
 * @typedef {(import("../../formats/remark-format.js").Comment | import("../../formats/remark-format.js").Reaction) & {
 *   id: string, vault: string, author: string, isOwn: boolean, revision: number, base: number, signature: string,
 *   isWaiting: boolean, problem: string | null }} Remark
 * @typedef {Remark & { kind: "comment", text: string, from?: string }} ShownComment
 * @typedef {import("../../formats/remark-format.js").ReactionKind} ReactionKind
 */

/** Records opened at a time. */
const atOnce = 64;
/** Comments of one author on one moment: no member hides what the others wrote behind its own. */
const mostOfAuthor = 250;

/** @param {string} key "remarks/id" */
const idOf = (key) => key.slice("remarks/".length);

export class RemarkIndex {
    /** @type {Map<string, Remark>} by key */
    #remarks = new Map();
    /** @type {Map<string, Set<string>>} keys by moment */
    #byMoment = new Map();
    /** @type {Map<string, Promise<string>>} by vault and author */
    #tags = new Map();
    /** @type {Map<string, { comments: number, reactions: number }>} by vault and moment */
    #counts = new Map();

    /**
     * @param {DeviceSession} device
     * @param {import("../../household/keys.js").UnlockedKeys} keys that it is built with, and ends with
     */
    constructor(device, keys) {
        this.device = device;
        this.keys = keys;
    }

    /** @param {DeviceSession} device */
    static async build(device) {
        const index = new RemarkIndex(device, device.keys);
        const stored = await device.storedAll("remarks");
        for (let start = 0; start < stored.length; start += atOnce) {
            await Promise.all(stored.slice(start, start + atOnce).map((one) => index.#open(one)));
            device.requireUnlocked(index.keys);
        }
        return index;
    }

    /** @param {string} key @param {Remark | null} remark */
    #put(key, remark) {
        const before = this.#remarks.get(key);
        for (const one of [before, remark]) if (one) this.#counts.delete(`${one.vault}/${one.moment}`);
        if (before) this.#byMoment.get(before.moment)?.delete(key);
        if (!remark) return void this.#remarks.delete(key);
        this.#remarks.set(key, remark);
        const keys = this.#byMoment.get(remark.moment) ?? new Set();
        this.#byMoment.set(remark.moment, keys.add(key));
    }

    /** @param {string} vault @param {string} author */
    #tag(vault, author) {
        const place = `${vault}/${author}`;
        let tag = this.#tags.get(place);
        if (!tag) this.#tags.set(place, (tag = remarkTag(vault, author)));
        return tag;
    }

    /** @param {{ key: string, line?: Waiting, record: HubRecord, base: number }} stored */
    async #open({ key, line, record, base }) {
        const sealed = sealedBytes(record);
        const isReadable = sealed && isShortEnough(sealed) && hasVaultKey(this.keys.ring, record.vault);
        const { isShared } = this.device;
        const author = isShared ? record.author : this.keys.household;
        if (!isReadable || !record.id.startsWith(await this.#tag(record.vault, author))) return this.#put(key, null);
        const content = readRemark(await this.keys.openContent(record, sealed).catch(() => new Uint8Array()));
        if (this.device.unlocked !== this.keys) return;
        this.#put(key, content && {
            ...content, id: record.id, vault: record.vault, author, isOwn: !isShared || author === this.keys.device,
            revision: record.revision, base, signature: record.signature, isWaiting: line !== undefined,
            problem: line?.problem ?? null,
        });
    }

    /**
     * Called after a record was written.
     * @param {string} key "remarks/id"
     */
    async refresh(key) {
        const { record, ...rest } = await this.device.stored("remarks", idOf(key));
        if (record) await this.#open({ ...rest, record });
        else this.#put(key, null);
        this.device.requireUnlocked(this.keys);
    }

    /** The moments that have remarks. */
    get moments() {
        return [...this.#byMoment].flatMap(([moment, { size }]) => (size > 0 ? [moment] : []));
    }

    /**
     * Of a moment, in its own vault, the newest last.
     * @param {{ id: string, vault?: string }} moment
     * @returns {Remark[]}
     */
    all({ id, vault }) {
        return [...this.#byMoment.get(id) ?? []].flatMap((key) => this.#remarks.get(key) ?? [])
            .filter((remark) => vault === undefined || remark.vault === vault)
            .sort((one, other) => one.at - other.at || (one.id < other.id ? -1 : 1));
    }

    /**
     * What is shown of a moment: comments, the newest last, and one reaction of each kind and author.
     * @param {{ id: string, vault: string }} moment
     */
    shown(moment) {
        const all = this.all(moment);
        /** @type {Map<string, number>} */
        const ofAuthor = new Map();
        /** @type {ShownComment[]} */
        const comments = [];
        /** @type {Map<ReactionKind, Map<string, Remark>>} */
        const reactions = new Map();
        for (const remark of all.reverse()) {
            const { author, kind } = remark;
            if (kind !== "comment") {
                reactions.set(kind, (reactions.get(kind) ?? new Map()).set(author, remark));
                continue;
            }
            const count = (ofAuthor.get(author) ?? 0) + 1;
            ofAuthor.set(author, count);
            if (count <= mostOfAuthor) comments.push(/** @type {ShownComment} */ (remark));
        }
        return { comments: comments.reverse(), reactions };
    }

    /**
     * As often as a list is drawn, so it is remembered.
     * @param {{ id: string, vault: string }} moment
     */
    counts(moment) {
        if (!this.#byMoment.get(moment.id)?.size) return { comments: 0, reactions: 0 };
        const place = `${moment.vault}/${moment.id}`;
        let counts = this.#counts.get(place);
        if (!counts) {
            const { comments, reactions } = this.shown(moment);
            counts = {
                comments: comments.length, reactions: [...reactions.values()].reduce((sum, { size }) => sum + size, 0),
            };
            this.#counts.set(place, counts);
        }
        return counts;
    }

    forget() {
        this.#remarks.clear();
        this.#byMoment.clear();
        this.#tags.clear();
        this.#counts.clear();
    }
}
