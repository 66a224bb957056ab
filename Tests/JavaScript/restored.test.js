// Three devices and a hub whose store is put back to earlier backups: they come to the same notes, the newest that any of them has, and
// nothing of it is lost or comes back.
import { base64, hex, randomID, unbase64, unhex } from "/crypto/bytes.js";
import { openJoin } from "/crypto/invitation.js";
import { sha256 } from "/crypto/primitives.js";
import { Companion } from "/core/companion.js";
import { commonSequence, versionOf } from "/core/restored.js";
import { systemTime } from "/protocol/time.js";
import { equal, eventually } from "./harness.js";
import { MadeHousehold } from "./made-household.js";

const quick = { ...systemTime, sleep: (milliseconds, signal) => systemTime.sleep(Math.min(milliseconds, 20), signal) };

/** A household at a hub that stores, for several phones. */
class Restorable extends MadeHousehold {
    sequence = 0;
    generations = [{ id: randomID(), after: 0 }];
    /** By token, as requests show it. */
    phones = new Map();
    away = new Set();

    backup() {
        return { records: [...this.records], sequence: this.sequence };
    }

    restore({ records, sequence }) {
        [this.records, this.sequence] = [[...records], sequence];
        this.generations = [...this.generations.filter(({ after }) => after <= sequence), { id: randomID(), after: sequence }];
        this.cutAll();
    }

    cutAll() {
        for (const end of this.ends ?? []) end();
        this.ends = [];
        this.streams = [];
    }

    async write(record) {
        const index = this.records.findIndex(({ collection, id }) => collection === record.collection && id === record.id);
        const stored = this.records[index];
        const { replaces = record.revision - 1, ...rest } = record;
        if (stored && stored.signature === rest.signature) return { sequence: stored.sequence };
        if (replaces !== (stored?.revision ?? 0) || record.revision <= (stored?.revision ?? 0)) {
            return stored ? { conflict: stored } : { error: { code: "conflict", message: "Nothing is stored." } };
        }
        const before = stored && unhex(await versionOf({ revision: stored.revision, sealed: stored.sealed ? unbase64(stored.sealed) : null }));
        this.sequence += 1;
        const all = [stored?.ancestors ?? "", before ? base64(before) : "", rest.ancestors ?? ""].flatMap((text) => hex(unbase64(text)).match(/.{16}/g) ?? []);
        const written = { ...rest, sequence: this.sequence, ancestors: base64(unhex([...new Set(all)].slice(-16).join(""))) };
        if (index >= 0) this.records.splice(index, 1);
        this.records.push(written);
        for (const send of this.streams) send(`event: record\nid: ${written.sequence}\ndata: ${JSON.stringify(written)}\n\n`);
        return { sequence: written.sequence };
    }

    store(...records) {
        for (const record of records) {
            this.sequence += 1;
            this.records.push({ ...record, sequence: this.sequence });
        }
    }

    async answer(url, options) {
        const token = options.headers?.Authorization;
        if (token && this.away.has(token)) throw new TypeError("no network");
        this.token = token;
        this.after = Number(options.headers?.["Last-Event-ID"] ?? 0);
        return super.answer(url, options);
    }

    async honest(route, url, body, signal) {
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
            const bytes = Uint8Array.from(atob(token.slice(7).replaceAll("-", "+").replaceAll("_", "/")), (letter) => letter.charCodeAt(0));
            return { device: this.phones.get(base64(await sha256(bytes))).id, household: this.id, state: "active" };
        }
        if (route.startsWith("GET /v1/records/keys/")) return this.records.find(({ id }) => route.endsWith(id));
        if (route === "GET /v1/records") {
            const after = Number(url.searchParams.get("after"));
            return { records: this.records.filter(({ sequence }) => sequence > after), next: this.sequence, more: false };
        }
        if (route === "POST /v1/records") {
            const outcomes = [];
            for (const record of body.records) outcomes.push(await this.write(record));
            return { outcomes };
        }
        return super.honest(route, url, body, signal);
    }

    streaming(signal) {
        const { after } = this;
        const response = super.streaming(signal);
        (this.ends ??= []).push(this.cut);
        // What was written since the device asked for records.
        for (const record of this.records.filter(({ sequence }) => sequence > after)) {
            this.streams.at(-1)(`event: record\nid: ${record.sequence}\ndata: ${JSON.stringify(record)}\n\n`);
        }
        return response;
    }

    /** The network of a device. @param {Companion} companion */
    setAway(companion, isAway) {
        const token = `Bearer ${btoa(String.fromCharCode(...companion.device.facts.token)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
        if (isAway) this.away.add(token);
        else this.away.delete(token);
        this.cutAll();
    }
}

async function threeDevices() {
    const hub = await Restorable.make();
    hub.serve();
    const companions = [];
    for (const name of ["one", "two", "three"]) {
        const companion = await Companion.open({ name: `made-${randomID()}`, time: quick });
        await companion.pair(hub.link(), name);
        await companion.setPIN("735102");
        await eventually(() => companion.following.connection === "live", "live");
        companions.push(companion);
    }
    return { hub, companions };
}

/** mulberry32 */
function seeded(seed) {
    let state = seed;
    return () => {
        state = (state + 0x6d2b79f5) | 0;
        let t = Math.imul(state ^ (state >>> 15), 1 | state);
        t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
        return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
    };
}

const plain = (title) => title.split(" (conflict")[0];

const titles = async (companion) => (await companion.notes.list()).notes.map(({ title }) => title).sort();

/** Everything is read and sent, and all have the same. */
async function settled(hub, companions, what) {
    for (const companion of companions) hub.setAway(companion, false);
    // A store that is put back between two requests of one connection is found out by the next.
    await eventually(() => companions.every(({ following }) => following.connection === "live"), "live");
    hub.cutAll();
    let found = [];
    await eventually(async () => {
        found = [];
        for (const companion of companions) {
            if (companion.following.connection !== "live" || (await companion.device.store.waiting()).length > 0) return false;
            if ((await companion.device.store.fact("forks", [])).length > 0 || (await companion.device.store.fact("offering", false))) return false;
            found.push(JSON.stringify(await titles(companion)));
        }
        return new Set(found).size === 1;
    }, what).catch((error) => {
        throw new Error(`${error.message}: ${found.join(" | ")}`);
    });
    return JSON.parse(found[0]);
}

async function fiveRestores(seed) {
    const random = seeded(seed);
    const pick = (list) => list[Math.floor(random() * list.length)];
    const { hub, companions } = await threeDevices();
    const [texts, followed, backups] = [new Set(), new Set(), [hub.backup()]];
    const copied = new Set();
    /** Everything that nothing followed is there; what is there beyond it became two notes at a conflict. */
    const check = (titles, when) => {
        const found = new Set(titles.map(plain));
        const lost = [...texts].filter((text) => !followed.has(text) && !found.has(text));
        for (const title of titles) if (title !== plain(title)) copied.add(plain(title));
        const back = [...found].filter((text) => followed.has(text) && !copied.has(text));
        equal({ lost, back }, { lost: [], back: [] }, `${when}: ${steps.join("; ")}: ${titles}`);
    };
    let count = 0;
    const steps = [];
    for (let restore = 1; restore <= 5; restore += 1) {
        for (let step = 0; step < 12; step += 1) {
            const companion = pick(companions);
            const { notes } = await companion.notes.list();
            const note = pick(notes.sort((one, other) => (one.title < other.title ? -1 : 1)));
            for (const { title } of notes) if (title !== plain(title)) copied.add(plain(title));
            const kind = Math.floor(random() * 8);
            if (kind < 2 || (kind < 5 && note)) {
                count += 1;
                const title = `text ${String(count).padStart(3, "0")}`;
                await companion.notes.save(kind < 2 ? null : note, { title, body: "" });
                texts.add(title);
                steps.push(`${companions.indexOf(companion)}: ${kind < 2 ? "add" : note.title + " ->"} ${title}`);
                if (kind >= 2) followed.add(plain(note.title));
            } else if (kind === 5 && note) {
                await companion.notes.remove(note);
                followed.add(plain(note.title));
                steps.push(`${companions.indexOf(companion)}: remove ${note.title}`);
            } else if (kind === 6) steps.push(`${companions.indexOf(companion)} away?`), hub.setAway(companion, random() < 0.5);
            else if (kind === 7) steps.push(`backup ${hub.sequence}`), backups.push(hub.backup());
        }
        const put = pick(backups);
        steps.push(`RESTORE ${put.sequence}`);
        hub.restore(put);
        if (random() < 0.5) {
            const notes = await settled(hub, companions, `seed ${seed}, restore ${restore}: all are alike`);
            check(notes, `seed ${seed}, restore ${restore}`);
        }
    }
    const notes = await settled(hub, companions, `seed ${seed}: all are alike`);
    check(notes, `seed ${seed}`);
    for (const companion of companions) companion.close();
}

export const tests = {
    async aRemovedNoteStaysRemovedAndLaterOnesAreSentAgain() {
        const { hub, companions: [first, second] } = await threeDevices();
        const note = await first.notes.save(null, { title: "gone", body: "" });
        await eventually(async () => (await titles(second)).length === 1 && (await first.device.store.waiting()).length === 0, "it arrives");
        const backup = hub.backup();
        await first.notes.remove(await first.notes.read(note.id));
        await first.notes.save(null, { title: "later", body: "" });
        await eventually(async () => (await titles(second)).join() === "later" && (await first.device.store.waiting()).length === 0, "both arrive");
        hub.restore(backup);
        await eventually(() => hub.records.filter(({ collection }) => collection === "notes").length === 2, "what was lost is sent again");
        await eventually(() => hub.records.some(({ id, sealed }) => id === note.id && !sealed), "the removal too");
        for (const one of [first, second]) {
            equal(await titles(one), ["later"], "notes");
            await eventually(async () => (await one.report()).misbehaviour.some((line) => line.includes("another one than before")), "the owner is told");
        }
    },

    async threeDevicesComeToTheNewest() {
        for (const seed of [1, 2, Math.floor(Math.random() * 1_000_000)]) {
            console.log(`restored.test.js: seed ${seed}`);
            await fiveRestores(seed);
        }
    },

    async whatTwoStoresHaveInCommonIsFound() {
        const [a, b, c] = ["a", "b", "c"].map((letter, index) => ({ id: letter.repeat(32), after: index * 10 }));
        for (const [known, newest, served, sequence, common] of [
            [[a, b], 15, [a, b], 15, 15], [[a, b], 15, [a, b, c], 22, 15], [[a, b], 15, [a, b], 12, 12], [[a, b], 15, [a, { ...c, after: 7 }], 40, 7],
            [[a], 8, [b], 30, 0], [[], 8, [a], 30, 0], [[a, b], 25, [a, b, c], 30, 20],
        ]) equal(commonSequence(known, newest, served, sequence), common, JSON.stringify([known, newest, served, sequence]));
    },
};
