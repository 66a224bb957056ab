// Locks a visible page after a time without input; auto-lock.js locks a hidden one.
import { deviceClocks, LockSetting } from "./lock-setting.js";

/** Seconds until it locks; 0: never. */
export const idleLock = Object.freeze({ name: "lockWhenIdleSeconds", choices: [60, 300, 900, 0], usual: 300 });
const touches = ["pointerdown", "pointermove", "touchmove", "wheel", "scroll", "keydown", "input"];

export class IdleLock extends LockSetting {
    #companion;
    #document;
    #clocks;
    #ended = new AbortController();
    #touched;
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
        super(companion, idleLock);
        this.#companion = companion;
        this.#document = document;
        this.#clocks = clocks;
        this.#touched = this.#now();
        const { signal } = this.#ended;
        for (const kind of touches) {
            document.addEventListener(kind, () => this.#touch(), { signal, capture: true, passive: true });
        }
        document.addEventListener("visibilitychange", () => this.#begin(), { signal });
        companion.addEventListener("state", () => this.#begin(), { signal });
        this.ready = this.#begin();
    }

    /** When the page is shown or unlocked, and after a change of the setting. */
    async #begin() {
        this.#touched = this.#now();
        this.#wait();
        await this.read();
        this.#wait();
    }

    #now() {
        return { monotonic: this.#clocks.monotonic(), wall: this.#clocks.wall() };
    }

    /** Milliseconds. The monotonic clock stops while the device sleeps, so the longer time counts. */
    #left() {
        const now = this.#now();
        return this.seconds * 1000 - Math.max(now.monotonic - this.#touched.monotonic, now.wall - this.#touched.wall);
    }

    get #isWatching() {
        return this.seconds > 0 && this.#companion.state === "unlocked" && this.#document.visibilityState === "visible";
    }

    #touch() {
        // The first touch after a sleep comes before the timer.
        if (this.#isWatching && this.#left() <= 0) return this.#companion.lockTab();
        this.#touched = this.#now();
    }

    #wait() {
        clearTimeout(this.#timer);
        if (this.#isWatching) this.#timer = setTimeout(() => this.#look(), Math.max(1000, this.#left()));
    }

    #look() {
        if (!this.#isWatching) return;
        if (this.#isBusy()) this.#touched = this.#now();
        if (this.#left() <= 0) this.#companion.lockTab();
        else this.#wait();
    }

    /** Media that plays, or a long operation whose progress is shown: somebody may be watching. */
    #isBusy() {
        const media = /** @type {NodeListOf<HTMLMediaElement>} */ (this.#document.querySelectorAll("video, audio"));
        return this.#document.querySelector("progress") !== null || [...media].some(({ paused }) => !paused);
    }

    end() {
        clearTimeout(this.#timer);
        this.#ended.abort();
    }
}
