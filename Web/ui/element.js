// Creates elements. Text is always a text node: markup in a name stays text.

/** @typedef {Node | string | number | null | undefined | false} Child */
/**
 * Functions named `on…` are listeners; `value`, `checked` and `disabled` are properties; everything else is an
 * attribute, absent if it is null or false.
 * @typedef {Record<string, any>} Properties
 */

const own = new Set(["value", "checked", "disabled", "hidden", "indeterminate"]);

/** @param {Element} node @param {Properties} properties */
function apply(node, properties) {
    for (const [name, value] of Object.entries(properties)) {
        if (typeof value === "function") node.addEventListener(name.slice(2), value);
        else if (own.has(name)) /** @type {any} */ (node)[name] = value;
        else if (value !== null && value !== undefined && value !== false) {
            node.setAttribute(name, value === true ? "" : String(value));
        }
    }
}

/** @param {Node} node @param {Child[]} children */
function fill(node, children) {
    for (const child of children) {
        if (child === null || child === undefined || child === false) continue;
        node.appendChild(child instanceof Node ? child : document.createTextNode(String(child)));
    }
}

/**
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Properties} [properties]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function element(tag, properties = {}, ...children) {
    const node = document.createElement(tag);
    apply(node, properties);
    fill(node, children);
    return node;
}

/** @param {string} tag @param {Properties} [properties] @param {...Child} children @returns {SVGElement} */
export function drawing(tag, properties = {}, ...children) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    apply(node, properties);
    fill(node, children);
    return /** @type {SVGElement} */ (node);
}

/**
 * Updates a list's nodes to `items`, and keeps unchanged ones with their focus, scroll position and swipe.
 * @template Item
 * @param {Element} container
 * @param {Item[]} items
 * @param {(item: Item) => string} keyOf
 * @param {(item: Item) => HTMLElement} make
 * @param {(item: Item) => string} [versionOf] a node is rebuilt if this differs; by default the item as JSON
 */
export function keyed(container, items, keyOf, make, versionOf = (item) => JSON.stringify(item)) {
    const before = new Map([...container.children]
        .map((node) => [/** @type {HTMLElement} */ (node).dataset.key ?? "", node]));
    const keys = new Set(items.map(keyOf));
    // Removals first: moving a node around them would lose its focus.
    for (const [key, node] of before) {
        if (!keys.has(key)) node.remove();
    }
    /** @type {Element | null} */
    let place = container.firstElementChild;
    for (const item of items) {
        const [key, version] = [keyOf(item), versionOf(item)];
        let node = before.get(key);
        before.delete(key);
        if (!node || versions.get(node) !== version) {
            const made = make(item);
            made.dataset.key = key;
            versions.set(made, version);
            if (node) {
                if (place === node) place = made;
                node.replaceWith(made);
            }
            node = made;
        }
        if (place === node) place = node.nextElementSibling;
        else container.insertBefore(node, place);
    }
    for (const node of before.values()) node.remove();
}

/**
 * Redraws a part only if its content changed; an empty part has no elements.
 * @param {HTMLElement} place
 * @param {unknown} content
 * @param {() => HTMLElement} make
 */
export function drawn(place, content, make) {
    keyed(place, content ? [content] : [], () => "only", make);
}

/**
 * Removes the content of elements that are no longer shown: engines keep a removed image alive, and with it the
 * elements around it.
 * @param {Element} root stays, empty
 */
export function dismantle(root) {
    for (const node of root.querySelectorAll("*")) node.replaceChildren();
    root.replaceChildren();
}

/** @type {WeakMap<Element, string>} */
const versions = new WeakMap();
