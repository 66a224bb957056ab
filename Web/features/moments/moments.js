// Moments: in memory while unlocked, changed offline too, and kept twice if two devices changed one.
import { recordKey } from "../../formats/record-key.js";
import { CompanionError } from "../../household/errors.js";
import { dayOf, momentBody, momentPhoto, trashSeconds } from "../../formats/moment-format.js";
import { stagedPhoto } from "../../sync/photo-staging.js";
import { textMatcher } from "../../household/text-search.js";
import { UnlockedIndex } from "./unlocked-index.js";

/** @typedef {import("../../formats/moment-format.js").MomentContent} MomentContent */
/** @typedef {import("./moment-index.js").MomentIndex} MomentIndex */
/** @typedef {import("../../store/store.js").Waiting} Waiting */
/**
 * What is stored in the same step, or not at all.
 * @typedef {(moment: { id: string, vault: string }, keys: import("../../household/keys.js").UnlockedKeys) =>
 *   Promise<Waiting[]>} Also
 */
/**
 * As a note's: `base`, `isWaiting`, `problem`, `signature`.
 * @typedef {MomentContent & { id: string, vault: string, revision: number, base: number, signature: string,
 *   isWaiting: boolean, problem: string | null }} Moment
 */
/**
 * What a person writes; absent fields stay as they were, or empty; `place` null removes it. `offset`: absent, this
 * device's at that time. `photos` in order: of a moment, or as `MomentPhotos.seal` returned them.
 * @typedef {{ title: string, words: string, date: number, offset?: number, mood?: string,
 *   place?: import("../../formats/moment-format.js").Place | null,
 *   photos?: import("../../formats/moment-format.js").MomentPhoto[], favourite?: boolean }} Draft
 */

export class Moments {
    /** @type {UnlockedIndex<MomentIndex>} */
    #index;
    /** @type {Promise<import("./remarks.js").Remarks> | null} */
    #remarks = null;

    /** @param {DeviceSession} device @param {import("../../sync/record-editor.js").RecordEditor} editor */
    constructor(device, editor) {
        this.device = device;
        this.editor = editor;
        this.#index = new UnlockedIndex(device, () => this.#build());
        device.events.addEventListener("changed", (event) => {
            for (const key of /** @type {CustomEvent<string[]>} */ (event).detail) {
                if (key.startsWith("moments/")) this.#index.changed(key);
                // A missing key may have arrived.
                if (key.startsWith("keys/")) {
                    this.#index.current?.then(({ unreadable }) =>
                        unreadable.forEach((other) => this.#index.changed(other))).catch(() => {});
                }
            }
        });
    }

    /** Comments and reactions, loaded when they are first needed. */
    remarks() {
        this.#remarks ??= import("./remarks.js").then(({ Remarks }) => new Remarks(this.device, this.editor));
        this.#remarks.catch(() => (this.#remarks = null));
        return this.#remarks;
    }

    forget() {
        this.#remarks?.then((remarks) => remarks.forget()).catch(() => {});
        this.#index.forget();
    }

    #build() {
        const building = import("./moment-index.js").then(({ MomentIndex }) => MomentIndex.build(this.device));
        building.then(async (index) => {
            await this.purge();
            await (await this.remarks()).sweep((id) => index.moment(id) !== undefined);
        }).catch(() => {});
        return building;
    }

    /**
     * Newest first; the trash only with `trash`. The first call after unlocking reads everything. Throws CompanionError
     * `locked`.
     * @param {{ search?: string, mood?: string, favourite?: boolean, from?: string, to?: string, vault?: string,
     *   trash?: boolean }} filter
     *   `search`: words that title, words, mood, place or date have, all of them. `from`, `to`: local days,
     *   "2024-05-17", both counted
     * @returns {Promise<{ moments: Moment[], unreadable: number }>} `unreadable`: those that this device has no key for
     */
    async list({ search = "", mood, favourite, from, to, vault, trash = false } = {}) {
        const index = await this.#index.ready();
        const isFound = textMatcher(search);
        const moments = index.sorted.filter((moment) => {
            if ((moment.removed !== undefined) !== trash) return false;
            if ((mood && moment.mood !== mood) || (favourite && !moment.favourite)
                || (vault && moment.vault !== vault)) {
                return false;
            }
            if ((from && dayOf(moment) < from) || (to && dayOf(moment) > to)) return false;
            return isFound(() => index.haystack(moment));
        });
        return { moments, unreadable: index.unreadable.size };
    }

    /**
     * Throws CompanionError `locked`, `notFound`.
     * @param {string} id
     * @returns {Promise<Moment>}
     */
    async read(id) {
        const moment = (await this.#index.ready()).moment(id);
        if (!moment) throw new CompanionError("notFound", "This moment no longer exists.");
        return moment;
    }

    /** @param {string} [day] "2024-05-17"; absent, today */
    async onThisDay(day = this.#today()) {
        const { onThisDay } = await import("./moment-queries.js");
        return onThisDay((await this.list()).moments, day);
    }

    /**
     * The days that have moments of earlier years, from a day to another, both counted. Throws CompanionError `locked`.
     * @param {string} from
     * @param {string} to
     */
    async rememberedDays(from, to) {
        const { rememberedDays } = await import("./moment-queries.js");
        return rememberedDays((await this.list()).moments, from, to);
    }

    /** @param {{ together?: string }} [since] the local day that days together are counted from */
    async statistics(since = {}) {
        const { statistics } = await import("./moment-queries.js");
        return statistics((await this.list()).moments, { together: since.together, today: this.#today() });
    }

    #today() {
        const now = this.device.time.now();
        return dayOf(/** @type {Moment} */ ({ date: now / 1000, offset: -new Date(now).getTimezoneOffset() }));
    }

    /**
     * Where a file already is, also in the trash. Throws CompanionError `locked`.
     * @param {string} vault
     * @param {Uint8Array} digest SHA-256 of the file
     */
    async holding(vault, digest) {
        const { sorted } = await this.#index.ready();
        const { holding } = await import("./moment-queries.js");
        return holding(sorted.filter((moment) => moment.vault === vault), vault, this.device.keys.ring, digest);
    }

    // Changes

    /**
     * Stores a change durably, in one step with its sealed photos, and sends it when the hub can be reached. Photos
     * that it no longer has are removed. Throws CompanionError `locked`, `notFound` (of a photo), FormatError,
     * StoreError.
     * @param {Moment | null} moment as it was read, or null for a new one
     * @param {Draft} draft
     * @param {Also} [also]
     * @param {boolean} [isAnnounced] false for one that is nothing new to the others
     * @returns {Promise<Moment>} to be changed further
     */
    save(moment, draft, also, isAnnounced) {
        const { date, place = moment?.place } = draft;
        const now = this.device.time.now() / 1000;
        return this.#write(moment, {
            title: draft.title, words: draft.words, date, mood: draft.mood ?? moment?.mood ?? "",
            favourite: draft.favourite ?? moment?.favourite ?? false,
            offset: draft.offset ?? moment?.offset ?? -new Date(date * 1000).getTimezoneOffset(),
            ...(place ? { place } : {}), photos: (draft.photos ?? moment?.photos ?? []).map(momentPhoto),
            created: moment?.created ?? now, modified: now,
        }, also, isAnnounced);
    }

    /** @param {Moment} moment as it was read @param {boolean} favourite */
    setFavourite(moment, favourite) {
        return this.#write(moment, { ...this.#content(moment), favourite });
    }

    /**
     * Moves it to the trash, for 30 days.
     * @param {Moment} moment as it was read
     * @returns {Promise<Moment>} for `restore`
     */
    remove(moment) {
        return this.#write(moment, { ...this.#content(moment), removed: this.device.time.now() / 1000 });
    }

    /** @param {Moment} moment as it was read, or as `remove` returned it */
    restore(moment) {
        const { removed: _, ...content } = this.#content(moment);
        return this.#write(moment, content);
    }

    /** @param {Moment} moment @returns {MomentContent} */
    #content({ title, words, date, offset, mood, place, photos, favourite, created, removed }) {
        return {
            title, words, date, offset, mood, ...(place ? { place } : {}), photos, favourite, created,
            modified: this.device.time.now() / 1000, ...(removed === undefined ? {} : { removed }),
        };
    }

    /**
     * @param {Moment | null} moment @param {MomentContent} content
     * @param {Also} [also]
     * @returns {Promise<Moment>}
     */
    async #write(moment, content, also = async () => [], isAnnounced = true) {
        const body = momentBody(content);
        const index = await this.#index.ready();
        return this.editor.exclusive(async (keys) => {
            const { name, replaces, ancestors } = await this.editor.next("moments", moment, keys,
                content.removed !== undefined);
            const record = { ...(await keys.sealBody(name, body, replaces)), ancestors };
            const photos = await this.#photosOf(moment, content);
            // As a record of its own it has no photos to remove.
            const replaced = name.id === moment?.id ? moment : null;
            const gone = await this.#withoutPhotos(replaced, content.photos, index, keys);
            // What the hub does not have is new to the other members.
            const isPushed = isAnnounced && this.device.isShared && content.removed === undefined
                && replaces === 0;
            await this.editor.commit({
                ...gone, waiting: [{ key: recordKey("moments", name.id), record, isPushed }, ...photos.waiting,
                    ...gone.waiting, ...(await also(name, keys))],
                unstaged: photos.unstaged,
            });
            return { ...content, ...name, base: replaces, signature: record.signature, isWaiting: true, problem: null };
        });
    }

    /**
     * Its photos. Sealed ones are sent with it; one that it already had may be missing here.
     * @param {Moment | null} moment
     * @param {MomentContent} content
     */
    async #photosOf(moment, content) {
        /** @type {{ waiting: import("../../store/store.js").Waiting[], unstaged: string[] }} */
        const change = { waiting: [], unstaged: [] };
        const had = new Set(moment?.photos.map(({ id }) => id));
        for (const { id } of content.photos.filter((photo) => !had.has(photo.id))) {
            const staged = await stagedPhoto(this.device, id);
            if (staged) {
                change.waiting.push({ key: recordKey("photos", id), record: staged.record, uploads: staged.uploads });
                change.unstaged.push(id);
            } else if (!(await this.device.stored("photos", id)).record) {
                throw new CompanionError("notFound",
                    "A photo of this moment is no longer stored here; choose it again.");
            }
        }
        return change;
    }

    /**
     * Removes photos that the moment no longer has, unless another moment has them.
     * @param {Moment | null} moment
     * @param {{ id: string }[]} photos
     * @param {MomentIndex} index
     * @param {import("../../household/keys.js").UnlockedKeys} keys
     */
    async #withoutPhotos(moment, photos, index, keys) {
        const kept = new Set(photos.map(({ id }) => id));
        const gone = (moment?.photos ?? []).filter(({ id }) => !kept.has(id));
        const others = new Set(gone.length === 0 ? [] : index.sorted.flatMap((other) =>
            (other.id === moment?.id ? [] : other.photos.map(({ id }) => id))));
        /** @type {{ waiting: Waiting[], withoutPieces: string[] }} */
        const change = { waiting: [], withoutPieces: [] };
        for (const { id } of gone) {
            if (!moment || others.has(id)) continue;
            const { key, line, row, record } = await this.device.stored("photos", id);
            if (!record?.sealed) continue;
            const name = { vault: record.vault, collection: "photos", id, revision: record.revision + 1 };
            const tombstone = await keys.tombstone(name, row?.record.revision ?? 0);
            change.waiting.push({ key, record: tombstone, after: recordKey("moments", moment.id) });
            change.withoutPieces.push(...(line?.uploads ?? []).map(({ blob }) => blob));
        }
        return change;
    }

    /**
     * Erases a moment permanently, with its photos and its author's remarks.
     * @param {Moment} moment as it was read
     */
    async erase(moment) {
        const index = await this.#index.ready();
        await this.editor.exclusive(async (keys) => {
            const newest = (await this.device.stored("moments", moment.id)).record;
            // Another tab did it first.
            if (newest && !newest.sealed) return;
            const { name, replaces, ancestors } = await this.editor.next("moments", moment, keys, true);
            const gone = await this.#withoutPhotos(moment, [], index, keys);
            const record = { ...(await keys.tombstone(name, replaces)), ancestors };
            await this.editor.commit({
                ...gone, waiting: [{ key: recordKey("moments", name.id), record }, ...gone.waiting],
            });
        });
        await (await this.remarks()).removeAll(moment.id);
    }

    /**
     * Erases what was in the trash for 30 days; called once after each unlocking.
     * @returns {Promise<number>} how many were erased
     */
    async purge() {
        const end = this.device.time.now() / 1000 - trashSeconds;
        const over = (await this.list({ trash: true })).moments.filter(({ removed }) => (removed ?? end) < end);
        for (const moment of over) await this.erase(moment);
        return over.length;
    }
}
