// The stream of a hub, pauses after failed attempts, and locks that are not held during requests.
import { HubUnreachable } from "/hub/errors.js";
import { EventParser } from "/hub/events.js";
import { Backoff } from "/hub/time.js";
import { ingestRecords } from "/sync/ingest.js";
import { SyncLoop } from "/sync/sync-loop.js";
import { equal } from "./harness.js";

const offline = () => new HubUnreachable("offline", "The hub can’t be reached.");

/**
 * A device whose attempts all fail; `attempt` runs during each. `pauses`: whether each pause ended immediately.
 * @param {(number: number) => void} attempt @param {(number: number) => void} paused
 */
function failingDevice(attempt, paused) {
    /** @type {boolean[]} */
    const pauses = [];
    let attempts = 0;
    const fail = async () => {
        attempt((attempts += 1));
        throw offline();
    };
    const line = { key: "photos/1", record: { signature: "" }, uploads: [{ blob: "1", size: 1, hash: "" }] };
    return {
        pauses, emit() {}, notResent: new Set(), followRoster: fail, beforeSending: fail,
        time: {
            random: () => 0, now: () => 0,
            sleep: async (/** @type {number} */ _, /** @type {AbortSignal} */ signal) => {
                pauses.push(signal.aborted);
                paused(pauses.length);
            },
        },
        tabs: { exclusive: async (/** @type {string} */ _, /** @type {() => unknown} */ body) => body() },
        store: { waiting: async () => [line], waitingFor: async () => line },
        hub: { beginBlob: fail },
    };
}

/** Waits until running operations have ended. */
const settled = async () => {
    for (let round = 0; round < 50; round += 1) await Promise.resolve();
};

export const tests = {
    async aRetryDuringAFailingConnectionIsNotLost() {
        /** @type {SyncLoop} */
        let loop;
        const device = failingDevice((attempt) => attempt === 1 && loop.retryNow(),
            (pause) => pause === 3 && loop.stop());
        loop = new SyncLoop(device);
        loop.start();
        await settled();
        equal(device.pauses, [true, false, false], "whether each pause ended immediately");
    },

    async aFailureIsShownDuringTheNextAttempts() {
        /** @type {SyncLoop} */
        let loop;
        /** @type {string[]} */
        const shown = [];
        const device = failingDevice(() => void shown.push(loop.connection), (pause) => pause === 3 && loop.stop());
        loop = new SyncLoop(device);
        loop.start();
        await settled();
        equal(shown, ["connecting", "waiting", "waiting"], "the connection during each attempt");
    },

    async aRetryDuringAFailingSendIsNotLost() {
        /** @type {SyncLoop} */
        let loop;
        const device = failingDevice((attempt) => attempt === 1 && loop.retryNow(), (pause) => {
            if (pause === 3) loop.connection = "off";
        });
        loop = new SyncLoop(device);
        loop.connection = "live";
        loop.uploader.start = async () => {};
        await loop.send().catch(() => {});
        await settled();
        equal(device.pauses, [true, false, false], "whether each pause ended immediately");
    },

    async aSenderThatDetectsARestartedHubEndsOnlyTheConnectionsPause() {
        const device = failingDevice(() => {}, () => {});
        const pauses = [];
        device.time.sleep = (_, signal) => new Promise((resolve) => {
            pauses.push(signal.aborted ? "ended" : "continues");
            signal.addEventListener("abort", resolve);
        });
        const loop = new SyncLoop(device);
        loop.uploader.start = async () => {};
        loop.start();
        await settled();
        device.beforeSending = async () => {
            throw new HubUnreachable("restarted", "The hub was restarted during the comparison; it is repeated.");
        };
        let connections = 0;
        device.followRoster = async () => {
            connections += 1;
            throw offline();
        };
        await loop.send().catch(() => {});
        await settled();
        equal([connections, pauses], [1, ["continues", "continues", "continues"]], "connections, and pauses");
        loop.stop();
    },

    async aRetryDuringAFailingUploadIsNotLost() {
        /** @type {SyncLoop} */
        let loop;
        const device = failingDevice((attempt) => attempt === 1 && loop.uploader.retryNow(),
            (pause) => pause === 3 && loop.uploader.stop());
        loop = new SyncLoop(device);
        await loop.uploader.start();
        equal(device.pauses, [true, false, false], "whether each pause ended immediately");
    },

    async aConnectionEndsTheUploadPauseOfEveryTab() {
        const device = failingDevice(() => {}, () => {});
        /** @type {unknown[]} */
        const posted = [];
        let pauses = 0;
        Object.assign(device.tabs, { post: (/** @type {unknown} */ message) => void posted.push(message) });
        Object.assign(device.store, {
            sequence: async () => 0, write: async () => {},
            fact: async (/** @type {string} */ _, /** @type {unknown} */ otherwise) => otherwise,
        });
        device.time.sleep = (_, signal) => new Promise((resolve) => {
            pauses += 1;
            signal.addEventListener("abort", resolve);
        });
        const loop = new SyncLoop(device);
        loop.uploader.start();
        await settled();
        equal(pauses, 1, "pauses of the upload without a connection");
        Object.assign(device, { followRoster: async () => {}, changed() {} });
        Object.assign(loop, { sync: async () => "null", send: async () => {} });
        Object.assign(device.hub, {
            async *stream() {
                yield { kind: "live", sequence: 0 };
                await new Promise(() => {});
            },
        });
        loop.start();
        await settled();
        equal([loop.connection, pauses, posted], ["live", 2, [{ kind: "connected" }]],
            "the connection, pauses of the upload, and messages to other tabs");
        loop.stop();
    },

    async aRestartedLoopPausesBetweenAttempts() {
        /** @type {SyncLoop} */
        let loop;
        const device = failingDevice(() => {}, (pause) => pause % 2 === 0 && loop.stop());
        loop = new SyncLoop(device);
        for (const part of [loop, loop.uploader]) {
            for (let round = 0; round < 2; round += 1) {
                part.start();
                await settled();
            }
        }
        equal(device.pauses, Array(8).fill(false), "whether each pause ended immediately");
    },

    async theRosterIsRequestedWithoutHoldingTheLock() {
        let isHeld = false;
        /** @type {boolean[]} */
        const followed = [];
        /** @type {any[]} */
        const [changes, refused] = [[], []];
        const device = {
            roster: { member: () => undefined, revoked: new Set(), household: "1".repeat(32) },
            store: {
                fact: async (/** @type {string} */ _, /** @type {unknown} */ otherwise) => otherwise,
                record: async () => undefined, sequence: async () => 0,
                write: async (/** @type {unknown} */ change) => void changes.push(change),
            },
            tabs: {
                exclusive: async (/** @type {string} */ _, /** @type {() => unknown} */ body) => {
                    isHeld = true;
                    return Promise.resolve(body()).finally(() => (isHeld = false));
                },
            },
            followRoster: async () => void followed.push(isHeld),
            reportProtocolViolation: async (/** @type {string} */ what) => void refused.push(what), changed() {},
        };
        const record = {
            collection: "notes", id: "1".repeat(32), vault: "2".repeat(32), revision: 1, epoch: 1,
            author: "3".repeat(32), blobs: [], signature: "", sealed: "", sequence: 7,
        };
        await ingestRecords(device, [record, { ...record, id: "4".repeat(32) }], { cursor: 7 });
        equal(followed, [false], "whether the lock was held, for each request of the roster");
        equal(refused, Array(2).fill("a record of a device that is not in the household"), "refused records");
        equal(changes.map(({ facts }) => facts.cursor), [7], "cursors that were written");
    },

    aStreamIsParsedInPiecesOfAnySize() {
        const text =
            ": alive\r\n\r\nevent: live\r\nid: 7\r\n\r\nevent: large\nid: "
                + "8\n\nevent: roster\ndata: 3\n\nevent: new\ndata: x\n\n";
        const bytes = new TextEncoder().encode(text);
        for (const size of [1, 2, 3, 1000]) {
            const parser = new EventParser();
            const items = [];
            for (let start = 0; start < bytes.length; start += size) {
                items.push(...parser.read(bytes.slice(start, start + size)));
            }
            equal(items, [{ kind: "live", sequence: 7 }, { kind: "large", sequence: 8 }, { kind: "roster", number: 3 }],
                `pieces of ${size}`);
        }
        for (const bad of ["event: record\nid: 1\ndata: {}\n\n",
            "event: live\nid: x\n\n", "event: record\nid: 1\ndata: [\n\n"]) {
            let code = null;
            try {
                new EventParser().read(new TextEncoder().encode(bad));
            } catch (error) {
                code = error.code;
            }
            equal(code, "notUnderstood", bad);
        }
    },

    pausesGrowToTheirMaximum() {
        const backoff = new Backoff(() => 0.5);
        const pauses = Array.from({ length: 9 }, () => backoff.next());
        equal(pauses, [375, 750, 1500, 3000, 6000, 12000, 24000, 45000, 45000], "pauses in milliseconds");
        backoff.succeeded();
        equal(backoff.next(), 375, "the first pause after a reset");
    },
};
