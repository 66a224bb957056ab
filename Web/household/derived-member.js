// Admits this device by one whose keys are derived from a secret: a recovery sheet, or a shared vault's spare member.
// docs/formats.md, "Households of phones".
import { equalInConstantTime, randomBytes, wipe } from "../crypto/bytes.js";
import { KeyRing, ringKind } from "../crypto/ring.js";
import { HubClient } from "../hub/client.js";
import { checkedRoster, receiveSharedKeys, rosterOf, untrusted } from "./admission.js";
import { admit, appendRevocation, createInvitation } from "./administration.js";
import { CompanionError } from "./errors.js";
import { freshIdentity, requestToJoin } from "./identity.js";
import { UnlockedKeys } from "./keys.js";
import { epochOf } from "./shared-keys.js";

/** @typedef {import("../crypto/roster.js").Roster} Roster */
/** @typedef {import("./identity.js").Identity} Identity */
/** @typedef {import("../sync/device-session.js").DeviceFacts} DeviceFacts */
/**
 * `begins` is called before the hub is asked to admit the new device; `keep` stores what it is, and if that fails the
 * device is revoked again, because its keys are lost.
 * @typedef {{ hub: string, household: string, role: "computer" | "administrator", name: string,
 *   time: import("../hub/time.js").Time, refused: () => CompanionError, begins?: (facts: DeviceFacts) => Promise<void>,
 *   keep?: (admitted: Admitted) => Promise<unknown> }} Admission
 * @typedef {{ facts: DeviceFacts, ring: KeyRing, roster: Roster }} Admitted
 */

/**
 * What the new device stores; its ring has its own keys too. Throws CompanionError `untrusted`, `noKey`, and `refused`
 * where the derived device was revoked; HubError, HubUnreachable.
 * @param {Identity} derived wiped
 * @param {Admission} admission
 * @returns {Promise<Admitted>}
 */
export async function admitByDerived(derived, admission) {
    const { hub, household } = admission;
    const client = new HubClient(hub, derived.token);
    const keys = await UnlockedKeys.from(household, randomBytes(32),
        new KeyRing(UnlockedKeys.ownEntries(household, derived.signing.scalar.slice(), derived.box.scalar.slice())));
    try {
        const roster = await derivedRoster(client, derived, admission);
        await receiveNewest(client, roster, keys);
        return await admitted(client, roster, keys, admission);
    } finally {
        wipe(derived.signing.scalar, derived.box.scalar, derived.token);
        keys.wipe();
    }
}

/** @param {HubClient} client @param {Identity} derived @param {Admission} admission */
async function derivedRoster(client, derived, { household, role, refused }) {
    const roster = await rosterOf(client, household);
    if (roster.revoked.has(derived.id)) throw refused();
    const member = roster.member(derived.id);
    if (member?.role !== role || !equalInConstantTime(member.boxKey, derived.box.point)) {
        throw untrusted("The hub returned a list of devices without the one that opens it.");
    }
    return roster;
}

/**
 * The keys of the newest epoch that has some: after a revocation the new epoch may have no keys yet.
 * @param {HubClient} client
 * @param {Roster} roster
 * @param {UnlockedKeys} keys
 */
async function receiveNewest(client, roster, keys) {
    for (let epoch = epochOf(roster); epoch > 0; epoch -= 1) {
        if (await receiveSharedKeys(client, roster, keys, epoch)) return;
    }
    throw new CompanionError("noKey",
        "The hub has no keys for it yet; open AppLocker on another phone that has them, then try again.");
}

/**
 * @param {HubClient} client
 * @param {Roster} roster
 * @param {UnlockedKeys} keys of the derived device
 * @param {Admission} admission
 */
async function admitted(client, roster, keys, { hub, household, role, name, time, begins, keep }) {
    const own = await freshIdentity();
    const facts = {
        hub, household, computer: keys.device, name, token: own.token, device: own.id, deviceSecret: randomBytes(32),
    };
    await begins?.(facts);
    /** @type {import("./administration.js").Administrator} */
    const administrator = {
        paired: { ...facts, device: keys.device }, member: facts, hub: client, time, keys, roster,
        async followRoster() {
            administrator.roster = await administrator.roster.following(
                await client.roster(administrator.roster.number - 1));
        },
        // The new device sends itself the keys, which it has from the derived one.
        async beforeSending() {},
    };
    const { invitation } = await createInvitation(administrator, role);
    await requestToJoin({ ...invitation, hub }, own, name);
    await admit(administrator, invitation,
        { device: own.id, joining: { signingKey: own.signing.point, boxKey: own.box.point, name } });
    const ring = new KeyRing([...UnlockedKeys.ownEntries(household, own.signing.scalar, own.box.scalar),
        ...keys.ring.entries.filter(({ kind }) => kind !== ringKind.device)
            .map((entry) => ({ ...entry, key: entry.key.slice() }))]);
    try {
        const admittedDevice = {
            facts, ring, roster: await checkedRoster(client, facts, own.signing.point, own.box.point, role),
        };
        await keep?.(admittedDevice);
        return admittedDevice;
    } catch (error) {
        if (keep) await appendRevocation(administrator, own.id).catch((cause) => console.warn(cause));
        throw error;
    }
}
