// The recovery sheet of a household that a phone founded: a device whose keys come from the code on the sheet.
// docs/formats.md, "Households of phones".
import { equalInConstantTime, isID, randomBytes, wipe } from "../crypto/bytes.js";
import { derivedDevice, derivedToken } from "../crypto/derived-device.js";
import { KeyRing, ringKind } from "../crypto/ring.js";
import { HubClient } from "../hub/client.js";
import { HubError } from "../hub/errors.js";
import { checkedRoster, receiveSharedKeys, rosterOf, untrusted } from "./admission.js";
import { admit, createInvitation, revokeMember } from "./administration.js";
import { nameRecord } from "./device-names.js";
import { CompanionError } from "./errors.js";
import { freshIdentity, requestToJoin } from "./identity.js";
import { UnlockedKeys } from "./keys.js";
import { requireUnpaired } from "./pairing.js";
import { epochOf } from "./shared-keys.js";

/** @typedef {import("./pairing.js").Admitted} Admitted */
/** @typedef {import("../crypto/roster.js").Roster} Roster */

const purpose = "applocker/1/sheet";
const sheetName = "Recovery sheet";

/** What `requestToJoin` and the roster have of an identity. */
const asking = (/** @type {import("./identity.js").Identity} */ { id, signing, box }) =>
    ({ device: id, joining: { signingKey: signing.point, boxKey: box.point, name: sheetName } });

const refused = () => new CompanionError("refused",
    "This sheet does not work here: a newer one replaced it, it was revoked, or it belongs to another hub.");

/**
 * Makes the sheet of this code a device of the household; sheets from before are revoked. Throws HubError,
 * HubUnreachable, StoreError.
 * @param {DeviceSession} device
 * @param {Uint8Array} secret of the code that was verified
 * @param {string[]} older sheets, by id
 * @returns {Promise<{ key: string, record: HubRecord } | null>} its name, to be sent
 */
export async function addSheet(device, secret, older) {
    const sheet = await derivedDevice(secret, purpose, device.paired.household);
    const invited = await createInvitation(device, "administrator");
    await requestToJoin(invited.invitation, sheet, sheetName);
    await admit(device, invited.invitation, asking(sheet));
    for (const id of older) await revokeMember(device, id);
    return nameRecord(device, sheet.id, { name: sheetName, sheet: true }, (known) => known.sheet === true);
}

/**
 * Admits this new phone by a sheet. `household`: null for a typed code, which has none. Throws CompanionError
 * `refused`, `untrusted`, `noKey`, HubError, HubUnreachable.
 * @param {DeviceSession} device
 * @param {{ hub: string, household: string | null, secret: Uint8Array }} sheet
 * @param {string} name of this device, 1 to 64 bytes
 * @returns {Promise<Admitted>}
 */
export async function recover(device, { hub, household: named, secret }, name) {
    await requireUnpaired(device);
    const client = new HubClient(hub, await derivedToken(secret, purpose));
    const household = await householdOf(client);
    if (named !== null && named !== household) throw untrusted("The hub answered for another household.");
    const sheet = await derivedDevice(secret, purpose, household);
    const roster = await sheetRoster(client, household, sheet);
    const keys = await UnlockedKeys.from(household, randomBytes(32),
        new KeyRing(UnlockedKeys.ownEntries(household, sheet.signing.scalar, sheet.box.scalar)));
    try {
        await receiveNewest(client, roster, keys);
        return await admitted(device, client, hub, roster, keys, name);
    } finally {
        wipe(sheet.signing.scalar, sheet.box.scalar, sheet.token);
        keys.wipe();
    }
}

/** @param {HubClient} client with the sheet's token */
async function householdOf(client) {
    try {
        const { household } = await client.ownDevice();
        if (isID(household)) return household;
    } catch (error) {
        throw error instanceof HubError && error.code === "unauthorized" ? refused() : error;
    }
    throw untrusted("The hub’s answer is invalid.");
}

/** @param {HubClient} client @param {string} household @param {import("./identity.js").Identity} sheet */
async function sheetRoster(client, household, sheet) {
    const roster = await rosterOf(client, household);
    if (roster.revoked.has(sheet.id)) throw refused();
    const member = roster.member(sheet.id);
    if (member?.role !== "administrator" || !equalInConstantTime(member.boxKey, sheet.box.point)) {
        throw untrusted("The hub returned a list of devices without this sheet.");
    }
    return roster;
}

/**
 * The keys of the newest epoch that has some: after a revocation nobody may have made new ones yet.
 * @param {HubClient} client
 * @param {Roster} roster
 * @param {UnlockedKeys} keys
 */
async function receiveNewest(client, roster, keys) {
    for (let epoch = epochOf(roster); epoch > 0; epoch -= 1) {
        if (await receiveSharedKeys(client, roster, keys, epoch)) return;
    }
    throw new CompanionError("noKey",
        "The hub has no keys for this sheet; open AppLocker on another phone of the household, then try again.");
}

/**
 * @param {DeviceSession} device
 * @param {HubClient} client
 * @param {string} hub
 * @param {Roster} roster
 * @param {UnlockedKeys} sheetKeys
 * @param {string} name
 * @returns {Promise<Admitted>}
 */
async function admitted(device, client, hub, roster, sheetKeys, name) {
    const { household, device: computer } = sheetKeys;
    const own = await freshIdentity();
    const facts = { hub, household, computer, name, token: own.token, device: own.id, deviceSecret: randomBytes(32) };
    await device.store.write({ facts: { unfinished: { hub, token: own.token } } });
    /** @type {import("./administration.js").Administrator} */
    const sheet = {
        paired: { ...facts, device: computer }, member: facts, hub: client, time: device.time, keys: sheetKeys, roster,
        async followRoster() {
            sheet.roster = await sheet.roster.following(await client.roster(sheet.roster.number - 1));
        },
        // This phone sends itself the keys, which it has from the sheet.
        async beforeSending() {},
    };
    const { invitation } = await createInvitation(sheet, "administrator");
    await requestToJoin(invitation, own, name);
    await admit(sheet, invitation, asking(own));
    const ring = new KeyRing([...UnlockedKeys.ownEntries(household, own.signing.scalar, own.box.scalar),
        ...sheetKeys.ring.entries.filter(({ kind }) => kind !== ringKind.device)
            .map((entry) => ({ ...entry, key: entry.key.slice() }))]);
    return {
        facts, keys: await UnlockedKeys.from(household, randomBytes(32), ring),
        roster: await checkedRoster(client, facts, own.signing.point, own.box.point, "administrator"),
    };
}
