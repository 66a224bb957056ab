// A companion without a screen: everything that the screens stand on.
import { CompanionStore, revokedFact } from "../store/store.js";
import { Tabs } from "../store/tabs.js";
import { HubError } from "../protocol/errors.js";
import { systemTime } from "../protocol/time.js";
import { VaultAudit } from "./audit.js";
import { Commands } from "./commands.js";
import { Device } from "./device.js";
import { Decoy } from "./decoy.js";
import { openDrawer, Private } from "./drawer.js";
import { Editing } from "./editing.js";
import { eraseEverything, markOf } from "./erasing.js";
import { CompanionError } from "./errors.js";
import { Following } from "./following.js";
import * as gate from "./gate.js";
import { Household } from "./household.js";
import { UnlockedKeys } from "./keys.js";
import { Moments } from "./moments.js";
import { Notes } from "./notes.js";
import { forgetUnfinished, pair } from "./pairing.js";
import { Photos } from "./photos.js";
import { Pictures } from "./pictures.js";
import { reportOf } from "./report.js";
import { take, takeDeferred } from "./taking.js";
import { settleKeys } from "./vault-keys.js";
import { Vaults } from "./vaults.js";

/**
 * `new`: to be paired. `gate`: admitted, a PIN has to be set. `lost`: it was paired, and the browser threw away what it kept.
 * `revoked`: a computer revoked it, and everything was erased.
 * @typedef {"new" | "gate" | "locked" | "unlocked" | "lost" | "revoked"} CompanionState
 */
/** @typedef {import("./pairing.js").Admitted} Admitted */

/**
 * Events: "state" (this.state, refusals), "connection", "changed" (detail: keys "collection/id" of records that are to be
 * shown anew), "outbox" (something was sent), "upload" (detail: `UploadProgress` of a photo).
 */
export class Companion extends EventTarget {
    /** @type {Admitted | null} */
    #admitted = null;
    #isLost = false;
    #isRevoked = false;
    /** @type {Promise<void>} */
    #erasing = Promise.resolve();
    #locks = 0;

    /** @param {Device} device @param {string} name */
    constructor(device, name) {
        super();
        this.device = device;
        this.name = name;
        this.household = new Household(device);
        this.following = new Following(device);
        this.editing = new Editing(device, this.household, () => this.#send());
        this.notes = new Notes(device, this.editing);
        this.moments = new Moments(device, this.editing);
        this.pictures = new Pictures(device, this.editing, this.moments);
        this.photos = new Photos(device);
        this.private = new Private(device);
        this.decoy = new Decoy(device, () => this.#send());
        this.audit = new VaultAudit(device, this.editing, this.private);
        this.commands = new Commands(device, this.household);
        /** Those shared with others; each has a companion of its own. */
        this.vaults = new Vaults(this, (membership) => Companion.#ofVault(membership, device.time));
        for (const kind of ["state", "connection", "changed", "outbox", "upload"]) {
            device.events.addEventListener(kind, (event) =>
                this.dispatchEvent(new CustomEvent(kind, { detail: /** @type {CustomEvent} */ (event).detail })));
        }
        device.events.addEventListener("revoked", () => void this.#erase(true).catch((error) => console.warn(error)));
        device.tabs.listen((message) => this.#heard(message));
    }

    /**
     * Takes up what an earlier visit left. Throws StoreError.
     * @param {{ name?: string, time?: import("../protocol/time.js").Time }} options the name of the database, for tests
     */
    static async open({ name = "applocker", time = systemTime } = {}) {
        /** @type {Companion | null} */
        let companion = null;
        const store = await CompanionStore.open(() => {
            if (companion) companion.#lose();
        }, name);
        const device = new Device(store, new Tabs(name), time);
        await device.load();
        companion = new Companion(device, name);
        await companion.#begin();
        return companion;
    }

    async #begin() {
        const { facts, isOut, store } = this.device;
        // Also where an earlier visit knew it and was cut off.
        if (isOut || (!facts && (await store.fact(revokedFact, false)))) return this.#erase(true);
        if (facts) return this.following.start();
        this.#isLost = localStorage.getItem(markOf(this.name)) !== null;
        await forgetUnfinished(this.device);
    }

    /**
     * Of a shared vault: open from the beginning, and ended when the main gate closes. Throws StoreError, FormatError, CompanionError `pairAgain`.
     * @param {import("./vaults.js").OpenMembership} membership
     * @param {import("../protocol/time.js").Time} time
     */
    static async #ofVault({ database, facts, rootKey, written }, time) {
        /** @type {Companion | null} */
        let companion = null;
        const store = await CompanionStore.open(() => {
            if (companion) companion.#lose();
        }, database);
        try {
            if (written) await store.write({ facts: written });
            const device = new Device(store, new Tabs(database), time, facts);
            const { content } = await openDrawer(store, rootKey);
            device.unlocked = await UnlockedKeys.from(facts.household, rootKey, content.ring);
            await device.load();
            device.settle = () => settleKeys(device, (record) => take(device, [record]));
            companion = new Companion(device, database);
        } catch (error) {
            store.close();
            throw error;
        }
        companion.following.start();
        takeDeferred(companion.device).then(() => companion?.pictures.sweep()).catch(() => {});
        return companion;
    }

    /** @returns {CompanionState} */
    get state() {
        if (this.#admitted) return "gate";
        if (this.#isRevoked) return "revoked";
        if (this.#isLost) return "lost";
        if (!this.device.facts) return "new";
        return this.device.unlocked ? "unlocked" : "locked";
    }

    #lose() {
        this.#isLost = true;
        this.lock();
        this.following.stop();
        this.device.tell("state");
    }

    /** @param {import("../store/tabs.js").TabMessage} message */
    #heard(message) {
        switch (message.kind) {
            case "changed":
                // Stands by, for the case that the tab which brings a photo to the hub is closed.
                if (message.keys.some((key) => key.startsWith("photos/"))) this.following.uploading.start();
                return this.device.tell("changed", message.keys);
            case "waiting":
                this.device.notOffered.clear();
                return void this.following.send().catch(() => {});
            case "lock":
                return this.#lockHere();
            case "erased":
                this.#lockHere();
                this.following.stop();
                return this.#becomeErased(message.isRevoked);
            case "state":
                return void this.#loadAgain().catch(() => {});
        }
    }

    /** Another tab has changed what is kept. */
    async #loadAgain() {
        const wasPaired = this.device.facts !== null;
        await this.device.load();
        if (!wasPaired && this.device.facts && !this.device.isOut) {
            // It paired this device.
            this.#isLost = this.#isRevoked = false;
            this.following.start();
        }
        if (this.device.unlocked && !this.device.member) this.vaults.open();
        this.device.tell("state");
    }

    // Coming in

    /**
     * As `pair` in pairing.js; then the state is "gate", and nothing is kept before `setPIN`.
     * @param {string} link @param {string} name
     * @param {{ waiting?: () => void, signal?: AbortSignal }} [options]
     */
    async pair(link, name, options) {
        try {
            this.#admitted = await pair(this.device, link, name, options);
        } catch (error) {
            await forgetUnfinished(this.device).catch(() => {});
            throw error;
        }
        this.device.tell("state");
    }

    /**
     * The first PIN, which ends the pairing, or another one. Throws CompanionError `weakPIN`, HubError, HubUnreachable, StoreError.
     * @param {string} pin
     */
    async setPIN(pin) {
        if (!this.#admitted) return gate.changePIN(this.device, pin);
        const { facts, keys, roster } = this.#admitted;
        await gate.setFirstPIN(this.device, facts, keys, roster.entries, pin);
        localStorage.setItem(markOf(this.name), facts.device);
        // The browser may refuse: `report()` says so.
        await navigator.storage?.persist?.().catch(() => false);
        this.#admitted = null;
        this.#isLost = this.#isRevoked = false;
        this.device.unlocked = keys;
        await this.device.load();
        this.vaults.open();
        this.following.start();
        this.device.tabs.tell({ kind: "state" });
        this.device.tell("state");
    }

    // The gate

    /**
     * Needs the hub. Throws CompanionError `wrongPIN`, `wait`, `pairAgain`, HubUnreachable.
     * @param {string} pin
     */
    async unlockWithPIN(pin) {
        await this.#unlocking(() => this.#counting(gate.unlockWithPIN(this.device, pin)));
    }

    /**
     * Works offline. Throws CompanionError `noPasskey`.
     * @param {Uint8Array} output 32 bytes of WebAuthn's PRF; wiped
     */
    async unlockWithPasskey(output) {
        await this.#unlocking(() => gate.unlockWithPasskey(this.device, output));
    }

    /** @param {() => Promise<void>} open */
    async #unlocking(open) {
        const locks = this.#locks;
        await open();
        if (locks !== this.#locks) {
            // Somebody locked while the keys were on their way.
            this.#lockHere();
            throw new CompanionError("locked", "AppLocker was locked again.");
        }
        await takeDeferred(this.device);
        this.pictures.sweep().catch(() => {});
        this.#send();
        // Of another session there may be others.
        this.vaults.close();
        this.vaults.open();
        this.device.tell("state");
        this.audit.unlocked().catch(() => {});
    }

    /** @param {Promise<void>} attempt of which a wrong PIN goes into the log of the vault */
    async #counting(attempt) {
        try {
            await attempt;
        } catch (error) {
            if (error instanceof CompanionError && error.code === "wrongPIN") await this.audit.failed().catch(() => {});
            throw error;
        }
    }

    /**
     * The gate asks once more while it is open: the hub counts it as any other, and the keys in use stay as they are.
     * Throws as `unlockWithPIN`, and CompanionError `locked`.
     * @param {string} pin
     */
    confirmWithPIN(pin) {
        return this.#counting(gate.confirmWithPIN(this.device, pin));
    }

    /** @param {Uint8Array} output 32 bytes of WebAuthn's PRF; wiped. Throws CompanionError `noPasskey`, `locked`. */
    confirmWithPasskey(output) {
        return gate.confirmWithPasskey(this.device, output);
    }

    /** @param {import("./gate.js").Passkey} passkey @param {Uint8Array} output 32 bytes of WebAuthn's PRF; wiped */
    addPasskey(passkey, output) {
        return gate.addPasskey(this.device, passkey, output);
    }

    removePasskey() {
        return gate.removePasskey(this.device);
    }

    /** What to ask the authenticator with; null where there is none. */
    passkey() {
        return gate.passkeyOf(this.device);
    }

    /** How many wrong PINs the hub has counted, and the wait. */
    pinState() {
        return this.device.hub.pinShare();
    }

    /** Drops every key behind the gate and everything that was opened, in every tab. */
    lock() {
        this.#lockHere();
        this.device.tabs.tell({ kind: "lock" });
    }

    /** As `lock`, in this tab alone: for one that was hidden too long while the person is in another. */
    lockTab() {
        this.#lockHere();
    }

    #lockHere() {
        this.#locks += 1;
        this.vaults.close();
        this.#admitted?.keys.wipe();
        this.#admitted = null;
        this.device.unlocked?.wipe();
        this.device.unlocked = null;
        this.notes.forget();
        this.moments.forget();
        this.pictures.forget();
        this.device.tell("state");
    }

    // Keeping up

    /** For pull to refresh. Throws HubError, HubUnreachable, CompanionError. */
    async refresh() {
        this.following.hurry();
        await this.device.followRoster();
        await this.following.sync();
        await this.following.send();
    }

    /** The network is back, or the page is seen again. */
    wake() {
        this.following.hurry();
    }

    /** Sends what waits now or, where that fails, with the next connection. */
    #send() {
        this.following.send().catch(() => {
            this.device.tabs.tell({ kind: "waiting" });
        });
    }

    /** @returns {Promise<import("./report.js").Report>} */
    report() {
        return reportOf(this);
    }

    // Leaving

    /** Wipes this device first, then tells the hub; a computer has to revoke it all the same. */
    async remove() {
        const hub = this.device.facts ? this.device.hub : null;
        await this.#erase(false);
        await hub?.leave().catch((error) => {
            if (!(error instanceof HubError)) throw error;
        });
    }

    /**
     * One after the other: who removes a device here revokes it first.
     * @param {boolean} isRevoked
     */
    #erase(isRevoked) {
        this.following.stop();
        this.lock();
        this.#erasing = this.#erasing.catch(() => {}).then(async () => {
            if (isRevoked && this.#isRevoked) return;
            await eraseEverything(this, isRevoked);
            this.device.tabs.tell({ kind: "erased", isRevoked });
            this.#becomeErased(isRevoked);
        });
        return this.#erasing;
    }

    /** @param {boolean} isRevoked */
    #becomeErased(isRevoked) {
        this.device.forget();
        this.#isLost = false;
        this.#isRevoked = isRevoked;
        this.device.tell("state");
    }

    /** Ends this tab's part; for tests. */
    close() {
        this.following.stop();
        this.#lockHere();
        this.device.tabs.close();
        this.device.store.close();
    }

    /** The same, once what is being written is written. Of a shared vault. */
    async end() {
        this.following.stop();
        this.#lockHere();
        await this.device.tabs.alone("edit", async () => this.close());
    }
}

