// Each PIN has an entry at the hub, one of two slots, and a drawer. The drawer has the PIN's own place and those that
// are free for it, and nothing of other PINs. docs/formats.md, "A companion".
import { base64, randomBytes, unbase64, utf8, wipe } from "../crypto/bytes.js";
import { drawerCount } from "../crypto/drawers.js";
import { hkdf, sha256 } from "../crypto/primitives.js";
import { KeySlots } from "../crypto/slots.js";
import { HubError } from "../hub/errors.js";
import { randomIndex, changeDrawer, openDrawer } from "./private-storage.js";
import { CompanionError } from "./errors.js";

/** @typedef {{ verifier: Uint8Array, share: Uint8Array }} Entry */
/**
 * A PIN's verifier (base64) and its slot. After an interrupted change there are two: one of them is at the hub.
 * @typedef {{ verifier: string, slot: number }} Tried
 */
/**
 * A free place for another PIN. `change` (base64): the secret that replaces its entry at the hub.
 * @typedef {{ change: string, slots: number[], drawer: number }} Spare
 */
/**
 * `decoy`: the root key (base64) of the PIN that was set from here.
 * @typedef {{ change: string, slots: number[], tried: Tried[], spare: Spare[], decoy: { rootKey: string } | null }}
 *   Place
 */

const shareEntries = 4;
/** Two for each drawer's PIN. */
const pinSlots = 2 * drawerCount;

/** @template Item @param {Item[]} items */
export function shuffled(items) {
    const left = [...items];
    return items.map(() => left.splice(randomIndex(left.length), 1)[0]);
}

/**
 * The hub compares it, and learns nothing else.
 * @param {Uint8Array} stretched
 * @param {Uint8Array} deviceSecret
 */
export const verifierOf = (stretched, deviceSecret) => hkdf(stretched, deviceSecret, "applocker/1/pin-verifier");

/** @param {Entry} entry @param {number} slot @returns {Tried} */
export const triedOf = ({ verifier }, slot) => ({ verifier: base64(verifier), slot });

/**
 * Places for a first PIN and later ones.
 * @returns {{ place: Place, slots: number[], drawer: number }}
 */
export function firstPlace() {
    /** @param {number} count */
    const order = (count) => shuffled(Array.from({ length: count }, (_, index) => index));
    const [slots, drawers] = [order(pinSlots), order(drawerCount)];
    const spare = drawers.slice(1).map((drawer, index) => ({
        change: base64(randomBytes(32)), slots: slots.slice(2 * index + 2, 2 * index + 4), drawer,
    }));
    const own = slots.slice(0, 2);
    return {
        place: { change: base64(randomBytes(32)), slots: own, tried: [], spare, decoy: null }, slots: own,
        drawer: drawers[0],
    };
}

/** An entry that no PIN matches. */
export const randomEntry = () => ({ verifier: randomBytes(32), share: randomBytes(32) });

/**
 * Stores a PIN's entry at the hub, always four in random order; each is found by the secret that changes it.
 * @param {import("../hub/client.js").HubClient} hub
 * @param {Entry} entry
 * @param {Place} place
 */
export async function leaveEntries(hub, entry, { change, spare }) {
    const secrets = [change, ...spare.map((one) => one.change)].map(unbase64);
    while (secrets.length < shareEntries) secrets.push(randomBytes(32));
    const entries = secrets.map(async (secret, index) => (
        { ...(index === 0 ? entry : randomEntry()), changeHash: await sha256(secret) }));
    await hub.setPINShare(shuffled(await Promise.all(entries)));
}

/**
 * Replaces the entry of this secret; repeatable if a response was lost.
 * @param {DeviceSession} device
 * @param {string} change base64
 * @param {Entry} entry
 */
export const putEntry = (device, change, entry) => device.pinHub.replacePIN(unbase64(change), entry);

/**
 * @param {KeySlots} slots
 * @param {number} slot
 * @param {string} pin
 * @param {Uint8Array} rootKey
 * @param {Uint8Array} deviceSecret
 * @returns {Promise<{ slots: KeySlots, entry: Entry }>}
 */
export async function withKey(slots, slot, pin, rootKey, deviceSecret) {
    const [stretched, share] = [await slots.stretch(utf8(pin)), randomBytes(32)];
    const kek = await slots.kek(stretched, share);
    const entry = { verifier: await verifierOf(stretched, deviceSecret), share };
    const changed = await slots.setting(slot, rootKey, kek);
    wipe(stretched, kek);
    return { slots: changed, entry };
}

/** @param {import("./unlock.js").UnlockData} data @param {number[]} slots */
export function cleared(data, slots) {
    const without = slots.reduce((block, slot) => block.clearing(slot), KeySlots.read(data.slots));
    return { ...data, slots: without.bytes };
}

/** @param {DeviceSession} device @param {Uint8Array} rootKey @returns {Promise<Place>} */
export async function placeOf(device, rootKey) {
    const { content } = await openDrawer(device, rootKey);
    content.ring.wipe();
    return content.kept.place;
}

/**
 * The slot and the verifier in use; asks the hub after an interrupted change. Throws CompanionError `pairAgain`,
 * HubError, HubUnreachable.
 * @param {DeviceSession} device
 * @param {Uint8Array} rootKey
 * @returns {Promise<{ place: Place, tried: Tried }>}
 */
export async function settledPlace(device, rootKey) {
    const place = await placeOf(device, rootKey);
    for (const tried of place.tried) {
        if (place.tried.length === 1) return { place, tried };
        try {
            wipe(await device.pinHub.attemptPIN(unbase64(tried.verifier)));
        } catch (error) {
            if (error instanceof HubError && error.code === "wrong_pin") continue;
            throw error;
        }
        await changeDrawer(device, rootKey, ({ kept }) => void (kept.place = { ...kept.place, tried: [tried] }));
        return { place: { ...place, tried: [tried] }, tried };
    }
    throw new CompanionError("pairAgain", "The hub lost this device’s PIN; pair it again.");
}
