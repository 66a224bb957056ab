// The gate: what a PIN or a passkey unwraps. Nothing is opened by a flag. docs/formats.md, "Passcode to key" and "A companion".
import { randomBytes, utf8, wipe } from "../crypto/bytes.js";
import { hkdf } from "../crypto/primitives.js";
import { KeyRing } from "../crypto/ring.js";
import { KeySlots } from "../crypto/slots.js";
import { HubClient } from "../protocol/client.js";
import { HubError } from "../protocol/errors.js";
import { CompanionError } from "./errors.js";
import { statusKeysOf, UnlockedKeys } from "./keys.js";
import { checkPIN } from "./pin.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("./device.js").DeviceFacts} DeviceFacts */
/**
 * A passkey that opens, for `navigator.credentials.get`.
 * @typedef {{ credential: Uint8Array, salt: Uint8Array }} Passkey
 */
/**
 * `pinSlot`: which of the first two slots the PIN has; a change takes the other one.
 * @typedef {{ slots: Uint8Array, pinSlot: number, passkey: Passkey | null }} Gate
 */

const shareEntries = 4;
const passkeySlot = 7;

/**
 * The hub compares this and learns nothing by it.
 * @param {Uint8Array} stretched
 * @param {Uint8Array} deviceSecret
 */
const verifierOf = (stretched, deviceSecret) => hkdf(stretched, deviceSecret, "applocker/1/pin-verifier");

/** @param {Uint8Array} output 32 bytes of WebAuthn's PRF */
const passkeyKEK = (output) => hkdf(output, new Uint8Array(), "applocker/1/prf-kek");

/**
 * Puts a PIN's shares at the hub, always four entries in any order, what is unused random.
 * @param {HubClient} hub
 * @param {{ verifier: Uint8Array, share: Uint8Array }[]} used at most four
 */
async function leaveShares(hub, used) {
    const entries = [...used];
    while (entries.length < shareEntries) entries.push({ verifier: randomBytes(32), share: randomBytes(32) });
    // Their order is random, too.
    const order = entries.map((entry) => ({ entry, place: randomPlace() })).sort((one, other) => one.place - other.place);
    await hub.setPINShare(order.map(({ entry }) => entry));
}

const randomPlace = () => new DataView(randomBytes(4).buffer).getUint32(0);

/**
 * A block with the root key behind this PIN, in this slot.
 * @param {KeySlots} slots
 * @param {number} slot
 * @param {string} pin
 * @param {Uint8Array} rootKey
 * @param {Uint8Array} deviceSecret
 */
async function behindPIN(slots, slot, pin, rootKey, deviceSecret) {
    const [stretched, share] = [await slots.stretch(utf8(pin)), randomBytes(32)];
    const kek = await slots.kek(stretched, share);
    const entry = { verifier: await verifierOf(stretched, deviceSecret), share };
    const changed = await slots.setting(slot, rootKey, kek);
    wipe(stretched, kek);
    return { slots: changed, entry };
}

/**
 * The first PIN of a device that was just admitted: from here on everything is behind it. Throws CompanionError `weakPIN`,
 * HubError, HubUnreachable, StoreError; nothing is kept then.
 * @param {Device} device
 * @param {DeviceFacts} facts
 * @param {UnlockedKeys} keys
 * @param {Uint8Array[]} roster
 * @param {string} pin
 */
export async function setFirstPIN(device, facts, keys, roster, pin) {
    checkPIN(pin);
    const { slots, entry } = await behindPIN(KeySlots.fresh(), 0, pin, keys.rootKey, facts.deviceSecret);
    await leaveShares(new HubClient(facts.hub, facts.token, device.time), [entry]);
    wipe(entry.share);
    /** @type {Gate} */
    const gate = { slots: slots.bytes, pinSlot: 0, passkey: null };
    await device.store.write({
        facts: { device: facts, gate, roster, ring: await keys.ring.sealed(keys.rootKey), unfinished: null },
        keys: await statusKeysOf(keys.ring, facts.household),
    });
}

/** @param {Device} device @returns {Promise<Gate>} */
async function gateOf(device) {
    const gate = await device.store.fact("gate", /** @type {Gate | null} */ (null));
    if (!gate) throw new CompanionError("pairAgain", "What this device kept is gone; pair it again.");
    return gate;
}

/**
 * @param {Device} device
 * @param {Gate} gate
 * @param {Uint8Array} kek wiped
 */
async function openWith(device, gate, kek) {
    const found = await KeySlots.read(gate.slots).open(kek);
    wipe(kek);
    if (!found) return false;
    const sealed = await device.store.fact("ring", new Uint8Array());
    device.unlocked?.wipe();
    device.unlocked = await UnlockedKeys.from(
        device.paired.household, found.rootKey, await KeyRing.open(sealed, found.rootKey));
    return true;
}

/**
 * Throws CompanionError `wrongPIN`, `wait`, `pairAgain`; HubUnreachable, as the PIN needs the hub.
 * @param {Device} device
 * @param {string} pin
 */
export async function unlockWithPIN(device, pin) {
    const gate = await gateOf(device);
    const slots = KeySlots.read(gate.slots);
    const stretched = await slots.stretch(utf8(pin));
    let share;
    try {
        share = await device.hub.attemptPIN(await verifierOf(stretched, device.paired.deviceSecret));
    } catch (error) {
        wipe(stretched);
        throw refusalOf(error);
    }
    const kek = await slots.kek(stretched, share);
    wipe(stretched, share);
    if (!(await openWith(device, gate, kek))) {
        throw new CompanionError("pairAgain", "The hub gave another share than this PIN's; pair this device again.");
    }
}

/** @param {unknown} error */
function refusalOf(error) {
    if (!(error instanceof HubError)) return error;
    switch (error.code) {
        case "wrong_pin":
            return new CompanionError("wrongPIN", "The PIN is wrong.");
        case "too_many":
            return new CompanionError("wait", "Too many wrong PINs; wait before the next one.", error.retryAfterSeconds ?? 60);
        case "gone":
        case "not_found":
            return new CompanionError("pairAgain", "There were ten wrong PINs; the PIN opens nothing any more. Pair this device again.");
        default:
            return error;
    }
}

/**
 * Works without the hub. Throws CompanionError `noPasskey`.
 * @param {Device} device
 * @param {Uint8Array} output 32 bytes of WebAuthn's PRF; wiped
 */
export async function unlockWithPasskey(device, output) {
    const kek = await passkeyKEK(output);
    wipe(output);
    if (!(await openWith(device, await gateOf(device), kek))) {
        throw new CompanionError("noPasskey", "This passkey does not open AppLocker here; use the PIN.");
    }
}

/**
 * Killed in between, either the old PIN opens or the new one. Throws as `setFirstPIN`.
 * @param {Device} device
 * @param {string} pin
 */
export async function changePIN(device, pin) {
    checkPIN(pin);
    const gate = await gateOf(device);
    const next = 1 - gate.pinSlot;
    const { rootKey } = device.keys;
    const made = await behindPIN(KeySlots.read(gate.slots), next, pin, rootKey, device.paired.deviceSecret);
    await device.store.write({ facts: { gate: { ...gate, slots: made.slots.bytes } } });
    await leaveShares(device.hub, [made.entry]);
    wipe(made.entry.share);
    const cleared = made.slots.clearing(gate.pinSlot);
    await device.store.write({ facts: { gate: { ...gate, slots: cleared.bytes, pinSlot: next } } });
}

/**
 * @param {Device} device
 * @param {Passkey} passkey
 * @param {Uint8Array} output 32 bytes of WebAuthn's PRF; wiped
 */
export async function addPasskey(device, passkey, output) {
    const gate = await gateOf(device);
    const kek = await passkeyKEK(output);
    const slots = await KeySlots.read(gate.slots).setting(passkeySlot, device.keys.rootKey, kek);
    wipe(output, kek);
    await device.store.write({ facts: { gate: { ...gate, slots: slots.bytes, passkey } } });
}

/** @param {Device} device */
export async function removePasskey(device) {
    const gate = await gateOf(device);
    const slots = KeySlots.read(gate.slots).clearing(passkeySlot);
    await device.store.write({ facts: { gate: { ...gate, slots: slots.bytes, passkey: null } } });
}

/**
 * What to ask the authenticator with; null where there is none.
 * @param {Device} device
 */
export const passkeyOf = async (device) => (await gateOf(device)).passkey;
