// Special dates, and the day that two people count from: records of the vault, one for each, so that two phones can add
// dates at once. docs/formats.md, "Special dates".
import { recordKey } from "../../formats/record-key.js";
import { dateBody, daysBetween, isDay, localDay, nextTime, readDate } from "../../formats/special-date.js";
import { CompanionError } from "../../household/errors.js";
import { hasVaultKey } from "../../household/private-storage.js";
import { randomID, unbase64 } from "../../crypto/bytes.js";
import { occasionDays, occasionFrom } from "./together.js";

/** @typedef {import("../../formats/special-date.js").DateContent} DateContent */
/** @typedef {import("../../formats/special-date.js").SpecialDate} SpecialDate */
/** @typedef {import("../../household/keys.js").UnlockedKeys} UnlockedKeys */

const collection = "dates";
const most = 50;
const togetherName = "Together since";
/** Where earlier versions kept the day, on each device alone. */
const earlier = "together";

export class SpecialDates {
    /**
     * @param {DeviceSession} device
     * @param {import("../../sync/record-editor.js").RecordEditor} editor
     * @param {import("../../household/private-storage.js").PrivateStorage} privateStorage
     */
    constructor(device, editor, privateStorage) {
        this.device = device;
        this.editor = editor;
        this.privateStorage = privateStorage;
    }

    /**
     * Throws CompanionError `locked`.
     * @returns {Promise<import("../../formats/special-date.js").DateList>}
     */
    async list() {
        await this.#moveEarlier();
        const { device } = this;
        const { keys } = device;
        const own = (await device.storedAll(collection))
            .filter(({ record }) => record.sealed && hasVaultKey(keys.ring, record.vault));
        // Oldest first; those that the hub does not have yet are the last.
        own.sort((one, other) => (one.row?.sequence ?? Infinity) - (other.row?.sequence ?? Infinity) || 0);
        const records = own.map(({ record }) => record);
        const others = records.filter(({ id, vault }) => id !== vault);
        const shares = equalShares(others);
        let unreadable = 0;
        const open = async (/** @type {HubRecord} */ record) => {
            const content = await keys.openContent(record, unbase64(record.sealed ?? "")).then(readDate, () => null);
            if (!content) unreadable += 1;
            return content ? [{ ...content, id: record.id, vault: record.vault }] : [];
        };
        const dates = (await Promise.all(shares.map(open))).flat();
        // With several computers each vault may have one: all devices show the same.
        const together = (await Promise.all(records.filter(({ id, vault }) => id === vault).map(open))).flat()
            .sort((one, other) => one.id.localeCompare(other.id));
        device.requireUnlocked(keys);
        dates.sort((one, other) =>
            one.day.slice(5).localeCompare(other.day.slice(5)) || one.id.localeCompare(other.id));
        return { together: together[0] ?? null, dates, hidden: others.length - shares.length, unreadable };
    }

    /**
     * What is next, today included, the nearest first. Throws CompanionError `locked`.
     * @returns {Promise<import("../../formats/special-date.js").Occasion[]>}
     */
    async occasions() {
        const { together, dates } = await this.list();
        const today = localDay(this.device.time.now());
        const next = together && occasionFrom(together.day, today);
        const all = dates.flatMap((date) => {
            const time = nextTime(date, today);
            return time ? [{ ...time, name: date.name, days: daysBetween(date.day, time.day) }] : [];
        });
        return [...(next ? [{ ...next, name: null }] : []), ...all]
            .sort((one, other) => one.inDays - other.inDays);
    }

    /**
     * How many there are on each day, from a day to another, both counted. Throws CompanionError `locked`.
     * @param {string} from
     * @param {string} to
     */
    async days(from, to) {
        return occasionDays(await this.list(), from, to);
    }

    /**
     * Durable when it returns. Throws CompanionError `locked`, `full`, FormatError, StoreError.
     * @param {SpecialDate | null} date as it was read or removed; null for a new one
     * @param {DateContent} content
     */
    async save(date, { name, day, yearly }) {
        const body = dateBody({ name, day, yearly });
        const { dates } = await this.list();
        if (dates.length >= most && !dates.some(({ id }) => id === date?.id)) {
            throw new CompanionError("full", `There are at most ${most} special dates. Remove one first.`);
        }
        await this.editor.exclusive(async (keys) =>
            this.#write(keys, date ?? { id: randomID(), vault: await this.editor.vault(keys) }, body));
    }

    /** @param {SpecialDate} date */
    remove(date) {
        return this.editor.exclusive((keys) => this.#write(keys, date, null));
    }

    /**
     * Throws CompanionError `locked`, StoreError.
     * @param {string | null} day null: nothing is counted
     */
    async setTogether(day) {
        const { together } = await this.list();
        if (!together && day === null) return;
        await this.editor.exclusive(async (keys) => {
            const vault = together?.vault ?? (await this.editor.vault(keys));
            await this.#write(keys, { id: vault, vault }, day === null ? null : togetherBody(day));
        });
    }

    /**
     * Replaces what is stored now, also if another device changed it since it was read.
     * @param {UnlockedKeys} keys
     * @param {{ id: string, vault: string }} place
     * @param {Uint8Array | null} body null: removes it
     */
    async #write(keys, { id, vault }, body) {
        const { record, base } = await this.device.stored(collection, id);
        const { name, replaces, ancestors } = await this.editor.next(collection,
            { id, vault, base, revision: record?.revision ?? 0, signature: record?.signature ?? "" }, keys);
        const changed = body ? await keys.sealBody(name, body, replaces) : await keys.tombstone(name, replaces);
        await this.editor.commit({ waiting: [{ key: recordKey(collection, id), record: { ...changed, ancestors } }] });
    }

    /** Moves the day of earlier versions into the vault, once. What the vault has stays. */
    async #moveEarlier() {
        const kept = this.device.member ? null : await this.privateStorage.get(earlier);
        if (kept === null) return;
        try {
            await this.editor.exclusive(async (keys) => {
                const vault = await this.editor.vault(keys);
                const { record } = await this.device.stored(collection, vault);
                if (!record && isDay(kept)) await this.#write(keys, { id: vault, vault }, togetherBody(kept));
            });
        } catch (error) {
            // Without a vault it waits for one.
            if (error instanceof CompanionError && error.code === "noKey") return;
            throw error;
        }
        await this.privateStorage.set(earlier, null);
    }
}

/** @param {string} day */
const togetherBody = (day) => dateBody({ name: togetherName, day, yearly: true });

/**
 * At most `most`, as many of each author: a member who writes thousands hides no date of the others.
 * @param {HubRecord[]} records
 */
function equalShares(records) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    return records.map((record) => {
        const rank = counts.get(record.author) ?? 0;
        counts.set(record.author, rank + 1);
        return { record, rank };
    }).sort((one, other) => one.rank - other.rank).slice(0, most).map(({ record }) => record);
}
