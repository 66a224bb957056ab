// A PIN of one shared vault. Its root key is then in a key slot of the vault's own database, opened by the PIN and the
// hub's share, and no longer in the list of vaults. docs/formats.md, "A vault with a PIN of its own".
import { base64, base64url, randomBytes, unbase64url, wipe } from "../../crypto/bytes.js";
import { importPrivate } from "../../crypto/p256.js";
import { sha256 } from "../../crypto/primitives.js";
import { foundedBy } from "../../crypto/roster-writing.js";
import { KeySlots } from "../../crypto/slots.js";
import { HubClient } from "../../hub/client.js";
import { HubError } from "../../hub/errors.js";
import { CompanionError } from "../../household/errors.js";
import { checkPIN } from "../../household/pin-rules.js";
import { freshIdentity } from "../../household/identity.js";
import { leaveEntries, shuffled, triedOf, withKey } from "../../household/pin-slots.js";
import { changeDrawer } from "../../household/private-storage.js";
import { changePIN, confirmWithPIN, isOwnPIN, unlockDataFact } from "../../household/unlock.js";
import { keepsSpares } from "./upkeep.js";

/** @typedef {import("./entry.js").Entry} Entry */
/** @typedef {import("./vaults.js").Vault} Vault */
/** @typedef {import("../../household/pin-slots.js").Place} Place */
/** @typedef {(change: (entry: Entry) => Entry) => Promise<void>} ChangeEntry durable when it returns */

/**
 * There are no other PINs in the vault's database: two slots, and no place to spare.
 * @returns {Place}
 */
function freshPlace() {
    const slots = shuffled([0, 1, 2, 3, 4, 5]).slice(0, 2);
    return { change: base64(randomBytes(32)), slots, tried: [], spare: [], decoy: null };
}

/**
 * Throws CompanionError `weakPIN`.
 * @param {DeviceSession} main
 * @param {string} pin
 */
async function check(main, pin) {
    checkPIN(pin);
    if (await isOwnPIN(main, pin)) {
        throw new CompanionError("weakPIN", "This PIN opens AppLocker; choose another one for the vault.");
    }
}

/**
 * The households that were founded to count PINs of this vault, and may still be at the hub: their tokens (base64url),
 * in the vault's own drawer.
 */
const countersName = "pinTokens";

/**
 * Removes them, except one.
 * @param {Companion} vault
 * @param {Uint8Array} [kept]
 */
async function removeCounters({ device: { paired }, privateStorage }, kept) {
    const tokens = /** @type {string[]} */ ((await privateStorage.get(countersName)) ?? []);
    const remaining = kept ? [base64url(kept)] : [];
    for (const token of tokens.filter((one) => !remaining.includes(one))) await removePINCounter(paired.hub, token);
    await privateStorage.set(countersName, remaining.length > 0 ? remaining : null);
}

/** @param {unknown} error of the hub: it has no such device */
const unlessUnknown = (error) => {
    if (!(error instanceof HubError) || error.code !== "unauthorized") throw error;
};

/**
 * Removes the household that counts a vault's PIN, if there is one. Throws HubUnreachable.
 * @param {string} hub
 * @param {string} token
 */
const removePINCounter = (hub, token) =>
    new HubClient(hub, unbase64url(token)).removeHousehold().catch(unlessUnknown);

/**
 * What the hub has for a vault with a PIN that was removed from this device without leaving it: the counter of its PIN,
 * and the subscription to its notices. Throws HubUnreachable.
 * @param {Entry} entry
 */
export async function removeTraces({ hub, token, pinToken = "" }) {
    await new HubClient(hub, unbase64url(token)).removePush().catch(unlessUnknown);
    await removePINCounter(hub, pinToken);
}

/**
 * Founds a household whose only device has the PIN's share: members of a shared vault are administrators like a
 * computer, for which the hub keeps no PIN share. Nothing but the token is used again.
 * @param {DeviceSession} device of the vault
 * @param {Uint8Array} token
 */
async function foundCounter({ hub, time }, token) {
    const { id: device, signing, box } = await freshIdentity();
    const key = await importPrivate(signing.scalar, signing.point, "ECDSA");
    const founder = { signingKey: signing.point, boxKey: box.point };
    const roster = await foundedBy(founder, key, time.now() / 1000, "administrator");
    wipe(signing.scalar, box.scalar);
    const { household, entries: [entry] } = roster;
    await hub.foundForPIN({ household, device, entry, tokenHash: await sha256(token) });
}

/**
 * Sets the PIN of an open vault without one. The order of writes, of which the last one decides:
 * 1. the vault's database: the token of the household that will count, so that it can be removed;
 * 2. the hub: what an interrupted attempt left is removed, and the household founded;
 * 3. the vault's database: the key slot, and the secret that replaces the PIN's entry at the hub;
 * 4. the hub: the entry; the PIN is tried, as each unlocking will. From then on a token alone replaces no entry;
 * 5. the list of vaults, in one write: the root key goes, the token and the secret of the PIN's verifier come.
 * Until 5 the list has the root key, and the vault has no PIN, whatever was written; after it the PIN works. Throws
 * HubError, HubUnreachable, StoreError, CompanionError `pairAgain`.
 * @param {Companion} vault
 * @param {string} pin one that `check` accepts
 * @param {ChangeEntry} changeEntry
 */
async function setVaultPIN(vault, pin, changeEntry) {
    const { device, privateStorage } = vault;
    const [rootKey, deviceSecret, pinToken] = [device.keys.rootKey.slice(), randomBytes(32), randomBytes(32)];
    try {
        const tokens = (await privateStorage.get(countersName)) ?? [];
        await privateStorage.set(countersName, [...tokens, base64url(pinToken)]);
        await removeCounters(vault, pinToken);
        await foundCounter(device, pinToken);
        const place = freshPlace();
        const { slots, entry } = await withKey(KeySlots.fresh(), place.slots[0], pin, rootKey, deviceSecret);
        place.tried = [triedOf(entry, place.slots[0])];
        /** @type {import("../../household/unlock.js").UnlockData} */
        const data = { slots: slots.bytes, passkey: null };
        await changeDrawer(device, rootKey, ({ kept }) => {
            kept.place = place;
            return { facts: { [unlockDataFact]: data } };
        });
        Object.assign(device.paired, { deviceSecret, pinToken });
        await leaveEntries(device.pinHub, entry, place);
        wipe(entry.share);
        await confirmWithPIN(device, pin);
        await changeEntry(({ rootKey: _, ...others }) => (
            { ...others, deviceSecret: base64url(deviceSecret), pinToken: base64url(pinToken) }));
    } finally {
        wipe(rootKey);
    }
}

/**
 * The root key returns to the list of vaults, in one write; then what nothing needs is removed, here and at the hub: if
 * it can't be reached, by the next attempt to set a PIN. Throws StoreError.
 * @param {Companion} vault
 * @param {ChangeEntry} changeEntry
 */
async function removeVaultPIN(vault, changeEntry) {
    const { device } = vault;
    const root = device.keys.rootKey.slice();
    const rootKey = base64url(root);
    try {
        await changeEntry(({ deviceSecret: _, pinToken: __, ...others }) => ({ ...others, rootKey }));
        await changeDrawer(device, root, () => ({ facts: { [unlockDataFact]: null } }));
    } finally {
        wipe(root);
    }
    await removeCounters(vault).catch((error) => console.warn(error));
}

/**
 * What the list of vaults offers. `open`: with the vault's PIN.
 * @typedef {{ entries: () => Promise<Entry[]>, change: (change: (entries: Entry[]) => Entry[]) => Promise<void>,
 *   open: (entry: Entry, place: number, pin: string) => Promise<void>,
 *   ensureSpare: (vault: Vault) => Promise<void> }} VaultList
 */

export class VaultPINs {
    #vaults;
    #list;

    /** @param {import("./vaults.js").Vaults} vaults @param {VaultList} list */
    constructor(vaults, list) {
        this.#vaults = vaults;
        this.#list = list;
    }

    /** @param {string} id */
    async #entry(id) {
        const entries = await this.#list.entries();
        const place = entries.findIndex(({ household }) => household === id);
        if (place < 0) throw new CompanionError("notFound", "There is no such vault on this device.");
        return { entry: entries[place], place };
    }

    /**
     * Durable when it returns; other tabs follow.
     * @param {string} id
     * @param {(entry: Entry) => Entry} change
     */
    async #change(id, change) {
        await this.#list.change((entries) => entries.map((entry) => (entry.household === id ? change(entry) : entry)));
        this.#vaults.main.device.tabs.post({ kind: "state" });
    }

    /**
     * Opens a locked vault until it or AppLocker is locked; the hub counts the attempt. Throws CompanionError
     * `wrongPIN`, `wait`, `pairAgain`, `locked`, `notFound`, HubError `unauthorized` (the hub lost its share),
     * HubUnreachable.
     * @param {string} id
     * @param {string} pin
     */
    async unlock(id, pin) {
        await this.#vaults.list();
        const { entry, place } = await this.#entry(id);
        // Another tab may have removed the PIN.
        if (!entry.rootKey) await this.#list.open(entry, place, pin);
        // Locked meanwhile.
        await this.#vaults.list();
        this.#vaults.open();
        await this.#vaults.list();
        this.#vaults.dispatchEvent(new Event("unlocked"));
    }

    /**
     * How many wrong PINs of this vault the hub has counted, and the wait.
     * @param {string} id
     */
    async state(id) {
        const { entry: { hub, pinToken = "" } } = await this.#entry(id);
        return new HubClient(hub, unbase64url(pinToken)).pinShare();
    }

    /**
     * Of an open vault: the hub counts the attempt, and the keys in use stay. Throws as `unlock`.
     * @param {string} id
     * @param {string} pin
     */
    async confirm(id, pin) {
        await confirmWithPIN((await this.#vaults.vault(id)).companion.device, pin);
    }

    /**
     * Sets the PIN of an open vault, which is locked then, or changes it. Other phones of the household can't join it
     * by a spare member any more. Throws CompanionError `weakPIN`, HubError, HubUnreachable, StoreError: then it has no
     * PIN, or the one before.
     * @param {string} id
     * @param {string} pin
     */
    async set(id, pin) {
        const vault = await this.#vaults.vault(id);
        const { main } = this.#vaults;
        // No spare member is made meanwhile.
        await main.device.tabs.exclusive(`spare/${id}`, async () => {
            await check(main.device, pin);
            if (!(await this.#entry(id)).entry.rootKey) return changePIN(vault.companion.device, pin);
            if (keepsSpares(main)) await (await import("./spare.js")).ensureSpare(main, vault, true);
            await setVaultPIN(vault.companion, pin, (change) => this.#change(id, change));
            vault.hasPIN = true;
            this.#vaults.lock(id);
            // One that is being opened now, as the list was before, is closed again.
            if (main.device.unlocked) this.#vaults.open();
        });
    }

    /**
     * Its root key returns to the list of vaults. Throws StoreError.
     * @param {string} id of an open vault
     */
    async remove(id) {
        const vault = await this.#vaults.vault(id);
        await removeVaultPIN(vault.companion, (change) => this.#change(id, change));
        vault.hasPIN = false;
        if (this.#vaults.main.device.unlocked) this.#vaults.open();
        await this.#list.ensureSpare(vault);
    }
}
