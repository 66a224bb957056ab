// The state that all parts of a companion share: its store, its household, and the keys in memory.
import { recordKey } from "../formats/record-key.js";
import { HubClient } from "../hub/client.js";
import { equalInConstantTime, wipe } from "../crypto/bytes.js";
import { Roster, RosterViolation } from "../crypto/roster.js";
import { openDrawer } from "../household/private-storage.js";
import { CompanionError } from "../household/errors.js";
import { statusKeysOf } from "../household/keys.js";

/**
 * @typedef {import("../store/store.js").CompanionStore} CompanionStore
 * @typedef {import("../store/tabs.js").Tabs} Tabs
 * @typedef {import("../hub/time.js").Time} Time
 * @typedef {import("../household/keys.js").UnlockedKeys} UnlockedKeys
 */
/**
 * Stored unsealed: this device and its token. `hub`: "" of a vault that is only on this device. `deviceSecret` is part
 * of a PIN's verifier. `pinToken`: of the device that has the PIN share at the hub, where that is another one.
 * @typedef {{ hub: string, household: string, computer: string, device: string, name: string, token: Uint8Array,
 *   deviceSecret: Uint8Array, pinToken?: Uint8Array }} DeviceFacts
 */

/**
 * @param {string} key
 * @param {import("../store/store.js").Waiting | undefined} line
 * @param {import("../store/store.js").Row | undefined} row
 */
const storedRecord = (key, line, row) =>
    ({ key, line, row, record: line?.record ?? row?.record, base: line?.record.replaces ?? row?.record.revision ?? 0 });

export class DeviceSession {
    /** @type {DeviceFacts | null} null before it is paired */
    facts = null;
    roster = new Roster();
    /** @type {Map<number, CryptoKey>} by epoch */
    statusKeys = new Map();
    /** @type {UnlockedKeys | null} null while it is locked */
    unlocked = null;
    /** @type {Set<string>} keys of lost records that the hub did not accept again on this connection */
    notResent = new Set();
    /** @type {HubClient | null} */
    #hub = null;
    /** @type {Promise<void>} */
    #following = Promise.resolve();

    /**
     * Called before sending. Throws HubError, HubUnreachable, CompanionError: then it is sent later.
     * @type {() => Promise<void>}
     */
    beforeSending = async () => {};

    /**
     * @param {CompanionStore} store
     * @param {Tabs} tabs
     * @param {Time} time
     * @param {DeviceFacts | null} member of a shared vault: then these facts are kept sealed elsewhere, and no key in
     *   the open
     */
    constructor(store, tabs, time, member = null) {
        this.member = this.facts = member;
        this.store = store;
        this.tabs = tabs;
        this.time = time;
        this.events = new EventTarget();
    }

    /** Reads the stored state, also after another tab changed it. */
    async load() {
        this.facts = this.member ?? await this.store.fact("device", /** @type {DeviceFacts | null} */ (null));
        const entries = await this.store.fact("roster", /** @type {Uint8Array[]} */ ([]));
        const stored = entries.length > this.roster.number ? await Roster.read(entries) : this.roster;
        const isLonger = stored.number > this.roster.number;
        if (isLonger) this.roster = stored;
        for (const { epoch, key } of await this.store.statusKeys()) this.statusKeys.set(epoch, key);
        this.#hub = this.facts && !this.isLocal ? new HubClient(this.facts.hub, this.facts.token) : null;
        if (this.facts) await this.loadRing();
        if (this.member && this.unlocked) await this.openStatusKeys(this.unlocked);
        if (this.isRevoked) this.emit("revoked");
        else if (isLonger) this.emit("roster");
    }

    /** Reads the stored key ring into the keys in memory; nothing while AppLocker is locked. */
    async loadRing() {
        const { unlocked } = this;
        if (!unlocked) return;
        // A lock meanwhile wipes the root key.
        const root = unlocked.rootKey.slice();
        const { content } = await openDrawer(this, root).finally(() => wipe(root));
        if (this.unlocked === unlocked) unlocked.ring = content.ring;
        else content.ring.wipe();
    }

    /** Drops the household from memory: the device may be paired with another one. */
    forget() {
        this.facts = null;
        this.#hub = null;
        this.roster = new Roster();
        this.statusKeys.clear();
        this.notResent.clear();
    }

    /** Whether its keys are one record an epoch: of a shared vault, or of a household that a phone founded. */
    get sharesKeys() {
        return this.member !== null || this.roster.isPhoneFounded;
    }

    /** Whether it is a vault that is only on this device: nothing of it may reach a hub. */
    get isLocal() {
        return this.member?.hub === "";
    }

    /** Whether it is a vault with members, who may be several people. */
    get isShared() {
        return this.member !== null && !this.isLocal;
    }

    /**
     * Whether a signature of a device that administers proves the revocation. Members of a shared vault erase nothing
     * by themselves.
     */
    get isRevoked() {
        return !this.member && this.facts !== null && this.roster.revoked.has(this.facts.device);
    }

    /**
     * Adds a ring's status keys, for as long as this tab is open.
     * @param {UnlockedKeys} keys
     */
    async openStatusKeys(keys) {
        for (const { epoch, key } of await statusKeysOf(keys.ring, this.paired.household)) {
            this.statusKeys.set(epoch, key);
        }
    }

    get hub() {
        if (this.isLocal) throw new CompanionError("onlyHere", "This vault is only on this device.");
        if (!this.#hub) throw new CompanionError("notPaired", "This device is not paired with a computer.");
        return this.#hub;
    }

    /** Of the device that has the PIN share. */
    get pinHub() {
        const { hub, pinToken } = this.paired;
        return pinToken ? new HubClient(hub, pinToken) : this.hub;
    }

    get paired() {
        if (!this.facts) throw new CompanionError("notPaired", "This device is not paired with a computer.");
        return this.facts;
    }

    /** Throws CompanionError `locked`. */
    get keys() {
        if (!this.unlocked) throw new CompanionError("locked", "AppLocker is locked; unlock it first.");
        return this.unlocked;
    }

    /**
     * A record's pending change, the row of what the hub has, the newer record of the two, and the hub's revision that
     * it is based on.
     * @param {string} collection
     * @param {string} id
     */
    async stored(collection, id) {
        const key = recordKey(collection, id);
        return storedRecord(key, await this.store.waitingFor(key), await this.store.record(key));
    }

    /**
     * The same of a collection: the hub's newest first, then those that it never had.
     * @param {string} collection
     * @param {{ after?: number, limit?: number }} [page] of the hub's; `after`: a sequence number
     */
    async storedAll(collection, page) {
        // In this order: a change that is sent meanwhile is in one of them.
        const waiting = (await this.store.waiting()).filter(({ record }) => record.collection === collection);
        const rows = await this.store.records(collection, page);
        const lines = new Map(waiting.map((line) => [line.key, line]));
        const found = rows.map((row) => storedRecord(row.key, lines.get(row.key), row));
        for (const { key } of rows) lines.delete(key);
        return [...found, ...[...lines.values()].map((line) => storedRecord(line.key, line, undefined))]
            .flatMap(({ record, ...rest }) => (record ? { ...rest, record } : []));
    }

    /**
     * Throws CompanionError `locked` once these keys are gone, so that opened content is not returned.
     * @param {UnlockedKeys} keys as they were when opening began
     */
    requireUnlocked(keys) {
        if (this.unlocked !== keys) throw new CompanionError("locked", "AppLocker was locked meanwhile.");
    }

    /**
     * @param {"state" | "locking" | "connection" | "changed" | "outbox" | "upload" | "roster" | "revoked"} kind
     * @param {unknown} [detail]
     */
    emit(kind, detail) {
        this.events.dispatchEvent(new CustomEvent(kind, { detail }));
    }

    /**
     * Announces written records in all tabs.
     * @param {string[]} keys "collection/id"
     */
    changed(keys) {
        if (keys.length === 0) return;
        this.emit("changed", keys);
        this.tabs.post({ kind: "changed", keys });
    }

    /** Follows the hub's list of devices, one call at a time. Throws CompanionError `untrusted`. */
    followRoster() {
        const following = this.#following.catch(() => {}).then(() => this.#followRoster());
        this.#following = following;
        return following;
    }

    async #followRoster() {
        let longer;
        // While the hub responds, `load` may read a longer list that another tab followed.
        let before = this.roster;
        try {
            let served = await this.hub.roster(before.number - 1);
            // In a household with a computer that founded it, computers restore the list; else its members do.
            if (this.sharesKeys && served.length === 0) {
                await this.#restoreRoster();
                before = this.roster;
                served = await this.hub.roster(before.number - 1);
            }
            longer = await before.following(served);
            if (!longer.isOneWith(this.roster)) {
                throw new RosterViolation("different lists of devices to two tabs");
            }
        } catch (error) {
            if (!(error instanceof RosterViolation)) throw error;
            await this.reportProtocolViolation(error.message);
            throw new CompanionError("untrusted",
                `The hub can’t be trusted: it returned ${error.message}. Nothing was accepted.`);
        }
        // Forgotten meanwhile.
        if (this.roster.number === 0) return;
        const isLonger = longer.number > this.roster.number;
        if (isLonger) this.roster = longer;
        // Nothing is written first: the store may be full.
        if (this.isRevoked) return this.emit("revoked");
        if (!isLonger) return;
        await this.store.write({ facts: { roster: longer.entries } });
        this.tabs.post({ kind: "state" });
        this.emit("roster");
    }

    /** Sends entries that a restored hub lost: devices that they revoke lose access again. Throws RosterViolation. */
    async #restoreRoster() {
        const { entries } = this.roster;
        const served = await this.hub.roster(0);
        const isBeginning = served.length > 0 && served.length < entries.length
            && served.every((entry, index) => equalInConstantTime(entry, entries[index]));
        if (!isBeginning) throw new RosterViolation("another list of devices than before");
        for (const { number, revoked } of (await Roster.changes(entries)).slice(served.length)) {
            await this.hub.append(number, entries[number - 1], { restore: revoked === null ? {} : { revoked } });
        }
        const count = entries.length - served.length;
        await this.report(`The hub has an older list of members than before, as after a restored backup. ${
            count === 1 ? "1 entry was" : `${count} entries were`} sent again.`);
    }

    /**
     * Reports an invalid response of the hub.
     * @param {string} what
     * @param {boolean} [isRecord] it was counted
     */
    reportProtocolViolation(what, isRecord = false) {
        return this.report(`The hub returned ${what}; it was refused.`, isRecord);
    }

    /**
     * Reports a problem of the hub to the owner, once.
     * @param {string} sentence
     * @param {boolean} [isRecord] a record was refused
     */
    async report(sentence, isRecord = false) {
        const sentences = await this.store.fact("misbehaviour", /** @type {string[]} */ ([]));
        const refused = await this.store.fact("refused", 0);
        if (!sentences.includes(sentence) && sentences.length < 20) sentences.push(sentence);
        await this.store.write({ facts: { misbehaviour: sentences, refused: refused + (isRecord ? 1 : 0) } });
        this.emit("state");
    }
}
