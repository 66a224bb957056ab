// What pairing, recovery and joining a shared vault share: waiting for admission, and checking what the hub serves.
import { equalInConstantTime } from "../crypto/bytes.js";
import { ringKind } from "../crypto/ring.js";
import { administers, Roster } from "../crypto/roster.js";
import { sealedBytes } from "../crypto/signature.js";
import { checkRecord } from "../formats/record-check.js";
import { HubError } from "../hub/errors.js";
import { CompanionError } from "./errors.js";
import { addVaultKeys, checkKeysOfEpoch, epochOf, keysID, readBoxes, sharedVaultID } from "./shared-keys.js";

/** @typedef {import("../hub/client.js").HubClient} HubClient */
/** @typedef {import("../sync/device-session.js").DeviceFacts} DeviceFacts */

/** Time limit in milliseconds: an invitation's five minutes, and the time to confirm. */
export const patience = 420_000;

/** @param {string} sentence */
export const untrusted = (sentence) => new CompanionError("untrusted", `${sentence} Nothing was stored.`);

/**
 * Polls until there is a value.
 * @template Value
 * @param {import("../hub/time.js").Time} time
 * @param {number} end
 * @param {AbortSignal | undefined} signal
 * @param {() => Promise<Value | null>} ask
 */
export async function until(time, end, signal, ask) {
    for (;;) {
        const value = await ask();
        if (value !== null) return value;
        if (signal?.aborted || time.now() > end) {
            throw new CompanionError("tooLate", "The owner did not confirm in time; pair again.");
        }
        await time.sleep(700, signal);
    }
}

/**
 * Waits until the device is admitted. Throws CompanionError `refused`, `tooLate`, HubError, HubUnreachable.
 * @param {HubClient} hub
 * @param {import("../hub/time.js").Time} time
 * @param {number} end
 * @param {AbortSignal | undefined} signal
 * @param {string} refusal the sentence if the others did not agree
 */
export function untilAdmitted(hub, time, end, signal, refusal) {
    return until(time, end, signal, async () => {
        try {
            return (await hub.ownDevice()).state === "active" || null;
        } catch (error) {
            if (!(error instanceof HubError) || error.code !== "unauthorized") throw error;
            throw new CompanionError("refused", refusal);
        }
    });
}

/**
 * Null if the hub does not have it yet.
 * @param {HubClient} hub
 * @param {string} id
 */
export async function keysRecordOf(hub, id) {
    try {
        return await hub.record("keys", id);
    } catch (error) {
        if (error instanceof HubError && error.code === "not_found") return null;
        throw error;
    }
}

/**
 * The household's list of devices. Throws CompanionError `untrusted`, HubError, HubUnreachable.
 * @param {HubClient} hub
 * @param {string} household
 */
export async function rosterOf(hub, household) {
    let roster;
    try {
        roster = await Roster.read(await hub.roster(0));
    } catch (error) {
        if (error instanceof HubError || /** @type {Error} */ (error).name === "HubUnreachable") throw error;
        throw untrusted("The hub returned a tampered list of devices; it can’t be trusted.");
    }
    if (roster.household !== household) {
        throw untrusted("The hub returned another household’s devices; it can’t be trusted.");
    }
    return roster;
}

/**
 * The list of devices, if it matches the link and has this device's own keys.
 * @param {HubClient} hub
 * @param {DeviceFacts} facts
 * @param {Uint8Array} signingPoint
 * @param {Uint8Array} boxPoint
 * @param {import("../crypto/roster.js").DeviceRole} role that this device was to get
 */
export async function checkedRoster(hub, facts, signingPoint, boxPoint, role) {
    const roster = await rosterOf(hub, facts.household);
    if (!administers(roster.member(facts.computer)?.role)) {
        throw untrusted("The device that made the link is not in the household.");
    }
    const own = roster.member(facts.device);
    if (own?.role !== role || !equalInConstantTime(own.signingKey, signingPoint)
        || !equalInConstantTime(own.boxKey, boxPoint)) {
        throw untrusted("The hub returned wrong keys for this device; it can’t be trusted.");
    }
    return roster;
}

/**
 * Whether the keys of an epoch arrived that are one record for all members. Throws CompanionError `untrusted`.
 * @param {HubClient} hub
 * @param {Roster} roster
 * @param {import("./keys.js").UnlockedKeys} keys
 * @param {number} [epoch]
 */
export async function receiveSharedKeys(hub, roster, keys, epoch = epochOf(roster)) {
    const record = await keysRecordOf(hub, await keysID(keys.household, epoch));
    if (!record) return false;
    try {
        const checked = await checkRecord(roster, record, 0);
        checkKeysOfEpoch(roster, checked);
        const sealed = sealedBytes(record);
        if (!sealed || !readBoxes(sealed).has(keys.device)) return false;
        await addVaultKeys(keys, checked);
        return keys.ring.key(ringKind.vault, await sharedVaultID(keys.household), epoch) !== undefined;
    } catch {
        throw untrusted("The keys from the hub are not from a device that may send them.");
    }
}
