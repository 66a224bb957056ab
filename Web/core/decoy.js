// A second PIN, which opens another vault, and nothing tells that there is one. docs/formats.md, "A companion".
import { base64, randomBytes, randomID, unbase64, wipe } from "../crypto/bytes.js";
import { putInto } from "../crypto/drawers.js";
import { KeyRing, ringKind } from "../crypto/ring.js";
import { KeySlots } from "../crypto/slots.js";
import { changeDrawer, drawersFact, emptied, openDrawer } from "./drawer.js";
import { CompanionError } from "./errors.js";
import { cleared, placeOf, putEntry, randomEntry, triedOf, withKey } from "./gate-place.js";
import { gateOf, refusalOf } from "./gate.js";
import { UnlockedKeys } from "./keys.js";
import { checkPIN } from "./pin.js";
import { keyOf } from "../store/store.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("./gate-place.js").Spare} Spare */

/** The other PIN of whoever opened the gate. */
export class Decoy {
    /** @param {Device} device @param {() => void} send */
    constructor(device, send) {
        this.device = device;
        this.send = send;
    }

    /** Whether one was set from here. Throws CompanionError `locked`. */
    async isSet() {
        const { keys, store } = this.device;
        const { content } = await openDrawer(store, keys.rootKey);
        content.ring.wipe();
        this.device.still(keys);
        return Boolean(content.kept.place?.decoy);
    }

    /**
     * This PIN opens an empty vault from now on, on this device. Killed in between, it opens or is a wrong one, and can be set again.
     * Throws CompanionError `weakPIN`, `full`, `wait`, HubError, HubUnreachable, StoreError.
     * @param {string} pin
     */
    set(pin) {
        return setDecoy(this.device, pin);
    }

    /**
     * Its PIN is a wrong one from now on; what was in its vault is removed from the hub, too. Killed in between, it can be removed again.
     * Throws CompanionError `notFound`, `wait`, HubError, HubUnreachable, StoreError.
     */
    async remove() {
        await removeDecoy(this.device);
        this.send();
    }
}

/**
 * The device's keys, but the one that opens what is sent to it, and a vault of its own.
 * @param {UnlockedKeys} keys
 */
async function ringOfDecoy(keys) {
    const own = await UnlockedKeys.idleEntries(keys.ring, keys.household);
    return new KeyRing([...own, { kind: ringKind.vault, vault: randomID(), epoch: 1, key: randomBytes(32) }]);
}

/** @param {Device} device @param {string} pin */
async function setDecoy(device, pin) {
    checkPIN(pin);
    const [rootKey, ring] = [device.keys.rootKey.slice(), await ringOfDecoy(device.keys)];
    const decoyKey = randomBytes(32);
    try {
        const place = await placeOf(device, rootKey);
        const [own, ...rest] = place.spare;
        if (place.decoy || !own) throw new CompanionError("full", "This device has no room for another PIN.");
        const gate = await gateOf(device);
        const made = await withKey(KeySlots.read(gate.slots), own.slots[0], pin, decoyKey, device.paired.deviceSecret);
        const tried = triedOf(made.entry, own.slots[0]);
        if (place.tried.some(({ verifier }) => verifier === tried.verifier)) {
            throw new CompanionError("weakPIN", "This is the PIN that you have already; choose another one.");
        }
        /** @type {import("./gate-place.js").Place} */
        const its = { change: own.change, slots: own.slots, tried: [tried], spare: rest, decoy: null };
        await changeDrawer(device, rootKey, async (_, drawers) => {
            const filled = await putInto(drawers, own.drawer, { ring, kept: { place: its } }, decoyKey);
            return { facts: { [drawersFact]: filled, gate: { ...gate, slots: made.slots.bytes } } };
        });
        await putEntry(device, own.change, made.entry);
        wipe(made.entry.share);
        await changeDrawer(device, rootKey, ({ kept }) => {
            kept.place = { ...kept.place, spare: [], decoy: { rootKey: base64(decoyKey) } };
        });
    } catch (error) {
        throw refusalOf(error);
    } finally {
        wipe(rootKey, decoyKey);
        ring.wipe();
    }
}

/**
 * The decoy, and what was set from it: their places, the innermost first, and what they have. `isUsed`: its PIN opens.
 * @param {Device} device
 * @param {Uint8Array} rootKey
 * @returns {Promise<{ places: (Spare & { isUsed: boolean })[], keys: UnlockedKeys[] }>} `keys`: to be wiped
 */
async function decoysFrom(device, rootKey) {
    const { index, content } = await openDrawer(device.store, rootKey);
    /** @type {import("./gate-place.js").Place} */
    const place = content.kept.place;
    const own = { change: place.change, slots: place.slots, drawer: index, isUsed: true };
    const inner = place.decoy ? await decoysFrom(device, unbase64(place.decoy.rootKey)) : { places: [], keys: [] };
    const keys = await UnlockedKeys.from(device.paired.household, rootKey, content.ring);
    return { places: [own, ...inner.places, ...place.spare.map((spare) => ({ ...spare, isUsed: false }))], keys: [...inner.keys, keys] };
}

/** @param {Device} device */
async function removeDecoy(device) {
    const rootKey = device.keys.rootKey.slice();
    /** @type {UnlockedKeys[]} */
    let opened = [];
    try {
        const place = await placeOf(device, rootKey);
        if (!place.decoy) throw new CompanionError("notFound", "No decoy PIN is set here.");
        const { places, keys } = await decoysFrom(device, unbase64(place.decoy.rootKey));
        opened = keys;
        /** @type {Spare[]} */
        const spare = places.map(({ change, slots, drawer }) => ({ change, slots, drawer }));
        for (const { isUsed, change } of places) if (isUsed) await putEntry(device, change, randomEntry());
        const waiting = (await Promise.all(keys.map((one) => tombstonesOf(device, one)))).flat();
        await changeDrawer(device, rootKey, async ({ kept }, drawers) => {
            kept.place = { ...kept.place, spare, decoy: null };
            const gone = spare.map(({ drawer }) => drawer);
            return { waiting, facts: { [drawersFact]: emptied(drawers, gone), gate: cleared(await gateOf(device), spare.flatMap(({ slots }) => slots)) } };
        });
        device.changed(waiting.map(({ key }) => key));
    } catch (error) {
        throw refusalOf(error);
    } finally {
        wipe(rootKey);
        for (const one of opened) one.wipe();
    }
}

/**
 * What removes all that was written in a vault.
 * @param {Device} device
 * @param {UnlockedKeys} keys
 * @returns {Promise<import("../store/store.js").Waiting[]>}
 */
async function tombstonesOf({ store }, keys) {
    const vaults = new Set(keys.ring.entries.filter(({ kind }) => kind === ringKind.vault).map(({ vault }) => vault));
    const rows = (await Promise.all(["notes", "moments", "photos", "audit"].map((collection) => store.records(collection)))).flat();
    const newest = new Map([...rows, ...(await store.waiting())].filter(({ record }) => vaults.has(record.vault))
        .map(({ key, record }) => [key, record]));
    const known = new Map(rows.map(({ key, record }) => [key, record.revision]));
    const there = [...newest].filter(([, { sealed }]) => sealed);
    return Promise.all(there.map(async ([key, { vault, collection, id, revision }]) => ({
        key: keyOf(collection, id), record: await keys.tombstone({ vault, collection, id, revision: revision + 1 }, known.get(key) ?? 0),
    })));
}
