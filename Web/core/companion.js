// A companion without a screen: everything that the screens stand on.
import { CompanionStore } from "../store/store.js";
import { Tabs } from "../store/tabs.js";
import { HubError } from "../protocol/errors.js";
import { systemTime } from "../protocol/time.js";
import { Commands } from "./commands.js";
import { Device } from "./device.js";
import { CompanionError } from "./errors.js";
import { Following } from "./following.js";
import * as gate from "./gate.js";
import { Household } from "./household.js";
import { Notes } from "./notes.js";
import { forgetUnfinished, pair } from "./pairing.js";
import { Photos } from "./photos.js";
import { takeDeferred } from "./taking.js";

/**
 * `new`: to be paired. `gate`: admitted, a PIN has to be set. `lost`: it was paired, and the browser threw away what it kept.
 * @typedef {"new" | "gate" | "locked" | "unlocked" | "lost"} CompanionState
 */
/** @typedef {import("./pairing.js").Admitted} Admitted */

/** Says that this browser was paired, where the database is thrown away without it. */
const mark = "applocker-device";

/**
 * Events: "state" (this.state, refusals), "connection", "changed" (detail: keys "collection/id" of records that are to be
 * shown anew), "outbox" (something was sent).
 */
export class Companion extends EventTarget {
    /** @type {Admitted | null} */
    #admitted = null;
    #isLost = false;
    #locks = 0;

    /** @param {Device} device @param {string} name */
    constructor(device, name) {
        super();
        this.device = device;
        this.name = name;
        this.household = new Household(device);
        this.following = new Following(device);
        this.notes = new Notes(device, this.household, () => this.#send());
        this.photos = new Photos(device);
        this.commands = new Commands(device, this.household);
        for (const kind of ["state", "connection", "changed", "outbox"]) {
            device.events.addEventListener(kind, (event) =>
                this.dispatchEvent(new CustomEvent(kind, { detail: /** @type {CustomEvent} */ (event).detail })));
        }
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
        if (device.facts) companion.following.start();
        else {
            companion.#isLost = localStorage.getItem(`${mark}/${name}`) !== null;
            await forgetUnfinished(device);
        }
        return companion;
    }

    /** @returns {CompanionState} */
    get state() {
        if (this.#admitted) return "gate";
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
                return this.device.tell("changed", message.keys);
            case "waiting":
                return void this.following.send().catch(() => {});
            case "lock":
                return this.#lockHere();
            case "erased":
                this.#lockHere();
                this.following.stop();
                this.device.facts = null;
                return this.device.tell("state");
            case "state":
                return void this.device.load().then(() => this.device.tell("state")).catch(() => {});
        }
    }

    // Coming in

    /**
     * As `pair` in pairing.js; then the state is "gate", and nothing is kept before `setPIN`.
     * @param {string} link
     * @param {string} name
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
        localStorage.setItem(`${mark}/${this.name}`, facts.device);
        // The browser may refuse: `report()` says so.
        await navigator.storage?.persist?.().catch(() => false);
        this.#admitted = null;
        this.#isLost = false;
        this.device.unlocked = keys;
        await this.device.load();
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
        await this.#unlocking(() => gate.unlockWithPIN(this.device, pin));
    }

    /**
     * Works offline. Throws CompanionError `noPasskey`.
     * @param {Uint8Array} output 32 bytes of WebAuthn's PRF; wiped
     */
    async unlockWithPasskey(output) {
        await this.#unlocking(() => gate.unlockWithPasskey(this.device, output));
    }

    /**
     * @param {() => Promise<void>} open
     */
    async #unlocking(open) {
        const locks = this.#locks;
        await open();
        if (locks !== this.#locks) {
            // Somebody locked while the keys were on their way.
            this.#lockHere();
            throw new CompanionError("locked", "AppLocker was locked again.");
        }
        await takeDeferred(this.device);
        this.#send();
        this.device.tell("state");
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

    #lockHere() {
        this.#locks += 1;
        this.#admitted?.keys.wipe();
        this.#admitted = null;
        this.device.unlocked?.wipe();
        this.device.unlocked = null;
        this.notes.forget();
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

    /**
     * @returns {Promise<{ device: Omit<import("./device.js").DeviceFacts, "token" | "deviceSecret"> | null, connection: string, problem: string | null,
     *   cursor: number, waiting: number, failed: number, deferred: number, refused: number, misbehaviour: string[],
     *   room: { persisted: boolean, usage: number, quota: number } }>}
     */
    async report() {
        const { store, facts } = this.device;
        const lines = await store.waiting();
        return {
            device: facts && {
                hub: facts.hub, household: facts.household, computer: facts.computer, device: facts.device, name: facts.name,
            },
            connection: this.following.connection, problem: this.following.problem,
            cursor: await store.fact("cursor", 0), waiting: lines.filter((line) => !line.problem).length,
            failed: lines.filter((line) => line.problem).length, deferred: (await store.deferred()).length,
            refused: await store.fact("refused", 0), misbehaviour: await store.fact("misbehaviour", []),
            room: await CompanionStore.room(),
        };
    }

    // Push

    /** @param {PushSubscription} subscription */
    subscribe(subscription) {
        return this.device.hub.setPush(subscription.toJSON());
    }

    unsubscribe() {
        return this.device.hub.removePush();
    }

    // Leaving

    /** Wipes this device first, then tells the hub; a computer has to revoke it all the same. */
    async remove() {
        const hub = this.device.facts ? this.device.hub : null;
        this.following.stop();
        this.lock();
        await this.device.store.erase();
        localStorage.removeItem(`${mark}/${this.name}`);
        this.device.facts = null;
        this.#isLost = false;
        this.device.tabs.tell({ kind: "erased" });
        this.device.tell("state");
        await hub?.leave().catch((error) => {
            if (!(error instanceof HubError)) throw error;
        });
    }

    /** Ends this tab's part; for tests. */
    close() {
        this.following.stop();
        this.#lockHere();
        this.device.tabs.close();
        this.device.store.close();
    }
}

