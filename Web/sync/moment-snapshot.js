// The stored index of moments: sealed in one piece, so that unlocking doesn't open thousands of records. It covers all
// records up to one sequence number, and is void if a record arrives below it.
import { concat, fields, randomBytes, textOf, utf8, wipe } from "../crypto/bytes.js";
import { drawerCount, filler } from "../crypto/drawers.js";
import { hkdf } from "../crypto/primitives.js";
import { openContent, sealContent, streamName } from "../crypto/stream.js";

/** @typedef {import("../household/keys.js").UnlockedKeys} UnlockedKeys */
/**
 * `count` records of the hub's, all up to the sequence number `upTo`. `unreadable`: keys of records.
 * @template Moment
 * @typedef {{ version: 1, upTo: number, count: number, unreadable: string[], moments: Moment[] }} Snapshot
 */

const fact = "momentIndex";
const snapshotName = streamName({ purpose: "moment index" });
const saltLength = 32;

/** The facts that void it. */
export const withoutSnapshot = Object.freeze({ [fact]: null });

/**
 * The facts that void it if one of these rows is below the sequence number up to which records were read.
 * @param {import("../store/store.js").Row[]} rows
 * @param {number} cursor
 */
export const withoutSnapshotBelow = (rows, cursor) =>
    (rows.some(({ collection, sequence }) => collection === "moments" && sequence <= cursor) ? withoutSnapshot : {});

/**
 * A fresh salt: the key is for one stream.
 * @param {Uint8Array} rootKey
 * @param {Uint8Array} salt
 */
const snapshotKey = (rootKey, salt) => hkdf(rootKey, salt, fields("applocker/1/moment-index"));

/**
 * One for each drawer; those of unused drawers are random bytes.
 * @param {DeviceSession} device
 * @returns {Promise<Uint8Array[] | null>}
 */
async function stored({ store }) {
    const kept = await store.fact(fact, /** @type {unknown} */ (null));
    return Array.isArray(kept) ? kept : null;
}

/**
 * @param {DeviceSession} device
 * @param {UnlockedKeys} keys
 * @returns {Promise<{ cursor: number, snapshot: Snapshot<any> | null }>} `cursor`: every record up to it is in the
 *   store. `snapshot`: null if none fits the store
 */
export async function readSnapshot(device, keys) {
    // First: records that arrive meanwhile are above it.
    const cursor = await device.store.sequence("cursor");
    const bytes = (await stored(device))?.[keys.drawer];
    if (!bytes) return { cursor, snapshot: null };
    try {
        const key = await snapshotKey(keys.rootKey, bytes.slice(0, saltLength));
        const plain = await openContent(bytes.subarray(saltLength), snapshotName, key);
        wipe(key);
        /** @type {Snapshot<any>} */
        const snapshot = JSON.parse(textOf(plain));
        wipe(plain);
        const isComplete = snapshot.version === 1
            && (await device.store.count("moments", snapshot.upTo)) === snapshot.count;
        return { cursor, snapshot: isComplete ? snapshot : null };
    } catch {
        // Of another root key, or damaged.
        return { cursor, snapshot: null };
    }
}

/**
 * @param {DeviceSession} device
 * @param {UnlockedKeys} keys
 * @param {number} cursor as `readSnapshot` returned it
 * @param {{ unreadable: string[], moments: object[] }} content
 */
export async function writeSnapshot(device, keys, cursor, content) {
    const { store } = device;
    // A restored hub was found meanwhile: newer records have lower numbers.
    if ((await store.sequence("cursor")) < cursor) return;
    const count = await store.count("moments", cursor);
    const plain = utf8(JSON.stringify({ version: 1, upTo: cursor, count, ...content }));
    const salt = randomBytes(saltLength);
    device.requireUnlocked(keys);
    const key = await snapshotKey(keys.rootKey, salt);
    const bytes = concat(salt, await sealContent(plain, snapshotName, key));
    wipe(plain, key);
    await device.tabs.exclusive("index", async () => {
        const kept = (await stored(device)) ?? Array.from({ length: drawerCount }, () => filler(bytes.length));
        const changed = kept.map((one, drawer) => (drawer === keys.drawer ? bytes : one));
        // A full device works without it.
        await store.write({ facts: { [fact]: changed } }).catch(() => {});
    });
}
