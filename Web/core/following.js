// Keeps a companion and its hub alike, for as long as one of its tabs is open.
import { HubError, HubUnreachable } from "../protocol/errors.js";
import { Backoff } from "../protocol/time.js";
import { apartIn, isOwing } from "./offering.js";
import { compareStores, endComparing, isSameStore, restarted } from "./restored.js";
import { sendWaiting } from "./sending.js";
import { take } from "./taking.js";
import { Uploading } from "./uploading.js";

/** @typedef {import("./device.js").Device} Device */
/**
 * `live`: everything that the hub has is here, and what comes is shown at once. `waiting`: an attempt failed, the next one
 * comes by itself. `other`: another tab follows the hub. `removed`: the hub refuses this device
 * and shows no proof that it was revoked.
 * @typedef {"off" | "connecting" | "live" | "waiting" | "other" | "removed"} Connection
 */

const eventDays = 30;
const day = 86_400_000;

export class Following {
    /** @type {Connection} */
    connection = "off";
    /**
     * Why there is no connection; one sentence.
     * @type {string | null}
     */
    problem = null;
    #stop = new AbortController();
    #hurry = new AbortController();
    #sending = false;
    #sendAgain = false;
    #isSendingLater = false;
    #sendBackoff;

    /** @param {Device} device */
    constructor(device) {
        this.device = device;
        this.backoff = new Backoff(device.time.random);
        this.#sendBackoff = new Backoff(device.time.random);
        this.uploading = new Uploading(device, () => void this.send().catch(() => {}));
    }

    start() {
        this.#stop = new AbortController();
        this.#become("other");
        const { signal } = this.#stop;
        this.device.tabs.alone("follow", () => this.#follow(signal), signal).catch((error) => {
            if (!signal.aborted) this.#become("waiting", /** @type {Error} */ (error).message);
        });
    }

    stop() {
        this.#stop.abort();
        this.#hurry.abort();
        this.uploading.stop();
        this.#become("off");
    }

    /** The network is back, or the page is seen again: no need to wait any longer. */
    hurry() {
        this.#hurry.abort();
        this.#hurry = new AbortController();
        this.uploading.hurry();
    }

    /** @param {Connection} connection @param {string | null} [problem] */
    #become(connection, problem = null) {
        this.connection = connection;
        this.problem = problem;
        this.device.tell("connection", { connection, problem });
    }

    /** @param {AbortSignal} signal */
    async #follow(signal) {
        while (!signal.aborted) {
            try {
                // Who was refused sees that until there is a connection.
                if (this.connection !== "removed") this.#become("connecting");
                await this.#once(signal);
                if (signal.aborted) return;
                this.#become("waiting", "The hub ended the connection.");
            } catch (error) {
                if (signal.aborted) return;
                if (error instanceof HubError && error.code === "unauthorized") {
                    // A refusal alone proves nothing. The list of devices does, which the hub serves to a revoked device too: where it
                    // can't be read now, the next connection begins with it.
                    await this.device.followRoster().catch(() => {});
                    if (signal.aborted) return;
                    this.#become("removed", "The hub refuses this device: it was removed from the household, or the hub lost it.");
                } else this.#become("waiting", /** @type {Error} */ (error).message);
            }
            // Stopping hurries too.
            await this.device.time.sleep(this.backoff.next(), this.#hurry.signal);
        }
    }

    /** @param {AbortSignal} signal */
    async #once(signal) {
        const { device } = this;
        await device.followRoster();
        device.notOffered.clear();
        const seen = await this.sync();
        await this.#sendOrWait();
        const cursor = await device.store.sequence("cursor");
        for await (const item of device.hub.stream(cursor, signal)) {
            // The stream ends with the store that it is of.
            if (item.kind === "open" && !(await isSameStore(device, seen))) throw restarted();
            if (item.kind === "record") await this.#take([item.record], item.record.sequence ?? 0, seen);
            if (item.kind === "large") {
                const page = await device.hub.records(item.sequence - 1, 1);
                await this.#take(page.records, item.sequence, seen);
            }
            if (item.kind === "roster") {
                await device.followRoster();
                // Who belongs has changed: so may the keys have to.
                if (device.member) await this.#sendOrWait();
            }
            if (item.kind === "live") {
                await take(device, [], { cursor: item.sequence, seen });
                this.backoff.succeeded();
                this.#become("live");
            }
        }
    }

    /** @param {import("../crypto/signature.js").HubRecord[]} records of the stream @param {number} cursor @param {string} seen */
    async #take(records, cursor, seen) {
        const apart = await apartIn(this.device);
        await take(this.device, records, { cursor, seen });
        for (const record of records) if (await isOwing(this.device, record, apart)) return this.#sendOrWait();
    }

    /**
     * Reads everything that the hub has since the last time.
     * @returns {Promise<string>} the store that was read
     */
    async sync() {
        const { device } = this;
        const seen = await compareStores(device);
        for (;;) {
            const cursor = await device.store.sequence("cursor");
            const page = await device.hub.records(cursor);
            await take(device, page.records, { cursor: page.next, seen });
            if (page.next < cursor) {
                if (!(await isSameStore(device, seen))) throw restarted();
                await device.misbehaved("fewer records than before");
            }
            if (page.next <= cursor || !page.more) break;
        }
        await endComparing(device, seen);
        const now = device.time.now();
        await device.store.forget({ events: now - eventDays * day, requests: now - day, commands: now - day });
        return seen;
    }

    /** Sends what waits, now or with the next connection. Many calls at once are one or two. */
    async send() {
        if (this.#sending) {
            this.#sendAgain = true;
            return;
        }
        this.#sending = true;
        try {
            do {
                this.#sendAgain = false;
                await sendWaiting(this.device);
            } while (this.#sendAgain);
            this.#sendBackoff.succeeded();
        } catch (error) {
            this.#sendLater();
            throw error;
        } finally {
            this.#sending = false;
            this.uploading.start();
        }
    }

    /** What can't be sent just now, as over a quota, keeps nothing from being read: `send` tries again by itself. */
    async #sendOrWait() {
        await this.send().catch((error) => {
            if (!(error instanceof HubUnreachable)) throw error;
        });
    }

    /** The stream may be alive while a request failed: what waits is tried again by itself. */
    async #sendLater() {
        if (this.#isSendingLater) return;
        this.#isSendingLater = true;
        await this.device.time.sleep(this.#sendBackoff.next(), this.#hurry.signal);
        this.#isSendingLater = false;
        if (this.connection !== "off" && this.connection !== "removed") await this.send().catch(() => {});
    }
}
