// Moments: behind the gate, all of them at hand, changed offline too, kept twice where two devices changed one.
import { ringKind } from "../crypto/ring.js";
import { keyOf } from "../store/store.js";
import { CompanionError } from "./errors.js";
import { dayOf, onThisDay, statistics } from "./moment-figures.js";
import { momentBody, photoHash, trashSeconds } from "./moment-format.js";
import { MomentIndex } from "./moment-index.js";
import { searching } from "./search.js";

/** @typedef {import("./moment-format.js").MomentContent} MomentContent */
/**
 * As a note's: `base`, `isWaiting`, `problem`, `signature`.
 * @typedef {MomentContent & { id: string, vault: string, revision: number, base: number, signature: string, isWaiting: boolean,
 *   problem: string | null }} Moment
 */
/**
 * What a person writes; what is absent stays as it was, or empty; `place` null removes it. `offset`: absent, this device's at that time. `photos` in order: of a moment, or as
 * `Pictures.seal` gave them.
 * @typedef {{ title: string, words: string, date: number, offset?: number, mood?: string,
 *   place?: import("./moment-format.js").Place | null, photos?: import("./moment-format.js").MomentPhoto[], favourite?: boolean }} Draft
 */

export class Moments {
    /** @type {Promise<MomentIndex> | null} */
    #index = null;
    /** @type {Set<string>} */
    #stale = new Set();
    /** @type {Promise<unknown>} */
    #refreshing = Promise.resolve();

    /** @param {import("./device.js").Device} device @param {import("./editing.js").Editing} editing */
    constructor(device, editing) {
        this.device = device;
        this.editing = editing;
        device.events.addEventListener("changed", (event) => {
            for (const key of /** @type {CustomEvent<string[]>} */ (event).detail) {
                if (key.startsWith("moments/")) this.#stale.add(key);
                // What had no key may have one now.
                if (key.startsWith("keys/")) this.#index?.then(({ unreadable }) => unreadable.forEach((other) => this.#stale.add(other))).catch(() => {});
            }
        });
    }

    /** Nothing of a moment stays. */
    forget() {
        this.#index?.then((index) => index.forget()).catch(() => {});
        this.#index = null;
        this.#stale.clear();
        this.#refreshing = Promise.resolve();
    }

    /** @returns {Promise<MomentIndex>} with all that was written by now */
    async #ready() {
        const { keys } = this.device;
        if (!this.#index) {
            this.#stale.clear();
            const building = MomentIndex.build(this.device);
            this.#index = building;
            building.then(() => this.purge()).catch(() => {});
            building.catch(() => {
                if (this.#index === building) this.#index = null;
            });
        }
        const index = await this.#index;
        if (this.#stale.size > 0) {
            const stale = [...this.#stale];
            this.#stale.clear();
            // Who asks meanwhile waits for it too.
            this.#refreshing = this.#refreshing.catch(() => {}).then(() => Promise.all(stale.map((key) => index.refresh(key))));
        }
        await this.#refreshing;
        this.device.still(keys);
        return index;
    }

    /**
     * The newest first; what is in the trash only with `trash`. The first call after the gate was opened reads everything.
     * Throws CompanionError `locked`.
     * @param {{ search?: string, mood?: string, favourite?: boolean, from?: string, to?: string, vault?: string, trash?: boolean }} filter
     *   `search`: words that title, words, mood, place or date have, all of them. `from`, `to`: local days, "2024-05-17", both counted
     * @returns {Promise<{ moments: Moment[], unreadable: number }>} `unreadable`: those that this device has no key for
     */
    async list({ search = "", mood, favourite, from, to, vault, trash = false } = {}) {
        const index = await this.#ready();
        const isFound = searching(search);
        const moments = index.sorted.filter((moment) => {
            if ((moment.removed !== undefined) !== trash) return false;
            if ((mood && moment.mood !== mood) || (favourite && !moment.favourite) || (vault && moment.vault !== vault)) return false;
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
        const moment = (await this.#ready()).moment(id);
        if (!moment) throw new CompanionError("notFound", "There is no such moment any more.");
        return moment;
    }

    /**
     * This day in other years.
     * @param {string} [day] "2024-05-17"; absent, today
     */
    async onThisDay(day = this.#today()) {
        return onThisDay((await this.list()).moments, day);
    }

    /** @param {{ together?: string }} [since] the local day that days together are counted from */
    async statistics(since = {}) {
        return statistics((await this.list()).moments, { together: since.together, today: this.#today() });
    }

    #today() {
        const now = this.device.time.now();
        return dayOf(/** @type {Moment} */ ({ date: now / 1000, offset: -new Date(now).getTimezoneOffset() }));
    }

    /**
     * Where a file is here already, in the trash too. Throws CompanionError `locked`.
     * @param {string} vault
     * @param {Uint8Array} digest SHA-256 of the file
     * @returns {Promise<{ moment: string, photo: import("./moment-format.js").MomentPhoto } | null>}
     */
    async holding(vault, digest) {
        const index = await this.#ready();
        const inVault = index.sorted.filter((moment) => moment.vault === vault);
        const epochs = new Set(inVault.flatMap(({ photos }) => photos.map(({ hash }) => hash.slice(0, 8))));
        /** @type {Set<string>} */
        const hashes = new Set();
        for (const text of epochs) {
            const epoch = parseInt(text, 16);
            const key = this.device.keys.ring.key(ringKind.vault, vault, epoch);
            if (key) hashes.add(await photoHash({ key, epoch, vault }, digest));
        }
        for (const moment of inVault) {
            const photo = moment.photos.find(({ hash }) => hashes.has(hash));
            if (photo) return { moment: moment.id, photo };
        }
        return null;
    }

    // Changes

    /**
     * Keeps a change on this device, durably, with the photos that were sealed for it, in one step; it leaves when the hub can be
     * reached. Photos that it had and has no more are removed. Throws CompanionError `locked`, `notFound` (of a photo), FormatError, StoreError.
     * @param {Moment | null} moment as it was read, or null for a new one
     * @param {Draft} draft
     * @returns {Promise<Moment>} to be changed further
     */
    save(moment, draft) {
        const { date, place = moment?.place } = draft;
        const now = this.device.time.now() / 1000;
        return this.#write(moment, {
            title: draft.title, words: draft.words, date, mood: draft.mood ?? moment?.mood ?? "",
            favourite: draft.favourite ?? moment?.favourite ?? false,
            offset: draft.offset ?? moment?.offset ?? -new Date(date * 1000).getTimezoneOffset(),
            ...(place ? { place } : {}), photos: (draft.photos ?? moment?.photos ?? []).map(({ id, width, height, hash }) => ({ id, width, height, hash })),
            created: moment?.created ?? now, modified: now,
        });
    }

    /** @param {Moment} moment as it was read @param {boolean} favourite */
    setFavourite(moment, favourite) {
        return this.#write(moment, { ...this.#content(moment), favourite });
    }

    /**
     * Into the trash, for 30 days.
     * @param {Moment} moment as it was read @returns {Promise<Moment>} for `restore`
     */
    remove(moment) {
        return this.#write(moment, { ...this.#content(moment), removed: this.device.time.now() / 1000 });
    }

    /**
     * Out of the trash.
     * @param {Moment} moment as it was read, or as `remove` gave it
     */
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

    /** @param {Moment | null} moment @param {MomentContent} content @returns {Promise<Moment>} */
    async #write(moment, content) {
        const body = momentBody(content);
        const index = await this.#ready();
        return this.editing.alone(async (keys) => {
            const { name, replaces, ancestors } = await this.editing.next("moments", moment, keys);
            const record = { ...(await keys.sealBody(name, body, replaces)), ancestors };
            const photos = await this.#photosOf(moment, content);
            const gone = await this.#withoutPhotos(moment, content.photos, index, keys);
            await this.editing.keep({
                ...gone, waiting: [{ key: keyOf("moments", name.id), record }, ...photos.waiting, ...gone.waiting], unstaged: photos.unstaged,
            });
            return { ...content, ...name, base: replaces, signature: record.signature, isWaiting: true, problem: null };
        });
    }

    /**
     * Those that were sealed for it go out with it. One that it had may still be on its way from another device.
     * @param {Moment | null} moment
     * @param {MomentContent} content
     */
    async #photosOf(moment, content) {
        const { store } = this.device;
        /** @type {{ waiting: import("../store/store.js").Waiting[], unstaged: string[] }} */
        const change = { waiting: [], unstaged: [] };
        const had = new Set(moment?.photos.map(({ id }) => id));
        for (const { id } of content.photos.filter((photo) => !had.has(photo.id))) {
            const key = keyOf("photos", id);
            const staged = await store.stagedPhoto(id);
            if (staged) {
                change.waiting.push({ key, record: staged.record, uploads: staged.uploads });
                change.unstaged.push(id);
            } else if (!(await store.waitingFor(key)) && !(await store.record(key))) {
                throw new CompanionError("notFound", "A photo of this moment is not here any more; choose it again.");
            }
        }
        return change;
    }

    /**
     * What removes the photos that a moment had, and has no more, where no other moment has them.
     * @param {Moment | null} moment
     * @param {{ id: string }[]} photos
     * @param {MomentIndex} index
     * @param {import("./keys.js").UnlockedKeys} keys
     */
    async #withoutPhotos(moment, photos, index, keys) {
        const kept = new Set(photos.map(({ id }) => id));
        const gone = (moment?.photos ?? []).filter(({ id }) => !kept.has(id));
        const others = new Set(gone.length === 0 ? [] : index.sorted.flatMap((other) =>
            (other.id === moment?.id ? [] : other.photos.map(({ id }) => id))));
        /** @type {{ waiting: import("../store/store.js").Waiting[], withoutPieces: string[] }} */
        const change = { waiting: [], withoutPieces: [] };
        for (const { id } of gone) {
            if (!moment || others.has(id)) continue;
            const key = keyOf("photos", id);
            const [line, row] = [await this.device.store.waitingFor(key), await this.device.store.record(key)];
            const record = line?.record ?? row?.record;
            if (!record?.sealed) continue;
            const name = { vault: record.vault, collection: "photos", id, revision: record.revision + 1 };
            change.waiting.push({ key, record: await keys.tombstone(name, row?.record.revision ?? 0) });
            change.withoutPieces.push(...(line?.uploads ?? []).map(({ blob }) => blob));
        }
        return change;
    }

    /**
     * For good, with its photos.
     * @param {Moment} moment as it was read
     */
    async erase(moment) {
        const index = await this.#ready();
        await this.editing.alone(async (keys) => {
            const key = keyOf("moments", moment.id);
            const newest = (await this.device.store.waitingFor(key)) ?? (await this.device.store.record(key));
            // Another tab was first.
            if (newest && !newest.record.sealed) return;
            const { name, replaces, ancestors } = await this.editing.next("moments", moment, keys);
            const gone = await this.#withoutPhotos(moment, [], index, keys);
            const record = { ...(await keys.tombstone(name, replaces)), ancestors };
            await this.editing.keep({ ...gone, waiting: [{ key: keyOf("moments", name.id), record }, ...gone.waiting] });
        });
    }

    /**
     * What was in the trash for 30 days goes; done once after each opening of the gate.
     * @returns {Promise<number>} how many went
     */
    async purge() {
        const end = this.device.time.now() / 1000 - trashSeconds;
        const over = (await this.list({ trash: true })).moments.filter(({ removed }) => (removed ?? end) < end);
        for (const moment of over) await this.erase(moment);
        return over.length;
    }
}
