// Larger photos in place of thumbnails: a few at a time, from the hub; unneeded ones are cancelled and dropped.

/** @typedef {{ id: string, image: HTMLImageElement }} Wanted */

/** Pause before a failed one is requested again, in milliseconds. */
const pause = 4_000;

export class MediumPictures {
    /** @type {Map<HTMLImageElement, { stop: AbortController, url: string | null }>} */
    #held = new Map();
    #context;

    /**
     * @param {Context} context
     * @param {{ failed?: (image: HTMLImageElement, problem: unknown) => void, triesAgain?: boolean,
     *   dropsUndecodable?: boolean,
     *   read?: (id: string, options: { signal: AbortSignal }) => Promise<{ type: string, bytes: Uint8Array } | null>
     *   }} options `read`: the picture to show, or null;
     *   `dropsUndecodable`: one that the browser can't decode is not shown, where there is another behind it
     */
    constructor(context, { failed = () => {}, triesAgain = true, dropsUndecodable = false, read } = {}) {
        this.#context = context;
        this.read = read ?? ((id, options) => context.companion.momentPhotos.medium(id, options));
        this.failed = failed;
        this.triesAgain = triesAgain;
        this.dropsUndecodable = dropsUndecodable;
        context.signal.addEventListener("abort", () => this.show([]), { once: true });
    }

    /**
     * Shows these and drops all others.
     * @param {Wanted[]} wanted
     * @param {string} [first] the one that is looked at
     */
    show(wanted, first) {
        const images = new Set(wanted.map(({ image }) => image));
        for (const image of [...this.#held.keys()]) if (!images.has(image)) this.#drop(image);
        if (this.#context.signal.aborted) return;
        for (const one of [...wanted].sort((a, b) => Number(b.id === first) - Number(a.id === first))) {
            if (!this.#held.has(one.image)) this.#load(one);
        }
    }

    /** @param {Wanted} wanted */
    async #load({ id, image }) {
        const held = { stop: new AbortController(), url: /** @type {string | null} */ (null) };
        this.#held.set(image, held);
        try {
            const picture = await this.read(id, { signal: held.stop.signal });
            if (!picture) return;
            const { type, bytes } = picture;
            if (held.stop.signal.aborted) return void bytes.fill(0);
            held.url = URL.createObjectURL(new Blob([bytes], { type }));
            bytes.fill(0);
            image.src = held.url;
            const isDecoded = await image.decode().then(() => true, () => false);
            if (!held.url) return;
            if (isDecoded || !this.dropsUndecodable) image.setAttribute("data-shown", "");
            else image.removeAttribute("src");
        } catch (error) {
            if (held.stop.signal.aborted) return;
            this.failed(image, error);
            // The next call of `show` requests it again.
            if (!this.triesAgain) return this.#drop(image);
            const again = setTimeout(() => {
                if (this.#held.get(image) !== held) return;
                this.#load({ id, image });
            }, pause);
            held.stop.signal.addEventListener("abort", () => clearTimeout(again), { once: true });
        }
    }

    /** @param {HTMLImageElement} image */
    #drop(image) {
        const held = this.#held.get(image);
        this.#held.delete(image);
        held?.stop.abort();
        image.removeAttribute("data-shown");
        image.removeAttribute("src");
        if (held?.url) URL.revokeObjectURL(held.url);
        if (held) held.url = null;
    }
}
