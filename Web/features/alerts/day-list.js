// A long list by days. Only parts near the screen are drawn; the others keep their height.
import { groupBy } from "../../household/group-by.js";
import { element, keyed } from "../../ui/element.js";
import { dayName } from "../../ui/words.js";

/** Rows drawn at once. */
const partLength = 20;
/** Of a row before it is drawn, in pixels. */
const usualHeight = 73;
/** How far from the screen parts are drawn, in pixels. */
const ahead = 900;

/** @template {{ time: number, key: string }} Item `time` is milliseconds since 1970 */
export class DayList {
    #make;
    #observer;
    /** @type {Map<Element, Item[]>} */
    #parts = new Map();
    /** @type {WeakSet<Element>} */
    #drawn = new WeakSet();

    /** @param {(item: Item) => HTMLElement} make a list item @param {AbortSignal} signal */
    constructor(make, signal) {
        this.#make = make;
        this.element = element("div", { class: "days" });
        this.#observer = new IntersectionObserver((entries) => {
            for (const entry of entries) this.#moved(entry);
        }, { rootMargin: `${ahead}px 0px` });
        signal.addEventListener("abort", () => {
            this.#observer.disconnect();
            this.#parts.clear();
        }, { once: true });
    }

    /**
     * Newest first.
     * @param {Item[]} items
     */
    show(items) {
        const days = groupBy(items, ({ time }) => String(new Date(time).setHours(0, 0, 0, 0)));
        keyed(this.element, [...days], ([day]) => day, ([day]) => element("section", { class: "section" },
            element("h2", { class: "section-title day-title" }, dayName(Number(day) / 1000 + 3600)),
            element("div", { class: "card day-parts" })),
        ([day]) => dayName(Number(day) / 1000 + 3600));
        for (const [index, [, ofDay]] of [...days].entries()) {
            this.#showDay(/** @type {Element} */ (this.element.children[index].lastElementChild), ofDay, index === 0);
        }
        for (const part of this.#parts.keys()) {
            if (this.element.contains(part)) continue;
            this.#observer.unobserve(part);
            this.#parts.delete(part);
        }
    }

    /**
     * Parts are counted from the oldest row, so that a new row moves none to another part.
     * @param {Element} place
     * @param {Item[]} items
     * @param {boolean} isFirst
     */
    #showDay(place, items, isFirst) {
        const count = Math.ceil(items.length / partLength);
        const parts = Array.from({ length: count }, (_, index) => count - 1 - index);
        keyed(place, parts, String, () => element("ul", { class: "rows day-part" }), () => "");
        for (const [index, number] of parts.entries()) {
            const node = /** @type {HTMLElement} */ (place.children[index]);
            const end = items.length - number * partLength;
            const own = items.slice(Math.max(0, end - partLength), end);
            const isNew = !this.#parts.has(node);
            this.#parts.set(node, own);
            if (this.#drawn.has(node) || (isNew && isFirst && index < 2)) this.#draw(node);
            else if (isNew) node.style.setProperty("height", `${own.length * usualHeight}px`);
            if (isNew) this.#observer.observe(node);
        }
    }

    /** @param {HTMLElement} node */
    #draw(node) {
        this.#drawn.add(node);
        keyed(node, this.#parts.get(node) ?? [], ({ key }) => key, this.#make);
        node.style.removeProperty("height");
    }

    /** @param {IntersectionObserverEntry} entry */
    #moved({ target, isIntersecting, boundingClientRect }) {
        const node = /** @type {HTMLElement} */ (target);
        if (!this.#parts.has(node)) return;
        if (isIntersecting) {
            if (!this.#drawn.has(node)) this.#draw(node);
            return;
        }
        // A detached list has no height: rows removed from it would never return.
        if (boundingClientRect.height === 0) return;
        // The keyboard's focus stays where it is.
        if (!this.#drawn.has(node) || node.contains(document.activeElement)) return;
        this.#drawn.delete(node);
        node.style.setProperty("height", `${boundingClientRect.height}px`);
        node.replaceChildren();
    }
}
