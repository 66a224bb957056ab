// What was done with a vault: each device writes its own chain of sealed entries, and all of them read all. docs/formats.md, "Log of
// a vault".
import { fields, hex, isID, randomID, textOf, unhex } from "../crypto/bytes.js";
import { sha256 } from "../crypto/primitives.js";
import { Roster } from "../crypto/roster.js";
import { ringKind } from "../crypto/ring.js";
import { sealedBytes } from "../crypto/signature.js";
import { keyOf } from "../store/store.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../crypto/signature.js").HubRecord} HubRecord */
/** @typedef {"unlocked" | "wrongPIN" | "exported" | "backedUp" | "restored" | "imported" | "reset"} AuditKind */
/** @typedef {AuditKind | "admitted" | "revoked"} LineKind */
/**
 * `at`: seconds since 1970, by the writer's clock. `number`: from 1, of this device in this vault. `previous`: hash of its entry before,
 * "" of the first. `alert`: the other devices say so at once. `moments`, `photos`: how many.
 * @typedef {{ kind: AuditKind, at: number, number: number, previous: string, alert?: true, moments?: number, photos?: number }} AuditEntry
 */
/**
 * What a screen shows. `device`: who did it, or, of `admitted` and `revoked`, to whom it was done. `sequence`: of the hub, 0 before it
 * is there.
 * @typedef {{ key: string, kind: LineKind, at: number, device: string, alert: boolean, sequence: number, moments: number, photos: number }} AuditLine
 */

export const auditKinds = Object.freeze(/** @type {const} */ (["unlocked", "wrongPIN", "exported", "backedUp", "restored", "imported", "reset"]));
/** Those that other devices can be told of at once. */
export const alertKinds = Object.freeze(/** @type {const} */ (["unlocked", "wrongPIN", "exported"]));

const collection = "audit";
const page = 64;
/** Wrong PINs are kept in the open until the gate is opened: their times, and no more of them than that. */
const failuresFact = "wrongPINs";
const mostFailures = 50;
const names = { failures: "auditFailures", seen: "auditSeen", restored: "auditRestored", heads: "auditHeads" };
/** Of this device, whichever PIN opened it: a choice of its own would tell one from the other by what is pushed. */
const alertsFact = "auditAlerts";

/**
 * Seconds since 1970, of the years that a browser writes as a date.
 * @param {unknown} value
 */
const isTime = (value) => typeof value === "number" && value >= 0 && value <= 253_402_214_400;

/** @param {unknown} value */
const isCount = (value) => value === undefined || (Number.isSafeInteger(value) && Number(value) >= 0);

/** @param {Uint8Array} bytes @returns {AuditEntry | null} */
function readEntry(bytes) {
    try {
        const entry = JSON.parse(textOf(bytes));
        const isOne = auditKinds.includes(entry.kind) && isTime(entry.at) && Number.isSafeInteger(entry.number) && entry.number >= 1
            && typeof entry.previous === "string" && /^([0-9a-f]{64})?$/.test(entry.previous) && isCount(entry.moments) && isCount(entry.photos);
        return isOne ? entry : null;
    } catch {
        return null;
    }
}

/** @param {HubRecord} record */
const linkOf = async (record) => hex(await sha256(fields(
    "applocker/1/vault-audit", unhex(record.vault), unhex(record.id), sealedBytes(record) ?? new Uint8Array())));

export class VaultAudit {
    /** @param {Device} device @param {import("./editing.js").Editing} editing @param {import("./drawer.js").Private} kept */
    constructor(device, editing, kept) {
        this.device = device;
        this.editing = editing;
        this.kept = kept;
    }

    // Writing

    /**
     * Durable when it returns; it leaves when the hub can be reached. Throws CompanionError `locked`, `noKey`, StoreError.
     * @param {AuditKind} kind
     * @param {{ moments?: number, photos?: number, at?: number }} rest `at`: seconds since 1970, where it was before now
     */
    async record(kind, { at = this.device.time.now() / 1000, ...counts } = {}) {
        const isAlert = kind === "reset" || (await this.alerts()).includes(kind);
        await this.editing.alone(async (keys) => {
            const vault = await this.editing.vault(keys);
            const last = await this.#last(vault, keys);
            /** @type {AuditEntry} */
            const entry = {
                kind, at: Math.floor(at), number: last.number + 1, previous: last.link, ...(isAlert ? { alert: true } : {}), ...counts,
            };
            const id = randomID();
            const record = await keys.sealContent({ vault, collection, id, revision: 1 }, entry, 0);
            await this.editing.keep({ waiting: [{ key: keyOf(collection, id), record, ...(isAlert ? { isPushed: true } : {}) }] });
            // Where the gate closed, or it was killed before this: the record itself is found.
            const heads = await this.kept.get(names.heads).catch(() => null);
            await this.kept.set(names.heads, { ...heads, [vault]: { number: entry.number, link: await linkOf(record) } }).catch(() => {});
        });
    }

    /** The gate was opened: says so, after the wrong PINs that came before. */
    async unlocked() {
        /** @type {number[]} */
        const failures = await this.device.store.fact(failuresFact, []);
        const told = (await this.kept.get(names.failures)) ?? 0;
        const fresh = failures.filter((at) => at > told);
        for (const at of fresh) await this.record("wrongPIN", { at: at / 1000 });
        if (fresh.length > 0) await this.kept.set(names.failures, Math.max(...fresh));
        await this.record("unlocked");
    }

    /** A wrong PIN was typed. A closed gate has no key to write with: it waits for the next opening, of whichever vault. */
    async failed() {
        await this.device.tabs.alone("audit", async () => {
            /** @type {number[]} */
            const failures = await this.device.store.fact(failuresFact, []);
            await this.device.store.write({ facts: { [failuresFact]: [...failures, this.device.time.now()].slice(-mostFailures) } });
        });
    }

    /**
     * The end of this device's chain. What was written offline reaches the hub in any order: so it is kept, and what is newer is looked
     * for among the newest records.
     * @param {string} vault
     * @param {import("./keys.js").UnlockedKeys} keys
     * @returns {Promise<{ number: number, link: string }>}
     */
    async #last(vault, keys) {
        const waiting = await this.device.store.waiting();
        const rows = await this.device.store.records(collection, { limit: page });
        const own = [...waiting, ...rows].map(({ record }) => record)
            .filter((record) => record.collection === collection && record.vault === vault && record.author === keys.device);
        const opened = (await Promise.all(own.map((record) => opening(record, keys)))).flatMap((one) => one ?? []);
        const newest = opened.sort((one, other) => other.entry.number - one.entry.number)[0];
        const kept = (await this.kept.get(names.heads).catch(() => null))?.[vault] ?? { number: 0, link: "" };
        return newest && newest.entry.number > kept.number ? { number: newest.entry.number, link: await linkOf(newest.record) } : kept;
    }

    // Reading

    /**
     * The newest first, with the devices that came and went. Throws CompanionError `locked`.
     * @param {{ limit?: number }} options
     * @returns {Promise<{ lines: AuditLine[], missing: number, isAll: boolean }>} `missing`: entries that a later one of its device names,
     *   and that are not here, or not as they were
     */
    async list({ limit = 500 } = {}) {
        const { keys, store } = this.device;
        // In this order: what is sent meanwhile is in one of them.
        const waiting = await store.waiting();
        const rows = await store.records(collection, { limit });
        const here = new Set(rows.map(({ key }) => key));
        const records = rows.map(({ key, record, sequence }) => ({ key, record, sequence }));
        for (const { key, record } of waiting) {
            if (record.collection === collection && !here.has(key)) records.push({ key, record, sequence: 0 });
        }
        // Of a vault that this session has no key of, nothing is told.
        const known = new Set(keys.ring.entries.flatMap(({ kind, vault }) => (kind === ringKind.vault ? [vault] : [])));
        const opened = await Promise.all(records.filter(({ record }) => known.has(record.vault)).map(async ({ key, record, sequence }) => {
            const one = await opening(record, keys);
            return one && { ...one, key, sequence };
        }));
        const entries = opened.flatMap((one) => one ?? []);
        const isAll = rows.length < limit;
        const missing = await missingIn(entries, isAll);
        const lines = [
            ...entries.map(({ entry, record, key, sequence }) => ({
                key, kind: entry.kind, at: entry.at, device: record.author, alert: entry.alert === true, sequence,
                moments: entry.moments ?? 0, photos: entry.photos ?? 0,
            })),
            ...(await this.#comings()),
        ];
        this.device.still(keys);
        return { lines: lines.sort((one, other) => other.at - one.at || other.sequence - one.sequence), missing, isAll };
    }

    /** @returns {Promise<AuditLine[]>} */
    async #comings() {
        const changes = await Roster.changes(this.device.roster.entries);
        return changes.map(({ number, time, admitted, revoked }) => ({
            key: `roster/${number}`, kind: admitted ? "admitted" : "revoked", at: time, device: admitted ?? revoked ?? "",
            alert: false, sequence: 0, moments: 0, photos: 0,
        }));
    }

    // Alerts

    /** @returns {Promise<AuditKind[]>} which of this device's entries the others tell at once */
    alerts() {
        return this.device.store.fact(alertsFact, /** @type {AuditKind[]} */ ([]));
    }

    /** @param {AuditKind[]} kinds */
    setAlerts(kinds) {
        return this.device.store.write({ facts: { [alertsFact]: kinds } });
    }

    /**
     * What other devices want said, and was not yet; the newest first. Each is given once.
     * @returns {Promise<AuditLine[]>}
     */
    takeAlerts() {
        return this.device.tabs.alone("audit", async () => {
            /** @type {number | null} */
            const seen = await this.kept.get(names.seen);
            // A restored hub gives numbers again.
            const restored = await this.device.store.fact("auditRestored", /** @type {{ store: string, from: number } | null} */ (null));
            const isRestored = restored !== null && restored.store !== (await this.kept.get(names.restored));
            const after = isRestored ? Math.min(seen ?? 0, restored.from) : seen ?? 0;
            const { lines } = await this.list({ limit: page });
            const newest = Math.max(after, ...lines.map(({ sequence }) => sequence));
            if (newest !== seen) await this.kept.set(names.seen, newest);
            if (isRestored) await this.kept.set(names.restored, restored.store);
            const own = this.device.keys.device;
            // What was before this device knew of any is old.
            return seen === null ? [] : lines.filter(({ alert, device, sequence }) => alert && device !== own && sequence > after);
        });
    }
}

/** @param {HubRecord} record @param {import("./keys.js").UnlockedKeys} keys */
async function opening(record, keys) {
    const sealed = sealedBytes(record);
    if (!sealed || !isID(record.vault)) return null;
    const entry = await keys.openContent(record, sealed).then(readEntry, () => null);
    return entry && { record, entry };
}

/**
 * @param {{ record: HubRecord, entry: AuditEntry }[]} entries
 * @param {boolean} isAll none was left out at the beginning
 */
async function missingIn(entries, isAll) {
    /** @type {Map<string, { record: HubRecord, entry: AuditEntry }[]>} */
    const chains = new Map();
    for (const one of entries) {
        const name = `${one.record.vault}/${one.record.author}`;
        const chain = chains.get(name);
        if (chain) chain.push(one);
        else chains.set(name, [one]);
    }
    let missing = 0;
    for (const chain of chains.values()) {
        chain.sort((one, other) => one.entry.number - other.entry.number);
        // What was written offline is out of order: at the edge some are left out.
        const whole = isAll ? chain : chain.slice(page);
        let [number, link] = isAll || whole.length === 0 ? [0, ""] : [whole[0].entry.number - 1, whole[0].entry.previous];
        for (const { record, entry } of whole) {
            // Two of one number, or one that names another before it: somebody wrote the chain anew.
            if (entry.number !== number + 1) missing += Math.max(1, entry.number - number - 1);
            else if (entry.previous !== link) missing += 1;
            [number, link] = [entry.number, await linkOf(record)];
        }
    }
    return missing;
}
