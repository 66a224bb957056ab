// The draft of a moment, sealed on this device alone: locking, closing the page or a power loss costs at most half a
// second of it.

/** @typedef {import("./editor-photos.js").ChosenPhoto} ChosenPhoto */
/**
 * `at`: when it was stored, seconds since 1970. `base`: the signature of the moment that is edited. `lost`: photos that
 * were not sealed yet.
 * @typedef {{ at: number, base: string | null, lost: number, title: string, words: string, day: string, time: string,
 *   offset: number | null, isOwnTime: boolean, mood: string, place: import("../../formats/moment-format.js").Place |
 *   null, favourite: boolean, keepsOriginal: boolean, photos: ChosenPhoto[] }} Draft
 */

const name = "momentDrafts";
/** After the last key, in milliseconds. */
const pause = 400;
/** How many are stored: of a new moment, and of those that were edited last. */
const most = 5;

export class Drafts {
    /** If not, another tab writes drafts, and what is typed here is stored when it is saved. */
    isOurs = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;
    #writing = Promise.resolve();
    /** @type {Record<string, Draft>} all that are stored; no other tab writes them */
    #kept = {};
    #isOver = false;
    #companion;
    #place;
    #read;

    /**
     * @param {Companion} companion
     * @param {string | null} id of the moment; null for a new one
     * @param {() => Draft | null} read the current content; null if it is unchanged
     * @param {(error: unknown) => void} failed
     */
    constructor(companion, id, read, failed) {
        this.#companion = companion;
        this.#place = id ?? "new";
        this.#read = read;
        this.failed = failed;
    }

    /** @param {AbortSignal} signal @returns {Promise<Draft | null>} */
    async open(signal) {
        this.isOurs = await new Promise((resolve, reject) => {
            const mark = `${this.#companion.name}/moment-draft`;
            navigator.locks.request(mark, { ifAvailable: true }, (lock) => {
                resolve(lock !== null);
                // Until the editor is left and the last draft is stored.
                return lock && new Promise((/** @type {(value?: unknown) => void} */ end) =>
                    signal.addEventListener("abort", () => this.#writing.finally(() => end()), { once: true }));
            }).catch(reject);
        });
        if (!this.isOurs) return null;
        // Before the listener that locks, so that it can still be sealed.
        document.addEventListener("visibilitychange", () => document.hidden && this.now(), { signal, capture: true });
        for (const kind of ["pagehide", "blur"]) {
            // The window's blur, not a field's.
            window.addEventListener(kind, (event) => event.target instanceof Element || this.now(),
                { signal, capture: true });
        }
        signal.addEventListener("abort", () => {
            clearTimeout(this.#timer);
            this.#kept = {};
        }, { once: true });
        this.#kept = (await this.#companion.privateStorage.get(name)) ?? {};
        return this.#kept[this.#place] ?? null;
    }

    /** Called after each change. */
    soon() {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.now(), pause);
    }

    /** At once, as the page may be closed or locked next. */
    now() {
        clearTimeout(this.#timer);
        if (!this.isOurs || this.#isOver) return;
        const draft = this.#read();
        if (draft) this.#write(draft);
    }

    /** Drops the stored draft; later changes are stored. */
    forget() {
        clearTimeout(this.#timer);
        if (this.isOurs) this.#write(null);
    }

    /** @returns {Promise<void>} */
    drop() {
        clearTimeout(this.#timer);
        this.#isOver = true;
        return this.isOurs ? this.#write(null) : Promise.resolve();
    }

    /**
     * As `drop`, once the moment is saved, also if AppLocker is locked meanwhile: else it would be offered again.
     * Throws what `saving` throws, and then keeps the draft.
     * @param {Promise<unknown>} saving
     */
    async dropAfter(saving) {
        const { [this.#place]: _, ...others } = this.#kept;
        const rest = Object.keys(others).length > 0 ? others : null;
        const dropped = this.isOurs ? this.#companion.privateStorage.setAfter(saving, name, rest) : saving;
        this.#writing = Promise.all([this.#writing, dropped]).then(() => {}, () => {});
        await saving;
        clearTimeout(this.#timer);
        this.#isOver = true;
        await dropped.catch(this.failed);
    }

    /**
     * Begins synchronously: the keys may be gone soon.
     * @param {Draft | null} draft
     */
    #write(draft) {
        const { [this.#place]: _, ...others } = this.#kept;
        const newest = Object.entries(draft ? { ...others, [this.#place]: draft } : others)
            .sort(([, one], [, other]) => other.at - one.at).slice(0, most);
        this.#kept = Object.fromEntries(newest);
        const kept = this.#companion.privateStorage.set(name, newest.length > 0 ? this.#kept : null);
        this.#writing = Promise.all([this.#writing, kept]).then(() => {}, this.failed);
        return this.#writing;
    }
}
