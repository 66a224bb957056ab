// The stored alerts, opened page by page and updated one by one: a change does not reopen ten thousand of them.
import { mergeAlerts } from "../../household/merge-alerts.js";

/** @typedef {import("../../household/household.js").Alert} Alert */
/** @typedef {import("../../household/merge-alerts.js").MergedAlert} MergedAlert */

/** Alerts read at once. */
const pageLength = 250;
const pagesADraw = 8;

export class AlertFeed {
    /** @type {Map<string, Alert>} */
    #alerts = new Map();
    /**
     * Read so far. It replaces `#alerts` after its last page, so that reading again doesn't shrink the list.
     * @type {Map<string, Alert>}
     */
    #reading = new Map();
    #household;
    #changed;
    #round = 0;
    /** @type {Promise<void>} */
    #last = Promise.resolve();
    /** Whether all stored alerts were read. */
    isComplete = false;
    /**
     * Why the older ones could not be read; null: they could, or are being read.
     * @type {unknown}
     */
    problem = null;
    /** @type {MergedAlert[] | null} */
    #merged = null;
    #pages = 0;

    /** @param {Companion} companion @param {() => void} changed @param {AbortSignal} signal */
    constructor(companion, changed, signal) {
        this.#household = companion.household;
        this.#changed = () => {
            this.#merged = null;
            changed();
        };
        this.signal = signal;
        companion.addEventListener("changed", (event) => {
            const keys = /** @type {CustomEvent<string[]>} */ (event).detail.filter((key) => key.startsWith("events/"));
            // Fails only because AppLocker is locked: the screen is removed then too.
            if (keys.includes("events/")) this.load().catch(() => {});
            else if (keys.length > 0) this.#update(keys).catch(() => {});
        }, { signal });
        signal.addEventListener("abort", () => {
            this.#alerts.clear();
            this.#reading.clear();
            this.#merged = null;
        }, { once: true });
    }

    /**
     * Newest first.
     * @returns {MergedAlert[]}
     */
    get alerts() {
        return (this.#merged ??= mergeAlerts([...this.#alerts.values()]));
    }

    /** The sequence number of the newest. */
    get newest() {
        return [...this.#alerts.values()].reduce((newest, { sequence }) => Math.max(newest, sequence), 0);
    }

    /** Resolves with the first page; the rest loads in the background. Throws CompanionError `locked`, StoreError. */
    load() {
        const round = ++this.#round;
        // Shown at once, so that nobody tries again what is being tried.
        if (this.problem !== null) {
            this.problem = null;
            this.#changed();
        }
        return this.#inTurn(async () => {
            [this.#reading, this.#pages] = [new Map(), 0];
            // Where nothing is shown, the first page is shown at once.
            if (this.#alerts.size === 0) [this.#alerts, this.isComplete] = [this.#reading, false];
            await this.#readPage(round).catch((error) => {
                this.#failed(round, error);
                throw error;
            });
        });
    }

    /**
     * Serialized: what was read before a change must not be kept after it.
     * @param {() => Promise<void>} step
     */
    #inTurn(step) {
        const turn = this.#last.then(step);
        this.#last = turn.catch(() => {});
        return turn;
    }

    /** @param {number} round @param {number} [before] the sequence number of the last one that was read */
    async #readPage(round, before) {
        if (this.signal.aborted || round !== this.#round) return;
        const { alerts, next } = await this.#household.alertPage({ before, limit: pageLength });
        if (this.signal.aborted) return;
        for (const alert of alerts) this.#reading.set(alert.key, alert);
        if (next === null) {
            this.#alerts = this.#reading;
            this.isComplete = true;
        } else this.#inTurn(() => this.#readPage(round, next)).catch((error) => this.#failed(round, error));
        // Drawing each page of many takes longer than reading them.
        if (next === null || this.#pages++ % pagesADraw === 0) this.#changed();
    }

    /** @param {number} round @param {unknown} error */
    #failed(round, error) {
        if (this.signal.aborted || round !== this.#round) return;
        this.problem = error;
        this.#changed();
    }

    /** @param {string[]} keys */
    #update(keys) {
        return this.#inTurn(async () => {
            const found = await this.#household.alertsOf(keys);
            if (this.signal.aborted) return;
            for (const alerts of [this.#alerts, this.#reading]) {
                for (const key of keys) alerts.delete(key);
                for (const alert of found) alerts.set(alert.key, alert);
            }
            this.#changed();
        });
    }
}
