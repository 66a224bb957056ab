// What a device that administers does: it invites, admits and revokes devices. docs/formats.md, "Roster" and "Pairing".
import { rememberAdmitted } from "./admitted.js";
import { base64, randomBytes, randomID } from "../crypto/bytes.js";
import { FormatError } from "../crypto/errors.js";
import { openJoin, proofHashOf } from "../crypto/invitation.js";
import { makeCode, sealDetails } from "../crypto/pairing-code.js";
import { wordsOf } from "../crypto/pairing-words.js";
import { admitting, revoking } from "../crypto/roster-writing.js";
import { deviceID } from "../crypto/signature.js";
import { HubError, HubUnreachable } from "../hub/errors.js";
import { CompanionError } from "./errors.js";

/** @typedef {import("../crypto/invitation.js").Invitation} Invitation */
/** @typedef {import("../crypto/roster.js").Roster} Roster */
/**
 * A device that joined. `words`: it shows the same.
 * @typedef {import("../crypto/invitation.js").Joining} Joining
 * @typedef {{ device: string, name: string, words: string[], joining: Joining }} Asking
 */
/**
 * `code`: that is typed instead of the link, if there is one. `expires`: milliseconds since 1970.
 * @typedef {{ invitation: Invitation, code: string | null, expires: number }} Invited
 */

/**
 * The hub has the revocation. `isNew`: false if the device was revoked before. `pending`: why the keys are not replaced
 * yet; the session does that before it sends anything.
 * @typedef {{ isNew: boolean, pending: Error | null }} Revoked
 */

/**
 * What this needs of a device session; a recovery sheet has no store.
 * @typedef {Pick<DeviceSession, "paired" | "member" | "hub" | "time" | "keys" | "roster" | "followRoster" |
 *   "beforeSending">} Administrator
 */

/** Of an invitation, in seconds. */
const lifetime = 300;
const attempts = 4;

/** @param {Administrator} device */
const signerOf = ({ keys }) => ({ id: keys.device, key: keys.signingKey });

/** @param {Administrator} device */
const secondsOf = ({ time }) => time.now() / 1000;

/**
 * An invitation for one device, valid for five minutes. Throws HubError, HubUnreachable.
 * @param {Administrator} device
 * @param {"computer" | "administrator"} role
 * @param {import("../crypto/pairing-code.js").CodeKind | null} [codeKind] null: only a link; what types codes is a
 *   companion
 * @returns {Promise<Invited>}
 */
export async function createInvitation(device, role, codeKind = null) {
    const { hub, household, device: computer } = device.paired;
    const { text, ...made } = codeKind
        ? await makeCode()
        : { text: null, id: randomID(), secret: randomBytes(32) };
    const invitation = { hub, household, computer, ...made, role };
    await device.hub.invite({
        id: invitation.id, proofHash: await proofHashOf(invitation), expiresInSeconds: lifetime,
        details: codeKind ? await sealDetails(invitation, codeKind) : null,
    });
    return { invitation, code: text, expires: device.time.now() + lifetime * 1000 };
}

/**
 * The device that joined by the invitation, or null. Throws CompanionError `untrusted` if that device does not have the
 * link, `tooLate`; HubUnreachable.
 * @param {Administrator} device
 * @param {Invitation} invitation
 * @returns {Promise<Asking | null>}
 */
export async function askingBy(device, invitation) {
    let joined;
    try {
        joined = await device.hub.joined(invitation.id);
    } catch (error) {
        if (!(error instanceof HubError) || (error.code !== "gone" && error.code !== "not_found")) throw error;
        throw new CompanionError("tooLate", "The invitation has expired; create another one.");
    }
    if (!joined) return null;
    try {
        const joining = await openJoin(invitation, joined.sealed);
        if ((await deviceID(joining.signingKey)) !== joined.device) {
            throw new FormatError("damaged", "another device");
        }
        return { device: joined.device, name: joining.name, words: await wordsOf(invitation, joining), joining };
    } catch {
        await withdraw(device, invitation);
        throw new CompanionError("untrusted",
            "A device without the link tried to join and was not admitted. Create another invitation.");
    }
}

/**
 * Ends the invitation: a device that waits is refused.
 * @param {Administrator} device
 * @param {Invitation} invitation
 */
export async function withdraw(device, invitation) {
    await device.hub.withdraw(invitation.id).catch((error) => {
        if (!(error instanceof HubError)) throw error;
    });
}

/**
 * Admits the device and sends it every key, so that it reads all content. Throws HubError, HubUnreachable.
 * @param {Administrator} device
 * @param {Invitation} invitation
 * @param {Pick<Asking, "device" | "joining">} asking
 */
export async function admit(device, invitation, { device: id, joining: { signingKey, boxKey } }) {
    const role = /** @type {"computer" | "administrator"} */ (invitation.role);
    // First: an interrupted admission is finished by the next session with these keys.
    if (!device.member) await rememberAdmitted(/** @type {DeviceSession} */ (device), id);
    await appendToRoster(device, async (roster) => (roster.member(id) ? null : {
        entry: await admitting(roster, { role, signingKey, boxKey }, signerOf(device), secondsOf(device)),
        change: { admit: { device: id, role, invitation: invitation.id } },
    }));
    await device.followRoster();
    await device.beforeSending();
}

/**
 * Revokes the device and replaces the keys. Throws HubError, HubUnreachable: then it is not revoked, as far as this
 * device can see.
 * @param {Administrator} device
 * @param {string} member
 * @returns {Promise<Revoked>}
 */
export async function revokeMember(device, member) {
    const isNew = await appendRevocation(device, member);
    try {
        await device.followRoster();
        await device.beforeSending();
        return { isNew, pending: null };
    } catch (error) {
        // The revocation stands: reported as a failure it would be repeated, and then be nothing new.
        return { isNew, pending: error instanceof Error ? error : new Error(String(error)) };
    }
}

/** @param {Administrator} device @param {string} member */
export const appendRevocation = (device, member) => appendToRoster(device, async (roster) => (roster.member(member) ? {
    entry: await revoking(roster, member, signerOf(device), secondsOf(device)),
    change: { revoke: { device: member } },
} : null));

/**
 * This device revokes itself; after the last one the hub deletes the household. Throws HubError, HubUnreachable.
 * @param {Administrator & { hub: import("../hub/client.js").HubClient }} device
 */
export async function leaveHousehold(device) {
    await device.followRoster();
    if (device.roster.members.length > 1) await appendRevocation(device, device.keys.device);
    else await device.hub.removeHousehold();
}

/**
 * Another device may change the list concurrently.
 * @param {Administrator} device
 * @param {(roster: Roster) => Promise<{ entry: Uint8Array, change: HubAPI.RosterChange } | null>} make null where
 *   nothing is to do
 * @returns {Promise<boolean>} whether something was
 */
async function appendToRoster(device, make) {
    for (let attempt = 1; ; attempt += 1) {
        await device.followRoster();
        const { roster } = device;
        const made = await make(roster);
        if (!made) return false;
        try {
            await device.hub.append(roster.number + 1, made.entry, made.change);
            return true;
        } catch (error) {
            // The hub refuses a device that revoked itself.
            const isLeaving = "revoke" in made.change && made.change.revoke.device === device.keys.device;
            if (error instanceof HubUnreachable && !isLeaving && (await isAppended(device, made.entry))) return true;
            if (!(error instanceof HubError) || error.code !== "conflict" || attempt === attempts) throw error;
        }
    }
}

/**
 * Whether the hub has the entry, although its reply was lost.
 * @param {Administrator} device
 * @param {Uint8Array} entry
 */
async function isAppended(device, entry) {
    try {
        await device.followRoster();
    } catch {
        return false;
    }
    const text = base64(entry);
    return device.roster.entries.some((one) => base64(one) === text);
}
