// Unlocking: a PIN or a passkey unwraps the root key; no flag opens anything. docs/formats.md, "Passcode to key" and "A
// companion".
import { base64, unbase64, utf8, wipe } from "../crypto/bytes.js";
import { hkdf } from "../crypto/primitives.js";
import { KeySlots } from "../crypto/slots.js";
import { HubClient } from "../hub/client.js";
import { HubError } from "../hub/errors.js";
import { changeDrawer, firstDrawers, moveRing, openDrawer } from "./private-storage.js";
import { CompanionError } from "./errors.js";
import { cleared, firstPlace, leaveEntries, placeOf, putEntry, settledPlace, triedOf, verifierOf,
    withKey } from "./pin-slots.js";
import { statusKeysOf, UnlockedKeys } from "./keys.js";
import { checkPIN } from "./pin-rules.js";

/** @typedef {import("../sync/device-session.js").DeviceFacts} DeviceFacts */
/**
 * For `navigator.credentials.get`.
 * @typedef {{ credential: Uint8Array, salt: Uint8Array }} Passkey
 */
/**
 * Stored unsealed. The use of the slots is sealed in the drawers.
 * @typedef {{ slots: Uint8Array, passkey: Passkey | null }} UnlockData
 */

/** The stored name of `UnlockData`. */
export const unlockDataFact = "gate";
const passkeySlot = 7;

/** @param {Uint8Array} output 32 bytes of WebAuthn's PRF */
const passkeyKEK = (output) => hkdf(output, new Uint8Array(), "applocker/1/prf-kek");

/**
 * Sets the first PIN of an admitted device: from now on everything is sealed under it. Throws CompanionError `weakPIN`,
 * HubError, HubUnreachable, StoreError; nothing is kept then.
 * @param {DeviceSession} device
 * @param {DeviceFacts} facts
 * @param {UnlockedKeys} keys
 * @param {Uint8Array[]} roster
 * @param {string} pin
 */
export async function setFirstPIN(device, facts, keys, roster, pin) {
    checkPIN(pin);
    const first = firstPlace();
    const { slots, entry } = await withKey(KeySlots.fresh(), first.slots[0], pin, keys.rootKey, facts.deviceSecret);
    const place = { ...first.place, tried: [triedOf(entry, first.slots[0])] };
    const hub = new HubClient(facts.hub, facts.token);
    await leaveEntries(hub, entry, place);
    wipe(entry.share);
    const drawers = await firstDrawers({ ring: keys.ring, kept: { place } }, keys.rootKey, first.drawer);
    keys.drawer = first.drawer;
    /** @type {UnlockData} */
    const data = { slots: slots.bytes, passkey: null };
    await device.store.write({
        facts: { device: facts, [unlockDataFact]: data, roster, ...drawers, unfinished: null },
        keys: await statusKeysOf(keys.ring, facts.household),
    });
    // After the first correct PIN the hub replaces nothing for a token alone; if this request is lost, the first
    // unlocking does it.
    await hub.attemptPIN(entry.verifier).then(wipe, () => {});
}

/** @param {DeviceSession} device @returns {Promise<UnlockData>} */
export async function unlockDataOf(device) {
    const data = await device.store.fact(unlockDataFact, /** @type {UnlockData | null} */ (null));
    if (!data) throw new CompanionError("pairAgain", "This device lost its data; pair it again.");
    return data;
}

/**
 * Null if this key opens no key slot.
 * @param {DeviceSession} device
 * @param {UnlockData} data
 * @param {Uint8Array} kek wiped
 */
async function openWith(device, data, kek) {
    const found = await KeySlots.read(data.slots).open(kek);
    wipe(kek);
    if (!found) return null;
    await moveRing(device, found.rootKey);
    const { content, index } = await openDrawer(device, found.rootKey);
    const keys = await UnlockedKeys.from(device.paired.household, found.rootKey, content.ring);
    keys.drawer = index;
    return keys;
}

/**
 * The keys that this PIN unlocks; the hub counts the attempt. Throws CompanionError `wrongPIN`, `wait`, `pairAgain`;
 * HubUnreachable.
 * @param {DeviceSession} device
 * @param {string} pin
 */
async function keysByPIN(device, pin) {
    const data = await unlockDataOf(device);
    const slots = KeySlots.read(data.slots);
    const stretched = await slots.stretch(utf8(pin));
    const verifier = await verifierOf(stretched, device.paired.deviceSecret);
    let share;
    try {
        share = await device.pinHub.attemptPIN(verifier);
    } catch (error) {
        wipe(stretched);
        throw refusalOf(error);
    }
    const kek = await slots.kek(stretched, share);
    wipe(stretched);
    const opened = await openWith(device, data, kek);
    wipe(share);
    if (!opened) {
        throw new CompanionError("pairAgain", "The hub returned a wrong share for this PIN; pair this device again.");
    }
    return opened;
}

/**
 * The keys that this passkey unlocks, without the hub. Throws CompanionError `noPasskey`.
 * @param {DeviceSession} device
 * @param {Uint8Array} output 32 bytes of WebAuthn's PRF; wiped
 */
async function keysByPasskey(device, output) {
    const kek = await passkeyKEK(output);
    wipe(output);
    const opened = await openWith(device, await unlockDataOf(device), kek);
    if (!opened) throw new CompanionError("noPasskey", "This passkey does not unlock AppLocker here; use the PIN.");
    return opened;
}

/** @param {DeviceSession} device @param {Promise<UnlockedKeys>} opened */
async function unlock(device, opened) {
    const keys = await opened;
    device.unlocked?.wipe();
    device.unlocked = keys;
}

/**
 * Checks that keys open, and wipes them: the keys in use stay.
 * @param {DeviceSession} device
 * @param {() => Promise<UnlockedKeys>} open
 */
async function confirm(device, open) {
    const { keys } = device;
    const opened = await open();
    const isSame = opened.drawer === keys.drawer;
    opened.wipe();
    device.requireUnlocked(keys);
    return isSame;
}

/**
 * Of a shared vault, whose root key is in the drawer of the main session. Throws CompanionError `pairAgain`,
 * FormatError.
 * @param {DeviceSession} device
 * @param {Uint8Array} rootKey it takes ownership
 */
export const unlockWithRootKey = (device, rootKey) => unlock(device, (async () => {
    const { index, content } = await openDrawer(device, rootKey);
    const keys = await UnlockedKeys.from(device.paired.household, rootKey, content.ring);
    keys.drawer = index;
    return keys;
})());

/** @param {DeviceSession} device @param {string} pin Throws as `keysByPIN`. */
export const unlockWithPIN = (device, pin) => unlock(device, keysByPIN(device, pin));

/** @param {DeviceSession} device @param {Uint8Array} output Throws as `keysByPasskey`. */
export const unlockWithPasskey = (device, output) => unlock(device, keysByPasskey(device, output));

/**
 * Throws as `keysByPIN`, `wrongPIN` for another vault's PIN, CompanionError `locked`.
 * @param {DeviceSession} device
 * @param {string} pin
 */
export async function confirmWithPIN(device, pin) {
    if (!(await confirm(device, () => keysByPIN(device, pin)))) {
        throw new CompanionError("wrongPIN", "The PIN is wrong.");
    }
}

/**
 * Accepts the passkey of any vault: which one must not be visible. Throws as `keysByPasskey`, and CompanionError
 * `locked`.
 * @param {DeviceSession} device
 * @param {Uint8Array} output
 */
export async function confirmWithPasskey(device, output) {
    await confirm(device, () => keysByPasskey(device, output));
}

/**
 * Whether it is the PIN of this session. Compared on this device: the hub counts nothing.
 * @param {DeviceSession} device
 * @param {string} pin
 */
export async function isOwnPIN(device, pin) {
    const { tried } = await placeOf(device, device.keys.rootKey);
    const stretched = await KeySlots.read((await unlockDataOf(device)).slots).stretch(utf8(pin));
    const verifier = base64(await verifierOf(stretched, device.paired.deviceSecret));
    wipe(stretched);
    return tried.some((one) => one.verifier === verifier);
}

/** @param {unknown} error */
export function refusalOf(error) {
    if (!(error instanceof HubError)) return error;
    switch (error.code) {
        case "wrong_pin":
            return new CompanionError("wrongPIN", "The PIN is wrong.");
        case "too_many":
            return new CompanionError("wait", "Too many wrong PINs; wait before the next attempt.",
                error.retryAfterSeconds ?? 60);
        case "gone":
        case "not_found":
            return new CompanionError("pairAgain",
                "After ten wrong PINs the PIN stopped working. Pair this device again.");
        default:
            return error;
    }
}

/**
 * Changes this session's PIN. If the app is killed meanwhile, either the old PIN or the new one works. Throws
 * CompanionError `weakPIN`, `pairAgain`, `wait`, HubError, HubUnreachable, StoreError.
 * @param {DeviceSession} device
 * @param {string} pin
 */
export async function changePIN(device, pin) {
    checkPIN(pin);
    const rootKey = device.keys.rootKey.slice();
    try {
        const { place, tried: old } = await settledPlace(device, rootKey);
        const data = await unlockDataOf(device);
        const next = place.slots[place.slots[0] === old.slot ? 1 : 0];
        const made = await withKey(KeySlots.read(data.slots), next, pin, rootKey, device.paired.deviceSecret);
        const tried = triedOf(made.entry, next);
        if (await isDecoys(device, place, tried.verifier)) {
            throw new CompanionError("weakPIN", "This is the decoy PIN; choose another one.");
        }
        await changeDrawer(device, rootKey, ({ kept }) => {
            kept.place = { ...kept.place, tried: [tried, old] };
            return { facts: { [unlockDataFact]: { ...data, slots: made.slots.bytes } } };
        });
        await putEntry(device, place.change, made.entry);
        wipe(made.entry.share);
        await changeDrawer(device, rootKey, async ({ kept }) => {
            kept.place = { ...kept.place, tried: [tried] };
            return { facts: { [unlockDataFact]: cleared(await unlockDataOf(device), [old.slot]) } };
        });
    } catch (error) {
        throw refusalOf(error);
    } finally {
        wipe(rootKey);
    }
}

/**
 * Equal PINs would open one vault only.
 * @param {DeviceSession} device
 * @param {import("./pin-slots.js").Place} place
 * @param {string} verifier
 */
async function isDecoys(device, place, verifier) {
    if (!place.decoy) return false;
    const { tried } = await placeOf(device, unbase64(place.decoy.rootKey));
    return tried.some((one) => one.verifier === verifier);
}

/**
 * @param {DeviceSession} device
 * @param {Passkey} passkey
 * @param {Uint8Array} output 32 bytes of WebAuthn's PRF; wiped
 */
export async function addPasskey(device, passkey, output) {
    const data = await unlockDataOf(device);
    const kek = await passkeyKEK(output);
    const slots = await KeySlots.read(data.slots).setting(passkeySlot, device.keys.rootKey, kek);
    wipe(output, kek);
    await device.store.write({ facts: { [unlockDataFact]: { ...data, slots: slots.bytes, passkey } } });
}

/** @param {DeviceSession} device */
export async function removePasskey(device) {
    const data = await unlockDataOf(device);
    const slots = KeySlots.read(data.slots).clearing(passkeySlot);
    await device.store.write({ facts: { [unlockDataFact]: { ...data, slots: slots.bytes, passkey: null } } });
}

/**
 * Null without a passkey.
 * @param {DeviceSession} device
 */
export const passkeyOf = async (device) => (await unlockDataOf(device)).passkey;
