// Creates a shared vault, or joins one by an invitation. docs/formats.md, "Shared vaults".
import { randomBytes, wipe } from "../../crypto/bytes.js";
import { readVaultLink } from "../../crypto/invitation.js";
import { importPrivate } from "../../crypto/p256.js";
import { sha256 } from "../../crypto/primitives.js";
import { KeyRing } from "../../crypto/ring.js";
import { foundedBy } from "../../crypto/roster-writing.js";
import { HubClient } from "../../hub/client.js";
import { HubError } from "../../hub/errors.js";
import { firstDrawers } from "../../household/private-storage.js";
import { CompanionError } from "../../household/errors.js";
import { freshIdentity, requestToJoin } from "../../household/identity.js";
import { UnlockedKeys } from "../../household/keys.js";
import { checkedRoster, patience, receiveSharedKeys, until, untilAdmitted } from "../../household/admission.js";
import { epochOf, sharedVaultID, withEpoch } from "../../household/shared-keys.js";

/** @typedef {import("../../sync/device-session.js").DeviceFacts} DeviceFacts */
/** @typedef {import("../../crypto/roster.js").Roster} Roster */
/**
 * What a device needs to open a shared vault: `facts` and `rootKey` are sealed in its list of vaults, `written` is for
 * the vault's own database.
 * @typedef {{ facts: DeviceFacts, rootKey: Uint8Array, written: Record<string, unknown> }} Membership
 */

/**
 * @param {DeviceFacts} facts
 * @param {Uint8Array} rootKey
 * @param {KeyRing} ring
 * @param {Roster} roster
 * @returns {Promise<Membership>}
 */
const membership = async (facts, rootKey, ring, roster) =>
    ({ facts, rootKey, written: { roster: roster.entries, ...(await firstDrawers({ ring, kept: {} }, rootKey)) } });

/**
 * A vault with this device alone. Throws HubError, HubUnreachable.
 * @param {DeviceSession} main the companion's own, whose hub it is at
 * @param {string} name of this device for the others
 * @param {{ isLocal?: boolean }} options `isLocal`: only on this device, unknown to the hub
 */
export async function foundVault(main, name, { isLocal = false } = {}) {
    const { id: device, signing, box, token } = await freshIdentity();
    const key = await importPrivate(signing.scalar, signing.point, "ECDSA");
    const roster = await foundedBy({ signingKey: signing.point, boxKey: box.point }, key, main.time.now() / 1000);
    const { household } = roster;
    if (!isLocal) {
        await main.hub.found({ household, device, entry: roster.entries[0], tokenHash: await sha256(token) });
    }
    const own = new KeyRing(UnlockedKeys.ownEntries(household, signing.scalar, box.scalar));
    const ring = withEpoch(own, household, await sharedVaultID(household), epochOf(roster));
    const facts = {
        hub: isLocal ? "" : main.paired.hub, household, computer: device, device, name, token,
        deviceSecret: new Uint8Array(),
    };
    return membership(facts, randomBytes(32), ring, roster);
}

/**
 * Joins, waits for the member who invited, checks the list of members, and receives the keys. Throws FormatError (the
 * link), HubError (`gone`, `not_found`), HubUnreachable, CompanionError `otherHub`, `refused`, `tooLate`, `untrusted`.
 * @param {DeviceSession} main
 * @param {string} link
 * @param {string} name of this device for the others, 1 to 64 bytes
 * @param {{ waiting?: (words: string[]) => void, signal?: AbortSignal }} options `waiting`: now the other one has to
 *   agree, and shows the same words
 */
export async function joinVault(main, link, name, { waiting, signal } = {}) {
    const invitation = readVaultLink(link);
    if (new URL(invitation.hub).origin !== new URL(main.paired.hub).origin) {
        throw new CompanionError("otherHub",
            `This vault is at another hub, ${invitation.hub}; a vault can be shared only by devices of one hub.`);
    }
    const identity = await freshIdentity();
    const { id: device, signing, box, token } = identity;
    const { household } = invitation;
    const facts = {
        hub: main.paired.hub, household, computer: invitation.computer, device, name, token,
        deviceSecret: new Uint8Array(),
    };
    const hub = new HubClient(facts.hub, token);
    let words;
    try {
        words = await requestToJoin({ ...invitation, hub: facts.hub }, identity, name);
    } catch (error) {
        throw refusalOf(error);
    } finally {
        wipe(invitation.secret);
    }
    waiting?.(words);
    const end = main.time.now() + patience;
    await untilAdmitted(hub, main.time, end, signal, "The other member did not confirm; ask for another invitation.");
    const ring = new KeyRing(UnlockedKeys.ownEntries(household, signing.scalar, box.scalar));
    const keys = await UnlockedKeys.from(household, randomBytes(32), ring);
    const roster = await until(main.time, end, signal, async () => {
        const now = await checkedRoster(hub, facts, signing.point, box.point, "computer");
        return (await receiveSharedKeys(hub, now, keys)) ? now : null;
    });
    return membership(facts, keys.rootKey, keys.ring, roster);
}

/** @param {unknown} error of joining */
function refusalOf(error) {
    if (!(error instanceof HubError)) return error;
    switch (error.code) {
        case "gone":
        case "conflict":
            return new CompanionError("refused", "This invitation was used or has expired; ask for another one.");
        case "not_found":
            return new CompanionError("refused",
                "There is no such invitation: the link is incomplete, or it was withdrawn. Ask for another one.");
        default:
            return error;
    }
}
