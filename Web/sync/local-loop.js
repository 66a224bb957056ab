// In place of the sync loop of a vault that is only on this device: its changes become rows of the store at once, and
// the content of its photos stays here. No request is made.
import { SyncLoop } from "./sync-loop.js";
import { follows } from "./versions.js";

/** @typedef {import("../store/store.js").Waiting} Waiting */

export class LocalLoop extends SyncLoop {
    /**
     * Keeps what an earlier session did not finish.
     * @override
     */
    start() {
        this.connection = "live";
        this.device.emit("connection", { connection: this.connection, problem: null });
        this.send().catch((error) => console.warn(error));
    }

    /**
     * Throws StoreError.
     * @override
     */
    refresh() {
        return this.send();
    }

    /**
     * Keeps all pending changes, in one step. Throws StoreError: then the next change keeps them.
     * @override
     */
    async send() {
        const { device } = this;
        for (let isSettled = false; !isSettled;) {
            // As when a change is acknowledged: no edit reads meanwhile.
            const { keys, diverged } = await device.tabs.exclusive("edit", () =>
                device.tabs.exclusive("take", () => keepWaiting(device)));
            device.changed(keys);
            if (keys.length > 0) device.emit("outbox");
            for (const { line, record } of diverged) {
                await (await import("./conflicts.js")).settleDiverged(device, line, record);
            }
            isSettled = diverged.length === 0;
        }
    }
}

/**
 * @param {DeviceSession} device
 * @returns {Promise<{ keys: string[], diverged: { line: Waiting, record: HubRecord }[] }>} `diverged`: changes that are
 *   not of the stored version, as by another tab; both versions are kept
 */
async function keepWaiting({ store, time }) {
    /** @type {Required<Pick<import("../store/store.js").Change, "records" | "sent" | "kept" | "withoutPieces">>} */
    const change = { records: [], sent: [], kept: [], withoutPieces: [] };
    const diverged = [];
    let cursor = await store.sequence("cursor");
    for (const line of await store.waiting()) {
        if (line.conflict || line.problem) continue;
        const { key, record: { replaces, ...record }, uploads = [] } = line;
        const row = await store.record(key);
        if (row && replaces !== row.record.revision && !(await follows(line.record, row))) {
            diverged.push({ line, record: row.record });
            continue;
        }
        cursor += 1;
        change.records.push({ key, collection: record.collection, sequence: cursor, record, at: time.now() });
        change.sent.push({ key, signature: record.signature });
        // Their pieces are the only ones.
        change.kept.push(...uploads.map(({ blob }) => blob));
        change.withoutPieces.push(...(row?.record.blobs ?? []).filter((blob) => !record.blobs?.includes(blob)));
    }
    if (change.records.length > 0) await store.write({ ...change, facts: { cursor } });
    return { keys: change.sent.map(({ key }) => key), diverged };
}
