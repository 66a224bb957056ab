// Thousands of cards in columns by month, of which only those near the screen exist. All positions are computed
// beforehand.
import { dismantle, element } from "../../ui/element.js";

/** Between cards, in pixels. */
const gap = 14;
/** Least width of a column, in pixels. */
const columnWidth = 290;
const mostColumns = 4;
/** Height of a month's heading, in rem. */
const headingHeight = 3.25;

/**
 * @template Item
 * @typedef {{ key: string, item: Item | null, heading: string, x: number, y: number, width: number, height: number,
 *   index: number }} Box
 *   `item`: null for the name of a month
 */
/**
 * @template Item
 * @typedef {{ keyOf: (item: Item) => string, versionOf: (item: Item) => string, groupOf: (item: Item) => { key: string,
 *   name: string }, heightOf: (item: Item, width: number, rem: number) => number,
 *   make: (item: Item, width: number, rem: number) => HTMLElement, forget: (node: HTMLElement) => void,
 *   moved?: (top: Item | null) => void }} Kind
 */

/** @template Item */
export class Flow {
    /** @type {Item[]} */
    #items = [];
    /** @type {Box<Item>[]} from above to below */
    #boxes = [];
    /** @type {number[]} the lowest end of all boxes up to each */
    #ends = [];
    /** @type {Map<string, { node: HTMLElement, version: string }>} */
    #drawn = new Map();
    #width = 0;
    #height = 0;
    #isAsked = false;
    #kind;
    #signal;

    /** @param {Kind<Item>} kind @param {AbortSignal} signal */
    constructor(kind, signal) {
        this.#kind = kind;
        this.#signal = signal;
        this.element = element("div", { class: "moment-flow" });
        const resized = new ResizeObserver(() => {
            const { clientWidth } = this.element;
            if (clientWidth === 0 || clientWidth === this.#width) return;
            this.#keeping(() => this.#layOut(clientWidth));
        });
        resized.observe(this.element);
        const moved = () => this.#ask();
        window.addEventListener("scroll", moved, { signal, passive: true });
        window.addEventListener("resize", moved, { signal });
        signal.addEventListener("abort", () => {
            resized.disconnect();
            this.#items = [];
            this.#boxes = [];
            this.#drawn.clear();
            dismantle(this.element);
        }, { once: true });
    }

    /** How many cards and names exist; for tests. */
    get held() {
        return this.#drawn.size;
    }

    /**
     * Newest first. What is at the top of the screen stays there.
     * @param {Item[]} items
     * @param {number} width that it will have, as long as it is not on the page
     */
    show(items, width) {
        this.#items = items;
        const own = this.element.clientWidth || width;
        if (this.#boxes.length === 0 || !this.element.isConnected) return this.#layOut(own);
        this.#keeping(() => this.#layOut(own));
    }

    /**
     * Scrolls to the first match.
     * @param {(item: Item) => boolean} isIt
     * @param {number} above pixels that stay free above it
     */
    reveal(isIt, above) {
        const index = this.#boxes.findIndex(({ item }) => item !== null && isIt(item));
        if (index < 0) return;
        const box = this.#boxes[index - 1]?.item === null ? this.#boxes[index - 1] : this.#boxes[index];
        window.scrollTo({ top: this.#top() + box.y - above, behavior: "auto" });
        this.#draw();
        /** @type {HTMLElement | null} */ (this.#drawn.get(this.#boxes[index].key)?.node.querySelector("a"))?.focus({
            preventScroll: true,
        });
    }

    #top() {
        return this.element.getBoundingClientRect().top + window.scrollY;
    }

    /** @param {() => void} change after which the same card is where it was */
    #keeping(change) {
        const seen = window.scrollY - this.#top();
        const anchor = seen > 0 ? this.#boxes[this.#firstAt(seen)] : null;
        const before = anchor ? seen - anchor.y : 0;
        change();
        const after = anchor && this.#boxes.find(({ key }) => key === anchor.key);
        if (after) window.scrollTo({ top: this.#top() + after.y + before, behavior: "auto" });
        this.#draw();
    }

    /** @param {number} width */
    #layOut(width) {
        this.#width = width;
        const rem = parseFloat(getComputedStyle(document.documentElement).fontSize);
        const count = Math.max(1, Math.min(mostColumns, Math.floor((width + gap) / (columnWidth + gap))));
        const own = Math.floor((width - (count - 1) * gap) / count);
        /** @type {Box<Item>[]} */
        const boxes = [];
        /** @type {number[]} */
        let columns = Array.from({ length: count }, () => 0);
        let group = "";
        // Moments are in the order of time; where they were written in several time zones, two months can alternate.
        /** @type {Map<string, number>} */
        const parts = new Map();
        for (const [index, item] of this.#items.entries()) {
            const { key, name } = this.#kind.groupOf(item);
            if (key !== group) {
                group = key;
                const y = Math.max(...columns);
                const part = (parts.get(key) ?? 0) + 1;
                parts.set(key, part);
                const box = part > 1 ? `month ${key} ${part}` : `month ${key}`;
                boxes.push({
                    key: box, item: null, heading: name, x: 0, y, width, height: headingHeight * rem, index,
                });
                columns = columns.map(() => y + headingHeight * rem);
            }
            const column = columns.indexOf(Math.min(...columns));
            const height = this.#kind.heightOf(item, own, rem);
            boxes.push({
                key: this.#kind.keyOf(item), item, heading: "", x: column * (own + gap), y: columns[column], width: own,
                height, index,
            });
            columns[column] += height + gap;
        }
        let end = 0;
        this.#boxes = boxes;
        this.#ends = boxes.map((box) => (end = Math.max(end, box.y + box.height)));
        this.#height = Math.max(0, ...columns);
        this.rem = rem;
        this.element.style.setProperty("height", `${this.#height}px`);
        this.#draw();
    }

    /** @param {number} y the first box that ends below it */
    #firstAt(y) {
        let [low, high] = [0, this.#ends.length];
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.#ends[middle] > y) high = middle;
            else low = middle + 1;
        }
        return low;
    }

    #ask() {
        if (this.#isAsked) return;
        this.#isAsked = true;
        requestAnimationFrame(() => {
            this.#isAsked = false;
            if (!this.#signal.aborted) this.#draw();
        });
    }

    #draw() {
        const screen = window.innerHeight;
        // Before it is attached it begins at the top.
        const seen = this.element.isConnected ? -this.element.getBoundingClientRect().top : 0;
        const ahead = Math.max(600, screen * 0.75);
        const wanted = new Map();
        for (let index = this.#firstAt(seen - ahead); index < this.#boxes.length; index += 1) {
            const box = this.#boxes[index];
            if (box.y > seen + screen + ahead) break;
            wanted.set(box.key, box);
        }
        for (const [key, { node }] of this.#drawn) {
            // The keyboard's focus stays where it is.
            if (wanted.has(key) || (node.contains(document.activeElement)
                && this.#boxes.some((box) => box.key === key))) continue;
            this.#drop(key);
        }
        /** @type {HTMLElement | null} */
        let last = null;
        for (const box of wanted.values()) last = this.#place(box, last);
        this.#kind.moved?.(this.#boxes[this.#firstAt(Math.max(0, seen + 120))]?.item
            ?? this.#boxes[this.#firstAt(Math.max(0, seen + 120)) + 1]?.item ?? null);
    }

    /** @param {string} key */
    #drop(key) {
        const drawn = this.#drawn.get(key);
        if (!drawn) return;
        this.#kind.forget(drawn.node);
        drawn.node.remove();
        dismantle(drawn.node);
        this.#drawn.delete(key);
    }

    /** @param {Box<Item>} box @param {HTMLElement | null} last the one before it */
    #place(box, last) {
        const version = `${box.width} ${this.rem} ${box.item === null ? box.heading : this.#kind.versionOf(box.item)}`;
        let drawn = this.#drawn.get(box.key);
        if (drawn && drawn.version !== version) {
            const hadFocus = drawn.node.contains(document.activeElement);
            this.#drop(box.key);
            drawn = undefined;
            if (hadFocus) {
                requestAnimationFrame(() =>
                    this.#drawn.get(box.key)?.node.querySelector("a")?.focus({ preventScroll: true }));
            }
        }
        if (!drawn) {
            const node = box.item === null ? element("h2", { class: "moment-month" }, box.heading)
                : element("article", { class: "moment-place-of", "aria-setsize": this.#items.length },
                    this.#kind.make(box.item, box.width, this.rem ?? 16));
            drawn = { node, version };
            this.#drawn.set(box.key, drawn);
        }
        const { node } = drawn;
        if (box.item !== null) node.setAttribute("aria-posinset", String(box.index + 1));
        node.style.setProperty("transform", `translate(${box.x}px, ${box.y}px)`);
        node.style.setProperty("width", `${box.width}px`);
        node.style.setProperty("height", `${box.height}px`);
        const before = last ? last.nextElementSibling : this.element.firstElementChild;
        if (before !== node) this.element.insertBefore(node, before);
        return node;
    }
}
