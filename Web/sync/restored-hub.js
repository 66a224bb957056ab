// Detects a hub whose store was restored from a backup, or replaced: records that it may have lost are compared with it
// and sent again. docs/formats.md, "A restored hub".
import { isCount } from "../crypto/bytes.js";
import { recordKey } from "../formats/record-key.js";
import { HubUnreachable } from "../hub/errors.js";
import { lostSpan, storedCount } from "../store/store.js";
import { withoutSnapshot } from "./moment-snapshot.js";
import { keepRecordingLimit } from "./recording-limit.js";
import { comparedCollections } from "./versions.js";

/**
 * Facts about the hub's store. `newest`: the highest sequence number that it assigned. `apart`: versions that become
 * records of their own after unlocking.
 */
export const storeFacts = Object.freeze({
    generations: "generations", newest: "newest", comparing: "comparing", apart: "apart",
});

/**
 * The last sequence number up to which this device and the hub have the same records.
 * @param {HubAPI.HubGeneration[] | null} known as the hub served them when the device read last; null where it did not
 *   ask
 * @param {number} newest the highest sequence number that the device has seen
 * @param {HubAPI.HubGeneration[]} served
 * @param {number} sequence the hub's newest
 */
export function commonSequence(known, newest, served, sequence) {
    if (!known) return Math.min(newest, sequence);
    for (let index = known.length - 1; index >= 0; index -= 1) {
        const place = served.findIndex(({ id, after }) => id === known[index].id && after === known[index].after);
        if (place >= 0) return Math.min(known[index + 1]?.after ?? newest, served[place + 1]?.after ?? sequence);
    }
    return 0;
}

/** @param {DeviceSession} device */
const knownGenerations = ({ store }) =>
    store.fact(storeFacts.generations, /** @type {HubAPI.HubGeneration[] | null} */ (null));

const restoredFact = "auditRestored";

/**
 * The last restoration of the hub's store: its id, and the sequence number above which numbers are assigned again.
 * @param {DeviceSession} device
 */
export async function lastRestoration({ store }) {
    const found = await store.fact(restoredFact, /** @type {{ store: string, from: number } | null} */ (null));
    return found && { id: found.store, from: found.from };
}

/** The hub may serve another store than before: the next connection compares them. */
export const restarted = () => new HubUnreachable("restarted",
    "The hub was restarted during the comparison; it is repeated.");

/**
 * Asks the hub about its store, before anything is read. Throws HubError, HubUnreachable, StoreError.
 * @param {DeviceSession} device
 * @returns {Promise<string>} the store that it has, as `storeSeen` returns it
 */
export async function compareStores(device) {
    const { store, tabs } = device;
    const { generations, sequence, recordingBytes } = await device.hub.household();
    await keepRecordingLimit(device, recordingBytes);
    await tabs.exclusive("take", async () => {
        const known = await knownGenerations(device);
        const stored = [await store.fact("cursor", 0), await store.fact(storeFacts.newest, 0)];
        const [cursor, newest] = [storedCount(stored[0]), Math.max(...stored.map(storedCount))];
        const common = commonSequence(known, newest, generations, sequence);
        // Records may have invalid numbers too: everything is read again, which corrects them.
        const rereadFacts = stored.every(isCount) ? {} : {
            cursor: 0, [storeFacts.newest]: Math.min(newest, common), adopted: null, ...withoutSnapshot,
        };
        if (common >= newest) {
            return void (await store.write({ facts: { [storeFacts.generations]: generations, ...rereadFacts } }));
        }
        // The keys and names of devices without a computer, which would send those again.
        const own = device.sharesKeys
            ? (await Promise.all(["keys", "devices"].map((collection) => store.records(collection)))).flat()
            .filter(({ record }) => record.author === device.paired.device) : [];
        const cleared = await store.fact("alertsCleared", 0);
        await store.beginComparing(common, comparedCollections, {
            waiting: own.map(({ key, record }) => ({ key, record: { ...record, replaces: 0 } })),
            facts: {
                [storeFacts.generations]: generations, [storeFacts.newest]: common, [storeFacts.comparing]: true,
                cursor: Math.min(cursor, common), alertsCleared: Math.min(cleared, common), adopted: null,
                ...withoutSnapshot,
                [restoredFact]: { store: generations.at(-1)?.id ?? "", from: common + lostSpan }, ...rereadFacts,
            },
        });
    });
    return JSON.stringify(generations);
}

/**
 * The highest sequence number, including a new one. An invalid one stays until `compareStores` corrects it.
 * @param {DeviceSession} device
 * @param {number} sequence
 */
export async function newestWith({ store }, sequence) {
    const newest = await store.fact(storeFacts.newest, 0);
    return isCount(newest) ? Math.max(newest, sequence) : newest;
}

/**
 * Whether the hub's store is still the one that was read: records that were read may be of an earlier one.
 * @param {DeviceSession} device
 * @param {string} seen the store that was read
 */
export async function isSameStore(device, seen) {
    const { generations } = await device.hub.household();
    return seen === JSON.stringify(generations);
}

/**
 * The hub's last known store. A later store may lack records of this one.
 * @param {DeviceSession} device
 */
export const storeSeen = async (device) => JSON.stringify(await knownGenerations(device));

/**
 * Sends records, but not to a restarted hub before the next connection has compared its store: a number that it
 * assigned before would look like one that it lost. Sending them again changes nothing. Throws HubError,
 * HubUnreachable.
 * @param {DeviceSession} device
 * @param {HubRecord[]} records
 */
export async function writeToKnownStore(device, records) {
    const seen = await storeSeen(device);
    const outcomes = await device.hub.write(records);
    if (!(await isSameStore(device, seen))) throw restarted();
    return { outcomes, seen };
}

/**
 * Everything at the hub was compared: lost records may be sent from now on.
 * @param {DeviceSession} device
 * @param {string} seen the store that was read; another tab may have found the next one since
 */
export async function endComparing(device, seen) {
    const { store, tabs } = device;
    const isEnded = await tabs.exclusive("take", async () => {
        if (!(await store.fact(storeFacts.comparing, false)) || (await storeSeen(device)) !== seen) return false;
        await store.write({ facts: { [storeFacts.comparing]: false } });
        return true;
    });
    if (!isEnded) return;
    const count = (await store.lost()).length;
    // Only another tab may be unlocked.
    tabs.post({ kind: "waiting" });
    await device.report(
        "The hub’s store has changed, as after a restored backup. This device compared its records with it"
        + (count === 0
            ? "."
            : `; ${count === 1 ? "1 record is" : `${count} records are`} missing or older there. Each device sends ` +
                `its records again.`));
}

/**
 * Which versions wait to become records of their own.
 * @param {DeviceSession} device
 * @returns {Promise<string>} their signatures
 */
export const divergedIn = async ({ store }) =>
    (await store.fact(storeFacts.apart, /** @type {HubRecord[]} */ ([]))).map(({ signature }) => signature).join();

/**
 * Whether an ingested record requires sending: a version here replaces it, another version becomes a copy, or its keys
 * may open one.
 * @param {DeviceSession} device
 * @param {HubRecord} record
 * @param {string} before what `divergedIn` returned before it was ingested
 */
export async function callsForSending(device, { collection, id }, before) {
    const apart = await divergedIn(device);
    return (await device.store.record(recordKey(collection, id)))?.atHub !== undefined
        || apart !== before || (collection === "keys" && apart !== "");
}
