// A hub that does what it likes is found out, and takes nothing.
import { sealBox } from "/crypto/box.js";
import { base64, fields, hex, randomBytes, randomID, unhex } from "/crypto/bytes.js";
import { sha256 } from "/crypto/primitives.js";
import { KeyRing, ringKind } from "/crypto/ring.js";
import { Roster } from "/crypto/roster.js";
import { signRecord } from "/crypto/signature.js";
import { Companion } from "/session/companion.js";
import { openPush } from "/workers/open-push.js";
import { checkFormerMemberRecord } from "/sync/former-members.js";
import { systemTime } from "/hub/time.js";
import { eventually, equal, expect, refusal } from "./harness.js";
import { MadeHousehold, madeDevice, pairedCompanion, refusing } from "./made-household.js";

const quick = { ...systemTime, sleep: (milliseconds, signal) => systemTime.sleep(Math.min(milliseconds, 20), signal) };
let names = 0;

/** A companion of its own, paired and open, beside a household that a test plays. */
async function paired(prepare = () => {}) {
    const household = await MadeHousehold.make();
    await prepare(household);
    return { household, ...await pairedCompanion(household, { time: quick }) };
}

/** The code that pairing ends with, and that nothing was kept. */
async function pairing(prepare) {
    const household = await MadeHousehold.make();
    household.serve();
    await prepare(household);
    const companion = await Companion.open({ name: `made-${(names += 1)}`, time: quick });
    const code = await refusal(() => companion.pair(household.link(), "phone"));
    equal([companion.state, await companion.device.store.fact("unfinished", null)], ["new", null], "nothing is kept");
    expect(household.requests.some(({ route }) => route === "DELETE /v1/device"), "the hub is told to forget it");
    companion.close();
    return code;
}

const counted = async (companion) => {
    const { refused, misbehaviour } = await companion.report();
    return [refused, misbehaviour];
};
const said = (what) => `The hub returned ${what}; it was refused.`;

export const tests = {
    async aPairingThatIsNotTheLinksIsRefused() {
        const other = await MadeHousehold.make();
        equal(await pairing((household) => {
            household.instead["GET /v1/roster"] = () => ({ entries: other.entries.map(base64) });
        }), "untrusted", "another household");
        equal(await pairing((household) => {
            household.instead["GET /v1/roster"] = () => ({ entries: household.entries.slice(0, 1).map(base64) });
        }), "untrusted", "without this device");
        equal(await pairing((household) => {
            household.instead["GET /v1/roster"] = async () => {
                const { signingPoint } = household.phone;
                const { boxPoint } = await madeDevice();
                const [entries, head] = [household.entries, household.head];
                household.entries = entries.slice(0, 1);
                household.head = new Uint8Array(entries[1].slice(16, 48));
                const forged = await household.entry(household.computer,
                    household.admit({ signingPoint, boxPoint }, 2));
                Object.assign(household, { entries, head });
                return { entries: [entries[0], forged].map(base64) };
            };
        }), "untrusted", "another box key");
        equal(await pairing(async (household) => {
            const stranger = await madeDevice();
            household.keysFor = ((keysFor) => (device) =>
                keysFor.call(household, device, { author: stranger }))(household.keysFor);
        }), "untrusted", "keys of a stranger");
        equal(await pairing((household) => {
            household.instead["GET /v1/device"] = refusing("unauthorized", 401);
        }), "refused", "the owner did not agree");
        equal(await pairing((household) => {
            household.instead["POST /v1/invitations"] = refusing("gone", 410);
        }), "gone", "a used link");
    },

    async unauthorizedRecordsAreCountedAndRejected() {
        const { household, companion } = await paired();
        const stranger = await madeDevice();
        const second = await madeDevice();
        await household.append(household.computer, household.admit(second, 2));
        const laptop = await madeDevice();
        await household.append(household.computer, household.admit(laptop, 1));
        const id = randomID();
        const good = await household.sealed("events", id, household.event("good"));
        const bad = [
            ["a record that was changed in transit", {
                ...(await household.sealed("events", randomID(), household.event("x"))), epoch: 2,
            }],
            ["a record that was changed in transit", { ...good, id: randomID() }],
            ["a record of a device that is not in the household",
                await household.sealed("events", randomID(), household.event("x"), { author: stranger })],
            ["a record of a device that may not write it",
                await household.sealed("events", randomID(), household.event("x"), { author: second })],
            ["a record of a device that may not write it",
                await household.sealed("status", randomID(), { clock: 1 })],
            ["a record of a device that may not write it",
                await household.sealed("events", randomID(), household.event("x"), { author: laptop })],
            ["a record of a device that may not write it",
                await household.sealed("commands", randomID(), {}, { revision: 1 })],
            ["a record of another household or collection", { ...(await household.note("x")) }, "events"],
            ["a record that does not open", await household.sealed("events", randomID(), household.event("x"),
                { key: randomBytes(32) })],
            ["a record that does not open", await household.sealed("events", randomID(), { kind: "blocked" })],
        ];
        // A note of the vault, signed as an event of it.
        const misplaced = bad.find(([, , collection]) => collection);
        household.vault = [household.id, (household.id = household.vault)][0];
        misplaced[1] = await household.sealed("events", randomID(), household.event("x"));
        household.vault = [household.id, (household.id = household.vault)][0];
        household.store(good, ...bad.map(([, record]) => record));
        await eventually(async () => (await counted(companion))[0] === bad.length, "all are counted");
        equal((await counted(companion))[1].sort(), [...new Set(bad.map(([what]) => said(what)))].sort(), "each once");
        equal((await companion.household.alerts()).map((alert) => alert.sentence), ["good"], "the good one alone");
        companion.close();
    },

    async keysOfAFarEpochAndMoreThanARingHoldsAreRefused() {
        const { household, companion } = await paired();
        const given = async (revision, entries) => {
            const name = { vault: household.id, collection: "keys", id: household.phone.id, revision };
            const ring = new KeyRing(entries.map((entry) =>
                ({ key: randomBytes(32), vault: household.id, kind: ringKind.status, ...entry })));
            const sealed = await sealBox(ring.plaintext, name, household.phone.boxPoint);
            return signRecord(household.computer.key, name, { epoch: 1, author: household.computer.id, sealed });
        };
        household.store(await given(2, [{ epoch: 2 + 2 ** 16 }]));
        household.store(await given(3, Array.from({ length: 4096 },
            (_, index) => ({ kind: ringKind.vault, vault: randomID(), epoch: index + 1 }))));
        await eventually(async () => (await counted(companion))[0] === 2, "both are refused");
        equal([...companion.device.statusKeys.keys()], [1], "the newest status key");
        household.store(await given(4, [{ epoch: 1 + 2 ** 16 }]));
        await eventually(() => companion.device.statusKeys.has(1 + 2 ** 16), "one in reach is taken");
        companion.close();
    },

    async anotherComputerCannotReplaceAVaultsKey() {
        const { household, companion } = await paired();
        const laptop = await madeDevice();
        await household.append(household.computer, household.admit(laptop, 1));
        const id = hex((await sha256(fields("applocker/1/keys", unhex(laptop.id), unhex(household.phone.id))))
            .slice(0, 16));
        const name = { vault: household.id, collection: "keys", id, revision: 1 };
        const own = randomID();
        const ring = new KeyRing([
            { kind: ringKind.vault, vault: household.vault, epoch: 2, key: randomBytes(32) },
            { kind: ringKind.vault, vault: own, epoch: 1, key: randomBytes(32) },
        ]);
        const sealed = await sealBox(ring.plaintext, name, household.phone.boxPoint);
        household.store(await signRecord(laptop.key, name, { epoch: 1, author: laptop.id, sealed }));
        await eventually(() => companion.device.keys.ring.current(ringKind.vault, own), "its own vault is taken");
        equal(companion.device.keys.ring.current(ringKind.vault, household.vault).epoch, 1,
            "the newest key of the first one's");
        companion.close();
    },

    async anOlderStateIsNotTaken() {
        const { household, companion } = await paired();
        const note = await household.note("first");
        const newer = await household.note("second", { id: note.id, revision: 2 });
        household.store(note, newer, note);
        await eventually(async () => (await counted(companion))[0] === 1, "counted");
        equal((await counted(companion))[1], [said("an older state than before")], "said");
        equal((await companion.notes.read(note.id)).title, "second", "the newer stays");
        companion.close();
    },

    async aChangeThatTheHubRefusesWaitsBesideTheOthers() {
        const { household, companion } = await paired();
        let refused = null;
        household.instead["POST /v1/records"] = (_, body) => {
            const outcomes = JSON.parse(body).records.map((record) => {
                refused ??= record.id;
                if (record.id === refused) return { error: { code: "quota_exceeded", message: "It is full." } };
                if (!household.records.some(({ id }) => id === record.id)) household.store(record);
                return { sequence: household.records.find(({ id }) => id === record.id).sequence };
            });
            return { outcomes };
        };
        for (const title of ["refused", "one", "two", "three"]) await companion.notes.save(null, { title, body: "" });
        await eventually(() => household.records.filter(({ collection }) => collection === "notes").length === 3,
            "the others are sent");
        await eventually(async () => (await companion.report()).waiting === 1, "it waits");
        expect(!household.records.some(({ id }) => id === refused), "refused");
        companion.close();
    },

    async aChangeThatTheHubRefusesKeepsNothingFromBeingRead() {
        /** Waits that the test ends; null: they are short. */
        let waits = null;
        const sleep = (milliseconds, signal) =>
            (waits ? new Promise((resolve) => waits.push(resolve)) : quick.sleep(milliseconds, signal));
        const household = await MadeHousehold.make();
        const { companion } = await pairedCompanion(household, { time: { ...quick, sleep } });
        household.instead["POST /v1/records"] = (_, body) => (
            {
                outcomes: JSON.parse(body).records.map(() =>
                    ({ error: { code: "quota_exceeded", message: "It is full." } })),
            });
        waits = [];
        await companion.notes.save(null, { title: "refused", body: "" });
        await eventually(() => waits.length === 1, "it is sent later");
        household.cut();
        await eventually(() => waits.length === 2, "the next connection waits");
        waits[1]();
        await eventually(() => household.streams.length === 1 && companion.syncLoop.connection === "live", "live");
        household.store(await household.sealed("events", randomID(), household.event("later")));
        await eventually(async () => (await companion.household.alerts()).length === 1, "it reads on");
        companion.close();
    },

    async whatNobodyWroteIsOverwritten() {
        const { household, companion } = await paired();
        const note = await companion.notes.save(null, { title: "mine", body: "" });
        await eventually(async () => (await companion.device.store.waiting()).length === 0, "sent");
        const junk = {
            ...(await companion.device.store.record(`notes/${note.id}`)).record, revision: 7,
            signature: base64(randomBytes(64)),
        };
        const written = [];
        household.instead["POST /v1/records"] = (_, body) => ({
            outcomes: JSON.parse(body).records.map((record) => {
                if (record.replaces !== 7) return { conflict: junk };
                written.push(record);
                return { sequence: 100 };
            }),
        });
        await companion.notes.save(note, { title: "changed", body: "" });
        await eventually(async () => (await companion.device.store.waiting()).length === 0, "sent again");
        equal(written.map(({ id, revision, replaces }) => [id, revision, replaces]), [[note.id, 8, 7]], "after it");
        equal((await companion.notes.list()).notes.map(({ title }) => title), ["changed"], "one note");
        companion.close();
    },

    async whoseADeviceIsItReportsItself() {
        const { household, companion } = await paired();
        const [laptop, owner] = [await madeDevice(), randomID()];
        await household.append(household.computer, household.admit(laptop, 1));
        await companion.device.followRoster();
        for (const author of [household.computer, laptop]) {
            const revision = author === laptop ? 2 : 1;
            household.store(await household.sealed("devices", laptop.id, { name: "laptop", owner },
                { author, revision }));
            await eventually(async () =>
                (await companion.device.store.record(`devices/${laptop.id}`))?.record.revision === revision,
                "it arrives");
            const found = (await companion.household.devices()).find(({ id }) => id === laptop.id);
            equal([found.name, found.owner], ["laptop", author === laptop ? owner : null],
                `by ${author === laptop ? "itself" : "another device"}`);
        }
        companion.close();
    },

    async withheldEventsAreDetected() {
        const { household, companion } = await paired();
        const [one, kept, three] = [randomID(), randomID(), randomID()];
        household.store(await household.sealed("events", one, household.event("one", randomID())));
        household.store(await household.sealed("events", three, household.event("three", kept)));
        household.store(await household.sealed("status", household.computer.id, {
            name: "den", clock: Date.now(), rosterNumber: 2, hubProblems: [], lastEvent: randomID(),
            status: {
                version: "1", isSetUp: true, protection: "held", degraded: [], monitoring: { isOn: true },
                lockedApps: 0,
                unlockedApps: 0, waitingLaunches: 0, prompterConnected: false,
                lockout: { failures: 0, remainingSeconds: 0 },
            },
        }));
        await eventually(async () => (await companion.household.computers())[0]?.missingEvents === 2,
            "two are missing");
        household.store(await household.sealed("events", kept, household.event("two", one)));
        await eventually(async () => (await companion.household.computers())[0]?.missingEvents === 1, "one came later");
        companion.close();
    },

    /** Each of two devices is served a list of its own, as long as the other's. */
    async anotherRosterThanTheComputersIsDetected() {
        const { household, companion } = await paired();
        const { number, head } = companion.device.roster;
        const status = (/** @type {string} */ rosterHead) => ({
            name: "den", clock: Date.now(), rosterNumber: number, rosterHead, hubProblems: [],
            status: {
                version: "1", isSetUp: true, protection: "held", degraded: [], monitoring: { isOn: true },
                lockedApps: 0,
                unlockedApps: 0, waitingLaunches: 0, prompterConnected: false,
                lockout: { failures: 0, remainingSeconds: 0 },
            },
        });
        household.store(await household.sealed("status", household.computer.id, status(base64(head))));
        await eventually(async () => (await companion.household.computers())[0]?.name === "den", "the same one");
        equal((await companion.report()).misbehaviour, [], "nothing is wrong");
        household.store(await household.sealed("status", household.computer.id, status(base64(new Uint8Array(32))),
            { revision: 2 }));
        await eventually(async () => (await companion.report()).misbehaviour.length === 1, "found out");
        equal((await companion.report()).misbehaviour[0]
            .includes("another list of devices than the computer has"), true,
            "and said");
        companion.close();
    },

    async aRosterThatDoesNotContinueIsNotFollowed() {
        const { household, companion } = await paired();
        const honest = household.entries;
        household.entries = honest.slice(0, 1);
        equal(await refusal(() => companion.refresh()), "untrusted", "an older one");
        household.entries = [...honest];
        const stranger = await madeDevice();
        await household.append(stranger, household.admit(stranger, 1));
        equal(await refusal(() => companion.refresh()), "untrusted", "by a stranger");
        equal(companion.device.roster.number, 2, "as before");
        equal((await counted(companion))[1], [
            said("an older or another list of devices than before"),
            said("a list of devices that was changed without permission")], "said");
        companion.close();
    },

    /** A hub that helps a removed member of a shared vault serves its records as if they had been written in time. */
    async whatARemovedMemberWritesReplacesNothingThatWasSealedSince() {
        const household = await MadeHousehold.make();
        const removed = await madeDevice();
        await household.append(household.computer, household.admit(removed, 1));
        await household.append(household.computer, unhex(removed.id), 2);
        const roster = await Roster.read(household.entries);
        const written = (epoch, { collection = "moments", author = removed } = {}) => signRecord(author.key,
            { vault: household.vault, collection, id: randomID(), revision: 9 },
            { epoch, author: author.id, sealed: randomBytes(64) });
        const isTaken = async (record, row) => (await checkFormerMemberRecord(roster, record, row)) !== null;
        const known = (epoch) => ({ record: { revision: 1, epoch } });
        const record = await written(1);
        equal([await isTaken(record), await isTaken(record, known(1))], [true, true], "under the keys of its time");
        equal(await isTaken(record, known(2)), false, "in the place of what was sealed since");
        equal(await isTaken(await written(2)), false, "under later keys");
        equal(await isTaken(await written(1, { collection: "keys" })), false, "keys");
        equal(await isTaken(await written(1, { author: await madeDevice() })), false, "of somebody who never belonged");
        equal(await refusal(() => isTaken({ ...record, id: randomID() })), "wrongSignature", "changed on the way");
    },

    /** After a revocation: records under a key that comes later, and that opens only behind the gate. */
    async recordsOfANewEpochWaitForTheirKey() {
        const { household, companion } = await paired();
        companion.lock();
        household.statusKeys.push(randomBytes(32));
        household.store(await household.sealed("events", randomID(), household.event("new epoch")));
        household.store(await household.keysFor(household.phone, { revision: 2 }));
        await eventually(async () => (await companion.report()).deferred === 2, "both wait");
        await companion.unlockWithPIN("735102");
        equal((await companion.household.alerts()).map((alert) => alert.sentence), ["new epoch"], "taken at unlocking");
        equal((await companion.report()).deferred, 0, "nothing waits");
        const push = new TextEncoder()
            .encode(JSON.stringify(await household.sealed("events", randomID(), household.event("pushed"))));
        companion.lock();
        equal((await openPush(companion.device, push)).body.sentence, "pushed", "a push opens while locked");
        push[push.indexOf(0x22, 40) + 1] ^= 1;
        expect(await openPush(companion.device, push).then(() => false, () => true), "a changed one does not");
        companion.close();
    },

    async lockingComesFirstWhateverIsOnItsWay() {
        const { household, companion } = await paired();
        for (let index = 0; index < 20; index += 1) household.store(await household.note(`note ${index}`));
        await eventually(async () => (await companion.notes.list()).notes.length === 20, "notes");
        companion.notes.forget();
        const asked = [() => companion.notes.list(), () => companion.notes.read(household.records.at(-1).id),
            () => companion.household.alerts(), () => companion.intruderPhotos.list()].map((ask) => refusal(ask));
        companion.lock();
        equal(await Promise.all(asked), Array(asked.length).fill("locked"), "nothing is given out");
        const opening = refusal(() => companion.unlockWithPIN("735102"));
        companion.lock();
        equal([await opening, companion.state], ["locked", "locked"], "it stays locked");
        await companion.unlockWithPIN("735102");
        equal((await companion.notes.list()).notes.length, 20, "and opens again");
        companion.close();
    },

    async aStreamThatIsCutGoesOnWhereItEnded() {
        const { household, companion } = await paired();
        household.store(await household.sealed("events", randomID(), household.event("one")));
        await eventually(async () => (await companion.household.alerts()).length === 1, "one");
        household.cut();
        household.store(await household.sealed("events", randomID(), household.event("two")));
        await eventually(async () => (await companion.household.alerts()).length === 2, "two");
        await eventually(() => companion.syncLoop.connection === "live", "live again");
        const asked = household.requests.filter(({ route }) => route === "GET /v1/stream")
            .map(({ headers }) => headers["Last-Event-ID"]);
        equal(asked.length, 2, "streams");
        equal(Number(asked[1]), 3, "from the last one");
        companion.close();
    },

    async whatTheBrowserThrewAwayIsSaid() {
        const { companion, name } = await paired();
        companion.close();
        await new Promise((resolve, reject) => {
            const request = indexedDB.deleteDatabase(name);
            request.onsuccess = resolve;
            request.onerror = reject;
        });
        const again = await Companion.open({ name });
        equal(again.state, "lost", "state");
        again.close();
    },
};
