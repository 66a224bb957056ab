// Brings what was sealed to the hub, in pieces, before the records that name it. It needs no key behind the gate: it goes on while
// the companion is locked, and where it was when the app is opened again.
import { HubError, HubUnreachable } from "../protocol/errors.js";
import { Backoff } from "../protocol/time.js";
import { pieceSize } from "../store/store.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../store/store.js").Upload} Upload */
/** @typedef {import("../store/store.js").Waiting} Waiting */
/**
 * Of one photo, in bytes; `problem`: one sentence where it does not go on.
 * @typedef {{ photo: string, sent: number, size: number, problem: string | null }} UploadProgress
 */

/** So many records are let go together. */
const batch = 16;
/** A hub may lose bytes or refuse them once; not again and again. */
const maximumAttempts = 3;

export class Uploading {
    #stop = new AbortController();
    #hurry = new AbortController();
    #isRunning = false;
    #runAgain = false;
    #backoff;

    /** @param {Device} device @param {() => void} ready records can be sent */
    constructor(device, ready) {
        this.device = device;
        this.ready = ready;
        this.#backoff = new Backoff(device.time.random, 1_000);
    }

    stop() {
        this.#stop.abort();
        this.#hurry.abort();
    }

    /** The network is back: no need to wait any longer. */
    hurry() {
        this.#hurry.abort();
        this.#hurry = new AbortController();
    }

    /** Uploads everything that waits, now or when the hub can be reached; many calls are one. Never throws. */
    async start() {
        if (this.#isRunning) {
            this.#runAgain = true;
            return;
        }
        if (this.#stop.signal.aborted) this.#stop = new AbortController();
        const { signal } = this.#stop;
        this.#isRunning = true;
        try {
            do {
                this.#runAgain = false;
                await this.device.tabs.alone("upload", () => this.#all(signal), signal);
            } while (this.#runAgain && !signal.aborted);
        } catch {
            // Stopped, or the store is gone: the next start goes on.
        } finally {
            this.#isRunning = false;
        }
    }

    /** @param {AbortSignal} signal */
    async #all(signal) {
        const { store } = this.device;
        const keys = (await store.waiting()).filter(({ uploads, isUploaded, problem }) => uploads && !isUploaded && !problem)
            .map(({ key }) => key);
        for (let index = 0; index < keys.length && !signal.aborted;) {
            try {
                const line = await store.waitingFor(keys[index]);
                if (line?.uploads && !line.isUploaded) await this.#line(line, signal);
                this.#backoff.succeeded();
                index += 1;
                if (index % batch === 0 || index === keys.length) this.ready();
            } catch (error) {
                if (!(error instanceof HubUnreachable || error instanceof HubError) || signal.aborted) throw error;
                if (error instanceof HubError && error.code === "unauthorized") return;
                this.#tell(keys[index], 0, 0, error.message);
                await this.device.time.sleep(Math.max(this.#backoff.next(), (error instanceof HubError && error.retryAfterSeconds || 0) * 1000),
                    this.#hurry.signal);
            }
        }
    }

    /** @param {string} key @param {number} sent @param {number} size @param {string | null} [problem] */
    #tell(key, sent, size, problem = null) {
        /** @type {UploadProgress} */
        const progress = { photo: key.slice(key.indexOf("/") + 1), sent, size, problem };
        this.device.tell("upload", progress);
    }

    /** @param {Waiting} line @param {AbortSignal} signal */
    async #line(line, signal) {
        const uploads = line.uploads ?? [];
        const size = uploads.reduce((sum, upload) => sum + upload.size, 0);
        let done = 0;
        for (const upload of uploads) {
            const before = done;
            const isComplete = await this.#blob(upload, signal, (received) => this.#tell(line.key, before + received, size));
            if (!isComplete) {
                this.#tell(line.key, done, size, "This photo can't be brought to the hub; remove it and add it again.");
                // Its bytes are gone, or the hub does not want them; where it was taken back meanwhile, this changes nothing.
                return this.#settle(line, { problem: "not_uploaded" });
            }
            done += upload.size;
        }
        await this.#settle(line, { isUploaded: true });
    }

    /** @param {Waiting} line @param {Partial<Waiting>} change */
    #settle({ key, record }, change) {
        return this.device.store.write({ lines: [{ key, signature: record.signature, change }] });
    }

    /**
     * @param {Upload} upload
     * @param {AbortSignal} signal
     * @param {(received: number) => void} progress
     * @returns {Promise<boolean>} whether the hub has all of it
     */
    async #blob({ blob, size, hash }, signal, progress) {
        const { hub, store } = this.device;
        let attempts = 0;
        let state = await hub.beginBlob({ id: blob, size, hash }, signal);
        while (!state.isComplete) {
            progress(state.received);
            const piece = await store.piece(blob, Math.floor(state.received / pieceSize));
            const rest = piece?.subarray(state.received % pieceSize);
            if (!rest || rest.length === 0 || state.size !== size) return false;
            try {
                state = await hub.writeBlob(blob, state.received, rest, signal);
            } catch (error) {
                // Another offset than it has, or bytes that arrived damaged: it says where to go on.
                if (!(error instanceof HubError) || (error.code !== "conflict" && error.code !== "bad_request")) throw error;
                attempts += 1;
                if (attempts >= maximumAttempts) return false;
                state = await hub.blobState(blob);
            }
        }
        progress(size);
        return true;
    }
}
