// What a companion shows of its household: computers, devices, alerts, launches that wait, apps. Behind the gate, although
// the status key would open it: a locked companion shows nothing.
import { sealedBytes } from "../crypto/signature.js";
import { keyOf } from "../store/store.js";
import { missingEvents } from "./chain.js";
import { clockOf } from "./clock.js";
import { openHousehold } from "./keys.js";

/** @typedef {import("./device.js").Device} Device */
/** @typedef {import("../store/store.js").Row} Row */
/** @typedef {import("./bodies.js").HouseholdEvent & { key: string, sequence: number }} Alert */
/** @typedef {{ id: string, sequence: number, missingEvents: number } & import("./bodies.js").ComputerStatus} Computer */
/**
 * `since` and `expires` by this device's clock.
 * @typedef {import("./bodies.js").LaunchRequest & { id: string }} Launch
 */

export class Household {
    /** @param {Device} device */
    constructor(device) {
        this.device = device;
    }

    /**
     * Records that were checked when they were taken; what does not open any more is left out.
     * @param {Row[]} rows
     * @param {string} kind
     * @returns {Promise<{ row: Row, body: any }[]>}
     */
    async #opened(rows, kind) {
        const { keys } = this.device;
        const opened = await Promise.all(rows.map(async (row) => {
            const { record } = row;
            const sealed = sealedBytes(record);
            const author = this.device.roster.member(record.author);
            if (!sealed || !author) return null;
            const checked = { name: record, epoch: record.epoch, author, sealed, blobs: record.blobs };
            const body = await openHousehold(this.device.statusKeys, checked, kind).catch(() => null);
            return body && { row, body };
        }));
        this.device.still(keys);
        return opened.flatMap((one) => one ?? []);
    }

    /**
     * By name.
     * @returns {Promise<Computer[]>}
     */
    async computers() {
        const chains = await this.device.store.fact("chains", /** @type {Record<string, import("./chain.js").EventChain>} */ ({}));
        const found = await this.#opened(await this.device.store.records("status"), "status");
        const computers = found.map(({ row, body }) => ({
            ...body, id: row.record.id, sequence: row.sequence,
            missingEvents: chains[row.record.id] ? missingEvents(chains[row.record.id]) : 0,
        }));
        return computers.sort((one, other) => one.name.localeCompare(other.name));
    }

    /**
     * The computer that new notes belong to, and commands go to where there is one alone.
     * @returns {Promise<string | null>}
     */
    async mainVault() {
        return (await this.computers()).find((computer) => computer.vault)?.vault ?? null;
    }

    /**
     * Everybody who belongs, by the roster. `lastSeen` (seconds since 1970) and the rest are the hub's word, and absent offline.
     * @returns {Promise<{ id: string, name: string, role: "computer" | "companion", isThis: boolean,
     *   atHub: import("../protocol/client.js").HubDevice | null }[]>}
     */
    async devices() {
        const names = new Map((await this.#opened(await this.device.store.records("devices"), "devices"))
            .map(({ row, body }) => [row.record.id, body.name]));
        const atHub = await this.device.hub.devices().catch(() => []);
        return this.device.roster.members.map(({ id, role }) => ({
            id, role, name: names.get(id) ?? id.slice(0, 8), isThis: id === this.device.paired.device,
            atHub: atHub.find((device) => device.id === id) ?? null,
        }));
    }

    /**
     * Newest first.
     * @param {{ before?: number, limit?: number }} page `before` is the sequence number of the last one that is shown
     * @returns {Promise<Alert[]>}
     */
    async alerts({ before, limit = 200 } = {}) {
        const rows = await this.device.store.records("events", { before, limit });
        return (await this.#opened(rows, "events")).map(({ row, body }) => ({ ...body, key: row.key, sequence: row.sequence }));
    }

    /**
     * Puts alerts away on this device, or shows them again.
     * @param {string[]} keys
     */
    async hideAlerts(keys, hidden = true) {
        const rows = await Promise.all(keys.map((key) => this.device.store.record(key)));
        await this.device.store.write({ records: rows.flatMap((row) => (row ? [{ ...row, hidden }] : [])) });
        this.device.changed(keys);
    }

    /**
     * Launches that wait now, as far as is known.
     * @returns {Promise<Launch[]>}
     */
    async launches() {
        const clocks = await this.device.store.fact("clocks", {});
        const now = this.device.time.now();
        return (await this.#opened(await this.device.store.records("requests", { limit: 50 }), "requests"))
            .filter(({ body }) => !body.outcome && body.expires > clockOf(clocks, body.computer, now))
            .map(({ row, body }) => {
                const lead = clockOf(clocks, body.computer, now) - now;
                return { ...body, id: row.record.id, clock: body.clock - lead, expires: body.expires - lead };
            });
    }

    /**
     * A computer's list.
     * @param {string} computer
     * @returns {Promise<import("./bodies.js").RemoteApp[]>}
     */
    async apps(computer) {
        const row = await this.device.store.record(keyOf("apps", computer));
        const [found] = await this.#opened(row ? [row] : [], "apps");
        return found?.body.apps ?? [];
    }

    /**
     * The end of a command, or what is known of it.
     * @param {string} id
     * @returns {Promise<import("./bodies.js").CommandReply | null>}
     */
    async reply(id) {
        const row = await this.device.store.record(keyOf("commands", id));
        const [found] = await this.#opened(row ? [row] : [], "replies");
        return found?.body ?? null;
    }
}
