// Pairs a device. docs/formats.md, "Pairing". Nothing is stored before a PIN is set, so that no key is ever stored
// unsealed.
import { randomBytes, wipe } from "../crypto/bytes.js";
import { readLink } from "../crypto/invitation.js";
import { KeyRing } from "../crypto/ring.js";
import { HubClient } from "../hub/client.js";
import { CompanionError } from "./errors.js";
import { freshIdentity, requestToJoin } from "./identity.js";
import { UnlockedKeys } from "./keys.js";
import { checkedRoster, keysRecordOf, patience, receiveSharedKeys, until, untilAdmitted,
    untrusted } from "./admission.js";
import { checkRecord } from "../formats/record-check.js";

/** @typedef {import("../sync/device-session.js").DeviceFacts} DeviceFacts */
/** @typedef {import("../crypto/roster.js").Roster} Roster */
/**
 * A device without a PIN. `register`: registers the household that it founded; repeatable.
 * @typedef {{ facts: DeviceFacts, keys: UnlockedKeys, roster: Roster, register?: () => Promise<void> }} Admitted
 */

/**
 * After a revocation it stores data again from now on. Throws CompanionError `alreadyPaired`.
 * @param {DeviceSession} device
 */
export async function requireUnpaired({ store }) {
    if (await store.fact("device", null)) {
        throw new CompanionError("alreadyPaired",
            "This device is already paired. Revoke it in Settings before you pair it again.");
    }
    if (await store.wasRevoked()) await store.erase();
}


/**
 * Joins, waits for the owner, checks the list of devices, and receives the keys. Throws FormatError (the link),
 * HubError (the invitation: `gone`, `not_found`), HubUnreachable, CompanionError `refused`, `tooLate`, `untrusted`.
 * @param {DeviceSession} device
 * @param {string} link
 * @param {string} name 1 to 64 bytes
 * @param {{ waiting?: (words: string[]) => void, signal?: AbortSignal }} options `waiting`: the hub has the request,
 *   and the owner confirms if the computer shows the same words
 * @returns {Promise<Admitted>}
 */
export async function pair(device, link, name, { waiting, signal } = {}) {
    const invitation = readLink(link);
    await requireUnpaired(device);
    const identity = await freshIdentity();
    const { signing, box, token } = identity;
    const facts = {
        hub: invitation.hub, household: invitation.household, computer: invitation.computer, name, token,
        device: identity.id, deviceSecret: randomBytes(32),
    };
    await device.store.write({ facts: { unfinished: { hub: facts.hub, token } } });
    const words = await requestToJoin(invitation, identity, name);
    wipe(invitation.secret);
    waiting?.(words);
    const hub = new HubClient(facts.hub, token);
    const end = device.time.now() + patience;
    await untilAdmitted(hub, device.time, end, signal, "The owner did not confirm; pair again.");
    const household = facts.household;
    const keys = await UnlockedKeys.from(
        household, randomBytes(32), new KeyRing(UnlockedKeys.ownEntries(household, signing.scalar, box.scalar)));
    const roster = await until(device.time, end, signal, async () => {
        const now = await checkedRoster(hub, facts, signing.point, box.point, invitation.role);
        const hasKeys = now.isPhoneFounded ? receiveSharedKeys(hub, now, keys) : receiveKeys(hub, now, keys);
        return (await hasKeys) ? now : null;
    });
    return { facts, keys, roster };
}

/**
 * Null if they have not arrived yet.
 * @param {HubClient} hub
 * @param {Roster} roster
 * @param {UnlockedKeys} keys
 */
async function receiveKeys(hub, roster, keys) {
    const record = await keysRecordOf(hub, keys.device);
    if (!record) return null;
    try {
        const checked = await checkRecord(roster, record, 0);
        if (checked.name.collection !== "keys" || checked.name.id !== keys.device) throw new Error("another record");
        await keys.add(checked);
    } catch {
        throw untrusted("The keys from the hub are not from a computer of the household.");
    }
    return keys;
}
