// After how many seconds AppLocker locks itself: a setting of this device, for all its tabs.

/**
 * `monotonic` stops while the device sleeps and `wall` can be changed, so the longer elapsed time counts.
 * @typedef {{ monotonic: () => number, wall: () => number }} Clocks milliseconds
 */

/** @type {Clocks} */
export const deviceClocks = { monotonic: () => performance.now(), wall: () => Date.now() };

/** @typedef {Readonly<{ name: string, choices: readonly number[], usual: number }>} LockChoice */

export class LockSetting {
    #companion;
    #choice;

    /** @type {number} one of the choices; changed by `set`, and by `read` */
    seconds;

    /** @param {Companion} companion @param {LockChoice} choice */
    constructor(companion, choice) {
        this.#companion = companion;
        this.#choice = choice;
        this.seconds = choice.usual;
    }

    async read() {
        const { name, choices, usual } = this.#choice;
        const kept = await this.#companion.settings.get(name, usual).catch(() => usual);
        this.seconds = choices.includes(kept) ? kept : usual;
    }

    /** @param {number} seconds one of the choices. Throws StoreError, RangeError. */
    async set(seconds) {
        const { name, choices } = this.#choice;
        if (!choices.includes(seconds)) throw new RangeError(`${seconds} is not one of ${choices.join(", ")} seconds.`);
        await this.#companion.settings.set(name, seconds);
        this.seconds = seconds;
        this.#companion.settings.announce();
    }
}
