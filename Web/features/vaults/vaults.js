// The vaults that this device shares with others, and those that are only on it. Each shared one is a household of its
// own at the hub; each has its own database and keys. Their list is sealed under the main keys, and they are unlocked
// and locked with the main session, except those with a PIN of their own. docs/formats.md, "Shared vaults".
import { base64url, randomID } from "../../crypto/bytes.js";
import { CompanionError } from "../../household/errors.js";
import { entryOf, factsOf, unlockEntry } from "./entry.js";
import { joinKept, keepsSpares, leftVaults, removeRevoked, setLeftVaults, settleSpare } from "./upkeep.js";

/** @typedef {import("../../sync/device-session.js").DeviceFacts} DeviceFacts */
/** @typedef {import("./entry.js").Entry} Entry */
/** @typedef {import("./joining.js").Membership} Membership */
/**
 * `unlock`: opens its keys. `turns`: when its stream may be open.
 * @typedef {{ database: string, facts: DeviceFacts, unlock: (device: DeviceSession) => Promise<void>,
 *   written?: Record<string, unknown>,
 *   turns: import("../../sync/sync-loop.js").SyncLoop["turns"] }} OpenMembership
 */
/**
 * An open vault. `id`: its household's. `isRevoked`: another member revoked this device. `isLocal`: it is only on this
 * device. `hasPIN`: of its own.
 * @typedef {{ id: string, name: string, companion: Companion, isRevoked: boolean, isLocal: boolean, hasPIN: boolean,
 *   membership: import("./membership.js").VaultMembership }} Vault
 */

/** @typedef {{ vault: string, name: string }} RemovedMember names */

/**
 * Outside of the closures that stay as long as the vault is open, and would keep the PIN.
 * @param {Entry} entry
 * @param {string} [pin]
 */
const unlocking = (entry, pin) => (/** @type {DeviceSession} */ device) => unlockEntry(device, entry, pin);

const kept = "vaults";
export const maximumVaults = 8;

/**
 * Events: "changed" (the list or a name), "removed" (detail: `RemovedMember`; this device did it without being asked,
 * because the household had revoked it), "unlocked" (a vault, by its PIN).
 */
export class Vaults extends EventTarget {
    /** @type {Map<string, Vault> | null} by household; null while locked */
    #open = null;
    /** @type {Promise<void>} */
    #opening = Promise.resolve();
    /** Households of vaults that are being created or joined, and are not in the stored list yet. */
    #entering = new Set();
    /** @type {Map<string, string>} why some could not be opened; by household */
    problems = new Map();

    /**
     * @param {import("../../session/session-state.js").SessionState} main
     * @param {{ open: (membership: OpenMembership) => Promise<Companion>, remove: (name: string) => Promise<void>,
     *   names: (prefix: string) => Promise<string[]> }} databases
     */
    constructor(main, databases) {
        super();
        this.main = main;
        this.databases = databases;
        main.device.events.addEventListener("roster", () => {
            for (const vault of this.#open?.values() ?? []) {
                this.#removeRevoked(vault).then(() => this.#ensureSpare(vault));
            }
        });
        main.device.events.addEventListener("changed", (event) => {
            const { detail } = /** @type {CustomEvent<string[]>} */ (event);
            if (this.#open && detail.some((key) => key.startsWith("vaults/"))) this.open();
        });
    }

    /** @returns {Promise<Entry[]>} throws CompanionError `locked` */
    async #entries() {
        return (await this.main.privateStorage.get(kept)) ?? [];
    }

    /**
     * One change at a time over all tabs.
     * @param {(entries: Entry[]) => Entry[]} change
     */
    #change(change) {
        return this.main.device.tabs.exclusive("vaults", async () => {
            await this.main.privateStorage.set(kept, change(await this.#entries()));
        });
    }

    // Unlocking

    /** Opens the vaults after unlocking, and again after another tab changed the list. */
    open() {
        this.#open ??= new Map();
        const open = this.#open;
        this.#opening = this.#opening.catch(() => {}).then(() => this.#follow(open));
        this.#opening.catch(() => {});
    }

    /** @param {Map<string, Vault>} open */
    async #follow(open) {
        if (this.#open !== open) return;
        // From before the list is read: one that is being entered is not in it yet.
        const listed = [...open].filter(([id]) => !this.#entering.has(id));
        const entries = await this.#entries();
        for (const [id, vault] of listed) {
            const entry = entries.find(({ household }) => household === id);
            const secret = base64url(vault.companion.device.paired.deviceSecret);
            // Another tab left it, or set its PIN or removed it.
            if (!entry || (entry.deviceSecret && entry.deviceSecret !== secret)) this.#drop(open, vault);
            else vault.hasPIN = !entry.rootKey;
        }
        await Promise.all(entries.map(async (entry, place) => {
            if (open.has(entry.household) || !entry.rootKey) return;
            try {
                await this.#openEntry(open, entry, place, {});
                this.problems.delete(entry.household);
            } catch (error) {
                this.problems.set(entry.household, error instanceof Error ? error.message : "It can’t be opened.");
            }
        }));
        // In the order of joining.
        for (const { household } of entries) {
            const vault = open.get(household);
            if (!vault) continue;
            open.delete(household);
            open.set(household, vault);
        }
        this.#changed();
        await this.#joinKept(open).catch((error) => console.warn(error));
    }

    /** @param {Map<string, Vault>} open */
    #joinKept(open) {
        return joinKept(this.main, {
            isOpen: () => this.#open === open, enter: (membership, name) => this.#enter(membership, name),
            hasRoomFor: async (id) => {
                const entries = await this.#entries();
                return entries.length < maximumVaults && !entries.some(({ household }) => household === id);
            },
        });
    }

    /** @param {Vault} vault */
    #ensureSpare(vault) {
        return settleSpare(this.main, vault, async () => (this.#open?.get(vault.id) === vault
            ? (await this.#entries()).some(({ household, rootKey }) => household === vault.id && !rootKey) : null));
    }

    /**
     * @param {Map<string, Vault>} open
     * @param {Entry} entry
     * @param {number} place in the list
     * @param {{ written?: Record<string, unknown>, pin?: string }} options `pin`: its own
     */
    async #openEntry(open, entry, place, { written, pin }) {
        const ownDevice = this.main.device.paired.device;
        const { VaultMembership } = await import("./membership.js");
        const companion = await this.databases.open({
            database: entry.database, facts: factsOf(entry), written,
            unlock: unlocking(entry, pin),
            turns: async (stream, signal) => {
                const { takeTurn } = await import("../../sync/stream-turns.js");
                return takeTurn(this.main.device, place, stream, signal);
            },
        });
        const membership = new VaultMembership(companion, ownDevice);
        const name = await membership.name().catch(() => null) ?? entry.name;
        const other = open.get(entry.household);
        // Its PIN was entered twice: what is not listed would stay open.
        if (this.#open === open && other && pin !== undefined) {
            companion.end();
            return other;
        }
        // Directly before it is listed: a lock closes what is listed.
        if (this.#open !== open) {
            companion.end();
            throw new CompanionError("locked", "AppLocker was locked meanwhile.");
        }
        /** @type {Vault} */
        const vault = {
            id: entry.household, name, companion, membership, isRevoked: false, isLocal: companion.device.isLocal,
            hasPIN: !entry.rootKey,
        };
        open.set(vault.id, vault);
        companion.addEventListener("connection", () => {
            const { connection } = companion.syncLoop;
            if (connection === "live") this.#removeRevoked(vault).then(() => this.#ensureSpare(vault));
            if (vault.isRevoked ? connection !== "live" : connection !== "removed") return;
            vault.isRevoked = !vault.isRevoked;
            this.#changed();
        });
        companion.addEventListener("changed", (event) => {
            const { detail } = /** @type {CustomEvent<string[]>} */ (event);
            if (detail.some((key) => key.startsWith("about/") || key.startsWith("devices/"))) this.#renamed(vault);
            if (detail.some((key) => key.startsWith("devices/"))) this.#removeRevoked(vault);
        });
        companion.addEventListener("state", () => {
            // This one alone, also by another tab.
            if (companion.state === "locked") this.#drop(open, vault);
            this.#changed();
        });
        membership.publishOwnName().catch(() => {});
        return vault;
    }

    /** @param {Map<string, Vault>} open @param {Vault} vault */
    #drop(open, vault) {
        if (this.#open !== open || open.get(vault.id) !== vault) return;
        open.delete(vault.id);
        vault.companion.end();
    }

    /** @param {Vault} vault */
    #removeRevoked(vault) {
        return removeRevoked(this.main, vault, (name) => {
            this.dispatchEvent(new CustomEvent("removed", { detail: { vault: vault.name, name } }));
        });
    }

    /** @param {Vault} vault */
    async #renamed(vault) {
        const name = await vault.membership.name().catch(() => null);
        if (name && name !== vault.name) {
            vault.name = name;
            await this.#change((entries) =>
                entries.map((entry) => (entry.household === vault.id ? { ...entry, name } : entry))).catch(() => {});
        }
        this.#changed();
    }

    #changed() {
        this.dispatchEvent(new CustomEvent("changed"));
    }

    /** Closes the vaults on locking. */
    close() {
        const open = this.#open;
        this.#open = null;
        this.problems.clear();
        for (const { companion } of open?.values() ?? []) companion.end();
        if (open) this.#changed();
    }

    /**
     * In the order of joining. Throws CompanionError `locked`.
     * @returns {Promise<Vault[]>}
     */
    async list() {
        await this.#opening.catch(() => {});
        if (!this.#open) throw new CompanionError("locked", "AppLocker is locked; unlock it first.");
        return [...this.#open.values()];
    }

    /**
     * Whether this session has the vault, also one that can't be opened. Throws CompanionError `locked`.
     * @param {string} id
     */
    async has(id) {
        return (await this.#entries()).some(({ household }) => household === id);
    }

    /**
     * Throws CompanionError `locked`, `notFound`.
     * @param {string} id
     */
    async vault(id) {
        const found = (await this.list()).find((vault) => vault.id === id);
        if (!found) throw new CompanionError("notFound", "There is no such vault on this device.");
        return found;
    }

    // PINs of their own

    /**
     * Those that need their own PIN first, in the order of joining. Throws CompanionError `locked`.
     * @returns {Promise<{ id: string, name: string }[]>}
     */
    async locked() {
        const open = new Set((await this.list()).map(({ id }) => id));
        return (await this.#entries()).filter(({ household, rootKey }) => !rootKey && !open.has(household))
            .map(({ household: id, name }) => ({ id, name }));
    }

    /**
     * Closes a vault with a PIN, in every tab.
     * @param {string} id
     */
    lock(id) {
        const vault = this.#open?.get(id);
        if (vault?.hasPIN) vault.companion.lock();
    }

    /** Opens, sets, changes and removes them; loaded when that is done. */
    async pins() {
        const { VaultPINs } = await import("./vault-pin.js");
        return new VaultPINs(this, {
            entries: () => this.#entries(), change: (change) => this.#change(change),
            ensureSpare: (vault) => this.#ensureSpare(vault),
            open: async (entry, place, pin) => {
                const open = this.#open;
                if (open && !open.has(entry.household)) await this.#openEntry(open, entry, place, { pin });
            },
        });
    }

    // Joining and leaving

    /** Throws CompanionError `full`. */
    async #requireRoom() {
        if ((await this.#entries()).length >= maximumVaults) {
            throw new CompanionError("full",
                `A device can have at most ${maximumVaults} vaults besides its own. Leave or delete one first.`);
        }
    }

    /**
     * A new vault at this device's hub. Throws CompanionError `locked`, `full`, HubError, HubUnreachable, StoreError.
     * @param {string} name 1 to 64 characters
     * @param {{ ownName?: string, isLocal?: boolean }} options `ownName`: of this device for the others. `isLocal`:
     *   only on this device
     */
    async create(name, { ownName, isLocal = false } = {}) {
        await this.#requireRoom();
        const { device } = this.main;
        const { foundVault } = await import("./joining.js");
        const { cutVaultName } = await import("./membership.js");
        const membership = await foundVault(device, ownName ?? device.paired.name, { isLocal });
        const vault = await this.#enter(membership, cutVaultName(name));
        await vault.membership.rename(cutVaultName(name));
        return vault;
    }

    /**
     * Throws as `joinVault`, and CompanionError `full`, `alreadyPaired`.
     * @param {string} link
     * @param {{ ownName?: string, waiting?: (words: string[]) => void, signal?: AbortSignal }} options
     */
    async join(link, { ownName, waiting, signal } = {}) {
        await this.#requireRoom();
        const { device } = this.main;
        const { joinVault } = await import("./joining.js");
        const vault = await this.#enter(
            await joinVault(device, link, ownName ?? device.paired.name, { waiting, signal }), "Shared vault");
        const left = await leftVaults(this.main);
        if (left.includes(vault.id)) await setLeftVaults(this.main, left.filter((id) => id !== vault.id));
        return vault;
    }

    /** @param {Membership} membership @param {string} name */
    async #enter(membership, name) {
        const database = `${this.main.name}/${randomID()}`;
        const entry = entryOf(membership, database, name);
        const { household } = entry;
        const open = this.#open;
        if (!open) throw new CompanionError("locked", "AppLocker was locked meanwhile.");
        const before = open.get(household);
        let vault;
        let locked = /** @type {Entry[]} */ ([]);
        this.#entering.add(household);
        try {
            vault = await this.#openEntry(open, entry, open.size, membership);
            await this.#change((entries) => {
                // Instead of one whose PIN was forgotten.
                locked = entries.filter((one) => one.household === household && !one.rootKey);
                return [...entries.filter((one) => !locked.includes(one)), entry];
            });
        } catch (error) {
            open.delete(household);
            if (before) open.set(household, before);
            vault?.companion.end();
            await this.databases.remove(database).catch(() => {});
            throw error;
        } finally {
            this.#entering.delete(household);
        }
        before?.companion.end();
        for (const one of locked) await this.#erase(one).catch((failure) => console.warn(failure));
        this.main.device.tabs.post({ kind: "state" });
        this.#changed();
        return vault;
    }

    /**
     * This device leaves, and keeps nothing of it. Throws HubError, HubUnreachable: then nothing changed.
     * @param {string} id
     */
    async leave(id) {
        const vault = await this.vault(id);
        if (vault.isLocal) return this.forget(id);
        vault.companion.syncLoop.stop();
        try {
            if (keepsSpares(this.main)) await (await import("./spare.js")).dropSpare(this.main, vault);
            await vault.membership.leave();
        } catch (error) {
            vault.companion.syncLoop.start();
            throw error;
        }
        await this.forget(id);
    }

    /**
     * Deletes what this device has of a vault that it left or that can't be opened.
     * @param {string} id
     */
    async forget(id) {
        const entries = await this.#entries();
        if (keepsSpares(this.main)) await setLeftVaults(this.main, [...(await leftVaults(this.main)), id]);
        const vault = this.#open?.get(id);
        if (this.#open && vault) this.#drop(this.#open, vault);
        this.problems.delete(id);
        await this.#change((all) => all.filter(({ household }) => household !== id));
        const { setNoticeDatabase } = await import("../../household/vault-notices.js");
        await setNoticeDatabase(this.main.device, id, undefined);
        this.main.device.tabs.post({ kind: "state" });
        for (const entry of entries) if (entry.household === id) await this.#erase(entry);
        this.#changed();
    }

    /** @param {Entry} entry of a vault that is no longer in the list */
    async #erase(entry) {
        await this.databases.remove(entry.database);
        if (entry.pinToken) {
            const { removeTraces } = await import("./vault-pin.js");
            removeTraces(entry).catch((error) => console.warn(error));
        }
    }

    /** Erases the databases of all vaults, whose list can't be read while locked. */
    async erase() {
        this.close();
        for (const name of await this.databases.names(`${this.main.name}/`)) await this.databases.remove(name);
    }
}
