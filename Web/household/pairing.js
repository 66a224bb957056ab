// Pairs a device. docs/formats.md, "Pairing". Nothing is stored before a PIN is set, so that no key is ever stored
// unsealed.
import { randomBytes, wipe } from "../crypto/bytes.js";
import { proofOf, readLink, sealJoin } from "../crypto/invitation.js";
import { freshPair } from "../crypto/p256.js";
import { wordsOf } from "../crypto/pairing-words.js";
import { sha256 } from "../crypto/primitives.js";
import { KeyRing } from "../crypto/ring.js";
import { Roster } from "../crypto/roster.js";
import { deviceID } from "../crypto/signature.js";
import { HubClient } from "../hub/client.js";
import { CompanionError } from "./errors.js";
import { UnlockedKeys } from "./keys.js";
import { checkedRoster, keysRecordOf, patience, until, untilAdmitted, untrusted } from "./admission.js";
import { checkRecord } from "../formats/record-check.js";

/** @typedef {import("../sync/device-session.js").DeviceFacts} DeviceFacts */
/** @typedef {{ facts: DeviceFacts, keys: UnlockedKeys, roster: Roster }} Admitted */

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
    if (await device.store.fact("device", null)) {
        throw new CompanionError("alreadyPaired",
            "This device is already paired. Revoke it in Settings before you pair it again.");
    }
    // After a revocation it stores data again from now on.
    if (await device.store.wasRevoked()) await device.store.erase();
    const [signing, box] = [await freshPair(), await freshPair()];
    const token = randomBytes(32);
    const facts = {
        hub: invitation.hub, household: invitation.household, computer: invitation.computer, name, token,
        device: await deviceID(signing.point), deviceSecret: randomBytes(32),
    };
    const joining = { signingKey: signing.point, boxKey: box.point, name };
    const [sealed, words] = [await sealJoin(invitation, joining), await wordsOf(invitation, joining)];
    await device.store.write({ facts: { unfinished: { hub: facts.hub, token } } });
    const hub = new HubClient(facts.hub, token);
    await hub.join(invitation.id,
        { proof: await proofOf(invitation), device: facts.device, tokenHash: await sha256(token), sealed });
    wipe(invitation.secret);
    waiting?.(words);
    const end = device.time.now() + patience;
    await untilAdmitted(hub, device.time, end, signal, "The owner did not confirm; pair again.");
    const roster = await checkedRoster(hub, facts, signing.point, box.point);
    const household = facts.household;
    const keys = await UnlockedKeys.from(
        household, randomBytes(32), new KeyRing(UnlockedKeys.ownEntries(household, signing.scalar, box.scalar)));
    await until(device.time, end, signal, () => receiveKeys(hub, roster, keys));
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
