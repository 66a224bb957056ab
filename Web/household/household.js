// What a companion shows of its household: computers, devices, alerts, pending launches, apps. Only while it is
// unlocked, although the status key would open it.
import { recordKey } from "../formats/record-key.js";
import { ringKind } from "../crypto/ring.js";
import { missingEvents } from "./event-chain.js";
import { clockOf } from "./computer-clocks.js";
import { openStored } from "./keys.js";

/** @typedef {import("../store/store.js").Row} Row */
/** @typedef {import("../formats/record-bodies.js").HouseholdEvent} HouseholdEvent */
/**
 * `photo`: null if this device can't open it.
 * @typedef {Omit<HouseholdEvent, "photo"> & { photo?: string | null, key: string, sequence: number }} Alert
 */
/**
 * `reported`: when it was written, by this device's clock, milliseconds since 1970. `arrived`: when this device read
 * it. `clockLead`: how far the computer's clock is ahead, in milliseconds.
 * @typedef {{ id: string, sequence: number, missingEvents: number, reported: number, arrived: number, clockLead: number
 *   } & import("../formats/record-bodies.js").ComputerStatus} Computer
 */
/**
 * A device of the roster. `owner`: of a shared vault's members. `spareOf`: the member that made it for other phones.
 * `isSheet`: a recovery sheet.
 * @typedef {{ id: string, name: string, owner: string | null, spareOf: string | null, isSheet: boolean,
 *   role: import("../crypto/roster.js").DeviceRole, isThis: boolean }} Member
 */
/**
 * `since` and `expires` by this device's clock. `icon`: the app's, as an address of data.
 * @typedef {import("../formats/record-bodies.js").LaunchRequest & { id: string, icon?: string }} Launch
 */

export class Household {
    /** @param {DeviceSession} device */
    constructor(device) {
        this.device = device;
    }

    /**
     * Opens records that were checked when they were ingested, without those that no longer open.
     * @template {{ record: HubRecord }} Stored
     * @template {keyof import("../formats/record-bodies.js").RecordBodies} Kind
     * @param {Stored[]} rows
     * @param {Kind} kind
     * @returns {Promise<{ row: Stored, body: import("../formats/record-bodies.js").RecordBodies[Kind] }[]>}
     */
    async #opened(rows, kind) {
        const { keys } = this.device;
        const opened = await Promise.all(rows.map(async (row) => {
            const body = await openStored(this.device, row.record, kind);
            return body && { row, body };
        }));
        this.device.requireUnlocked(keys);
        return opened.flatMap((one) => one ?? []);
    }

    /** @returns {Promise<Computer[]>} */
    async computers() {
        const chains = await this.device.store.fact("chains",
            /** @type {Record<string, import("./event-chain.js").EventChain>} */ ({}));
        const clocks = await this.device.store.fact("clocks", {});
        const now = this.device.time.now();
        const found = await this.#opened(await this.device.store.records("status"), "status");
        const computers = found.map(({ row, body }) => {
            const clockLead = clockOf(clocks, row.record.id, now) - now;
            return {
                ...body, id: row.record.id, sequence: row.sequence, clockLead, reported: body.clock - clockLead,
                arrived: row.at,
                missingEvents: chains[row.record.id] ? missingEvents(chains[row.record.id]) : 0,
            };
        });
        return computers.sort((one, other) => one.name.localeCompare(other.name));
    }

    /**
     * The vault of new notes: of the household, if a phone founded it; else of the computer that admitted this device
     * or, if that is gone, of another one.
     * @returns {Promise<string | null>}
     */
    async mainVault() {
        const { isPhoneFounded, household } = this.device.roster;
        if (isPhoneFounded) return (await import("./shared-keys.js")).sharedVaultID(household);
        const computers = (await this.computers()).filter(({ vault }) => vault);
        return (computers.find(({ id }) => id === this.device.paired.computer) ?? computers[0])?.vault ?? null;
    }

    /**
     * All devices of the roster, from what is stored here.
     * @returns {Promise<Member[]>}
     */
    async members() {
        const bodies = new Map((await this.#opened(await this.device.storedAll("devices"), "devices"))
            .map(({ row: { record }, body }) => {
                const { name, owner, sheet, spareOf } = body;
                const isOwn = record.author === record.id;
                // Every member of a shared vault may write it; only what the device itself reports counts.
                return [record.id, {
                    name: isOwn || !this.device.member ? name : undefined, sheet, ...(isOwn ? { owner, spareOf } : {}),
                }];
            }));
        // A computer that a phone admitted reports its name with its state.
        const computers = new Map((await this.computers()).map(({ id, name }) => [id, name]));
        return this.device.roster.members.map(({ id, role }) => ({
            id, role, name: bodies.get(id)?.name ?? computers.get(id) ?? id.slice(0, 8),
            owner: bodies.get(id)?.owner ?? null, spareOf: bodies.get(id)?.spareOf ?? null,
            isSheet: bodies.get(id)?.sheet === true && role === "administrator",
            isThis: id === this.device.paired.device,
        }));
    }

    /**
     * What devices call themselves, former ones too.
     * @returns {Promise<Map<string, string>>} by id
     */
    async ownNames() {
        const { keys } = this.device;
        const own = (await this.device.storedAll("devices")).filter(({ record: { author, id } }) => author === id);
        const bodies = await Promise.all(own.map(async ({ record }) =>
            [record.id, (await openStored(this.device, record, "devices", { ofFormer: true }))?.name ?? ""]));
        this.device.requireUnlocked(keys);
        return new Map(/** @type {[string, string][]} */ (bodies));
    }

    /**
     * The members, with what the hub reports of each; null offline. `lastSeen`: seconds since 1970.
     * @returns {Promise<(Member & { atHub: HubAPI.HubDevice | null })[]>}
     */
    async devices() {
        const [members, atHub] = await Promise.all([this.members(), this.device.hub.devices().catch(() => [])]);
        return members.map((one) => ({ ...one, atHub: atHub.find(({ id }) => id === one.id) ?? null }));
    }

    /**
     * Newest first, without cleared ones.
     * @param {{ before?: number, limit?: number }} page `before` is the sequence number of the last one that is shown
     * @returns {Promise<Alert[]>}
     */
    async alerts({ before, limit = 200 } = {}) {
        return (await this.alertPage({ before, limit })).alerts;
    }

    /**
     * As `alerts`, with what `before` is for the next page; null after the last one. A page can have fewer than `limit`
     * alerts, because some of its records can't be opened.
     * @param {{ before?: number, limit: number }} page
     * @returns {Promise<{ alerts: Alert[], next: number | null }>}
     */
    async alertPage({ before, limit }) {
        const rows = await this.device.store.records("events", { before, limit });
        const last = rows[rows.length - 1]?.sequence ?? 0;
        const isLast = rows.length < limit || last <= (await this.clearedAlerts());
        return { alerts: await this.#asAlerts(rows), next: isLast ? null : last };
    }

    /**
     * Those of these alerts that exist and were not cleared.
     * @param {string[]} keys
     * @returns {Promise<Alert[]>}
     */
    async alertsOf(keys) {
        const rows = await Promise.all(keys.map((key) => this.device.store.record(key)));
        return this.#asAlerts(rows.flatMap((row) => (row && row.collection === "events" && !row.hidden ? [row] : [])));
    }

    /** @param {Row[]} rows @returns {Promise<Alert[]>} */
    async #asAlerts(rows) {
        const cleared = await this.clearedAlerts();
        const hasPhotos = this.device.keys.ring.entries.some(({ kind }) => kind === ringKind.inbox);
        return (await this.#opened(rows.filter(({ sequence }) => sequence > cleared), "events"))
            .map(({ row, body }) => ({
                ...body, ...(hasPhotos ? {} : { photo: null }), key: row.key, sequence: row.sequence,
            }));
    }

    /** The sequence number up to which alerts were cleared. */
    clearedAlerts() {
        return this.device.store.fact("alertsCleared", 0);
    }

    /**
     * Clears all alerts up to a sequence number, and shows later ones again.
     * @param {number} sequence
     */
    async clearAlerts(sequence) {
        await this.device.store.write({ facts: { alertsCleared: sequence } });
        this.device.changed(["events/"]);
    }

    /** @param {string[]} keys */
    async hideAlerts(keys, hidden = true) {
        const rows = await Promise.all(keys.map((key) => this.device.store.record(key)));
        await this.device.store.write({ records: rows.flatMap((row) => (row ? [{ ...row, hidden }] : [])) });
        this.device.changed(keys);
    }

    /**
     * Pending launches, as far as is known.
     * @returns {Promise<Launch[]>}
     */
    async launches() {
        const now = this.device.time.now();
        const all = await this.#asLaunches(await this.device.store.records("requests", { limit: 50 }), now);
        return this.#withIcons(all.filter(({ outcome, expires }) => !outcome && expires > now));
    }

    /**
     * A launch, pending or not; null if it is unknown.
     * @param {string} id
     * @returns {Promise<Launch | null>}
     */
    async launch(id) {
        const row = await this.device.store.record(recordKey("requests", id));
        const found = await this.#asLaunches(row ? [row] : [], this.device.time.now());
        return (await this.#withIcons(found))[0] ?? null;
    }

    /** @param {Row[]} rows @param {number} now @returns {Promise<Launch[]>} */
    async #asLaunches(rows, now) {
        const clocks = await this.device.store.fact("clocks", {});
        return (await this.#opened(rows, "requests")).map(({ row, body }) => {
            const lead = clockOf(clocks, body.computer, now) - now;
            return { ...body, id: row.record.id, clock: body.clock - lead, expires: body.expires - lead };
        });
    }

    /** @param {Launch[]} launches @returns {Promise<Launch[]>} */
    async #withIcons(launches) {
        const computers = [...new Set(launches.map(({ computer }) => computer))];
        const icons = new Map(await Promise.all(computers.map(
            async (computer) => /** @type {const} */ ([computer, await this.icons(computer)]))));
        return launches.map((launch) => ({ ...launch, icon: icons.get(launch.computer)?.get(launch.app) }));
    }

    /** @param {string} computer @returns {Promise<import("../formats/record-bodies.js").RemoteApp[]>} */
    async apps(computer) {
        return (await this.appList(computer))?.apps ?? [];
    }

    /**
     * A computer's locked apps and those that can be added; `opensUntil` by this device's clock. Null before its first
     * report.
     * @param {string} computer
     * @returns {Promise<import("../formats/record-bodies.js").ComputerApps | null>}
     */
    async appList(computer) {
        const row = await this.device.store.record(recordKey("apps", computer));
        const [found] = await this.#opened(row ? [row] : [], "apps");
        if (!found) return null;
        const clocks = await this.device.store.fact("clocks", {});
        const now = this.device.time.now();
        const lead = clockOf(clocks, computer, now) - now;
        const { body } = found;
        return {
            ...body, apps: body.apps.map((app) => ({ ...app, opensUntil: app.opensUntil && app.opensUntil - lead })),
        };
    }

    /**
     * Pictures of a computer's listed apps, as addresses of data, by the app's id.
     * @param {string} computer
     * @returns {Promise<Map<string, string>>}
     */
    async icons(computer) {
        const row = await this.device.store.record(recordKey("icons", computer));
        const [found] = await this.#opened(row ? [row] : [], "icons");
        return new Map(found?.body.icons.map(({ app, type, data }) => [app, `data:${type};base64,${data}`]));
    }

    /**
     * The reply to a command so far.
     * @param {string} id
     * @returns {Promise<import("../formats/record-bodies.js").CommandReply | null>}
     */
    async reply(id) {
        const row = await this.device.store.record(recordKey("commands", id));
        const [found] = await this.#opened(row ? [row] : [], "replies");
        return found?.body ?? null;
    }
}
