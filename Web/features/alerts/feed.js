// The stored alerts, opened page by page and updated one by one: a change does not reopen ten thousand of them.
import { mergeAlerts } from "../../household/merge-alerts.js";

/** @typedef {import("../../household/household.js").Alert} Alert */
/** @typedef {import("../../household/merge-alerts.js").MergedAlert} MergedAlert */

const page = 250;
const usuallyKept = 200;

export class AlertFeed {
    /** @type {Map<string, Alert>} */
    #alerts = new Map();
    #household;
    #changed;
    #kept = usuallyKept;
    #round = 0;
    /** @type {Promise<void>} */
    #last = Promise.resolve();

    /** @param {Companion} companion @param {() => void} changed @param {AbortSignal} signal */
    constructor(companion, changed, signal) {
        this.#household = companion.household;
        this.#changed = changed;
        this.companion = companion;
        this.signal = signal;
        companion.addEventListener("changed", (event) => {
            const keys = /** @type {CustomEvent<string[]>} */ (event).detail.filter((key) => key.startsWith("events/"));
            // Fails only because AppLocker is locked: the screen is removed then too.
            if (keys.includes("events/")) this.load().catch(() => {});
            else if (keys.length > 0) this.#update(keys).catch(() => {});
        }, { signal });
        signal.addEventListener("abort", () => this.#alerts.clear(), { once: true });
    }

    /**
     * Newest first.
     * @returns {MergedAlert[]}
     */
    get alerts() {
        return mergeAlerts([...this.#alerts.values()]).slice(0, this.#kept);
    }

    /** The sequence number of the newest. */
    get newest() {
        return [...this.#alerts.values()].reduce((newest, { sequence }) => Math.max(newest, sequence), 0);
    }

    /** Resolves with the first page; the rest loads in the background. Throws CompanionError `locked`, StoreError. */
    load() {
        return this.#inTurn(async () => {
            this.#kept = Math.max(1, Number(await this.companion.settings.get("alertsKept", usuallyKept))
                || usuallyKept);
            const first = await this.#household.alerts({ limit: Math.min(page, this.#kept) });
            if (this.signal.aborted) return;
            this.#alerts = new Map(first.map((alert) => [alert.key, alert]));
            this.#changed();
            if (first.length > 0) this.#loadRest(++this.#round, first[first.length - 1].sequence);
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

    /** @param {number} round @param {number} before */
    #loadRest(round, before) {
        this.#inTurn(async () => {
            if (this.signal.aborted || round !== this.#round) return;
            const more = this.#alerts.size < this.#kept ? await this.#household.alerts({ before, limit: page }) : [];
            if (this.signal.aborted) return;
            for (const alert of more) this.#alerts.set(alert.key, alert);
            if (more.length === 0) return this.#changed();
            this.#loadRest(round, more[more.length - 1].sequence);
        }).catch(() => {});
    }

    /** @param {string[]} keys */
    #update(keys) {
        return this.#inTurn(async () => {
            const found = await this.#household.alertsOf(keys);
            if (this.signal.aborted) return;
            for (const key of keys) this.#alerts.delete(key);
            for (const alert of found) this.#alerts.set(alert.key, alert);
            this.#changed();
        });
    }
}
