// What all parts of a companion share: its store, its place in the household, and the keys that are there now.
import { HubClient } from "../protocol/client.js";
import { equalInConstantTime } from "../crypto/bytes.js";
import { Roster, RosterMisbehaviour } from "../crypto/roster.js";
import { openDrawer } from "./drawer.js";
import { CompanionError } from "./errors.js";
import { statusKeysOf } from "./keys.js";

/**
 * @typedef {import("../store/store.js").CompanionStore} CompanionStore
 * @typedef {import("../store/store.js").Change} Change
 * @typedef {import("../store/tabs.js").Tabs} Tabs
 * @typedef {import("../protocol/time.js").Time} Time
 * @typedef {import("./keys.js").UnlockedKeys} UnlockedKeys
 */
/**
 * What is kept in the open: who this device is, and its token. `deviceSecret` goes into what the hub compares a PIN by.
 * @typedef {{ hub: string, household: string, computer: string, device: string, name: string, token: Uint8Array,
 *   deviceSecret: Uint8Array }} DeviceFacts
 */

export class Device {
    /**
     * Null before it is paired.
     * @type {DeviceFacts | null}
     */
    facts = null;
    roster = new Roster();
    /**
     * By epoch.
     * @type {Map<number, CryptoKey>}
     */
    statusKeys = new Map();
    /**
     * Null while it is locked.
     * @type {UnlockedKeys | null}
     */
    unlocked = null;
    /**
     * Keys of records that the hub lost and did not take again, by this connection.
     * @type {Set<string>}
     */
    notOffered = new Set();
    /** @type {HubClient | null} */
    #hub = null;
    /** @type {Promise<void>} */
    #following = Promise.resolve();

    /**
     * Called before anything is sent. Throws HubError, HubUnreachable, CompanionError: it is sent later then.
     * @type {() => Promise<void>}
     */
    settle = async () => {};

    /**
     * @param {CompanionStore} store
     * @param {Tabs} tabs
     * @param {Time} time
     * @param {DeviceFacts | null} member of a shared vault: then these facts are kept sealed elsewhere, and no key in the open
     */
    constructor(store, tabs, time, member = null) {
        this.member = member;
        this.store = store;
        this.tabs = tabs;
        this.time = time;
        this.events = new EventTarget();
    }

    /** Reads what lies in the store, again where another tab has changed it. */
    async load() {
        this.facts = this.member ?? await this.store.fact("device", /** @type {DeviceFacts | null} */ (null));
        const entries = await this.store.fact("roster", /** @type {Uint8Array[]} */ ([]));
        const stored = entries.length > this.roster.number ? await Roster.read(entries) : this.roster;
        const isLonger = stored.number > this.roster.number;
        if (isLonger) this.roster = stored;
        for (const { epoch, key } of await this.store.statusKeys()) this.statusKeys.set(epoch, key);
        this.#hub = this.facts && new HubClient(this.facts.hub, this.facts.token, this.time);
        if (this.facts && this.unlocked) this.unlocked.ring = (await openDrawer(this.store, this.unlocked.rootKey)).content.ring;
        if (this.member && this.unlocked) await this.openStatusKeys(this.unlocked);
        if (this.isOut) this.tell("revoked");
        else if (isLonger) this.tell("roster");
    }

    /** Nothing of its household stays in memory: it may be paired to another one. */
    forget() {
        this.facts = null;
        this.#hub = null;
        this.roster = new Roster();
        this.statusKeys.clear();
        this.notOffered.clear();
    }

    /** Whether a computer's signature proves that this device was revoked. A member of a shared vault erases nothing by itself. */
    get isOut() {
        return !this.member && this.facts !== null && this.roster.revoked.has(this.facts.device);
    }

    /**
     * Those that a ring has, for as long as this tab is open.
     * @param {UnlockedKeys} keys
     */
    async openStatusKeys(keys) {
        for (const { epoch, key } of await statusKeysOf(keys.ring, this.paired.household)) this.statusKeys.set(epoch, key);
    }

    get hub() {
        if (!this.#hub) throw new CompanionError("notPaired", "This device is not paired with a computer.");
        return this.#hub;
    }

    get paired() {
        if (!this.facts) throw new CompanionError("notPaired", "This device is not paired with a computer.");
        return this.facts;
    }

    /** The keys behind the gate. Throws CompanionError `locked`. */
    get keys() {
        if (!this.unlocked) throw new CompanionError("locked", "AppLocker is locked; open it first.");
        return this.unlocked;
    }

    /**
     * Nothing that was opened is given out once its keys are gone. Throws CompanionError `locked`.
     * @param {UnlockedKeys} keys as they were when opening began
     */
    still(keys) {
        if (this.unlocked !== keys) throw new CompanionError("locked", "AppLocker was locked meanwhile.");
    }

    /** @param {"state" | "connection" | "changed" | "outbox" | "upload" | "roster" | "revoked"} kind @param {unknown} [detail] */
    tell(kind, detail) {
        this.events.dispatchEvent(new CustomEvent(kind, { detail }));
    }

    /**
     * Records were written: for the screens of this tab and of the others.
     * @param {string[]} keys "collection/id"
     */
    changed(keys) {
        if (keys.length === 0) return;
        this.tell("changed", keys);
        this.tabs.tell({ kind: "changed", keys });
    }

    /** Follows the hub's list of devices. One at a time: each goes on from where the one before came to. Throws CompanionError `untrusted`. */
    followRoster() {
        const following = this.#following.catch(() => {}).then(() => this.#followRoster());
        this.#following = following;
        return following;
    }

    async #followRoster() {
        let longer;
        // While the hub answers, `load` may take over what another tab followed.
        let before = this.roster;
        try {
            let served = await this.hub.roster(before.number - 1);
            // A household has computers for this; a shared vault has its members alone.
            if (this.member && served.length === 0) {
                await this.#restoreRoster();
                before = this.roster;
                served = await this.hub.roster(before.number - 1);
            }
            longer = await before.following(served);
            if (!longer.isOneWith(this.roster)) throw new RosterMisbehaviour("another list of devices than to another tab");
        } catch (error) {
            if (!(error instanceof RosterMisbehaviour)) throw error;
            await this.misbehaved(error.message);
            throw new CompanionError("untrusted", `The hub can't be trusted: it served ${error.message}. Nothing of it was taken.`);
        }
        // Forgotten meanwhile.
        if (this.roster.number === 0) return;
        const isLonger = longer.number > this.roster.number;
        if (isLonger) this.roster = longer;
        // Nothing is written first: the store may be full.
        if (this.isOut) return this.tell("revoked");
        if (!isLonger) return;
        await this.store.write({ facts: { roster: longer.entries } });
        this.tabs.tell({ kind: "state" });
        this.tell("roster");
    }

    /** Sends the entries that a restored hub lost; devices that they revoke lose their access again. Throws RosterMisbehaviour. */
    async #restoreRoster() {
        const { entries } = this.roster;
        const served = await this.hub.roster(0);
        const isBeginning = served.length > 0 && served.length < entries.length
            && served.every((entry, index) => equalInConstantTime(entry, entries[index]));
        if (!isBeginning) throw new RosterMisbehaviour("another list of devices than before");
        for (const { number, revoked } of (await Roster.changes(entries)).slice(served.length)) {
            await this.hub.append(number, entries[number - 1], { restore: revoked === null ? {} : { revoked } });
        }
        const count = entries.length - served.length;
        await this.report(`The hub had an older list of members than before, as after a restored backup. ${
            count === 1 ? "1 entry was" : `${count} entries were`} sent again.`);
    }

    /**
     * The hub did what it must not do.
     * @param {string} what
     * @param {boolean} [isRecord] it was counted
     */
    misbehaved(what, isRecord = false) {
        return this.report(`The hub served ${what}; it was refused.`, isRecord);
    }

    /**
     * What the owner has to know of the hub; the same once.
     * @param {string} sentence
     * @param {boolean} [isRecord] a record was refused
     */
    async report(sentence, isRecord = false) {
        const sentences = await this.store.fact("misbehaviour", /** @type {string[]} */ ([]));
        const refused = await this.store.fact("refused", 0);
        if (!sentences.includes(sentence) && sentences.length < 20) sentences.push(sentence);
        await this.store.write({ facts: { misbehaviour: sentences, refused: refused + (isRecord ? 1 : 0) } });
        this.tell("state");
    }
}
