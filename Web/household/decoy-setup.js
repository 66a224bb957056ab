// Sets and removes a decoy PIN; loaded when that is done.
import { base64, randomBytes, randomID, unbase64, wipe } from "../crypto/bytes.js";
import { putInto } from "../crypto/drawers.js";
import { KeyRing, ringKind } from "../crypto/ring.js";
import { KeySlots } from "../crypto/slots.js";
import { changeDrawer, drawersFact, emptied, hasVaultKey, openDrawer } from "./private-storage.js";
import { CompanionError } from "./errors.js";
import { cleared, placeOf, putEntry, randomEntry, triedOf, withKey } from "./pin-slots.js";
import { refusalOf, unlockDataFact, unlockDataOf } from "./unlock.js";
import { UnlockedKeys } from "./keys.js";
import { removeReminderLists } from "./reminder-keys.js";
import { checkPIN } from "./pin-rules.js";
import { momentBody } from "../formats/moment-format.js";
import { recordKey } from "../formats/record-key.js";

/** @typedef {import("./pin-slots.js").Spare} Spare */

/**
 * The device's keys, except the one for what is sent to it, and a vault of its own.
 * @param {UnlockedKeys} keys
 */
async function ringOfDecoy(keys) {
    const own = await UnlockedKeys.idleEntries(keys.ring, keys.household);
    return new KeyRing([...own, { kind: ringKind.vault, vault: randomID(), epoch: 1, key: randomBytes(32) }]);
}

/**
 * @param {DeviceSession} device
 * @param {string} pin
 * @param {import("../formats/moment-format.js").MomentContent[]} moments
 */
export async function setDecoy(device, pin, moments) {
    checkPIN(pin);
    const [rootKey, ring] = [device.keys.rootKey.slice(), await ringOfDecoy(device.keys)];
    const decoyKey = randomBytes(32);
    try {
        const place = await placeOf(device, rootKey);
        const [own, ...rest] = place.spare;
        if (place.decoy || !own) throw new CompanionError("full", "This device can’t store another PIN.");
        const data = await unlockDataOf(device);
        const made = await withKey(KeySlots.read(data.slots), own.slots[0], pin, decoyKey, device.paired.deviceSecret);
        const tried = triedOf(made.entry, own.slots[0]);
        if (place.tried.some(({ verifier }) => verifier === tried.verifier)) {
            throw new CompanionError("weakPIN", "This is your current PIN; choose another one.");
        }
        /** @type {import("./pin-slots.js").Place} */
        const its = { change: own.change, slots: own.slots, tried: [tried], spare: rest, decoy: null };
        await changeDrawer(device, rootKey, async (_, drawers) => {
            const filled = await putInto(drawers, own.drawer, { ring, kept: { place: its } }, decoyKey);
            return { facts: { [drawersFact]: filled, [unlockDataFact]: { ...data, slots: made.slots.bytes } } };
        });
        await putEntry(device, own.change, made.entry);
        wipe(made.entry.share);
        const waiting = await sealedMoments(device, decoyKey, ring, moments);
        await changeDrawer(device, rootKey, ({ kept }) => {
            kept.place = { ...kept.place, spare: [], decoy: { rootKey: base64(decoyKey) } };
            return { waiting };
        });
        device.changed(waiting.map(({ key }) => key));
    } catch (error) {
        throw refusalOf(error);
    } finally {
        wipe(rootKey, decoyKey);
        ring.wipe();
    }
}

/**
 * The first moments of a decoy's vault.
 * @param {DeviceSession} device
 * @param {Uint8Array} rootKey the decoy's
 * @param {KeyRing} ring the decoy's
 * @param {import("../formats/moment-format.js").MomentContent[]} moments
 * @returns {Promise<import("../store/store.js").Waiting[]>}
 */
async function sealedMoments(device, rootKey, ring, moments) {
    const keys = await UnlockedKeys.from(device.paired.household, rootKey.slice(), ring);
    const vault = ring.entries.find(({ kind }) => kind === ringKind.vault)?.vault ?? "";
    try {
        return await Promise.all(moments.map(async (moment) => {
            const name = { vault, collection: "moments", id: randomID(), revision: 1 };
            return { key: recordKey("moments", name.id), record: await keys.sealBody(name, momentBody(moment), 0) };
        }));
    } finally {
        keys.wipe();
    }
}

/**
 * The decoy and those set from it, the innermost first: their places and keys. `isUsed`: its PIN opens.
 * @param {DeviceSession} device
 * @param {Uint8Array} rootKey
 * @returns {Promise<{ places: (Spare & { isUsed: boolean })[], keys: UnlockedKeys[] }>} `keys`: to be wiped
 */
async function decoysFrom(device, rootKey) {
    const { index, content } = await openDrawer(device, rootKey);
    /** @type {import("./pin-slots.js").Place} */
    const place = content.kept.place;
    const own = { change: place.change, slots: place.slots, drawer: index, isUsed: true };
    const inner = place.decoy ? await decoysFrom(device, unbase64(place.decoy.rootKey)) : { places: [], keys: [] };
    const keys = await UnlockedKeys.from(device.paired.household, rootKey, content.ring);
    return {
        places: [own, ...inner.places, ...place.spare.map((spare) => ({ ...spare, isUsed: false }))],
        keys: [...inner.keys, keys],
    };
}

/** @param {DeviceSession} device */
export async function removeDecoy(device) {
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
            return {
                waiting, facts: {
                    [drawersFact]: emptied(drawers, gone),
                    [unlockDataFact]: cleared(await unlockDataOf(device), spare.flatMap(({ slots }) => slots)),
                },
            };
        });
        device.changed(waiting.map(({ key }) => key));
        await removeReminderLists(device, keys.map((one) => one.rootKey));
    } catch (error) {
        throw refusalOf(error);
    } finally {
        wipe(rootKey);
        for (const one of opened) one.wipe();
    }
}

/**
 * @param {DeviceSession} device
 * @param {UnlockedKeys} keys
 * @returns {Promise<import("../store/store.js").Waiting[]>}
 */
async function tombstonesOf(device, keys) {
    const stored = (await Promise.all(["notes", "moments", "photos", "remarks", "dates", "audit"]
        .map((collection) => device.storedAll(collection)))).flat();
    const there = stored.filter(({ record }) => record.sealed && hasVaultKey(keys.ring, record.vault));
    return Promise.all(there.map(async ({ key, row, record: { vault, collection, id, revision } }) => ({
        key, record: await keys.tombstone({ vault, collection, id, revision: revision + 1 }, row?.record.revision ?? 0),
    })));
}
