// A simulated hub for several phones, whose store can be restored to earlier backups. It stores records like
// Sources/Hub/HubStore.
import { base64, base64url, hex, randomID, unbase64, unhex } from "/crypto/bytes.js";
import { openJoin } from "/crypto/invitation.js";
import { sha256 } from "/crypto/primitives.js";
import { Companion } from "/session/companion.js";
import { versionOf } from "/sync/versions.js";
import { systemTime } from "/hub/time.js";
import { eventually } from "./harness.js";
import { FakeHousehold } from "./fake-household.js";

/** A clock with short pauses between attempts. */
export const quick = { ...systemTime, sleep: (milliseconds, signal) =>
    systemTime.sleep(Math.min(milliseconds, 20), signal) };

/** A household with several phones, at a hub that can be restored. */
export class RestorableHousehold extends FakeHousehold {
    sequence = 0;
    generations = [{ id: randomID(), after: 0 }];
    /** Phones by the hash of their token. */
    phones = new Map();
    offline = new Set();
    /** Functions that end the streams. */
    ends = [];
    losesResponses = false;
    /** Called with each route before the response. */
    before = () => {};

    /** Identifiers, revisions and sealed bytes of the stored notes. */
    notes() {
        return this.records.filter(({ collection }) => collection === "notes")
            .map(({ id, revision, sealed }) => ({ id, revision, sealed }))
            .sort((one, other) => (one.id < other.id ? -1 : 1));
    }

    backup() {
        return { records: [...this.records], sequence: this.sequence, generations: this.generations };
    }

    restore({ records, sequence, generations }) {
        [this.records, this.sequence] = [[...records], sequence];
        this.generations = [...generations, { id: randomID(), after: sequence }];
        this.disconnectAll();
    }

    disconnectAll() {
        for (const end of this.ends) end();
        this.ends = [];
        this.streams = [];
    }

    async write(record) {
        const find = () => this.records.findIndex(({ collection, id }) =>
            collection === record.collection && id === record.id);
        let stored, storedVersion;
        // Everything after this is one step, as at the real hub: another device may write, or the hub may be restored,
        // while the version is computed.
        do {
            stored = this.records[find()];
            storedVersion = stored && (await versionOf({
                revision: stored.revision, sealed: stored.sealed ? unbase64(stored.sealed) : null,
            }));
        } while (this.records[find()] !== stored);
        const index = find();
        const { replaces = record.revision - 1, replacedVersion, ...rest } = record;
        if (stored && stored.signature === rest.signature) return { sequence: stored.sequence };
        if (stored && replacedVersion && hex(unbase64(replacedVersion)) !== storedVersion) return { conflict: stored };
        if (replaces !== (stored?.revision ?? 0) || record.revision <= (stored?.revision ?? 0)) {
            return stored ? { conflict: stored } : { error: { code: "conflict", message: "Nothing is stored." } };
        }
        this.sequence += 1;
        const [earlier, named] = [stored?.ancestors, rest.ancestors]
            .map((text) => hex(unbase64(text ?? "")).match(/.{16}/g) ?? []);
        if (storedVersion) earlier.push(storedVersion);
        const all = [...earlier.filter((one) => !named.includes(one)), ...named];
        const written = { ...rest, sequence: this.sequence, ancestors: base64(unhex(all.slice(-16).join(""))) };
        if (index >= 0) this.records.splice(index, 1);
        this.records.push(written);
        for (const send of this.streams) {
            send(`event: record\nid: ${written.sequence}\ndata: ${JSON.stringify(written)}\n\n`);
        }
        return { sequence: written.sequence };
    }

    store(...records) {
        for (const record of records) {
            this.sequence += 1;
            this.records.push({ ...record, sequence: this.sequence });
        }
    }

    async respond(url, options) {
        const token = options.headers?.Authorization;
        if (token && this.offline.has(token)) throw new TypeError("no network");
        this.before(`${options.method} ${url.pathname}`);
        this.token = token;
        return super.respond(url, options);
    }

    async defaultResponse(route, url, body) {
        const token = this.token;
        if (route.endsWith("/join")) {
            const joining = await openJoin(this.invitation, unbase64(body.sealed));
            const phone = { id: body.device, signingPoint: joining.signingKey, boxPoint: joining.boxKey };
            this.phones.set(body.tokenHash, phone);
            await this.append(this.computer, this.admit(phone, 2));
            this.store(await this.keysFor(phone));
            return {};
        }
        if (route === "GET /v1/household") return { sequence: this.sequence, generations: this.generations };
        if (route === "GET /v1/device") {
            const bytes = Uint8Array.from(atob(token.slice(7).replaceAll("-", "+").replaceAll("_", "/")),
                (letter) => letter.charCodeAt(0));
            return { device: this.phones.get(base64(await sha256(bytes))).id, household: this.id, state: "active" };
        }
        if (route.startsWith("GET /v1/records/keys/")) return this.records.find(({ id }) => route.endsWith(id));
        if (route === "GET /v1/records") {
            const after = Number(url.searchParams.get("after"));
            return {
                records: this.records.filter(({ sequence }) => sequence > after), next: this.sequence, more: false,
            };
        }
        if (route === "POST /v1/records") {
            const outcomes = [];
            for (const record of body.records) outcomes.push(await this.write(record));
            if (this.losesResponses) throw new TypeError("no network");
            return { outcomes };
        }
        return super.defaultResponse(route, url, body);
    }

    streaming(after, signal) {
        const response = super.streaming(after, signal);
        const { disconnect } = this;
        this.ends.push(disconnect);
        signal.addEventListener("abort", () => (this.ends = this.ends.filter((one) => one !== disconnect)));
        return response;
    }

    /** Disconnects a device's network, or connects it. @param {Companion} companion */
    setOffline(companion, isOffline) {
        const token = `Bearer ${base64url(companion.device.facts.token)}`;
        if (isOffline) this.offline.add(token);
        else this.offline.delete(token);
        this.disconnectAll();
    }
}

/** @param {RestorableHousehold} hub @param {string[]} names */
export async function pairedPhones(hub, names) {
    hub.serve();
    const companions = [];
    for (const name of names) {
        const companion = await Companion.open({ name: `made-${randomID()}`, time: quick });
        await companion.pair(hub.link(), name);
        await companion.setPIN("735102");
        await eventually(() => companion.syncLoop.connection === "live", "live");
        companions.push(companion);
    }
    return companions;
}

/** Whether everything is sent, also what a restored hub had lost. @param {Companion} companion */
export async function isSettled({ device: { store, paired, notResent } }) {
    const lost = [];
    for (const key of await store.lost()) {
        const { collection, record } = await store.record(key);
        // Entries of a log are sent by the devices that wrote them.
        if ((collection !== "audit" || record.author === paired.device) && !notResent.has(key)) lost.push(key);
    }
    const rest = [await store.waiting(), await store.fact("apart", []), lost];
    return rest.every(({ length }) => length === 0) && !(await store.fact("comparing", false));
}

/** @param {Companion} companion */
export const titles = async (companion) => (await companion.notes.list()).notes.map(({ title }) => title).sort();

/** A phone whose note reached the hub after the backup: restoring the backup loses the note. */
export async function phoneWithLaterNote() {
    const hub = await RestorableHousehold.make();
    const [phone] = await pairedPhones(hub, ["phone"]);
    const backup = hub.backup();
    await phone.notes.save(null, { title: "lost", body: "" });
    await eventually(() => isSettled(phone), "sent");
    return { hub, phone, backup, before: hub.notes() };
}
