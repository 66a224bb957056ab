// An index of records that is in memory while AppLocker is unlocked.

/**
 * Built at its first use, and kept equal with what is stored: changed records are read again at the next use.
 * @template {{ refresh: (key: string) => unknown, forget: () => void }} Index
 */
export class UnlockedIndex {
    /** @type {Promise<Index> | null} */
    #index = null;
    /** @type {Set<string>} */
    #stale = new Set();
    /** @type {Promise<unknown>} */
    #refreshing = Promise.resolve();
    #device;
    #build;

    /** @param {DeviceSession} device @param {() => Promise<Index>} build */
    constructor(device, build) {
        this.#device = device;
        this.#build = build;
    }

    /** The one that was built or is being built. @returns {Promise<Index> | null} */
    get current() {
        return this.#index;
    }

    /** @param {string} key of a record that changed */
    changed(key) {
        this.#stale.add(key);
    }

    forget() {
        this.#index?.then((index) => index.forget()).catch(() => {});
        this.#index = null;
        this.#stale.clear();
        this.#refreshing = Promise.resolve();
    }

    /**
     * With all that was written by now. The first call after unlocking reads everything. Throws CompanionError
     * `locked`.
     * @returns {Promise<Index>}
     */
    async ready() {
        const { keys } = this.#device;
        if (!this.#index) {
            this.#stale.clear();
            const building = this.#build();
            this.#index = building;
            building.catch(() => {
                if (this.#index === building) this.#index = null;
            });
        }
        const index = await this.#index;
        if (this.#stale.size > 0) {
            const stale = [...this.#stale];
            this.#stale.clear();
            // Concurrent callers wait for it too.
            this.#refreshing = this.#refreshing.catch(() => {})
                .then(() => Promise.all(stale.map((key) => index.refresh(key))))
                .catch((error) => {
                    // The next use reads them once more.
                    for (const key of stale) this.#stale.add(key);
                    throw error;
                });
        }
        await this.#refreshing;
        this.#device.requireUnlocked(keys);
        return index;
    }
}
