// The interface between screens and the companion session: the features' state and the device's methods.
import { Administration } from "../features/devices/administration.js";
import { VaultAudit } from "../features/activity/audit.js";
import { IntruderPhotos } from "../features/intruder-photos/intruder-photos.js";
import { Decoy } from "../household/decoy.js";
import { MomentPhotos } from "../features/moments/moment-photos.js";
import { Moments } from "../features/moments/moments.js";
import { Notes } from "../features/notes/notes.js";
import { Vaults } from "../features/vaults/vaults.js";
import { Commands } from "../household/commands.js";
import { DeviceSettings } from "../household/device-settings.js";
import { Household } from "../household/household.js";
import { hasRecord, PrivateStorage } from "../household/private-storage.js";
import { persistStorage } from "../store/quota.js";
import { CompanionStore } from "../store/store.js";
import { RecordEditor } from "../sync/record-editor.js";
import { reportOf } from "../sync/report.js";
import { SyncLoop } from "../sync/sync-loop.js";

/**
 * Events: "state" (this.state, refusals), "locking" (the keys are wiped next: an edit that begins now is finished),
 * "connection", "changed" (detail: keys "collection/id" of changed records),
 * "outbox" (something was sent), "upload" (detail: `UploadProgress` of a photo), "roster" (devices were admitted or
 * revoked), "notifications" (this.notificationProblem).
 */
export class SessionState extends EventTarget {
    /**
     * Why notifications don't arrive on this device although they are wanted; one sentence.
     * @type {string | null}
     */
    notificationProblem = null;

    /**
     * @param {DeviceSession} device
     * @param {string} name
     * @param {(membership: import("../features/vaults/vaults.js").OpenMembership) =>
     *   Promise<import("./companion.js").Companion>} openVault
     */
    constructor(device, name, openVault) {
        super();
        this.device = device;
        this.name = name;
        this.household = new Household(device);
        this.syncLoop = new SyncLoop(device);
        this.editor = new RecordEditor(device, this.household, () => this.sendSoon());
        this.notes = new Notes(device, this.editor);
        this.moments = new Moments(device, this.editor);
        this.momentPhotos = new MomentPhotos(device, this.editor, this.moments);
        this.intruderPhotos = new IntruderPhotos(device);
        this.privateStorage = new PrivateStorage(device);
        this.settings = new DeviceSettings(device);
        this.decoy = new Decoy(device, () => this.sendSoon());
        this.audit = new VaultAudit(device, this.editor, this.privateStorage, this.settings);
        this.commands = new Commands(device, this.household);
        this.administration = new Administration(device, this.household, this.editor);
        /** Shared vaults; each has a companion of its own. */
        this.vaults = new Vaults(this, {
            open: openVault, remove: (database) => CompanionStore.remove(database),
            names: (prefix) => CompanionStore.names(prefix),
        });
        for (const kind of ["state", "locking", "connection", "changed", "outbox", "upload", "roster"]) {
            device.events.addEventListener(kind, (event) =>
                this.dispatchEvent(new CustomEvent(kind, { detail: /** @type {CustomEvent} */ (event).detail })));
        }
    }

    /**
     * Special dates of the vault; loaded when they are shown.
     * @returns {Promise<import("../features/moments/special-dates.js").SpecialDates>}
     */
    async dates() {
        const { SpecialDates } = await import("../features/moments/special-dates.js");
        return new SpecialDates(this.device, this.editor, this.privateStorage);
    }

    /** Milliseconds since 1970, by this device's clock. */
    now() {
        return this.device.time.now();
    }

    /** @param {number} milliseconds @param {AbortSignal} [signal] ends it early */
    wait(milliseconds, signal) {
        return this.device.time.sleep(milliseconds, signal);
    }

    /** Asks the browser to keep the data when space is low. @returns {Promise<boolean>} whether it agreed */
    persistStorage() {
        return persistStorage();
    }

    /** This device in its household. Throws CompanionError `notPaired`. */
    get own() {
        const { device, name, computer } = this.device.paired;
        return { device, name, computer };
    }

    /** Whether the household has a computer: without one there are no locked apps, alerts or commands. */
    get hasComputer() {
        return !this.device.member && this.device.roster.members.some(({ role }) => role === "computer");
    }

    /** Whether a phone founded the household: then phones admit and revoke devices, and a sheet opens it. */
    get isPhoneFounded() {
        return this.device.roster.isPhoneFounded;
    }

    /** Whether it is a vault that is only on this device. */
    get isLocal() {
        return this.device.isLocal;
    }

    /** Whether it is a vault with members. */
    get isShared() {
        return this.device.isShared;
    }

    /**
     * The same object while AppLocker stays unlocked. Throws CompanionError `locked`.
     * @returns {object}
     */
    get unlockedSession() {
        return this.device.keys;
    }

    /** @param {string} collection @param {string} id */
    hasRecord(collection, id) {
        return hasRecord(this.device, collection, id);
    }

    /** As `SyncLoop.refresh`. */
    refresh() {
        return this.syncLoop.refresh();
    }

    /** The network is back, or the page is visible again. */
    wake() {
        this.syncLoop.retryNow();
    }

    /** Sends pending changes now or with the next connection. */
    sendSoon() {
        this.syncLoop.send().catch(() => {
            this.device.tabs.post({ kind: "waiting" });
        });
    }

    /** @param {string | null} problem */
    reportNotifications(problem) {
        this.notificationProblem = problem;
        this.dispatchEvent(new Event("notifications"));
    }

    /** @returns {Promise<import("../sync/report.js").Report>} */
    report() {
        return reportOf(this);
    }
}
