// Notices a hub whose store was restored from a backup, or replaced: what it may have lost is compared with what it has, and sent again.
// docs/formats.md, "A restored hub".
import { indexFact } from "./moment-index.js";
import { HubUnreachable } from "../protocol/errors.js";
import { isCount } from "../protocol/events.js";
import { lostSpan, storedCount } from "../store/store.js";
import { comparedCollections } from "./versions.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../protocol/client.js").Generation} Generation */

/**
 * What the companion knows of the hub's store. `newest`: the highest sequence number that it gave. `apart`: versions that become records
 * of their own once the gate is open.
 */
export const storeFacts = Object.freeze({ generations: "generations", newest: "newest", comparing: "comparing", apart: "apart" });

/**
 * The last sequence number up to which what a device read and what the hub has now are the same.
 * @param {Generation[] | null} known as the hub served them when the device read last; null where it did not ask
 * @param {number} newest the highest sequence number that the device has seen
 * @param {Generation[]} served
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

/** @param {Device} device */
const knownGenerations = ({ store }) => store.fact(storeFacts.generations, /** @type {Generation[] | null} */ (null));

/** What the hub serves now may be of another store than what it served before: the next connection compares them. */
export const restarted = () => new HubUnreachable("offline", "The hub was restarted meanwhile.");

/**
 * Asks the hub about its store, before anything is read. Throws HubError, HubUnreachable, StoreError.
 * @param {Device} device
 * @returns {Promise<string>} the store that it has, as `storeSeen` returns it
 */
export async function compareStores(device) {
    const { store, tabs } = device;
    const { generations, sequence } = await device.hub.household();
    await tabs.alone("take", async () => {
        const known = await knownGenerations(device);
        const stored = [await store.fact("cursor", 0), await store.fact(storeFacts.newest, 0)];
        const [cursor, newest] = [storedCount(stored[0]), Math.max(...stored.map(storedCount))];
        const common = commonSequence(known, newest, generations, sequence);
        // Beside an invalid number there are records with one: everything is read again, and gives them theirs.
        const anew = stored.every(isCount) ? {} : { cursor: 0, [storeFacts.newest]: Math.min(newest, common), adopted: null, [indexFact]: null };
        if (common >= newest) return void (await store.write({ facts: { [storeFacts.generations]: generations, ...anew } }));
        // Keys and names of a shared vault, which no computer sends again.
        const own = device.member ? (await Promise.all(["keys", "devices"].map((collection) => store.records(collection)))).flat()
            .filter(({ record }) => record.author === device.paired.device) : [];
        const cleared = await store.fact("alertsCleared", 0);
        await store.beginComparing(common, comparedCollections, {
            waiting: own.map(({ key, record }) => ({ key, record: { ...record, replaces: 0 } })),
            facts: {
                [storeFacts.generations]: generations, [storeFacts.newest]: common, [storeFacts.comparing]: true,
                cursor: Math.min(cursor, common), alertsCleared: Math.min(cleared, common), adopted: null, [indexFact]: null,
                auditRestored: { store: generations.at(-1)?.id ?? "", from: common + lostSpan }, ...anew,
            },
        });
    });
    return JSON.stringify(generations);
}

/**
 * The highest sequence number, with one that the hub gave just now. An invalid one stays until `compareStores` finds it.
 * @param {Device} device
 * @param {number} sequence
 */
export async function newestWith({ store }, sequence) {
    const newest = await store.fact(storeFacts.newest, 0);
    return isCount(newest) ? Math.max(newest, sequence) : newest;
}

/**
 * Whether the hub's store is still the one that was asked about: what was read meanwhile may be of an earlier one.
 * @param {Device} device
 * @param {string} seen the store that was asked about
 */
export async function isSameStore(device, seen) {
    const { generations } = await device.hub.household();
    return seen === JSON.stringify(generations);
}

/**
 * Which store the hub was last known to have: what one has taken, the next one may not have.
 * @param {Device} device
 */
export const storeSeen = async (device) => JSON.stringify(await knownGenerations(device));

/**
 * Everything that the hub has was compared: what it lost may be sent from now on.
 * @param {Device} device
 * @param {string} seen the store that was read; another tab may have found the next one since
 */
export async function endComparing(device, seen) {
    const { store, tabs } = device;
    const isEnded = await tabs.alone("take", async () => {
        if (!(await store.fact(storeFacts.comparing, false)) || (await storeSeen(device)) !== seen) return false;
        await store.write({ facts: { [storeFacts.comparing]: false } });
        return true;
    });
    if (!isEnded) return;
    const count = (await store.lost()).length;
    // The gate may be open in another tab alone.
    tabs.tell({ kind: "waiting" });
    await device.report("The hub's store is another one than before, as after a restored backup. What this device has was compared with it"
        + (count === 0 ? "." : `; ${count === 1 ? "1 record is" : `${count} records are`} missing or older there. Each device sends again what it may write.`));
}
