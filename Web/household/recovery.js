// The recovery sheet of a household that a phone founded: a device whose keys come from the code on the sheet.
// docs/formats.md, "Households of phones".
import { isID, randomBytes } from "../crypto/bytes.js";
import { derivedDevice, derivedToken } from "../crypto/derived-device.js";
import { HubClient } from "../hub/client.js";
import { HubError } from "../hub/errors.js";
import { untrusted } from "./admission.js";
import { admit, createInvitation, revokeMember } from "./administration.js";
import { admitByDerived } from "./derived-member.js";
import { nameRecord } from "./device-names.js";
import { CompanionError } from "./errors.js";
import { requestToJoin } from "./identity.js";
import { UnlockedKeys } from "./keys.js";
import { requireUnpaired } from "./pairing.js";

/** @typedef {import("./pairing.js").Admitted} Admitted */

const purpose = "applocker/1/sheet";
const sheetName = "Recovery sheet";

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
    const { id, signing, box, token } = await derivedDevice(secret, purpose, device.paired.household);
    const { invitation } = await createInvitation(device, "administrator");
    await requestToJoin(invitation, { id, signing, box, token }, sheetName);
    const joining = { signingKey: signing.point, boxKey: box.point, name: sheetName };
    await admit(device, invitation, { device: id, joining });
    for (const one of older) await revokeMember(device, one);
    return nameRecord(device, id, { name: sheetName, sheet: true }, (known) => known.sheet === true);
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
    const household = await householdOf(new HubClient(hub, await derivedToken(secret, purpose)));
    if (named !== null && named !== household) throw untrusted("The hub answered for another household.");
    const { facts, ring, roster } = await admitByDerived(await derivedDevice(secret, purpose, household), {
        hub, household, role: "administrator", name, time: device.time, refused,
        begins: ({ token }) => device.store.write({ facts: { unfinished: { hub, token } } }),
    });
    return { facts, keys: await UnlockedKeys.from(household, randomBytes(32), ring), roster };
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
