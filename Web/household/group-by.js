/**
 * Groups items by a key, in the order of their first items; as Map.groupBy, which older browsers lack.
 * @template Item, Key
 * @param {Item[]} items
 * @param {(item: Item) => Key} keyOf
 */
export function groupBy(items, keyOf) {
    /** @type {Map<Key, Item[]>} */
    const groups = new Map();
    for (const item of items) {
        const key = keyOf(item);
        const group = groups.get(key);
        if (group) group.push(item);
        else groups.set(key, [item]);
    }
    return groups;
}
