// How a device comes in. docs/formats.md, "Pairing". Nothing is kept before the gate is set, so that no key ever lies here in the open.
import { equalInConstantTime, randomBytes, wipe } from "../crypto/bytes.js";
import { proofOf, readLink, sealJoin } from "../crypto/invitation.js";
import { freshPair } from "../crypto/p256.js";
import { sha256 } from "../crypto/primitives.js";
import { KeyRing } from "../crypto/ring.js";
import { Roster } from "../crypto/roster.js";
import { deviceID } from "../crypto/signature.js";
import { HubClient } from "../protocol/client.js";
import { HubError } from "../protocol/errors.js";
import { revokedFact } from "../store/store.js";
import { CompanionError } from "./errors.js";
import { UnlockedKeys } from "./keys.js";
import { checkRecord } from "./record-check.js";

/** @typedef {import("./device.js").DeviceFacts} DeviceFacts */
/**
 * A device that was admitted and has no gate yet.
 * @typedef {{ facts: DeviceFacts, keys: UnlockedKeys, roster: Roster }} Admitted
 */

/** The owner is given so long, in milliseconds: an invitation's five minutes, and the time to agree. */
export const patience = 420_000;

/** @param {string} sentence */
const untrusted = (sentence) => new CompanionError("untrusted", `${sentence} Nothing was kept.`);

/**
 * Asks to join, waits for the owner, checks who belongs, and takes the keys. Throws FormatError (the link), HubError (the
 * invitation: `gone`, `not_found`), HubUnreachable, CompanionError `refused`, `tooLate`, `untrusted`.
 * @param {import("./device.js").Device} device
 * @param {string} link
 * @param {string} name 1 to 64 bytes
 * @param {{ waiting?: () => void, signal?: AbortSignal }} options `waiting`: the hub has the request, the owner has to agree
 * @returns {Promise<Admitted>}
 */
export async function pair(device, link, name, { waiting, signal } = {}) {
    const invitation = readLink(link);
    if (await device.store.fact("device", null)) {
        throw new CompanionError("alreadyPaired", "This device is paired already; remove it here before it is paired again.");
    }
    // It was revoked: from now on it keeps something again.
    if (await device.store.fact(revokedFact, false)) await device.store.erase();
    const [signing, box] = [await freshPair(), await freshPair()];
    const token = randomBytes(32);
    const facts = {
        hub: invitation.hub, household: invitation.household, computer: invitation.computer, name, token,
        device: await deviceID(signing.point), deviceSecret: randomBytes(32),
    };
    const sealed = await sealJoin(invitation, { signingKey: signing.point, boxKey: box.point, name });
    await device.store.write({ facts: { unfinished: { hub: facts.hub, token } } });
    const hub = new HubClient(facts.hub, token, device.time);
    await hub.join(invitation.id, { proof: await proofOf(invitation), device: facts.device, tokenHash: await sha256(token), sealed });
    wipe(invitation.secret);
    waiting?.();
    const end = device.time.now() + patience;
    await until(device.time, end, signal, async () => {
        try {
            return (await hub.ownDevice()).state === "active" || null;
        } catch (error) {
            if (!(error instanceof HubError) || error.code !== "unauthorized") throw error;
            throw new CompanionError("refused", "The owner did not agree; pair again.");
        }
    });
    const roster = await checkedRoster(hub, facts, signing.point, box.point);
    const household = facts.household;
    const keys = await UnlockedKeys.from(
        household, randomBytes(32), new KeyRing(UnlockedKeys.ownEntries(household, signing.scalar, box.scalar)));
    await until(device.time, end, signal, () => takeKeys(hub, roster, keys));
    return { facts, keys, roster };
}

/**
 * Asks again until there is a value.
 * @template Value
 * @param {import("../protocol/time.js").Time} time
 * @param {number} end
 * @param {AbortSignal | undefined} signal
 * @param {() => Promise<Value | null>} ask
 */
export async function until(time, end, signal, ask) {
    for (;;) {
        const value = await ask();
        if (value !== null) return value;
        if (signal?.aborted || time.now() > end) {
            throw new CompanionError("tooLate", "The owner did not agree in time; pair again.");
        }
        await time.sleep(700, signal);
    }
}

/**
 * The list of devices, if it is that of the link and has this device's own keys.
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
        throw untrusted("The hub serves a list of devices that somebody changed; it can't be trusted.");
    }
    if (roster.household !== facts.household) {
        throw untrusted("The hub serves another household's devices; it can't be trusted.");
    }
    if (roster.member(facts.computer)?.role !== "computer") {
        throw untrusted("Whoever gave the link is not in the household.");
    }
    const own = roster.member(facts.device);
    if (own?.role !== role || !equalInConstantTime(own.signingKey, signingPoint) || !equalInConstantTime(own.boxKey, boxPoint)) {
        throw untrusted("The hub lists other keys than this device's; it can't be trusted.");
    }
    return roster;
}

/**
 * Null where they are not there yet.
 * @param {HubClient} hub
 * @param {Roster} roster
 * @param {UnlockedKeys} keys
 */
async function takeKeys(hub, roster, keys) {
    let record;
    try {
        record = await hub.record("keys", keys.device);
    } catch (error) {
        if (error instanceof HubError && error.code === "not_found") return null;
        throw error;
    }
    try {
        const checked = await checkRecord(roster, record, 0);
        if (checked.name.collection !== "keys" || checked.name.id !== keys.device) throw new Error("another record");
        await keys.add(checked);
    } catch {
        throw untrusted("The keys that the hub serves are not from a computer of the household.");
    }
    return keys;
}

/**
 * Tells the hub to forget a device that was admitted and never got its gate.
 * @param {import("./device.js").Device} device
 */
export async function forgetUnfinished(device) {
    const unfinished = await device.store.fact("unfinished", /** @type {{ hub: string, token: Uint8Array } | null} */ (null));
    if (!unfinished) return;
    await new HubClient(unfinished.hub, unfinished.token, device.time).leave().catch(() => {});
    await device.store.write({ facts: { unfinished: null } });
}

