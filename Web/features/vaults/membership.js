// The members of a shared vault: each one admits and revokes devices, and may leave. docs/formats.md, "Shared vaults".
import { textOf } from "../../crypto/bytes.js";
import { vaultLink } from "../../crypto/invitation.js";
import { sealedBytes } from "../../crypto/signature.js";
import { HubError } from "../../hub/errors.js";
import { admit, askingBy, createInvitation, leaveHousehold, revokeMember,
    withdraw } from "../../household/administration.js";
import { nameRecord } from "../../household/device-names.js";
import { ownerTag, sharedVaultID } from "../../household/shared-keys.js";
import { nameAmong } from "../../formats/remark-format.js";

/** @typedef {import("../../crypto/invitation.js").Invitation} Invitation */
/**
 * `owner`: null if it does not report one. `spareOf`: the member whose other phones it
 * admits. `isConnected`: null while offline.
 * @typedef {{ id: string, name: string, owner: string | null, isThis: boolean, spareOf: string | null,
 *   isConnected: boolean | null }} VaultMember
 */
/** @typedef {import("../../household/administration.js").Asking} Asking */

const about = "about";
const longestVaultName = 64;

/** @param {string} name */
export const cutVaultName = (name) => [...name.trim()].slice(0, longestVaultName).join("");

/** @param {string} typed */
export const vaultNameProblem = (typed) => (typed === "" ? "A vault needs a name."
    : [...typed].length > longestVaultName ? "This name is too long; use fewer letters." : null);

/**
 * How many devices they are, without spare members.
 * @param {{ spareOf: string | null }[]} members
 */
export const membersShown = (members) => members.filter(({ spareOf }) => spareOf === null).length;

export class VaultMembership {
    /** @param {Companion} companion of the vault @param {string} ownDevice this device in its own household */
    constructor(companion, ownDevice) {
        this.companion = companion;
        this.device = companion.device;
        this.ownDevice = ownDevice;
    }

    /**
     * All members, this device first. Equal names have the start of their ids.
     * @returns {Promise<VaultMember[]>}
     */
    async members() {
        const devices = await this.#withSpares(await this.companion.household.devices());
        const names = new Map(devices.map(({ id, name }) => [id, name]));
        return devices.map(({ id, owner, isThis, spareOf, atHub }) => ({
            id, name: nameAmong(names, id) || id.slice(0, 8), owner, isThis, spareOf,
            isConnected: atHub && atHub.isConnected,
        }))
            .sort((one, other) => Number(other.isThis) - Number(one.isThis) || one.name.localeCompare(other.name));
    }

    /**
     * The members that a device of this household reports to be: itself, and a spare that it made.
     * @param {VaultMember[]} members
     * @param {string} device
     */
    async membersOf(members, device) {
        const { household } = this.device.paired;
        const tags = await Promise.all(members.map(({ id }) => ownerTag(household, id, device)));
        return members.filter(({ owner }, index) => owner === tags[index]);
    }

    /** How many devices share it, without spare members. */
    async countShown() {
        return membersShown(await this.#withSpares(await this.companion.household.members()));
    }

    /**
     * A device can report to be anybody's spare: it is one only if that member admitted it and is no spare itself. This
     * device recognizes its own by their owner.
     * @template {import("../../household/household.js").Member} One
     * @param {One[]} members
     */
    #withSpares(members) {
        const { household } = this.device.paired;
        return Promise.all(members.map(async (member) => {
            const maker = members.find(({ id }) => id === member.spareOf);
            const isSpare = maker && maker !== member && maker.spareOf === null
                && this.device.roster.member(member.id)?.admittedBy === maker.id
                && (!maker.isThis || member.owner === await ownerTag(household, member.id, this.ownDevice));
            return isSpare ? member : { ...member, spareOf: null };
        }));
    }

    // Admitting

    /**
     * A link for one device, valid for five minutes. Throws HubError, HubUnreachable.
     * @returns {Promise<import("../../ui/invite-sheet.js").ShownInvitation>}
     */
    async invite() {
        const { qrCode } = await import("../../formats/qr-code.js");
        const made = await createInvitation(this.device, "computer", "vault");
        const link = vaultLink(made.invitation);
        return { ...made, link, modules: qrCode(link) };
    }

    /** @param {Invitation} invitation Throws as `askingBy`. */
    asking(invitation) {
        return askingBy(this.device, invitation);
    }

    /** @param {Invitation} invitation */
    withdraw(invitation) {
        return withdraw(this.device, invitation);
    }

    /** @param {Invitation} invitation @param {Asking} asking Throws as `admit`. */
    admit(invitation, asking) {
        return admit(this.device, invitation, asking);
    }

    // Revoking

    /**
     * Revokes a member with its spares. Throws as `revokeMember`.
     * @param {string} member
     * @returns {Promise<import("../../household/administration.js").Revoked>}
     */
    async remove(member) {
        const all = await this.#withSpares(await this.companion.household.members());
        const spares = all.filter(({ spareOf }) => spareOf === member);
        for (const { id } of spares) await revokeMember(this.device, id);
        return revokeMember(this.device, member);
    }

    /**
     * This device leaves, and the others replace the keys. After the last one the hub deletes the vault. Throws
     * HubError, HubUnreachable: then it is still a member.
     */
    async leave() {
        try {
            await leaveHousehold(this.device);
        } catch (error) {
            // It was revoked before.
            if (!(error instanceof HubError) || error.code !== "unauthorized") throw error;
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
        const owner = await ownerTag(household, keys.device, this.ownDevice);
        const record = await nameRecord(this.device, keys.device, { name, owner }, (known) => known.owner === owner);
        if (record) await this.companion.editor.commit({ waiting: [record] });
    }
}
