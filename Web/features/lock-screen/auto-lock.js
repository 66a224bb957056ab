// Locks a hidden page. Each tab watches itself: it has its own keys.
import { deviceClocks, LockSetting } from "./lock-setting.js";

/** Seconds until a hidden companion locks. */
export const hiddenLock = Object.freeze({ name: "lockAfterSeconds", choices: [0, 60, 300], usual: 60 });
/** Automatic corrections of a clock are smaller, in milliseconds. */
const correction = 2_000;

export class AutoLock extends LockSetting {
    #companion;
    #document;
    #clocks;
    #ended = new AbortController();
    /** @type {{ monotonic: number, wall: number } | null} */
    #hidden = null;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;

    /** Resolves once the setting was read. */
    ready;

    /**
     * @param {Companion} companion
     * @param {Document} document
     * @param {import("./lock-setting.js").Clocks} [clocks]
     */
    constructor(companion, document, clocks = deviceClocks) {
        super(companion, hiddenLock);
        this.#companion = companion;
        this.#document = document;
        this.#clocks = clocks;
        const { signal } = this.#ended;
        document.addEventListener("visibilitychange", () => this.#look(), { signal });
        // A page can be frozen, and shown again from memory, without a change of visibility.
        document.addEventListener("freeze", () => this.#hide(), { signal });
        document.addEventListener("resume", () => this.#look(), { signal });
        window.addEventListener("pagehide", () => this.#hide(), { signal });
        window.addEventListener("pageshow", () => this.#look(), { signal });
        companion.addEventListener("state", () => void this.#followState(), { signal });
        this.ready = this.read();
        this.#look();
    }

    #look() {
        if (this.#document.visibilityState === "hidden") return this.#hide();
        clearTimeout(this.#timer);
        if (this.#hidden && this.#isTooLate(this.#hidden)) this.#lock();
        this.#hidden = null;
    }

    /** The setting may be of another tab, and unlocking may have ended after the page was hidden. */
    async #followState() {
        await this.read();
        if (this.#companion.state === "unlocked" && this.#document.visibilityState === "hidden") this.#hide();
    }

    #hide() {
        if (this.seconds === 0 || (this.#hidden && this.#isTooLate(this.#hidden))) return this.#lock();
        // A browser that resumes hidden pages now and then must not postpone the lock each time.
        if (this.#hidden) return;
        this.#hidden = { monotonic: this.#clocks.monotonic(), wall: this.#clocks.wall() };
        this.#wait(this.seconds * 1000);
    }

    /**
     * Timers of a hidden page are late or don't fire: then `#look` locks before anything is painted.
     * @param {number} milliseconds
     */
    #wait(milliseconds) {
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => {
            if (!this.#hidden) return;
            if (this.#isTooLate(this.#hidden)) this.#lock();
            else this.#wait(1000);
        }, milliseconds);
    }

    /** @param {{ monotonic: number, wall: number }} since */
    #isTooLate(since) {
        const monotonic = this.#clocks.monotonic() - since.monotonic;
        const wall = this.#clocks.wall() - since.wall;
        // A clock that was set back can't measure the time any more.
        return Math.max(monotonic, wall) >= this.seconds * 1000 || wall < monotonic - correction;
    }

    #lock() {
        clearTimeout(this.#timer);
        if (this.#companion.state === "unlocked") this.#companion.lockTab();
    }

    end() {
        clearTimeout(this.#timer);
        this.#ended.abort();
    }
}
