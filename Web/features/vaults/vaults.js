// The vaults that this device shares with others. Each is a household of its own at the hub, with its own database and
// keys; the list of them is sealed under the main keys, and they are unlocked and locked with the main session.
// docs/formats.md, "Shared vaults".
import { base64url, randomID, unbase64url, wipe } from "../../crypto/bytes.js";
import { CompanionError } from "../../household/errors.js";

/** @typedef {import("../../sync/device-session.js").DeviceFacts} DeviceFacts */
/** @typedef {import("./joining.js").Membership} Membership */
/**
 * `turns`: when its stream may be open.
 * @typedef {{ database: string, facts: DeviceFacts, rootKey: Uint8Array, written?: Record<string, unknown>,
 *   turns: import("../../sync/sync-loop.js").SyncLoop["turns"] }} OpenMembership
 */
/**
 * The stored form. Bytes in base64url.
 * @typedef {{ database: string, name: string, hub: string, household: string, device: string, ownName: string,
 *   token: string, rootKey: string }} Entry
 */
/**
 * An open vault. `id`: its household's. `isRevoked`: another member revoked this device.
 * @typedef {{ id: string, name: string, companion: Companion, isRevoked: boolean,
 *   membership: import("./membership.js").VaultMembership }} Vault
 */

/** @typedef {{ vault: string, name: string }} RemovedMember names */

const kept = "vaults";
const leftName = "leftVaults";
export const maximumVaults = 8;

/** @param {string} text */
const bytesOf = (text) => unbase64url(text) ?? new Uint8Array();

/**
 * Events: "changed" (the list or a name), "removed" (detail: `RemovedMember`; this device did it without being asked,
 * because the household had revoked it).
 */
export class Vaults extends EventTarget {
    /** @type {Map<string, Vault> | null} by household; null while locked */
    #open = null;
    /** @type {Promise<void>} */
    #opening = Promise.resolve();
    /** @type {Map<string, string>} why some could not be opened; by household */
    problems = new Map();

    /**
     * @param {import("../../session/session-state.js").SessionState} main
     * @param {{ open: (membership: OpenMembership) => Promise<Companion>, remove: (name: string) => Promise<void>,
     *   names: (prefix: string) => Promise<string[]> }} databases `open` takes ownership of the root key
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
        const entries = await this.#entries();
        await Promise.all(entries.map(async (entry, place) => {
            if (open.has(entry.household)) return;
            try {
                await this.#openEntry(open, entry, place);
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
        for (const [id, vault] of open) {
            if (entries.some(({ household }) => household === id)) continue;
            open.delete(id);
            vault.companion.end();
        }
        this.#changed();
        await this.#joinKept(open).catch((error) => console.warn(error));
    }

    /** Whether the household keeps spare members, and this session has its keys. */
    get #keepsSpares() {
        const { roster, unlocked } = this.main.device;
        return roster.isPhoneFounded && unlocked?.receivesKeys === true;
    }

    /**
     * Joins the shared vaults of the household that this phone is not in yet.
     * @param {Map<string, Vault>} open
     */
    async #joinKept(open) {
        if (!this.#keepsSpares) return;
        const { joinBySpare, listKept } = await import("./spare.js");
        // One at a time over all tabs: each would join.
        await this.main.device.tabs.exclusive("join-kept", async () => {
            const left = new Set(await this.#left());
            for (const one of await listKept(this.main.device)) {
                if (this.#open !== open) return;
                const entries = await this.#entries();
                if (entries.length >= maximumVaults) return;
                if (left.has(one.household) || entries.some(({ household }) => household === one.household)) continue;
                // One that its members removed prevents no other.
                await joinBySpare(this.main.device, one, (membership) => this.#enter(membership, one.name))
                    .catch((error) => console.warn(error));
            }
        });
    }

    /** Those that this phone left, and does not join again by itself. @returns {Promise<string[]>} */
    async #left() {
        return /** @type {string[]} */ ((await this.main.privateStorage.get(leftName)) ?? []);
    }

    /** @param {Vault} vault */
    async #ensureSpare(vault) {
        if (!this.#keepsSpares || vault.isRevoked) return;
        const { ensureSpare } = await import("./spare.js");
        // One at a time over all tabs: each would make one.
        await this.main.device.tabs.exclusive(`spare/${vault.id}`, () => ensureSpare(this.main, vault))
            .catch((error) => console.warn(error));
    }

    /**
     * @param {Map<string, Vault>} open
     * @param {Entry} entry
     * @param {number} place in the list
     * @param {Record<string, unknown>} [written]
     */
    async #openEntry(open, entry, place, written) {
        const ownDevice = this.main.device.paired.device;
        const { VaultMembership } = await import("./membership.js");
        const facts = {
            hub: entry.hub, household: entry.household, computer: entry.device, device: entry.device,
            name: entry.ownName,
            token: bytesOf(entry.token), deviceSecret: new Uint8Array(),
        };
        const companion = await this.databases.open({
            database: entry.database, facts, rootKey: bytesOf(entry.rootKey), written,
            turns: async (stream, signal) => {
                const { takeTurn } = await import("../../sync/stream-turns.js");
                return takeTurn(this.main.device, place, stream, signal);
            },
        });
        const membership = new VaultMembership(companion, ownDevice);
        const name = await membership.name().catch(() => null) ?? entry.name;
        // Directly before it is listed: a lock closes what is listed.
        if (this.#open !== open) {
            companion.end();
            throw new CompanionError("locked", "AppLocker was locked meanwhile.");
        }
        /** @type {Vault} */
        const vault = { id: entry.household, name, companion, membership, isRevoked: false };
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
        companion.addEventListener("state", () => this.#changed());
        membership.publishOwnName().catch(() => {});
        return vault;
    }

    /**
     * Removes members that this household has revoked. A failure is retried with the next connection.
     * @param {Vault} vault
     */
    async #removeRevoked({ name, membership }) {
        const { revoked } = this.main.device.roster;
        if (revoked.size === 0) return;
        try {
            const members = await membership.members();
            for (const device of revoked) {
                for (const member of await membership.membersOf(members, device)) {
                    if (member.isThis || !(await membership.remove(member.id)) || member.spareOf) continue;
                    this.dispatchEvent(new CustomEvent("removed", { detail: { vault: name, name: member.name } }));
                }
            }
        } catch (error) {
            console.warn(error);
        }
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

    // Joining and leaving

    /** Throws CompanionError `full`. */
    async #requireRoom() {
        if ((await this.#entries()).length >= maximumVaults) {
            throw new CompanionError("full",
                `A device can be in at most ${maximumVaults} shared vaults. Leave one first.`);
        }
    }

    /**
     * A new vault at this device's hub. Throws CompanionError `locked`, `full`, HubError, HubUnreachable, StoreError.
     * @param {string} name 1 to 64 characters
     * @param {{ ownName?: string }} options `ownName`: of this device for the others
     */
    async create(name, { ownName } = {}) {
        await this.#requireRoom();
        const { device } = this.main;
        const { foundVault } = await import("./joining.js");
        const { cutVaultName } = await import("./membership.js");
        const membership = await foundVault(device, ownName ?? device.paired.name);
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
        const left = await this.#left();
        if (left.includes(vault.id)) await this.main.privateStorage.set(leftName, left.filter((id) => id !== vault.id));
        return vault;
    }

    /** @param {Membership} membership @param {string} name */
    async #enter({ facts, rootKey, written }, name) {
        const database = `${this.main.name}/${randomID()}`;
        const { hub, household, device, name: ownName } = facts;
        const entry = {
            database, name, hub, household, device, ownName, token: base64url(facts.token), rootKey: base64url(rootKey),
        };
        wipe(rootKey);
        const open = this.#open;
        if (!open) throw new CompanionError("locked", "AppLocker was locked meanwhile.");
        let vault;
        try {
            vault = await this.#openEntry(open, entry, open.size, written);
            await this.#change((entries) => [...entries, entry]);
        } catch (error) {
            open.delete(household);
            vault?.companion.end();
            await this.databases.remove(database).catch(() => {});
            throw error;
        }
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
        vault.companion.syncLoop.stop();
        try {
            if (this.#keepsSpares) await (await import("./spare.js")).dropSpare(this.main, vault);
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
        if (this.#keepsSpares) await this.main.privateStorage.set(leftName, [...(await this.#left()), id].slice(-32));
        this.#open?.get(id)?.companion.end();
        this.#open?.delete(id);
        this.problems.delete(id);
        await this.#change((all) => all.filter(({ household }) => household !== id));
        const { setNoticeDatabase } = await import("../../household/vault-notices.js");
        await setNoticeDatabase(this.main.device, id, undefined);
        this.main.device.tabs.post({ kind: "state" });
        for (const { household, database } of entries) if (household === id) await this.databases.remove(database);
        this.#changed();
    }

    /** Erases the databases of all vaults, whose list can't be read while locked. */
    async erase() {
        this.close();
        for (const name of await this.databases.names(`${this.main.name}/`)) await this.databases.remove(name);
    }
}
