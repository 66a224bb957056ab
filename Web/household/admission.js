// What pairing and joining a shared vault share: waiting for admission, and checking the list of devices.
import { equalInConstantTime } from "../crypto/bytes.js";
import { Roster } from "../crypto/roster.js";
import { HubError } from "../hub/errors.js";
import { CompanionError } from "./errors.js";

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
 * The list of devices, if it matches the link and has this device's own keys.
 * @param {HubClient} hub
 * @param {DeviceFacts} facts
 * @param {Uint8Array} signingPoint
 * @param {Uint8Array} boxPoint
 * @param {"computer" | "companion"} [role] that this device was to get
 */
export async function checkedRoster(hub, facts, signingPoint, boxPoint, role = "companion") {
    let roster;
    try {
        roster = await Roster.read(await hub.roster(0));
    } catch (error) {
        if (error instanceof HubError || /** @type {Error} */ (error).name === "HubUnreachable") throw error;
        throw untrusted("The hub returned a tampered list of devices; it can’t be trusted.");
    }
    if (roster.household !== facts.household) {
        throw untrusted("The hub returned another household’s devices; it can’t be trusted.");
    }
    if (roster.member(facts.computer)?.role !== "computer") {
        throw untrusted("The device that made the link is not in the household.");
    }
    const own = roster.member(facts.device);
    if (own?.role !== role || !equalInConstantTime(own.signingKey, signingPoint)
        || !equalInConstantTime(own.boxKey, boxPoint)) {
        throw untrusted("The hub returned wrong keys for this device; it can’t be trusted.");
    }
    return roster;
}
