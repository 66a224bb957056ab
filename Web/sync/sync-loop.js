// Keeps the device in sync with the hub while one of its tabs is open.
import { HubError, HubUnreachable } from "../hub/errors.js";
import { Backoff } from "../hub/time.js";
import { callsForSending, compareStores, divergedIn, endComparing, isSameStore, restarted } from "./restored-hub.js";
import { sendWaiting } from "./outbox.js";
import { ingestDeferred, ingestRecords } from "./ingest.js";
import { openStored } from "../household/keys.js";
import { BlobUploader } from "./blob-uploader.js";

/**
 * `live`: all of the hub's records are here, and new ones are shown at once. `connecting`: the first attempt.
 * `waiting`: an attempt failed; the next one follows after a pause, or is running. `other`: another tab follows the
 * hub. `removed`: the hub refuses this device without a proof of its revocation.
 * @typedef {"off" | "connecting" | "live" | "waiting" | "other" | "removed"} Connection
 */

/** How long alerts are kept where no computer reports it. */
const usualDays = 30;
const day = 86_400_000;

export class SyncLoop {
    /** @type {Connection} */
    connection = "off";
    /** @type {string | null} why there is no connection; one sentence */
    problem = null;
    #stop = new AbortController();
    #retry = new AbortController();
    /** Aborted by `retryNow` since the attempt began, or since the connection is live. */
    #retrySignal = this.#retry.signal;
    #sending = false;
    #sendAgain = false;
    #isSendingLater = false;
    #sendBackoff;

    /**
     * Runs a stream when it is this vault's turn; null: the stream stays open.
     * @type {((stream: (over: AbortSignal) => Promise<boolean>, signal: AbortSignal) => Promise<boolean>) | null}
     */
    turns = null;

    /** @param {DeviceSession} device */
    constructor(device) {
        this.device = device;
        this.backoff = new Backoff(device.time.random);
        this.#sendBackoff = new Backoff(device.time.random);
        this.uploader = new BlobUploader(device, () => void this.send().catch(() => {}));
    }

    start() {
        this.#stop = new AbortController();
        this.#retry = new AbortController();
        this.#become("other");
        const { signal } = this.#stop;
        this.device.tabs.exclusive("follow", () => this.#follow(signal), signal).catch((error) => {
            if (!signal.aborted) this.#become("waiting", /** @type {Error} */ (error).message);
        });
    }

    stop() {
        this.#stop.abort();
        this.#retry.abort();
        this.uploader.stop();
        this.#become("off");
    }

    /** Ends the pause: the network is back, or the page is visible again. */
    retryNow() {
        this.#retry.abort();
        this.#retry = new AbortController();
        this.uploader.retryNow();
    }

    /** For pull to refresh. Throws HubError, HubUnreachable, CompanionError. */
    async refresh() {
        this.retryNow();
        await this.device.followRoster();
        await this.sync();
        await this.send();
    }

    /** @param {Connection} connection @param {string | null} [problem] */
    #become(connection, problem = null) {
        this.connection = connection;
        this.problem = problem;
        this.device.emit("connection", { connection, problem });
    }

    /** @param {AbortSignal} signal */
    async #follow(signal) {
        while (!signal.aborted) {
            this.#retrySignal = this.#retry.signal;
            try {
                // A failure or a refusal is shown until there is a connection: otherwise the screens would change with
                // each attempt, and ask for a PIN for commands that can't be sent.
                if (this.connection !== "removed" && this.connection !== "waiting") this.#become("connecting");
                await this.#once(signal);
                if (signal.aborted) return;
                this.#become("waiting", "The hub closed the connection.");
            } catch (error) {
                if (signal.aborted) return;
                if (error instanceof HubError && error.code === "unauthorized") {
                    // A refusal alone proves nothing. The list of devices does, which the hub serves to a revoked
                    // device too. If it can't be read now, the next connection begins with it.
                    await this.device.followRoster().catch(() => {});
                    if (signal.aborted) return;
                    this.#become("removed",
                        "The hub refuses this device: it was revoked, or the hub lost it.");
                } else this.#become("waiting", /** @type {Error} */ (error).message);
            }
            // Stopping ends the wait too.
            await this.device.time.sleep(this.backoff.next(), this.#retrySignal);
        }
    }

    /** @param {AbortSignal} signal */
    async #once(signal) {
        const { device } = this;
        await device.followRoster();
        device.notResent.clear();
        const seen = await this.sync();
        if (device.unlocked) await ingestDeferred(device).catch((error) => console.warn(error));
        await this.#sendOrWait();
        if (!this.turns) return this.#stream(seen, signal);
        // While the streams of others are open, everything is here that was at the hub when this began.
        this.#becomeLive();
        let isTurnOver = true;
        for (let isFirst = true; isTurnOver; isFirst = false) {
            isTurnOver = await this.turns(async (over) => {
                if (!isFirst) await device.followRoster();
                await this.#stream(seen, over).catch((error) => {
                    if (!over.aborted) throw error;
                });
                return over.aborted && !signal.aborted;
            }, signal);
        }
    }

    #becomeLive() {
        this.backoff.succeeded();
        this.#retrySignal = this.#retry.signal;
        if (this.connection !== "live") this.#become("live");
    }

    /**
     * Ends when the hub closes it.
     * @param {string} seen the hub's store
     * @param {AbortSignal} signal
     */
    async #stream(seen, signal) {
        const { device } = this;
        const cursor = await device.store.sequence("cursor");
        for await (const item of device.hub.stream(cursor, signal)) {
            // A stream belongs to one store of the hub.
            if (item.kind === "open" && !(await isSameStore(device, seen))) throw restarted();
            if (item.kind === "record") await this.#ingestRecords([item.record], item.record.sequence ?? 0, seen);
            if (item.kind === "large") {
                const page = await device.hub.records(item.sequence - 1, 1);
                await this.#ingestRecords(page.records, item.sequence, seen);
            }
            if (item.kind === "roster") {
                await device.followRoster();
                // Members changed, so the keys may have to change.
                if (device.sharesKeys) await this.#sendOrWait();
            }
            if (item.kind === "live") {
                await ingestRecords(device, [], { cursor: item.sequence, seen });
                this.#becomeLive();
                // The pause of the tab that sends began without a connection.
                this.uploader.retryNow();
                device.tabs.post({ kind: "connected" });
            }
        }
    }

    /** @param {HubRecord[]} records of the stream @param {number} cursor @param {string} seen */
    async #ingestRecords(records, cursor, seen) {
        const apart = await divergedIn(this.device);
        await ingestRecords(this.device, records, { cursor, seen });
        for (const record of records) if (await callsForSending(this.device, record, apart)) return this.#sendOrWait();
    }

    /**
     * Reads what the hub has since the last time.
     * @returns {Promise<string>} the store that was read
     */
    async sync() {
        const { device } = this;
        const seen = await compareStores(device);
        for (;;) {
            const cursor = await device.store.sequence("cursor");
            const page = await device.hub.records(cursor);
            await ingestRecords(device, page.records, { cursor: page.next, seen });
            if (page.next < cursor) {
                if (!(await isSameStore(device, seen))) throw restarted();
                await device.reportProtocolViolation("fewer records than before");
            }
            if (page.next <= cursor || !page.more) break;
        }
        await endComparing(device, seen);
        const now = device.time.now();
        await device.store.forget({
            events: now - (await alertDays(device)) * day, requests: now - day, commands: now - day,
        });
        return seen;
    }

    /** Sends pending changes, now or with the next connection. Many calls at once are one or two. */
    async send() {
        if (this.#sending) {
            this.#sendAgain = true;
            return;
        }
        this.#sending = true;
        let retry = this.#retry.signal;
        try {
            do {
                this.#sendAgain = false;
                retry = this.#retry.signal;
                await sendWaiting(this.device);
            } while (this.#sendAgain);
            this.#sendBackoff.succeeded();
        } catch (error) {
            const isRestarted = error instanceof HubUnreachable && error.code === "restarted";
            this.#sendLater(isRestarted ? this.#reconnect() : retry);
            throw error;
        } finally {
            this.#sending = false;
            this.uploader.start();
        }
    }

    /**
     * Ends the connection's pause in the tab that follows the hub: only a new connection compares a restarted hub.
     * @returns {AbortSignal} for the sender's pause
     */
    #reconnect() {
        if (this.connection === "other") this.device.tabs.post({ kind: "waiting" });
        else {
            this.#retry.abort();
            this.#retry = new AbortController();
        }
        return this.#retry.signal;
    }

    /** A failure to send, as over a quota, does not stop reading: `send` retries by itself. */
    async #sendOrWait() {
        await this.send().catch((error) => {
            if (!(error instanceof HubUnreachable)) throw error;
        });
    }

    /**
     * The stream may be alive while a request failed: the changes are sent again after a pause.
     * @param {AbortSignal} retry from before the attempt that failed
     */
    async #sendLater(retry) {
        if (this.#isSendingLater) return;
        this.#isSendingLater = true;
        await this.device.time.sleep(this.#sendBackoff.next(), retry);
        this.#isSendingLater = false;
        if (this.connection !== "off" && this.connection !== "removed") await this.send().catch(() => {});
    }
}

/**
 * How long alerts are kept: of several computers the most days count.
 * @param {DeviceSession} device
 */
async function alertDays(device) {
    const opened = await Promise.all((await device.store.records("status"))
        .map(({ record }) => openStored(device, record, "status")));
    const days = opened.flatMap((status) => (status ? [status.alertDays ?? usualDays] : []));
    return days.length > 0 ? Math.min(Math.max(...days, 7), 365) : usualDays;
}
