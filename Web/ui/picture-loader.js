// Opens pictures as they come into view, a few at once, and drops distant ones.

/**
 * `near`, `far`: distances from the screen, in pixels, at which a picture is opened and dropped.
 * @typedef {{ open: (id: string) => Promise<Blob | null>, atOnce?: number, near?: number, far?: number }} Source
 */

/** Pause before a failed one is retried, in milliseconds. */
const pause = 5_000;
/** In pixels of the screen. */
const smallWidth = 480;

/**
 * Reduced to the grid's size, so that hundreds of them don't fill the memory.
 * @param {Uint8Array} picture a JPEG; wiped
 */
export async function small(picture) {
    const whole = new Blob([picture], { type: "image/jpeg" });
    picture.fill(0);
    const bitmap = await createImageBitmap(whole);
    const scale = Math.min(1, smallWidth / bitmap.width);
    const canvas = document.createElement("canvas");
    canvas.width = Math.max(1, Math.round(bitmap.width * scale));
    canvas.height = Math.max(1, Math.round(bitmap.height * scale));
    canvas.getContext("2d")?.drawImage(bitmap, 0, 0, canvas.width, canvas.height);
    bitmap.close();
    return new Promise((/** @type {(blob: Blob | null) => void} */ resolve) =>
        canvas.toBlob(resolve, "image/jpeg", 0.8));
}

export class PictureLoader {
    /**
     * @type {Map<Element, { id: string, image: HTMLImageElement, url: string | null, isWanted: boolean,
     *   isLoading: boolean, hasFailed: boolean }>}
     */
    #places = new Map();
    #loading = 0;
    #open;
    #atOnce;
    #signal;
    #near;
    #far;

    /**
     * @param {Companion} companion
     * @param {AbortSignal} signal
     * @param {(place: Element, error: unknown) => void} failed
     * @param {Source} source
     */
    constructor(companion, signal, failed, { open, atOnce = 3, near = 300, far = 2400 }) {
        this.#open = open;
        this.#atOnce = atOnce;
        this.#signal = signal;
        this.failed = failed;
        this.#near = new IntersectionObserver((seen) => this.#seen(seen), { rootMargin: `${near}px` });
        this.#far = new IntersectionObserver((seen) => {
            for (const { target, isIntersecting } of seen) if (!isIntersecting) this.#drop(target);
        }, { rootMargin: `${far}px` });
        companion.addEventListener("connection", () => this.#again(), { signal });
        signal.addEventListener("abort", () => this.#end(), { once: true });
    }

    /** How many pictures are held; for tests. */
    get held() {
        return [...this.#places.values()].filter(({ url }) => url !== null).length;
    }

    /** @param {Element} place @param {string} id @param {HTMLImageElement} image */
    watch(place, id, image) {
        this.#places.set(place, { id, image, url: null, isWanted: false, isLoading: false, hasFailed: false });
        this.#near.observe(place);
        this.#far.observe(place);
    }

    /** @param {Element} place */
    forget(place) {
        this.#drop(place);
        this.#near.unobserve(place);
        this.#far.unobserve(place);
        this.#places.delete(place);
    }

    /** Retries failed ones. */
    #again() {
        if (this.#signal.aborted) return;
        for (const one of this.#places.values()) one.hasFailed = false;
        this.#next();
    }

    /** @param {IntersectionObserverEntry[]} seen */
    #seen(seen) {
        for (const { target, isIntersecting } of seen) {
            const one = this.#places.get(target);
            if (one) one.isWanted = isIntersecting;
        }
        this.#next();
    }

    #next() {
        for (const [place, one] of this.#places) {
            if (this.#loading >= this.#atOnce) return;
            if (one.isWanted && !one.isLoading && !one.hasFailed && one.url === null) this.#load(place);
        }
    }

    /** @param {Element} place */
    async #load(place) {
        const one = this.#places.get(place);
        if (!one) return;
        one.isLoading = true;
        this.#loading += 1;
        try {
            const blob = await this.#open(one.id);
            if (!this.#signal.aborted && this.#places.has(place) && blob) {
                one.url = URL.createObjectURL(blob);
                one.image.src = one.url;
                place.setAttribute("data-shown", "");
            }
        } catch (error) {
            one.hasFailed = true;
            if (!this.#signal.aborted && this.#places.has(place)) this.failed(place, error);
            // A new photo's picture arrives after its record.
            setTimeout(() => this.#again(), pause);
        }
        this.#loading -= 1;
        one.isLoading = false;
        if (!this.#signal.aborted) this.#next();
    }

    /** @param {Element} place */
    #drop(place) {
        const one = this.#places.get(place);
        if (!one?.url) return;
        URL.revokeObjectURL(one.url);
        one.url = null;
        one.image.removeAttribute("src");
        place.removeAttribute("data-shown");
    }

    #end() {
        this.#near.disconnect();
        this.#far.disconnect();
        for (const place of this.#places.keys()) this.#drop(place);
        this.#places.clear();
    }
}
