// Three phones at a hub whose store is restored to earlier backups converge to the newest notes that any of them has:
// no note is lost, and no removed note is restored.
import { base64, unhex } from "/crypto/bytes.js";
import { copyDiverged } from "/sync/conflicts.js";
import { version } from "/sync/versions.js";
import { equal, eventually } from "./harness.js";
import { refusing } from "./fake-household.js";
import { isSettled, pairedPhones, phoneWithLaterNote, RestorableHousehold, titles } from "./restorable-household.js";

async function threeDevices() {
    const hub = await RestorableHousehold.make();
    return { hub, companions: await pairedPhones(hub, ["one", "two", "three"]) };
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

/** Waits until everything is read and sent, and all devices have the same notes. */
async function settled(hub, companions, what) {
    hub.losesResponses = false;
    for (const companion of companions) hub.setOffline(companion, false);
    // A restore between two requests of one connection is detected by the next connection.
    await eventually(() => companions.every(({ syncLoop }) => syncLoop.connection === "live"), "live");
    hub.disconnectAll();
    let found = [];
    await eventually(async () => {
        found = [];
        for (const companion of companions) {
            if (companion.syncLoop.connection !== "live" || !(await isSettled(companion))) return false;
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
    /** Every note that was not replaced is present; any other note is the copy of a conflict. */
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
            const kind = Math.floor(random() * 9);
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
            } else if (kind === 6) steps.push(`${companions.indexOf(companion)} offline?`),
                hub.setOffline(companion, random() < 0.5);
            else if (kind === 7) steps.push(`backup ${hub.sequence}`), backups.push(hub.backup());
            else if (kind === 8) steps.push("responses lost?"), (hub.losesResponses = random() < 0.5);
        }
        const put = pick(backups);
        steps.push(`RESTORE ${put.sequence}`);
        hub.restore(put);
        if (random() < 0.5) {
            const notes = await settled(hub, companions,
                `seed ${seed}, restore ${restore}: all devices have the same notes`);
            check(notes, `seed ${seed}, restore ${restore}`);
        }
    }
    const notes = await settled(hub, companions, `seed ${seed}: all devices have the same notes`);
    check(notes, `seed ${seed}`);
    for (const companion of companions) companion.close();
}

export const tests = {
    async aRemovedNoteStaysRemovedAndLaterOnesAreSentAgain() {
        const { hub, companions } = await threeDevices();
        const [first, second] = companions;
        const note = await first.notes.save(null, { title: "gone", body: "" });
        await eventually(async () => (await titles(second)).length === 1
            && (await first.device.store.waiting()).length === 0, "the note arrives");
        const backup = hub.backup();
        await first.notes.remove(await first.notes.read(note.id));
        await first.notes.save(null, { title: "later", body: "" });
        await eventually(async () => (await titles(second))
            .join() === "later" && (await first.device.store.waiting()).length === 0, "both changes arrive");
        hub.restore(backup);
        await eventually(() => hub.records.filter(({ collection }) => collection === "notes").length === 2,
            "the lost note is sent again");
        await eventually(() => hub.records.some(({ id, sealed }) => id === note.id && !sealed),
            "the removal is sent again");
        for (const one of [first, second]) {
            equal(await titles(one), ["later"], "notes");
            await eventually(async () => (await one.report()).misbehaviour.some((line) =>
                line.includes("store has changed")), "the restored store is reported");
        }
        for (const companion of companions) companion.close();
    },

    async nothingIsSentAgainWhileLocked() {
        const { hub, phone, backup, before } = await phoneWithLaterNote();
        await phone.lock();
        hub.restore(backup);
        await eventually(async () => (await phone.device.store.lost()).some((key) => key.startsWith("notes/"))
            && !(await phone.device.store.fact("comparing", false)), "the stores are compared");
        equal(hub.notes(), [], "notes at the hub while the phone is locked");
        await phone.unlockWithPIN("735102");
        await eventually(() => isSettled(phone), "sent again");
        equal(hub.notes(), before, "notes at the hub after unlocking");
        phone.close();
    },

    async aRestoreDuringReadingIsDetected() {
        for (const route of ["GET /v1/records", "GET /v1/stream"]) {
            const hub = await RestorableHousehold.make();
            const [phone] = await pairedPhones(hub, ["phone"]);
            const backup = hub.backup();
            await phone.notes.save(null, { title: "lost", body: "" });
            await eventually(() => isSettled(phone), "sent");
            let isRestored = false;
            hub.before = (requested) => {
                if (requested !== route || isRestored) return;
                isRestored = true;
                hub.restore(backup);
            };
            hub.disconnectAll();
            await eventually(async () => isRestored && hub.notes().length === 1 && (await isSettled(phone)),
                `sent again, restored at ${route}`);
            const { misbehaviour } = await phone.report();
            equal(misbehaviour.length, 1, `reports: ${misbehaviour}`);
            phone.close();
        }
    },

    /** Earlier versions stored such values when a hub's response had no numbers. */
    async invalidStoredNumbersAreReadAgain() {
        const hub = await RestorableHousehold.make();
        const [phone] = await pairedPhones(hub, ["phone"]);
        const { store } = phone.device;
        const { id } = await phone.notes.save(null, { title: "mine", body: "" });
        await eventually(() => isSettled(phone), "sent");
        const { sequence } = await store.record(`notes/${id}`);
        const isRead = async () => {
            const numbers = [await store.fact("cursor", 0), (await store.record(`notes/${id}`)).sequence];
            return numbers.join() === `${hub.sequence},${sequence}`
                && Number.isSafeInteger(await store.fact("newest", 0))
                && (await titles(phone)).includes("mine") && phone.syncLoop.connection === "live";
        };
        for (const name of ["newest", "cursor"]) {
            for (const bad of [NaN, "12x", {}, 1e300, Infinity, -1, 1.5]) {
                const row = await store.record(`notes/${id}`);
                await store.write({ records: [{ ...row, sequence: bad === 1.5 ? "12x" : bad }], facts: {
                    [name]: bad,
                } });
                // A note that is sent meanwhile does not hide the problem.
                if (name === "newest") await phone.notes.save(null, { title: `at ${bad}`, body: "" });
                await eventually(async () => (await store.waiting()).length === 0, "sent");
                hub.disconnectAll();
                await eventually(isRead, `${name} was ${bad}`);
            }
        }
        equal((await phone.report()).misbehaviour, [], "reports");
        phone.close();
    },

    async anInvalidStoredRevisionBlocksNothing() {
        const hub = await RestorableHousehold.make();
        const [phone] = await pairedPhones(hub, ["phone"]);
        const { store } = phone.device;
        // Like the real hub, refuses a whole request if one record is invalid.
        hub.overrides["POST /v1/records"] = (url, body) => {
            const { records } = JSON.parse(body);
            const isRight = records.every(({ revision, replaces }) =>
                [revision, replaces].every((one) => Number.isSafeInteger(one) && one >= 0));
            return isRight ? hub.defaultResponse("POST /v1/records", url, { records }) : refusing("bad_request", 400)();
        };
        for (const bad of ["1x", -1, 0.5, 1e300]) {
            const lost = await phone.notes.save(null, { title: `lost, ${bad}`, body: "" });
            const note = await phone.notes.save(null, { title: `note, ${bad}`, body: "" });
            await eventually(() => isSettled(phone), "sent");
            const before = await titles(phone);
            hub.setOffline(phone, true);
            await phone.notes.save(note, { title: `changed, ${bad}`, body: "" });
            const [row, line] = [await store.record(`notes/${lost.id}`), await store.waitingFor(`notes/${note.id}`)];
            await store.write({
                records: [{ ...row, atHub: bad }], waiting: [{ ...line, record: { ...line.record, replaces: bad } }],
            });
            hub.records = hub.records.filter(({ id }) => id !== lost.id);
            hub.setOffline(phone, false);
            await eventually(async () => hub.notes().length === before.length && (await isSettled(phone)),
                `${bad}: sent`);
            equal(await titles(phone), before.map((title) => title.replace(`note, ${bad}`, `changed, ${bad}`)).sort(),
                `${bad}: notes`);
        }
        phone.close();
    },

    async aHubThatClaimsAnotherStoreRollsNothingBack() {
        const hub = await RestorableHousehold.make();
        const [first] = await pairedPhones(hub, ["first"]);
        let note = await first.notes.save(null, { title: "one", body: "" });
        await eventually(() => isSettled(first), "one");
        const old = hub.records.find(({ collection }) => collection === "notes");
        note = await first.notes.save(note, { title: "two", body: "" });
        await eventually(() => isSettled(first), "two");
        first.close();
        // The second device receives no earlier versions.
        hub.records = hub.records.map(({ ancestors: _, ...record }) => record);
        const [second] = await pairedPhones(hub, ["second"]);
        await eventually(async () => (await titles(second)).join() === "two", "the note arrives");
        const newest = (await second.device.store.record(`notes/${note.id}`)).record;
        const forged = { ...old, ancestors: base64(unhex(await version(newest))) };
        hub.restore({
            records: [...hub.records.filter(({ id }) => id !== note.id), forged], sequence: 1, generations: [],
        });
        await eventually(async () => hub.notes().length === 2 && (await isSettled(second)), "the stores are compared");
        equal(await titles(second), ["one (conflict, second)", "two"], "both versions");
        equal((await second.notes.read(note.id)).title, "two", "the title of the note");
        equal(hub.records.find(({ id }) => id === note.id).revision, newest.revision, "the revision at the hub");
        second.close();
    },

    async lockingLosesNoConflictCopy() {
        const hub = await RestorableHousehold.make();
        const [phone] = await pairedPhones(hub, ["phone"]);
        const { device } = phone;
        const { id } = await phone.notes.save(null, { title: "mine", body: "" });
        await eventually(() => isSettled(phone), "sent");
        const { vault } = await phone.notes.read(id);
        const name = { vault, collection: "notes", id, revision: 1 };
        const later = await device.keys.sealContent(name, { of: "a later version" }, 0);
        const other = await device.keys.sealContent(name, { title: "theirs", body: "", created: 1, modified: 1 }, 0);
        // The phone is locked while the copy is created.
        const record = device.store.record.bind(device.store);
        device.store.record = (key) => {
            device.store.record = record;
            device.unlocked?.wipe();
            device.unlocked = null;
            return record(key);
        };
        await device.store.write({ facts: { apart: [later, other] } });
        await copyDiverged(device);
        equal(device.unlocked, null, "keys after locking");
        phone.lock();
        await phone.unlockWithPIN("735102");
        await eventually(async () => (await titles(phone)).length === 2 && (await device.store.waiting()).length === 0,
            "the copy is stored");
        equal(await titles(phone), ["mine", "theirs (conflict, phone)"], "notes");
        equal((await device.store.fact("apart", [])).map(({ signature }) => signature), [later.signature],
            "the version that does not open yet");
        phone.close();
    },

    async aVersionThatDoesNotOpenYetIsTriedOnce() {
        const hub = await RestorableHousehold.make();
        const [phone] = await pairedPhones(hub, ["phone"]);
        const { device, syncLoop } = phone;
        const { id, vault } = await phone.notes.save(await phone.notes.save(null, { title: "mine", body: "" }),
            { title: "mine", body: "changed" });
        await eventually(() => isSettled(phone), "sent");
        let count = 0;
        const send = syncLoop.send.bind(syncLoop);
        syncLoop.send = () => {
            count += 1;
            return send();
        };
        const serve = (record) =>
            hub.streams[0](`event: record\nid: ${hub.sequence}\ndata: ${JSON.stringify(record)}\n\n`);
        for (const apart of [1, 2]) {
            const row = await device.store.record(`notes/${id}`);
            await device.store.write({ records: [{ ...row, atHub: 0 }] });
            serve(await device.keys.sealContent({ vault, collection: "notes", id, revision: 1 },
                { of: `a later version, ${apart}` }, 0));
            await eventually(async () => (await device.store.fact("apart", [])).length === apart
                && (await device.store.record(`notes/${id}`)).atHub === undefined,
                "the version is kept, and the newer one is sent");
            for (let index = 0; index < 4; index += 1) {
                hub.store(await hub.note(`${apart}, ${index}`));
                serve(hub.records.at(-1));
            }
            await eventually(async () => (await titles(phone)).length === 1 + 4 * apart,
                "records of other devices arrive");
            equal(count, apart, "attempts");
        }
        hub.store(await hub.keysFor([...hub.phones.values()][0], { revision: 2 }));
        serve(hub.records.at(-1));
        await eventually(() => count === 3, "it is tried again after keys arrive");
        phone.close();
    },

    async aConflictOfAFarRevisionIsNotReplaced() {
        const hub = await RestorableHousehold.make();
        const [phone] = await pairedPhones(hub, ["phone"]);
        const note = await phone.notes.save(null, { title: "mine", body: "" });
        await eventually(() => isSettled(phone), "sent");
        const { record } = await phone.device.store.record(`notes/${note.id}`);
        const far = { ...record, revision: Number.MAX_SAFE_INTEGER - 1, signature: base64(new Uint8Array(64)) };
        const sent = [];
        hub.overrides["POST /v1/records"] = (_, body) => {
            const { records } = JSON.parse(body);
            sent.push(...records.map(({ revision }) => revision));
            return { outcomes: records.map(() => ({ conflict: far })) };
        };
        const isReported = async () => (await phone.report()).misbehaviour.some((line) => line.includes("too high"));
        // The note is sent again, and then a change of it.
        hub.restore({ records: [], sequence: 0, generations: [] });
        await eventually(async () => (await isReported()) && (await isSettled(phone)), "the conflict is reported");
        const before = (await phone.report()).refused;
        await phone.notes.save(await phone.notes.read(note.id), { title: "changed", body: "" });
        await eventually(async () => (await phone.report()).refused > before, "the change is refused too");
        equal(Math.max(...sent), 2, "the highest signed revision");
        delete hub.overrides["POST /v1/records"];
        hub.disconnectAll();
        await eventually(() => isSettled(phone), "a correct hub accepts the change");
        equal(hub.notes().map(({ revision }) => revision), [2], "revisions at the hub");
        phone.close();
    },

    async aLostResponseToAChangeCreatesNoConflictCopy() {
        const hub = await RestorableHousehold.make();
        const [phone] = await pairedPhones(hub, ["phone"]);
        let note = await phone.notes.save(null, { title: "first", body: "" });
        await eventually(() => isSettled(phone), "sent");
        hub.losesResponses = true;
        note = await phone.notes.save(note, { title: "second", body: "" });
        await eventually(() => hub.records.some(({ id, revision }) => id === note.id && revision === 2),
            "the hub has the change");
        note = await phone.notes.save(note, { title: "third", body: "" });
        hub.losesResponses = false;
        await eventually(() => isSettled(phone), "sent");
        equal([await titles(phone), hub.notes().length], [["third"], 1], "titles, and notes at the hub");
        phone.close();
    },

    /** A change that was made before names revision 2 of the earlier store; the hub has another one by now. */
    async aChangeReplacesNoOtherVersionOfARestoredHub() {
        const hub = await RestorableHousehold.make();
        const [first, second] = await pairedPhones(hub, ["one", "two"]);
        const note = await first.notes.save(null, { title: "one", body: "" });
        await eventually(async () => (await titles(second)).join() === "one", "the note arrives");
        const backup = hub.backup();
        hub.setOffline(second, true);
        const own = await second.notes.save(await second.notes.read(note.id), { title: "theirs", body: "" });
        await first.notes.save(await first.notes.read(note.id), { title: "two", body: "" });
        await eventually(() => isSettled(first), "sent");
        let isHeld = false;
        hub.overrides["POST /v1/records"] = async (url, body) => {
            const answer = () => hub.defaultResponse("POST /v1/records", url, JSON.parse(body));
            if (isHeld || JSON.parse(body).records[0].author !== first.device.paired.device) return answer();
            isHeld = true;
            hub.restore(backup);
            hub.setOffline(second, false);
            await eventually(() => hub.notes()[0].revision === own.revision, "the other phone's change");
            await eventually(() => isSettled(second), "it is acknowledged");
            return answer();
        };
        await first.notes.save(await first.notes.read(note.id), { title: "three", body: "" });
        // The other phone stays offline until then.
        await eventually(() => isHeld, "the change is being sent");
        equal(await settled(hub, [first, second], "both have the same notes"),
            ["theirs", "three (conflict, one)"], "notes");
        first.close();
        second.close();
    },

    async changesSentBeforeARestartIsDetectedDoNotIndicateARestoredHub() {
        const hub = await RestorableHousehold.make();
        const [phone] = await pairedPhones(hub, ["phone"]);
        await phone.notes.save(null, { title: "first", body: "" });
        await eventually(() => isSettled(phone), "sent");
        // The hub lost nothing. The phone's stream is still open, but receives nothing more.
        hub.generations = [...hub.generations, { id: "ff".repeat(16), after: hub.sequence }];
        hub.streams = [];
        await phone.notes.save(null, { title: "second", body: "" });
        await eventually(() => hub.notes().length === 2, "sent to the restarted hub");
        hub.disconnectAll();
        await eventually(() => hub.streams.length === 1, "connected again");
        await eventually(() => isSettled(phone), "sent");
        equal((await phone.report()).misbehaviour, [], "reports");
        equal(hub.notes().map(({ revision }) => revision), [1, 1], "revisions at the hub");
        phone.close();
    },

    /** Other seeds: `RESTORE_SEEDS=4,5` before pytest; three seeds: `APPLOCKER_LONG=1`. */
    async threeDevicesConvergeToTheNewestVersions({ seeds = [], isLong = false }) {
        for (const seed of seeds.length > 0 ? seeds : isLong ? [1, 2, 3] : [1]) {
            console.log(`restored.test.js: seed ${seed}`);
            await fiveRestores(seed);
        }
    },
};
