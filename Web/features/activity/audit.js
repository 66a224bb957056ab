// The log of a vault: each device writes its own chain of sealed entries, and every device reads all of them.
// docs/formats.md, "Log of a vault".
import { recordKey } from "../../formats/record-key.js";
import { fields, hex, isID, randomID, textOf, unhex } from "../../crypto/bytes.js";
import { sha256 } from "../../crypto/primitives.js";
import { Roster } from "../../crypto/roster.js";
import { sealedBytes } from "../../crypto/signature.js";
import { groupBy } from "../../household/group-by.js";
import { hasVaultKey } from "../../household/private-storage.js";
import { lastRestoration } from "../../sync/restored-hub.js";

/** @typedef {"unlocked" | "wrongPIN" | "exported" | "backedUp" | "restored" | "imported" | "reset"} AuditKind */
/** @typedef {AuditKind | "admitted" | "revoked"} LineKind */
/**
 * `at`: seconds since 1970, by the writer's clock. `number`: from 1, of this device in this vault. `previous`: hash of
 * the device's entry before, "" for the first. `alert`: other devices show it at once. `moments`, `photos`: counts.
 * @typedef {{ kind: AuditKind, at: number, number: number, previous: string, alert?: true, moments?: number,
 *   photos?: number }} AuditEntry
 */
/**
 * An entry for display. `device`: the one that did it or, of `admitted` and `revoked`, the one concerned. `sequence`:
 * the hub's, 0 while unsent. `number`: in its device's chain, from 1; 0 of `admitted` and `revoked`.
 * @typedef {{ key: string, kind: LineKind, at: number, device: string, alert: boolean, sequence: number,
 *   number: number, moments: number, photos: number }} AuditLine
 */

export const auditKinds = Object.freeze(
    /** @type {const} */ (["unlocked", "wrongPIN", "exported", "backedUp", "restored", "imported", "reset"]));
/** The kinds that can be pushed to other devices at once. */
export const alertKinds = Object.freeze(/** @type {const} */ (["unlocked", "wrongPIN", "exported"]));

const collection = "audit";
const page = 64;
/** Times of wrong PINs are stored unsealed until AppLocker is unlocked; at most so many. */
const failuresFact = "wrongPINs";
const mostFailures = 50;
const names = { failures: "auditFailures", seen: "auditSeen", restored: "auditRestored", heads: "auditHeads" };
/** One choice for all PINs of this device: its pushes must not reveal which PIN was used. */
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
        const isOne = auditKinds.includes(entry.kind)
            && isTime(entry.at) && Number.isSafeInteger(entry.number) && entry.number >= 1
            && typeof entry.previous === "string" && /^([0-9a-f]{64})?$/.test(entry.previous)
            && isCount(entry.moments) && isCount(entry.photos);
        return isOne ? entry : null;
    } catch {
        return null;
    }
}

/** @param {HubRecord} record */
const linkOf = async (record) => hex(await sha256(fields(
    "applocker/1/vault-audit", unhex(record.vault), unhex(record.id), sealedBytes(record) ?? new Uint8Array())));

/**
 * Order within one second: an entry follows its device's admission, and unsent entries follow those at the hub.
 * @param {AuditLine} line
 */
const place = ({ number, sequence }) => (number === 0 ? 0 : sequence || Number.MAX_SAFE_INTEGER);

export class VaultAudit {
    /**
     * @param {DeviceSession} device
     * @param {import("../../sync/record-editor.js").RecordEditor} editor
     * @param {import("../../household/private-storage.js").PrivateStorage} kept
     * @param {import("../../household/device-settings.js").DeviceSettings} settings
     */
    constructor(device, editor, kept, settings) {
        this.device = device;
        this.editor = editor;
        this.kept = kept;
        this.settings = settings;
    }

    // Writing

    /**
     * Durable when it returns; sent when the hub can be reached. Throws CompanionError `locked`, `noKey`, StoreError.
     * @param {AuditKind} kind
     * @param {{ moments?: number, photos?: number, at?: number }} rest `at`: seconds since 1970, where it was before
     *   now
     */
    async record(kind, { at = this.device.time.now() / 1000, ...counts } = {}) {
        // The other devices of a shared vault are other people's, and can't read it before they are unlocked.
        const isAlert = !this.device.member && (kind === "reset" || (await this.alerts()).includes(kind));
        await this.editor.exclusive(async (keys) => {
            const vault = await this.editor.vault(keys);
            const last = await this.#last(vault, keys);
            /** @type {AuditEntry} */
            const entry = {
                kind, at: Math.floor(at), number: last.number + 1, previous: last.link,
                ...(isAlert ? { alert: true } : {}), ...counts,
            };
            const id = randomID();
            const record = await keys.sealContent({ vault, collection, id, revision: 1 }, entry, 0);
            await this.editor.commit({
                waiting: [{ key: recordKey(collection, id), record, ...(isAlert ? { isPushed: true } : {}) }],
            });
            // If AppLocker was locked or killed before this, the record itself is found.
            const heads = await this.kept.get(names.heads).catch(() => null);
            await this.kept.set(names.heads,
                { ...heads, [vault]: { number: entry.number, link: await linkOf(record) } }).catch(() => {});
        });
    }

    /** Records the unlocking, after the wrong PINs before it. */
    async unlocked() {
        const failures = await this.#failures();
        const recorded = (await this.kept.get(names.failures)) ?? 0;
        const fresh = failures.filter((at) => at > recorded);
        for (const at of fresh) await this.record("wrongPIN", { at: at / 1000 });
        if (fresh.length > 0) await this.kept.set(names.failures, Math.max(...fresh));
        await this.record("unlocked");
    }

    /** Remembers a wrong PIN: without a key while locked, the next unlocking of any vault records it. */
    async failed() {
        await this.device.tabs.exclusive("audit", async () => {
            const failures = [...(await this.#failures()), this.device.time.now()];
            await this.settings.set(failuresFact, failures.slice(-mostFailures));
        });
    }

    #failures() {
        return this.settings.get(failuresFact, /** @type {number[]} */ ([]));
    }

    /**
     * The end of this device's chain. Offline entries reach the hub in any order, so the end is stored, and newer ones
     * are searched among the newest records.
     * @param {string} vault
     * @param {import("../../household/keys.js").UnlockedKeys} keys
     * @returns {Promise<{ number: number, link: string }>}
     */
    async #last(vault, keys) {
        const own = (await this.device.storedAll(collection, { limit: page })).map(({ record }) => record)
            .filter((record) => record.vault === vault && record.author === keys.device);
        const opened = (await Promise.all(own.map((record) => opening(record, keys)))).flatMap((one) => one ?? []);
        const newest = opened.sort((one, other) => other.entry.number - one.entry.number)[0];
        const kept = (await this.kept.get(names.heads).catch(() => null))?.[vault] ?? { number: 0, link: "" };
        return newest && newest.entry.number > kept.number ? {
            number: newest.entry.number, link: await linkOf(newest.record),
        } : kept;
    }

    // Reading

    /**
     * Newest first, with admissions and revocations of devices. Throws CompanionError `locked`.
     * @param {{ limit?: number }} options
     * @returns {Promise<{ lines: AuditLine[], missing: number, isAll: boolean }>} `missing`: entries that a later one
     *   of its device names, and that are not here, or not as they were
     */
    async list({ limit = 500 } = {}) {
        const { keys } = this.device;
        const records = await this.device.storedAll(collection, { limit });
        const opened = await Promise.all(records.filter(({ record }) => hasVaultKey(keys.ring, record.vault))
            .map(async ({ key, record, row }) => {
                const one = await opening(record, keys);
                return one && { ...one, key, sequence: row?.sequence ?? 0 };
            }));
        const entries = opened.flatMap((one) => one ?? []);
        const isAll = records.filter(({ row }) => row).length < limit;
        const missing = await missingIn(entries, isAll);
        const lines = [
            ...entries.map(({ entry, record, key, sequence }) => ({
                key, kind: entry.kind, at: entry.at, device: record.author, alert: entry.alert === true, sequence,
                number: entry.number,
                moments: entry.moments ?? 0, photos: entry.photos ?? 0,
            })),
            ...(await this.#comings()),
        ];
        this.device.requireUnlocked(keys);
        return {
            lines: lines.sort((one, other) =>
                other.at - one.at || place(other) - place(one) || other.number - one.number),
            missing, isAll,
        };
    }

    /** @returns {Promise<AuditLine[]>} */
    async #comings() {
        const changes = await Roster.changes(this.device.roster.entries);
        return changes.map(({ number, time, admitted, revoked }) => ({
            key: `roster/${number}`, kind: admitted ? "admitted" : "revoked", at: time,
            device: admitted ?? revoked ?? "",
            alert: false, sequence: 0, number: 0, moments: 0, photos: 0,
        }));
    }

    // Alerts

    /** @returns {Promise<AuditKind[]>} which of this device's entries are pushed to the others */
    alerts() {
        return this.settings.get(alertsFact, /** @type {AuditKind[]} */ ([]));
    }

    /** @param {AuditKind[]} kinds */
    setAlerts(kinds) {
        return this.settings.set(alertsFact, kinds);
    }

    /**
     * New entries of other devices to show at once, newest first. Each is returned once.
     * @returns {Promise<AuditLine[]>}
     */
    newAlerts() {
        return this.device.tabs.exclusive("audit", async () => {
            /** @type {number | null} */
            const seen = await this.kept.get(names.seen);
            // A restored hub assigns numbers again.
            const restoration = await lastRestoration(this.device);
            const isRestored = restoration !== null && restoration.id !== (await this.kept.get(names.restored));
            const after = isRestored ? Math.min(seen ?? 0, restoration.from) : seen ?? 0;
            const { lines } = await this.list({ limit: page });
            const newest = Math.max(after, ...lines.map(({ sequence }) => sequence));
            if (newest !== seen) await this.kept.set(names.seen, newest);
            if (isRestored) await this.kept.set(names.restored, restoration.id);
            const own = this.device.keys.device;
            // Entries from before this device read any are old.
            return seen === null
                ? []
                : lines.filter(({ alert, device, sequence }) => alert && device !== own && sequence > after);
        });
    }
}

/** @param {HubRecord} record @param {import("../../household/keys.js").UnlockedKeys} keys */
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
    let missing = 0;
    for (const chain of groupBy(entries, ({ record }) => `${record.vault}/${record.author}`).values()) {
        chain.sort((one, other) => one.entry.number - other.entry.number);
        // Offline entries are out of order: at the limit some are left out.
        const whole = isAll ? chain : chain.slice(page);
        let [number, link] = isAll || whole.length === 0
            ? [0, ""]
            : [whole[0].entry.number - 1, whole[0].entry.previous];
        for (const { record, entry } of whole) {
            // Duplicate numbers, or another predecessor: the chain was rewritten.
            if (entry.number !== number + 1) missing += Math.max(1, entry.number - number - 1);
            else if (entry.previous !== link) missing += 1;
            [number, link] = [entry.number, await linkOf(record)];
        }
    }
    return missing;
}
