// What this device keeps behind its gate: the ring and, beside it, small things by name. One root key, one drawer.
import { KeyRing, ringKind } from "../crypto/ring.js";
import { drawerCount, filler, freshDrawers, openDrawers, putInto } from "../crypto/drawers.js";
import { wipe } from "../crypto/bytes.js";
import { keyOf } from "../store/store.js";
import { CompanionError } from "./errors.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../crypto/drawers.js").DrawerContent} DrawerContent */
/** @typedef {import("../store/store.js").Change} Change */

/** Where they lie in the store. */
export const drawersFact = "drawers";

/**
 * Any of so many.
 * @param {number} count
 */
export const anyOf = (count) => crypto.getRandomValues(new Uint32Array(1))[0] % count;

/** @param {import("../store/store.js").CompanionStore} store @returns {Promise<Uint8Array[] | null>} */
export const drawersIn = (store) => store.fact(drawersFact, /** @type {Uint8Array[] | null} */ (null));

/**
 * The facts of a device whose keys were just made.
 * @param {DrawerContent} content
 * @param {Uint8Array} rootKey
 */
export async function firstDrawers(content, rootKey, index = anyOf(drawerCount)) {
    return { [drawersFact]: await putInto(freshDrawers(), index, content, rootKey) };
}

/**
 * With nothing in these, which nobody can see.
 * @param {Uint8Array[]} drawers
 * @param {number[]} indices
 */
export const emptied = (drawers, indices) => drawers.map((drawer, index) => (indices.includes(index) ? filler(drawer.length) : drawer));

/**
 * What this root key opens. Throws CompanionError `pairAgain`, FormatError.
 * @param {import("../store/store.js").CompanionStore} store
 * @param {Uint8Array} rootKey
 */
export async function openDrawer(store, rootKey) {
    const drawers = await drawersIn(store);
    // As a ring was kept before there were drawers.
    const sealed = drawers ? null : await store.fact("ring", /** @type {Uint8Array | null} */ (null));
    if (sealed) return { index: 0, content: { ring: await KeyRing.open(sealed, rootKey), kept: {} } };
    const found = drawers && (await openDrawers(drawers, rootKey));
    if (!found) throw new CompanionError("pairAgain", "What this device kept is gone; pair it again.");
    return found;
}

/**
 * Puts the ring of earlier versions into a drawer.
 * @param {Device} device
 * @param {Uint8Array} rootKey
 */
export const moveRing = (device, rootKey) => device.tabs.alone("drawer", () => moveRingAlone(device, rootKey));

/** @param {Device} device @param {Uint8Array} rootKey */
async function moveRingAlone(device, rootKey) {
    if (await drawersIn(device.store)) return;
    const { content } = await openDrawer(device.store, rootKey);
    await device.store.write({ facts: { ...(await firstDrawers(content, rootKey)), ring: null } });
    content.ring.wipe();
}

/**
 * Changes what this root key opens, and with it whatever else belongs to the same step. One at a time over all tabs; it ends even
 * if the gate closes meanwhile. Throws CompanionError `pairAgain`, FormatError `tooLarge`, StoreError.
 * @param {Device} device
 * @param {Uint8Array} rootKey
 * @param {(content: DrawerContent, drawers: Uint8Array[], index: number) => Promise<Change> | Change | void} body changes the content it is
 *   given; what it gives back is written with it
 */
export async function changeDrawer(device, rootKey, body) {
    const root = rootKey.slice();
    try {
        await device.tabs.alone("drawer", async () => {
            await moveRingAlone(device, root);
            const { index, content } = await openDrawer(device.store, root);
            const drawers = (await drawersIn(device.store)) ?? [];
            const change = (await body(content, drawers, index)) ?? {};
            const others = /** @type {Uint8Array[]} */ (change.facts?.[drawersFact] ?? drawers);
            const changed = await putInto(others, index, content, root);
            content.ring.wipe();
            await device.store.write({ ...change, facts: { ...change.facts, [drawersFact]: changed } });
        });
    } finally {
        wipe(root);
    }
}

/**
 * Whether this session has anything of a vault: what is of another one is not there for it.
 * @param {KeyRing} ring
 * @param {string} vault
 */
export const knowsVault = (ring, vault) => ring.entries.some((entry) => entry.kind === ringKind.vault && entry.vault === vault);

/**
 * Whether this session has a record. Throws CompanionError `locked`.
 * @param {Device} device
 * @param {string} collection
 * @param {string} id
 */
export async function isHere(device, collection, id) {
    const key = keyOf(collection, id);
    const { record } = (await device.store.waitingFor(key)) ?? (await device.store.record(key)) ?? {};
    return record !== undefined && knowsVault(device.keys.ring, record.vault);
}

/** Small things that lie sealed beside the keys: of whoever opened the gate, and of nobody else. */
export class Private {
    /** @param {Device} device */
    constructor(device) {
        this.device = device;
    }

    /**
     * Throws CompanionError `locked`.
     * @param {string} name
     * @returns {Promise<any>} null where nothing was kept
     */
    async get(name) {
        const { keys } = this.device;
        const { content } = await openDrawer(this.device.store, keys.rootKey);
        content.ring.wipe();
        this.device.still(keys);
        return content.kept.private?.[name] ?? null;
    }

    /**
     * Durable when it returns; the other tabs hear "changed" of "private/NAME". Throws CompanionError `locked`, StoreError.
     * @param {string} name
     * @param {unknown} value what JSON can hold, some kilobytes at most; null removes it
     */
    async set(name, value) {
        await changeDrawer(this.device, this.device.keys.rootKey, ({ kept }) => {
            kept.private = { ...kept.private, [name]: value };
            if (value === null || value === undefined) delete kept.private[name];
        });
        this.device.changed([`private/${name}`]);
    }
}
