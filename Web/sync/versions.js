// Which version of a record follows which. Revisions alone don't show it: two devices can each write the same one, and
// a restored hub assigns the same number twice. docs/formats.md, "A restored hub".
import { base64, fields, hex, u64, unbase64, unhex } from "../crypto/bytes.js";
import { sha256 } from "../crypto/primitives.js";
import { sealedBytes } from "../crypto/signature.js";

/** @typedef {import("../store/store.js").Row} Row */

const versionLength = 8;
const mostVersions = 64;
const mostAncestors = 16;

/** The collections whose versions are kept: records that a hub lost are sent again. */
export const comparedCollections = Object.freeze(
    ["about", "notes", "moments", "photos", "remarks", "dates", "files", "intruders", "audit", "vaults"]);

/** Whether both of two diverged versions are kept. */
export const keepsBoth = (/** @type {string} */ collection) => collection === "notes" || collection === "moments";

/** The largest step of a revision. A hub that claims more could make this device sign the last possible number. */
const largestStep = 2 ** 20;
export const farConflict = "a conflict with a revision that is too high";

/**
 * Whether a record may be signed in place of a revision that the hub claims to have.
 * @param {number} atHub
 * @param {number} own the revision that is here
 */
export const isNear = (atHub, own) => atHub >= 1 && atHub - own <= largestStep;

/** @param {{ revision: number | bigint, sealed: Uint8Array | null }} record */
export const versionOf = async ({ revision, sealed }) =>
    hex((await sha256(fields("applocker/1/version", u64(revision), sealed ?? new Uint8Array())))
        .slice(0, versionLength));

/** @param {HubRecord} record */
export const version = (record) => versionOf({ revision: record.revision, sealed: sealedBytes(record) });

/** @param {HubRecord} record @returns {string[]} */
const ancestorsOf = ({ ancestors }) => hex(unbase64(ancestors ?? "")).match(/.{16}/g) ?? [];

/** The ancestors of a change that is sealed again. */
export const ancestorsIn = (/** @type {HubRecord} */ { ancestors }) => (ancestors === undefined ? {} : { ancestors });

/** @param {string[]} versions the newest last */
const distinct = (versions) => versions.filter((one, index) => versions.lastIndexOf(one) === index);

/** @param {string[]} versions */
const joined = (versions) => base64(unhex(versions.join("")));

/**
 * All known versions of a record that the hub had, the newest last.
 * @param {Row} row
 */
export const versionsOf = async (row) =>
    distinct([...(row.versions ?? []), ...ancestorsOf(row.record), await version(row.record)]).slice(-mostVersions);

/**
 * The versions that a row keeps of its predecessor.
 * @param {Row | undefined} row
 * @returns {Promise<{ versions?: string[] }>}
 */
export async function versionsBefore(row) {
    return row && comparedCollections.includes(row.collection) ? { versions: await versionsOf(row) } : {};
}

/**
 * The ancestors of a change that is based on this row.
 * @param {Row} row
 */
export const ancestorsAfter = async (row) => joined((await versionsOf(row)).slice(-mostAncestors / 2));

/**
 * The ancestors of a change of a pending change, which the hub may have if its response was lost. Of many ancestors,
 * the middle ones are dropped.
 * @param {HubRecord} record that waits
 * @param {Row | undefined} row that it may stand on
 */
export async function ancestorsAfterChange(record, row) {
    const half = mostAncestors / 2;
    const isUnnamed = typeof record.ancestors !== "string" && row && (await follows(record, row));
    const all = [...(isUnnamed ? (await versionsOf(row)).slice(-half) : ancestorsOf(record)), await version(record)];
    return joined(all.length > mostAncestors ? [...all.slice(0, half), ...all.slice(-half)] : all);
}

/**
 * The ancestors of a row that is sent again.
 * @param {Row} row
 * @param {HubRecord} record as which it is sent
 */
export async function ancestorsAgain(row, record) {
    const own = await version(record);
    return joined((await versionsOf(row)).filter((one) => one !== own).slice(-mostAncestors));
}

/**
 * Whether a change was based on a row's version. Without ancestors its revision is compared.
 * @param {HubRecord} change
 * @param {Row} row
 */
export async function follows(change, row) {
    if (typeof change.ancestors !== "string") return change.replaces === row.record.revision;
    return ancestorsOf(change).includes(await version(row.record));
}

/**
 * The id of a copy, the same on every device.
 * @param {string} id
 * @param {Uint8Array} sealed
 */
export const copyID = async (id, sealed) =>
    hex((await sha256(fields("applocker/1/conflict", unhex(id), sealed))).slice(0, 16));

/**
 * Compares the hub's record with a row that it may have lost. A lower revision never replaces the row: ancestors are
 * not signed, and an old record that this device never received looks like a change made meanwhile.
 * @param {Row} row
 * @param {HubRecord} record checked
 * @returns {Promise<{ row?: Row, copied?: HubRecord }>} the row that stays; without one the record replaces it.
 *   `copied`: what becomes a record of its own.
 */
export async function compare(row, record) {
    const [known, own, theirs] = [await versionsOf(row), await version(row.record), await version(record)];
    const { atHub: _, ...settled } = row;
    // A log entry never changes, nor its place in the list.
    if (row.collection === "audit") return { row: settled };
    if (theirs === own) return { row: { ...settled, sequence: record.sequence ?? row.sequence } };
    const staying = {
        ...row, atHub: record.revision, versions: distinct([...ancestorsOf(record), theirs, ...(row.versions ?? [])])
        .slice(-mostVersions),
    };
    const both = keepsBoth(row.collection);
    const [isRemovedHere, isRemovedThere] = [!row.record.sealed, !record.sealed];
    const isKnown = known.includes(theirs);
    if (record.revision < row.record.revision || (isKnown && record.revision === row.record.revision)) {
        // Versions from before a removal may be unknown here and are not restored.
        const isCopied = both && !isKnown && !isRemovedThere && !isRemovedHere;
        return { row: staying, ...(isCopied ? { copied: record } : {}) };
    }
    if (record.revision > row.record.revision && ancestorsOf(record).includes(own)) return {};
    // Neither is based on the other. A removal of a note yields; elsewhere it stays.
    if (isRemovedHere && !isRemovedThere && !both) return { row: staying };
    return both && !isRemovedHere ? { copied: row.record } : {};
}
