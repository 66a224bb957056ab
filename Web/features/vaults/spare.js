// A household that a phone founded has a spare member in each of its shared vaults. Its keys come from a secret that is
// sealed in the household's own vault: it admits phones that recover, or are added. docs/formats.md, "Households of
// phones".
import { base64url, isID, randomBytes, textOf, unbase64url, utf8 } from "../../crypto/bytes.js";
import { derivedDevice } from "../../crypto/derived-device.js";
import { maximumName } from "../../crypto/invitation.js";
import { KeyRing } from "../../crypto/ring.js";
import { sealedBytes } from "../../crypto/signature.js";
import { HubClient } from "../../hub/client.js";
import { firstDrawers } from "../../household/private-storage.js";
import { admit, createInvitation, revokeMember } from "../../household/administration.js";
import { admitByDerived } from "../../household/derived-member.js";
import { nameRecord } from "../../household/device-names.js";
import { CompanionError } from "../../household/errors.js";
import { requestToJoin } from "../../household/identity.js";
import { UnlockedKeys } from "../../household/keys.js";
import { epochOf, ownerTag, sharedVaultID } from "../../household/shared-keys.js";

/** @typedef {import("./joining.js").Membership} Membership */
/**
 * The content of a record of the collection "vaults", whose id is the shared vault's household. `seed`: base64url; null
 * while phones of the household, `pins`, have a PIN of their own for the vault, which a spare member would bypass.
 * @typedef {{ hub: string, household: string, name: string, seed: string | null, pins: string[] }} KeptVault
 */

const keptVaults = "vaults";
const purpose = "applocker/1/spare";
const seedLength = 32;

/** @param {Uint8Array} body @param {string} id @returns {KeptVault | null} */
function readBody(body, id) {
    try {
        const { hub, household, name, seed, pins = [] } = JSON.parse(textOf(body));
        const isOne = typeof hub === "string" && household === id && isID(household) && typeof name === "string"
            && (seed === null || (typeof seed === "string" && unbase64url(seed)?.length === seedLength))
            && Array.isArray(pins) && pins.every(isID);
        return isOne ? { hub, household, name, seed, pins } : null;
    } catch {
        return null;
    }
}

/**
 * What the household keeps of a shared vault, with the epoch that it is sealed under; null for one that does not open.
 * @param {DeviceSession} main
 * @param {HubRecord | undefined} record
 */
async function opened(main, record) {
    const sealed = record && sealedBytes(record);
    if (!record || !sealed) return null;
    const kept = await main.keys.openContent(record, sealed).then((body) => readBody(body, record.id), () => null);
    return kept && { ...kept, epoch: record.epoch };
}

/**
 * The shared vaults of the household that have a spare member.
 * @param {DeviceSession} main
 * @returns {Promise<KeptVault[]>}
 */
export async function listKept(main) {
    const all = await main.storedAll(keptVaults);
    return (await Promise.all(all.map(({ record }) => opened(main, record)))).flatMap((kept) =>
        (kept?.seed ? kept : []));
}

/** @param {string | null} seed @param {string} household of the shared vault */
const spareOf = (seed, household) => derivedDevice(unbase64url(seed ?? "") ?? new Uint8Array(), purpose, household);

/** @param {string} name of the device that makes it; what is too long is cut at the front */
export function nameOfSpare(name) {
    const letters = [...`${name} (recovery)`].slice(-32);
    while (utf8(letters.join("")).length > maximumName) letters.shift();
    return letters.join("");
}

/**
 * The phones of the household that have a PIN for the vault.
 * @param {DeviceSession} main
 * @param {KeptVault | null} kept
 * @param {boolean} isOne whether this phone is one of them
 */
const pinsOf = (main, kept, isOne) => {
    const { device } = main.paired;
    const others = (kept?.pins ?? []).filter((id) => id !== device && main.roster.member(id));
    return isOne ? [...others, device] : others;
};

/**
 * The secret of a spare member that is being made, in the vault's own drawer: the household gets it once the member can
 * admit its phones.
 */
const unfinished = "spareSeed";

/**
 * Makes the spare member if it is missing, and replaces it if a revoked device has its secret; with a PIN there is
 * none. What an interrupted call did not finish, the next one does, with the same member. Throws HubError,
 * HubUnreachable, StoreError: then it is tried with the next connection.
 * @param {import("../../session/session-state.js").SessionState} session of a household that a phone founded
 * @param {Vault} vault
 * @param {boolean} hasPIN whether this phone asks for a PIN of the vault's own
 */
export async function ensureSpare(session, vault, hasPIN) {
    const { device: main, editor } = session;
    const { companion: { device, privateStorage }, name } = vault;
    const { household, hub } = device.paired;
    const kept = await opened(main, (await main.stored(keptVaults, household)).record);
    const pins = pinsOf(main, kept, hasPIN);
    if (pins.length > 0) return withholdSpare(session, vault, kept, pins);
    const old = kept?.seed ? (await spareOf(kept.seed, household)).id : null;
    if (kept?.epoch === epochOf(main.roster) && device.roster.member(old ?? "")) return;
    if (old) await revokeMember(device, old);
    let seed = /** @type {string | null} */ (await privateStorage.get(unfinished));
    if (!seed || device.roster.revoked.has((await spareOf(seed, household)).id)) {
        seed = base64url(randomBytes(seedLength));
        await privateStorage.set(unfinished, seed);
    }
    const spare = await spareOf(seed, household);
    const spareName = nameOfSpare(device.paired.name);
    if (!device.roster.member(spare.id)) {
        const { invitation } = await createInvitation(device, "computer");
        await requestToJoin(invitation, spare, spareName);
        const { signing, box } = spare;
        await admit(device, invitation,
            { device: spare.id, joining: { signingKey: signing.point, boxKey: box.point, name: spareName } });
    }
    await nameSpare(device, spare, {
        name: spareName, spareOf: device.keys.device, owner: await ownerTag(household, spare.id, main.keys.device),
    });
    /** @type {KeptVault} */
    const content = { hub, household, name, seed, pins: [] };
    await change(main, editor, household, (keys, place, replaces) => keys.sealContent(place, content, replaces));
    await privateStorage.set(unfinished, null);
}

/**
 * Also one that is not finished.
 * @param {Vault} vault
 * @param {KeptVault | null} kept
 */
async function revokeSpare({ companion: { device, privateStorage } }, kept) {
    const begun = /** @type {string | null} */ (await privateStorage.get(unfinished));
    for (const seed of [kept?.seed, begun]) {
        if (seed) await revokeMember(device, (await spareOf(seed, device.paired.household)).id);
    }
    if (begun) await privateStorage.set(unfinished, null);
}

/**
 * Revokes the spare member, and records which phones prevent another one.
 * @param {import("../../session/session-state.js").SessionState} main
 * @param {Vault} vault
 * @param {(KeptVault & { epoch: number }) | null} kept
 * @param {string[]} pins
 */
async function withholdSpare({ device: main, editor }, vault, kept, pins) {
    const { name } = vault;
    const { household, hub } = vault.companion.device.paired;
    await revokeSpare(vault, kept);
    // A restored hub receives a record of the current epoch alone.
    const isCurrent = kept && !kept.seed && kept.epoch === epochOf(main.roster);
    if (isCurrent && [...kept.pins].sort().join() === [...pins].sort().join()) return;
    /** @type {KeptVault} */
    const content = { hub, household, name, seed: null, pins };
    await change(main, editor, household, (keys, place, replaces) => keys.sealContent(place, content, replaces));
}

/**
 * Durable when it returns.
 * @param {DeviceSession} main
 * @param {import("../../sync/record-editor.js").RecordEditor} editor
 * @param {string} id of the shared vault's household
 * @param {(keys: UnlockedKeys, place: { vault: string, collection: string, id: string, revision: number }, replaces:
 *   number) => Promise<HubRecord>} make the next revision
 */
async function change(main, editor, id, make) {
    await editor.exclusive(async (keys) => {
        const { key, line, row } = await main.stored(keptVaults, id);
        const revision = Math.max(line?.record.revision ?? 0, row?.record.revision ?? 0) + 1;
        const place = { vault: await sharedVaultID(keys.household), collection: keptVaults, id, revision };
        const replaces = line?.record.replaces ?? row?.record.revision ?? 0;
        await editor.commit({ waiting: [{ key, record: await make(keys, place, replaces) }] });
    });
}

/**
 * The spare writes its own name: only a device itself reports its owner.
 * @param {DeviceSession} device of the shared vault
 * @param {import("../../household/identity.js").Identity} spare
 * @param {import("../../formats/record-bodies.js").DeviceName} body
 */
async function nameSpare(device, spare, body) {
    const { household, hub } = device.paired;
    const own = UnlockedKeys.ownEntries(household, spare.signing.scalar.slice(), spare.box.scalar.slice());
    const keys = await UnlockedKeys.from(household, randomBytes(32), new KeyRing(own));
    const made = await nameRecord(device, spare.id, body, () => false, keys);
    keys.wipe();
    if (made) await new HubClient(hub, spare.token).write([made.record]);
}

/**
 * Joins a shared vault of the household by its spare member. Throws as `admitByDerived`, and what `enter` throws: then
 * this device is no member.
 * @param {DeviceSession} main
 * @param {KeptVault} kept
 * @param {(membership: Membership) => Promise<unknown>} enter stores it
 */
export async function joinBySpare(main, { household, seed }, enter) {
    await admitByDerived(await spareOf(seed, household), {
        hub: main.paired.hub, household, role: "computer", name: main.paired.name, time: main.time,
        refused: () => new CompanionError("refused", "The household is no longer a member of this shared vault."),
        keep: async ({ facts, ring, roster }) => {
            const rootKey = randomBytes(32);
            await enter({
                facts: { ...facts, deviceSecret: new Uint8Array() }, rootKey,
                written: { roster: roster.entries, ...(await firstDrawers({ ring, kept: {} }, rootKey)) },
            });
        },
    });
}

/**
 * The household leaves: its spare member is revoked, and what it keeps of the vault removed, except that other phones
 * have a PIN for it.
 * @param {import("../../session/session-state.js").SessionState} session
 * @param {Vault} vault
 */
export async function dropSpare(session, vault) {
    const { device: main, editor } = session;
    const { device } = vault.companion;
    const { household } = device.paired;
    const { record } = await main.stored(keptVaults, household);
    const kept = await opened(main, record);
    if (!kept) return;
    const pins = pinsOf(main, kept, false);
    if (pins.length > 0) return withholdSpare(session, vault, kept, pins);
    await revokeSpare(vault, kept);
    await change(main, editor, household, (keys, place, replaces) => keys.tombstone(place, replaces));
}
