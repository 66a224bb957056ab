// Uploads sealed content in pieces, before the records that name it. It needs no key: it continues while the companion
// is locked, and resumes after a restart.
import { HubError, HubUnreachable } from "../hub/errors.js";
import { Backoff } from "../hub/time.js";
import { pieceSize } from "../store/store.js";

/** @typedef {import("../store/store.js").Upload} Upload */
/** @typedef {import("../store/store.js").Waiting} Waiting */
/**
 * Of one photo, in bytes; `problem`: one sentence if the upload failed.
 * @typedef {{ photo: string, sent: number, size: number, problem: string | null }} UploadProgress
 */

/** Records that are sent together. */
const batch = 16;
/** How often a hub may lose or refuse bytes. */
const maximumAttempts = 3;

export class BlobUploader {
    #stop = new AbortController();
    #retry = new AbortController();
    #isRunning = false;
    #runAgain = false;
    #backoff;

    /** @param {DeviceSession} device @param {() => void} ready records can be sent */
    constructor(device, ready) {
        this.device = device;
        this.ready = ready;
        this.#backoff = new Backoff(device.time.random, 1_000);
    }

    stop() {
        this.#stop.abort();
        this.#retry.abort();
    }

    /** Ends the pause: the network is back. */
    retryNow() {
        this.#retry.abort();
        this.#retry = new AbortController();
    }

    /**
     * Uploads all pending content, now or when the hub can be reached; concurrent calls share one run. Never throws.
     */
    async start() {
        if (this.#isRunning) {
            this.#runAgain = true;
            return;
        }
        if (this.#stop.signal.aborted) [this.#stop, this.#retry] = [new AbortController(), new AbortController()];
        const { signal } = this.#stop;
        this.#isRunning = true;
        try {
            do {
                this.#runAgain = false;
                await this.device.tabs.exclusive("upload", () => this.#all(signal), signal);
            } while (this.#runAgain && !signal.aborted);
        } catch {
            // Stopped, or the store is gone: the next start resumes.
        } finally {
            this.#isRunning = false;
        }
    }

    async #waiting() {
        return (await this.device.store.waiting())
            .filter(({ uploads, isUploaded, problem }) => uploads && !isUploaded && !problem);
    }

    /** Size of the photos on this device that are not uploaded. */
    async waitingBytes() {
        const uploads = (await this.#waiting()).flatMap((line) => line.uploads ?? []);
        return uploads.reduce((sum, { size }) => sum + size, 0);
    }

    /** @param {AbortSignal} signal */
    async #all(signal) {
        const { store } = this.device;
        const keys = (await this.#waiting()).map(({ key }) => key);
        for (let index = 0; index < keys.length && !signal.aborted;) {
            const retry = this.#retry.signal;
            try {
                const line = await store.waitingFor(keys[index]);
                if (line?.uploads && !line.isUploaded) await this.#line(line, signal);
                this.#backoff.succeeded();
                index += 1;
                if (index % batch === 0 || index === keys.length) this.ready();
            } catch (error) {
                if (!(error instanceof HubUnreachable || error instanceof HubError) || signal.aborted) throw error;
                if (error instanceof HubError && error.code === "unauthorized") return;
                this.#report(keys[index], 0, 0, error.message);
                await this.device.time.sleep(Math.max(this.#backoff.next(),
                    (error instanceof HubError && error.retryAfterSeconds || 0) * 1000),
                    retry);
            }
        }
    }

    /** @param {string} key @param {number} sent @param {number} size @param {string | null} [problem] */
    #report(key, sent, size, problem = null) {
        /** @type {UploadProgress} */
        const progress = { photo: key.slice(key.indexOf("/") + 1), sent, size, problem };
        this.device.emit("upload", progress);
    }

    /** @param {Waiting} line @param {AbortSignal} signal */
    async #line(line, signal) {
        const uploads = line.uploads ?? [];
        const size = uploads.reduce((sum, upload) => sum + upload.size, 0);
        let done = 0;
        for (const upload of uploads) {
            const before = done;
            const isComplete = await this.#blob(upload, signal,
                (received) => this.#report(line.key, before + received, size));
            if (!isComplete) {
                this.#report(line.key, done, size,
                    "This photo can’t be uploaded to the hub; remove it and add it again.");
                // Its bytes are gone, or the hub refuses them. This has no effect on a withdrawn change.
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
                // The offset differs from the hub's, or bytes arrived damaged: the hub reports where to resume.
                if (!(error instanceof HubError) || (error.code !== "conflict" && error.code !== "bad_request")) {
                    throw error;
                }
                attempts += 1;
                if (attempts >= maximumAttempts) return false;
                state = await hub.blobState(blob);
            }
        }
        progress(size);
        return true;
    }
}
