// Values that are sealed under the root key: the key ring and small values by name. One root key opens one drawer.
import { KeyRing, ringKind } from "../crypto/ring.js";
import { drawerCount, filler, freshDrawers, openDrawers, putInto } from "../crypto/drawers.js";
import { wipe } from "../crypto/bytes.js";
import { CompanionError } from "./errors.js";

/** @typedef {import("../crypto/drawers.js").DrawerContent} DrawerContent */
/** @typedef {import("../store/store.js").Change} Change */

/** The stored name of the drawers. */
export const drawersFact = "drawers";

/** @param {number} count */
export const randomIndex = (count) => crypto.getRandomValues(new Uint32Array(1))[0] % count;

/** @param {DeviceSession} device */
const drawersIn = ({ store }) => store.fact(drawersFact, /** @type {Uint8Array[] | null} */ (null));

/**
 * The facts of a device with new keys.
 * @param {DrawerContent} content
 * @param {Uint8Array} rootKey
 */
export async function firstDrawers(content, rootKey, index = randomIndex(drawerCount)) {
    return { [drawersFact]: await putInto(freshDrawers(), index, content, rootKey) };
}

/**
 * With these drawers emptied, which is not visible.
 * @param {Uint8Array[]} drawers
 * @param {number[]} indices
 */
export const emptied = (drawers, indices) =>
    drawers.map((drawer, index) => (indices.includes(index) ? filler(drawer.length) : drawer));

/**
 * The drawer that this root key opens. Throws CompanionError `pairAgain`, FormatError.
 * @param {DeviceSession} device
 * @param {Uint8Array} rootKey
 */
export async function openDrawer(device, rootKey) {
    const drawers = await drawersIn(device);
    // The ring of versions without drawers.
    const sealed = drawers ? null : await device.store.fact("ring", /** @type {Uint8Array | null} */ (null));
    if (sealed) return { index: 0, content: { ring: await KeyRing.open(sealed, rootKey), kept: {} } };
    const found = drawers && (await openDrawers(drawers, rootKey));
    if (!found) throw new CompanionError("pairAgain", "This device lost its data; pair it again.");
    return found;
}

/**
 * Moves the ring of earlier versions into a drawer.
 * @param {DeviceSession} device
 * @param {Uint8Array} rootKey
 */
export const moveRing = (device, rootKey) => device.tabs.exclusive("drawer", () => moveRingLocked(device, rootKey));

/** @param {DeviceSession} device @param {Uint8Array} rootKey */
async function moveRingLocked(device, rootKey) {
    if (await drawersIn(device)) return;
    const { content } = await openDrawer(device, rootKey);
    await device.store.write({ facts: { ...(await firstDrawers(content, rootKey)), ring: null } });
    content.ring.wipe();
}

/**
 * Changes the drawer of this root key together with the rest of the change. One at a time over all tabs; it finishes
 * even if AppLocker is locked meanwhile. Throws CompanionError `pairAgain`, FormatError `tooLarge`, StoreError.
 * @param {DeviceSession} device
 * @param {Uint8Array} rootKey
 * @param {(content: DrawerContent, drawers: Uint8Array[], index: number) => Promise<Change> | Change | void} body
 *   changes the content in place; the change that it returns is written with it
 */
export async function changeDrawer(device, rootKey, body) {
    const root = rootKey.slice();
    try {
        await device.tabs.exclusive("drawer", async () => {
            await moveRingLocked(device, root);
            const { index, content } = await openDrawer(device, root);
            const drawers = (await drawersIn(device)) ?? [];
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
 * Whether this session has a vault's key: it ignores records of other vaults.
 * @param {KeyRing} ring
 * @param {string} vault
 */
export const hasVaultKey = (ring, vault) =>
    ring.entries.some((entry) => entry.kind === ringKind.vault && entry.vault === vault);

/**
 * Whether this vault can be opened and sealed now.
 * @param {DeviceSession} device
 * @param {string} vault
 */
export const isOpen = ({ unlocked }, vault) => unlocked !== null && hasVaultKey(unlocked.ring, vault);

/**
 * Whether this session has a record. Throws CompanionError `locked`.
 * @param {DeviceSession} device
 * @param {string} collection
 * @param {string} id
 */
export async function hasRecord(device, collection, id) {
    const { record } = await device.stored(collection, id);
    return record !== undefined && hasVaultKey(device.keys.ring, record.vault);
}

/** Small values sealed beside the keys, separate for each PIN. */
export class PrivateStorage {
    /** @param {DeviceSession} device */
    constructor(device) {
        this.device = device;
    }

    /**
     * Throws CompanionError `locked`.
     * @param {string} name
     * @returns {Promise<any>} null if it is not set
     */
    async get(name) {
        const { keys } = this.device;
        const { content } = await openDrawer(this.device, keys.rootKey);
        content.ring.wipe();
        this.device.requireUnlocked(keys);
        return content.kept.private?.[name] ?? null;
    }

    /**
     * Durable when it returns; the other tabs receive "changed" with "private/NAME". Throws CompanionError `locked`,
     * StoreError.
     * @param {string} name
     * @param {unknown} value what JSON can hold, some kilobytes at most; null removes it
     */
    async set(name, value) {
        await this.#set(this.device.keys.rootKey, name, value);
    }

    /**
     * As `set`, once `done` was kept: with a copy of the root key, also if AppLocker is locked meanwhile.
     * @param {Promise<unknown>} done
     * @param {string} name
     * @param {unknown} value
     */
    async setAfter(done, name, value) {
        const root = this.device.keys.rootKey.slice();
        try {
            await done;
            await this.#set(root, name, value);
        } finally {
            wipe(root);
        }
    }

    /** @param {Uint8Array} rootKey @param {string} name @param {unknown} value */
    async #set(rootKey, name, value) {
        await changeDrawer(this.device, rootKey, ({ kept }) => {
            kept.private = { ...kept.private, [name]: value };
            if (value === null || value === undefined) delete kept.private[name];
        });
        this.device.changed([`private/${name}`]);
    }
}
