// A household that a phone founded has a spare member in each of its shared vaults. Its keys come from a secret that is
// sealed in the household's own vault: it admits phones that recover, or are added. docs/formats.md, "Households of
// phones".
import { base64url, isID, randomBytes, textOf, unbase64url } from "../../crypto/bytes.js";
import { derivedDevice } from "../../crypto/derived-device.js";
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
 * The content of a record of the collection "vaults", whose id is the shared vault's household. `seed`: base64url.
 * @typedef {{ hub: string, household: string, name: string, seed: string }} KeptVault
 */

const keptVaults = "vaults";
const purpose = "applocker/1/spare";
const seedLength = 32;

/** @param {Uint8Array} body @param {string} id @returns {KeptVault | null} */
function readBody(body, id) {
    try {
        const { hub, household, name, seed } = JSON.parse(textOf(body));
        const isOne = typeof hub === "string" && household === id && isID(household) && typeof name === "string"
            && typeof seed === "string" && unbase64url(seed)?.length === seedLength;
        return isOne ? { hub, household, name, seed } : null;
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
 * The shared vaults of the household.
 * @param {DeviceSession} main
 * @returns {Promise<KeptVault[]>}
 */
export async function listKept(main) {
    const all = await main.storedAll(keptVaults);
    return (await Promise.all(all.map(({ record }) => opened(main, record)))).flatMap((kept) => kept ?? []);
}

/** @param {string} seed @param {string} household of the shared vault */
const spareOf = (seed, household) => derivedDevice(unbase64url(seed) ?? new Uint8Array(), purpose, household);

/**
 * Replaces the spare member that is missing, or whose secret a revoked device has. Throws HubError,
 * HubUnreachable, StoreError: then it is tried with the next connection.
 * @param {import("../../session/session-state.js").SessionState} main of a household that a phone founded
 * @param {Vault} vault
 */
export async function ensureSpare({ device: main, editor }, { companion: { device }, name }) {
    const { household, hub } = device.paired;
    const { record } = await main.stored(keptVaults, household);
    const kept = await opened(main, record);
    const old = kept && (await spareOf(kept.seed, household)).id;
    if (kept?.epoch === epochOf(main.roster) && device.roster.member(old ?? "")) return;
    if (old) await revokeMember(device, old);
    const seed = randomBytes(seedLength);
    const spare = await derivedDevice(seed, purpose, household);
    const { invitation } = await createInvitation(device, "computer");
    const spareName = [...`${device.paired.name} (recovery)`].slice(-32).join("");
    await requestToJoin(invitation, spare, spareName);
    await admit(device, invitation,
        { device: spare.id, joining: { signingKey: spare.signing.point, boxKey: spare.box.point, name: spareName } });
    await nameSpare(device, spare, {
        name: spareName, spareOf: device.keys.device, owner: await ownerTag(household, spare.id, main.keys.device),
    });
    /** @type {KeptVault} */
    const content = { hub, household, name, seed: base64url(seed) };
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
 * The household leaves: its spare member is revoked, and what it keeps of the vault removed.
 * @param {import("../../session/session-state.js").SessionState} main
 * @param {Vault} vault
 */
export async function dropSpare({ device: main, editor }, { companion: { device } }) {
    const { household } = device.paired;
    const { record } = await main.stored(keptVaults, household);
    const kept = await opened(main, record);
    if (!kept) return;
    await revokeMember(device, (await spareOf(kept.seed, household)).id);
    await change(main, editor, household, (keys, place, replaces) => keys.tombstone(place, replaces));
}
