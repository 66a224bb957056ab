// The members of a shared vault: each one admits and revokes devices, and may leave. docs/formats.md, "Shared vaults".
import { randomBytes, randomID, textOf, utf8 } from "../../crypto/bytes.js";
import { FormatError } from "../../crypto/errors.js";
import { openJoin, proofHashOf, vaultLink } from "../../crypto/invitation.js";
import { ringKind } from "../../crypto/ring.js";
import { admitting, revoking } from "../../crypto/roster-writing.js";
import { deviceID, sealedBytes, signRecord } from "../../crypto/signature.js";
import { sealEnvelope } from "../../crypto/envelope.js";
import { HubError } from "../../hub/errors.js";
import { CompanionError } from "../../household/errors.js";
import { openStored } from "../../household/keys.js";
import { ownerTag, sharedVaultID } from "../../sync/vault-keys.js";

/** @typedef {import("../../crypto/invitation.js").Invitation} Invitation */
/**
 * `owner`: null if it does not report one. `isConnected`: null while offline.
 * @typedef {{ id: string, name: string, owner: string | null, isThis: boolean, isConnected: boolean | null }}
 *   VaultMember
 */
/** @typedef {{ device: string, name: string, joining: import("../../crypto/invitation.js").Joining }} Asking */

const lifetime = 300;
const attempts = 4;
const about = "about";
const longestVaultName = 64;

/** @param {string} name */
export const cutVaultName = (name) => [...name.trim()].slice(0, longestVaultName).join("");

/** @param {string} typed */
export const vaultNameProblem = (typed) => (typed === "" ? "A vault needs a name."
    : [...typed].length > longestVaultName ? "This name is too long; use fewer letters." : null);

export class VaultMembership {
    /** @param {Companion} companion of the vault @param {string} ownDevice this device in its own household */
    constructor(companion, ownDevice) {
        this.companion = companion;
        this.device = companion.device;
        this.ownDevice = ownDevice;
    }

    get #signer() {
        return { id: this.device.keys.device, key: this.device.keys.signingKey };
    }

    /**
     * All members, this device first.
     * @returns {Promise<VaultMember[]>}
     */
    async members() {
        const devices = await this.companion.household.devices();
        return devices.map(({ id, name, owner, isThis, atHub }) =>
            ({ id, name, owner, isThis, isConnected: atHub && atHub.isConnected }))
            .sort((one, other) => Number(other.isThis) - Number(one.isThis) || one.name.localeCompare(other.name));
    }

    /**
     * The member that a device of this household reports to be.
     * @param {VaultMember[]} members
     * @param {string} device
     */
    async memberOf(members, device) {
        const { household } = this.device.paired;
        for (const member of members) {
            if (member.owner === (await ownerTag(household, member.id, device))) return member;
        }
        return null;
    }

    get count() {
        return this.device.roster.members.length;
    }

    // Admitting

    /**
     * A link for one device, valid for five minutes. Throws HubError, HubUnreachable.
     * @returns {Promise<{ invitation: Invitation, link: string, expires: number }>} `expires`: milliseconds since 1970
     */
    async invite() {
        const { hub, household, device } = this.device.paired;
        const invitation = { hub, household, computer: device, id: randomID(), secret: randomBytes(32) };
        await this.device.hub.invite({
            id: invitation.id, proofHash: await proofHashOf(invitation), expiresInSeconds: lifetime,
        });
        return { invitation, link: vaultLink(invitation), expires: this.device.time.now() + lifetime * 1000 };
    }

    /**
     * The device that joined by the invitation, or null. Throws CompanionError `untrusted` if that device does not have
     * the link, `tooLate`; HubUnreachable.
     * @param {Invitation} invitation
     * @returns {Promise<Asking | null>}
     */
    async asking(invitation) {
        let joined;
        try {
            joined = await this.device.hub.joined(invitation.id);
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
            return { device: joined.device, name: joining.name, joining };
        } catch {
            await this.withdraw(invitation);
            throw new CompanionError("untrusted",
                "A device without the link tried to join and was not admitted. Create another invitation.");
        }
    }

    /**
     * Ends the invitation: a device that waits is refused.
     * @param {Invitation} invitation
     */
    async withdraw(invitation) {
        await this.device.hub.withdraw(invitation.id).catch((error) => {
            if (!(error instanceof HubError)) throw error;
        });
    }

    /**
     * Admits the device and sends it every key, so that it reads all content. Throws HubError, HubUnreachable.
     * @param {Invitation} invitation
     * @param {Asking} asking
     */
    async admit(invitation, { device, joining: { signingKey, boxKey } }) {
        await this.#append(async (roster) => (roster.member(device) ? null : {
            entry: await admitting(roster, { role: "computer", signingKey, boxKey }, this.#signer,
                this.device.time.now() / 1000),
            change: { admit: { device, role: "computer", invitation: invitation.id } },
        }));
        await this.device.beforeSending();
    }

    // Revoking

    /**
     * Revokes the device and replaces the keys. Throws HubError, HubUnreachable.
     * @param {string} member
     * @returns {Promise<boolean>} false where another member was faster
     */
    async remove(member) {
        const isRemoved = await this.#revoke(member);
        await this.device.beforeSending();
        return isRemoved;
    }

    /**
     * This device leaves, and the others replace the keys. After the last one the hub deletes the vault. Throws
     * HubError, HubUnreachable: then it is still a member.
     */
    async leave() {
        try {
            await this.device.followRoster();
            if (this.count > 1) await this.#revoke(this.device.keys.device);
            else await this.device.hub.removeHousehold();
        } catch (error) {
            // It was revoked before.
            if (!(error instanceof HubError) || error.code !== "unauthorized") throw error;
        }
    }

    /** @param {string} member */
    #revoke(member) {
        return this.#append(async (roster) => (roster.member(member) ? {
            entry: await revoking(roster, member, this.#signer, this.device.time.now() / 1000),
            change: { revoke: { device: member } },
        } : null));
    }

    /**
     * Another member may change the list concurrently.
     * @param {(roster: import("../../crypto/roster.js").Roster) => Promise<{ entry: Uint8Array,
     *   change: HubAPI.RosterChange } | null>} make null where nothing is to do
     * @returns {Promise<boolean>} whether something was
     */
    async #append(make) {
        for (let attempt = 1; ; attempt += 1) {
            await this.device.followRoster();
            const { roster } = this.device;
            const made = await make(roster);
            if (!made) return false;
            try {
                await this.device.hub.append(roster.number + 1, made.entry, made.change);
                // The hub refuses a device that revoked itself.
                const revoked = "revoke" in made.change ? made.change.revoke.device : null;
                if (revoked !== this.device.keys.device) await this.device.followRoster();
                return true;
            } catch (error) {
                if (!(error instanceof HubError) || error.code !== "conflict" || attempt === attempts) throw error;
            }
        }
    }

    // Names

    /**
     * What the members call the vault; null while it is unknown here.
     * @returns {Promise<string | null>}
     */
    async name() {
        const { keys } = this.device;
        const { record } = await this.device.stored(about, await sharedVaultID(keys.household));
        const sealed = record && sealedBytes(record);
        if (!sealed) return null;
        try {
            const { name } = JSON.parse(textOf(await keys.openContent(record, sealed)));
            return typeof name === "string" && name.trim() !== ""
                ? [...name].slice(0, longestVaultName).join("")
                : null;
        } catch {
            return null;
        }
    }

    /**
     * For all members. Durable when it returns. Throws CompanionError `locked`, StoreError.
     * @param {string} name
     */
    async rename(name) {
        const id = await sharedVaultID(this.device.keys.household);
        await this.companion.editor.exclusive(async (keys) => {
            const { key, line, row } = await this.device.stored(about, id);
            const revision = Math.max(line?.record.revision ?? 0, row?.record.revision ?? 0) + 1;
            const replaces = line?.record.replaces ?? row?.record.revision ?? 0;
            const record = await keys.sealContent({ vault: id, collection: about, id, revision }, { name }, replaces);
            await this.companion.editor.commit({ waiting: [{ key, record }] });
        });
    }

    /** Publishes this device's name for the other members, and its owner for its household; once. */
    async publishOwnName() {
        const { keys, paired: { name, household } } = this.device;
        const { key, line, row, record: known } = await this.device.stored("devices", keys.device);
        const owner = await ownerTag(household, keys.device, this.ownDevice);
        if (known && (await openStored(this.device, known, "devices"))?.owner === owner) return;
        const status = keys.ring.current(ringKind.status, keys.household);
        if (!status) return;
        const place = {
            vault: keys.household, collection: "devices", id: keys.device, revision: (known?.revision ?? 0) + 1,
        };
        const sealed = await sealEnvelope(utf8(JSON.stringify({ name, owner })), place, status.key, status.epoch);
        const replaces = line?.record.replaces ?? row?.record.revision ?? 0;
        const record = await signRecord(keys.signingKey, place,
            { epoch: status.epoch, author: keys.device, sealed, replaces });
        await this.companion.editor.commit({ waiting: [{ key, record }] });
    }
}
