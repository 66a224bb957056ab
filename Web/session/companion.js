// The life of a companion session: opened, paired, locked, unlocked, and erased.
import { isMarkedPaired, markPaired } from "../store/page-settings.js";
import { CompanionStore } from "../store/store.js";
import { Tabs } from "../store/tabs.js";
import { HubError } from "../hub/errors.js";
import { systemTime } from "../hub/time.js";
import { DeviceSession } from "../sync/device-session.js";
import { eraseEverything } from "./erase.js";
import { CompanionError } from "../household/errors.js";
import * as unlock from "../household/unlock.js";
import { checkPIN } from "../household/pin-rules.js";
import { forgetUnfinished } from "../household/unfinished-pairing.js";
import { ingestRecords, ingestDeferred } from "../sync/ingest.js";
import { sweepStaged } from "../sync/photo-staging.js";
import { SessionState } from "./session-state.js";

/**
 * `new`: not paired. `choosingPIN`: admitted, or a founder, without a PIN. `lost`: the browser deleted the data of a
 * paired device. `revoked`: another device revoked it, and everything was erased.
 * @typedef {"new" | "choosingPIN" | "locked" | "unlocked" | "lost" | "revoked"} CompanionState
 */
/** @typedef {import("../household/pairing.js").Admitted} Admitted */

export class Companion extends SessionState {
    /** @type {Admitted | null} */
    #admitted = null;
    #isLost = false;
    #isRevoked = false;
    /** @type {Promise<void>} */
    #erasing = Promise.resolve();
    #locks = 0;
    /** @type {"founded" | "recovered" | null} */
    #beginning = null;
    /** Whether this tab founded the household and was not locked since: its owner has just chosen the PIN. */
    wasJustFounded = false;

    /** @param {DeviceSession} device @param {string} name */
    constructor(device, name) {
        super(device, name, (membership) => Companion.#ofVault(membership, device.time));
        device.events.addEventListener("revoked", () => void this.#erase(true).catch((error) => console.warn(error)));
        device.tabs.listen((message) => this.#receive(message));
    }

    /**
     * Opens the session with the stored state. Throws StoreError.
     * @param {{ name?: string, time?: import("../hub/time.js").Time }} options the name of the database, for tests
     */
    static async open({ name = "applocker", time = systemTime } = {}) {
        const companion = await Companion.#on(name, async (store) => {
            const device = new DeviceSession(store, new Tabs(name), time);
            device.beforeSending = async () => {
                if (!device.roster.isPhoneFounded) return;
                const { settleHousehold } = await import("../sync/vault-keys.js");
                await settleHousehold(device, (record) => ingestRecords(device, [record]));
            };
            await device.load();
            return device;
        });
        await companion.#begin();
        return companion;
    }

    /** @param {string} database @param {(store: CompanionStore) => Promise<DeviceSession>} load */
    static async #on(database, load) {
        /** @type {Companion | null} */
        let companion = null;
        const store = await CompanionStore.open(() => {
            if (companion) companion.#lose();
        }, database);
        try {
            return (companion = new Companion(await load(store), database));
        } catch (error) {
            store.close();
            throw error;
        }
    }

    async #begin() {
        const { facts, isRevoked, store } = this.device;
        // Also if an earlier erasure was interrupted.
        if (isRevoked || (!facts && (await store.wasRevoked()))) return this.#erase(true);
        if (facts) return this.syncLoop.start();
        this.#isLost = isMarkedPaired(this.name);
        await forgetUnfinished(this.device);
    }

    /**
     * Of a shared vault: unlocked from the beginning, and ended with the main session, or with its lock. Throws
     * StoreError, and what `unlock` throws.
     * @param {import("../features/vaults/vaults.js").OpenMembership} membership
     * @param {import("../hub/time.js").Time} time
     */
    static async #ofVault({ database, facts, unlock: open, written, turns }, time) {
        const { settleKeys } = await import("../sync/vault-keys.js");
        const companion = await Companion.#on(database, async (store) => {
            if (written) await store.write({ facts: written });
            const device = new DeviceSession(store, new Tabs(database), time, facts);
            await open(device).catch((error) => {
                device.tabs.close();
                throw error;
            });
            await device.load();
            device.beforeSending = () => settleKeys(device, (record) => ingestRecords(device, [record]));
            return device;
        });
        if (companion.device.isLocal) {
            const { LocalLoop } = await import("../sync/local-loop.js");
            companion.syncLoop = new LocalLoop(companion.device);
        }
        companion.syncLoop.turns = turns;
        companion.syncLoop.start();
        ingestDeferred(companion.device).then(() => sweepStaged(companion.device)).catch(() => {});
        return companion;
    }

    /** @returns {CompanionState} */
    get state() {
        if (this.#admitted) return "choosingPIN";
        if (this.#isRevoked) return "revoked";
        if (this.#isLost) return "lost";
        if (!this.device.facts) return "new";
        return this.device.unlocked ? "unlocked" : "locked";
    }

    #lose() {
        this.#isLost = true;
        this.lock();
        this.syncLoop.stop();
        this.device.emit("state");
    }

    /** @param {import("../store/tabs.js").TabMessage} message */
    #receive(message) {
        switch (message.kind) {
            case "changed":
                // Waits for the lock, in case the tab that uploads the photo is closed.
                if (!this.device.isLocal && message.keys.some((key) => key.startsWith("photos/"))) {
                    this.syncLoop.uploader.start();
                }
                return this.device.emit("changed", message.keys);
            case "waiting":
                this.device.notResent.clear();
                return void this.syncLoop.send().catch(() => {});
            case "connected":
                return this.syncLoop.retryNow();
            case "lock":
                return this.lockTab();
            case "erased":
                this.lockTab();
                this.syncLoop.stop();
                return this.#becomeErased(message.isRevoked);
            case "state":
                return void this.#loadAgain().catch(() => {});
        }
    }

    /** Reads the stored state after another tab changed it. */
    async #loadAgain() {
        const wasPaired = this.device.facts !== null;
        await this.device.load();
        if (!wasPaired && this.device.facts && !this.device.isRevoked) {
            // That tab paired this device.
            this.#isLost = this.#isRevoked = false;
            this.syncLoop.start();
        }
        if (this.device.unlocked && !this.device.member) this.vaults.open();
        this.device.emit("state");
    }

    // Pairing

    /**
     * As `pair` in pairing.js; then the state is "choosingPIN", and nothing is kept before `setPIN`.
     * @param {string} link @param {string} name
     * @param {{ waiting?: (words: string[]) => void, signal?: AbortSignal }} [options]
     */
    async pair(link, name, options) {
        const { pair } = await import("../household/pairing.js");
        await this.#admit(() => pair(this.device, link, name, options));
    }

    /**
     * As `found` in founding.js, at the hub that serves this page; then as `pair`. The household is registered by
     * `setPIN`.
     * @param {string} hub @param {string} name @param {import("../household/founding.js").FoundingLinks} links
     */
    async found(hub, name, links) {
        const { found } = await import("../household/founding.js");
        await this.#admit(() => found(this.device, hub, name, links), "founded");
    }

    /**
     * As `recover` in recovery.js; then as `pair`.
     * @param {{ hub: string, household: string | null, secret: Uint8Array }} sheet @param {string} name
     */
    async recover(sheet, name) {
        const { recover } = await import("../household/recovery.js");
        await this.#admit(() => recover(this.device, sheet, name), "recovered");
    }

    /** How this device began, once: what is to be done next depends on it. */
    takeBeginning() {
        const beginning = this.#beginning;
        this.#beginning = null;
        return beginning;
    }

    /** @param {() => Promise<Admitted>} make @param {"founded" | "recovered" | null} [beginning] */
    async #admit(make, beginning = null) {
        try {
            this.#admitted = await make();
            this.#beginning = beginning;
        } catch (error) {
            await forgetUnfinished(this.device).catch(() => {});
            throw error;
        }
        this.device.emit("state");
    }

    /** Instead of the first PIN: the set-up begins again. */
    async startAgain() {
        this.lockTab();
        await forgetUnfinished(this.device);
    }

    /**
     * The first PIN, which ends the pairing, or a new one. Throws CompanionError `weakPIN`, HubError, HubUnreachable,
     * StoreError.
     * @param {string} pin
     */
    async setPIN(pin) {
        if (!this.#admitted) return unlock.changePIN(this.device, pin);
        const { facts, keys, roster, register } = this.#admitted;
        checkPIN(pin);
        await register?.();
        await unlock.setFirstPIN(this.device, facts, keys, roster.entries, pin);
        markPaired(this.name, facts.device);
        // The browser may refuse: `report()` shows it.
        await this.persistStorage();
        this.#admitted = null;
        this.#isLost = this.#isRevoked = false;
        this.wasJustFounded = this.#beginning === "founded";
        this.device.unlocked = keys;
        await this.device.load();
        this.vaults.open();
        this.syncLoop.start();
        this.administration.publishOwnName().catch(() => {});
        this.device.tabs.post({ kind: "state" });
        this.device.emit("state");
    }

    // Unlocking

    /**
     * Needs the hub. Throws CompanionError `wrongPIN`, `wait`, `pairAgain`, HubUnreachable.
     * @param {string} pin
     */
    async unlockWithPIN(pin) {
        await this.#unlocking(() => this.#counting(unlock.unlockWithPIN(this.device, pin)));
    }

    /**
     * Works offline. Throws CompanionError `noPasskey`.
     * @param {Uint8Array} output 32 bytes of WebAuthn's PRF; wiped
     */
    async unlockWithPasskey(output) {
        await this.#unlocking(() => unlock.unlockWithPasskey(this.device, output));
    }

    /** @param {() => Promise<void>} open */
    async #unlocking(open) {
        const locks = this.#locks;
        // Records that can't be stored now are tried again with the next connection.
        for (const step of [open, () => ingestDeferred(this.device).catch((error) => console.warn(error))]) {
            await step();
            if (locks === this.#locks) continue;
            this.lockTab();
            throw new CompanionError("locked", "AppLocker was locked again.");
        }
        sweepStaged(this.device).catch(() => {});
        this.sendSoon();
        // Another PIN's session may have other vaults.
        this.vaults.close();
        this.vaults.open();
        this.device.emit("state");
        this.audit.unlocked().catch(() => {});
        this.administration.publishOwnName().catch(() => {});
    }

    /** @param {Promise<void>} attempt whose wrong PIN is logged */
    async #counting(attempt) {
        try {
            await attempt;
        } catch (error) {
            if (error instanceof CompanionError && error.code === "wrongPIN") await this.audit.failed().catch(() => {});
            throw error;
        }
    }

    /**
     * Asks for the PIN again while unlocked: the hub counts the attempt, and the keys in use stay. Throws as
     * `unlockWithPIN`, and CompanionError `locked`.
     * @param {string} pin
     */
    confirmWithPIN(pin) {
        return this.#counting(unlock.confirmWithPIN(this.device, pin));
    }

    /** @param {Uint8Array} output 32 bytes of WebAuthn's PRF; wiped. Throws CompanionError `noPasskey`, `locked`. */
    confirmWithPasskey(output) {
        return unlock.confirmWithPasskey(this.device, output);
    }

    /**
     * @param {import("../household/unlock.js").Passkey} passkey
     * @param {Uint8Array} output 32 bytes of WebAuthn's PRF; wiped
     */
    addPasskey(passkey, output) {
        return unlock.addPasskey(this.device, passkey, output);
    }

    removePasskey() {
        return unlock.removePasskey(this.device);
    }

    /** The passkey to ask for; null without one. */
    passkey() {
        return unlock.passkeyOf(this.device);
    }

    /** How many wrong PINs the hub has counted, and the wait. */
    pinState() {
        return this.device.hub.pinShare();
    }

    /** Wipes all keys and everything that was opened, in every tab. */
    lock() {
        this.lockTab();
        this.device.tabs.post({ kind: "lock" });
    }

    /** As `lock`, in this tab alone: it was hidden too long while another one is in use. */
    lockTab() {
        this.#locks += 1;
        this.wasJustFounded = false;
        if (this.device.unlocked) this.device.emit("locking");
        this.vaults.close();
        this.#admitted?.keys.wipe();
        this.#admitted = null;
        this.device.unlocked?.wipe();
        this.device.unlocked = null;
        for (const part of [this.notes, this.moments, this.momentPhotos]) part.forget();
        this.device.emit("state");
    }

    // Leaving

    /** Erases this device first, then leaves at the hub; a computer still has to revoke it. */
    async remove() {
        const hub = this.device.facts ? this.device.hub : null;
        await this.#erase(false);
        await hub?.leave().catch((error) => {
            if (!(error instanceof HubError)) throw error;
        });
    }

    /**
     * One at a time: removing a device here revokes it first.
     * @param {boolean} isRevoked
     */
    #erase(isRevoked) {
        this.syncLoop.stop();
        this.lock();
        this.#erasing = this.#erasing.catch(() => {}).then(async () => {
            if (isRevoked && this.#isRevoked) return;
            await eraseEverything(this, isRevoked);
            this.device.tabs.post({ kind: "erased", isRevoked });
            this.#becomeErased(isRevoked);
        });
        return this.#erasing;
    }

    /** @param {boolean} isRevoked */
    #becomeErased(isRevoked) {
        this.device.forget();
        this.#isLost = false;
        this.#isRevoked = isRevoked;
        this.device.emit("state");
    }

    /** Ends this tab's part; for tests. */
    close() {
        this.syncLoop.stop();
        this.lockTab();
        this.device.tabs.close();
        this.device.store.close();
    }

    /** As `close`, after the current edit is written; for shared vaults. */
    async end() {
        this.syncLoop.stop();
        this.lockTab();
        await this.device.tabs.exclusive("edit", async () => this.close());
    }
}
