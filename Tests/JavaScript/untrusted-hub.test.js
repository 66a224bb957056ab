// A malicious hub is detected and can't change anything.
import { sealBox } from "/crypto/box.js";
import { base64, fields, hex, randomBytes, randomID, unhex } from "/crypto/bytes.js";
import { sha256 } from "/crypto/primitives.js";
import { KeyRing, ringKind } from "/crypto/ring.js";
import { Roster } from "/crypto/roster.js";
import { signRecord } from "/crypto/signature.js";
import { sharedVaultID } from "/household/shared-keys.js";
import { Companion } from "/session/companion.js";
import { openPush } from "/workers/open-push.js";
import { checkFormerMemberRecord } from "/sync/former-members.js";
import { systemTime } from "/hub/time.js";
import { eventually, equal, expect, refusal } from "./harness.js";
import { FakeHousehold, createDevice, pairedCompanion, refusing } from "./fake-household.js";

const quick = { ...systemTime, sleep: (milliseconds, signal) => systemTime.sleep(Math.min(milliseconds, 20), signal) };
let names = 0;

/** A paired and unlocked companion in a simulated household. */
async function paired(prepare = () => {}) {
    const household = await FakeHousehold.make();
    await prepare(household);
    return { household, ...await pairedCompanion(household, { time: quick }) };
}

/** Returns the error code of a failed pairing, after which nothing is stored. */
async function pairing(prepare) {
    const household = await FakeHousehold.make();
    household.serve();
    await prepare(household);
    const companion = await Companion.open({ name: `made-${(names += 1)}`, time: quick });
    const code = await refusal(() => companion.pair(household.link(), "phone"));
    equal([companion.state, await companion.device.store.fact("unfinished", null)], ["new", null],
        "state and stored data");
    expect(household.requests.some(({ route }) => route === "DELETE /v1/device"),
        "the hub is asked to remove the device");
    companion.close();
    return code;
}

const counted = async (companion) => {
    const { refused, misbehaviour } = await companion.report();
    return [refused, misbehaviour];
};
const report = (what) => `The hub returned ${what}; it was refused.`;

export const tests = {
    async aPairingThatDiffersFromItsLinkIsRefused() {
        const other = await FakeHousehold.make();
        equal(await pairing((household) => {
            household.overrides["GET /v1/roster"] = () => ({ entries: other.entries.map(base64) });
        }), "untrusted", "another household");
        equal(await pairing((household) => {
            household.overrides["GET /v1/roster"] = () => ({ entries: household.entries.slice(0, 1).map(base64) });
        }), "untrusted", "a roster without this device");
        equal(await pairing((household) => {
            household.overrides["GET /v1/roster"] = async () => {
                const { signingPoint } = household.phone;
                const { boxPoint } = await createDevice();
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
            const stranger = await createDevice();
            household.keysFor = ((keysFor) => (device) =>
                keysFor.call(household, device, { author: stranger }))(household.keysFor);
        }), "untrusted", "keys of a stranger");
        equal(await pairing((household) => {
            household.overrides["GET /v1/device"] = refusing("unauthorized", 401);
        }), "refused", "the owner refused");
        equal(await pairing((household) => {
            household.overrides["POST /v1/invitations"] = refusing("gone", 410);
        }), "gone", "a used link");
    },

    async unauthorizedRecordsAreCountedAndRejected() {
        const { household, companion } = await paired();
        const stranger = await createDevice();
        const second = await createDevice();
        await household.append(household.computer, household.admit(second, 2));
        const laptop = await createDevice();
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
                await household.sealed("requests", randomID(), household.launch(), { author: laptop })],
            ["a record of a device that may not write it",
                await household.sealed("commands", randomID(), {}, { revision: 1 })],
            ["a record of another household or collection", { ...(await household.note("x")) }, "events"],
            ["a record that does not open", await household.sealed("events", randomID(), household.event("x"),
                { key: randomBytes(32) })],
            ["a record that does not open", await household.sealed("events", randomID(), { kind: "blocked" })],
        ];
        // A note of the vault, signed as an event.
        const misplaced = bad.find(([, , collection]) => collection);
        household.vault = [household.id, (household.id = household.vault)][0];
        misplaced[1] = await household.sealed("events", randomID(), household.event("x"));
        household.vault = [household.id, (household.id = household.vault)][0];
        household.store(good, ...bad.map(([, record]) => record));
        await eventually(async () => (await counted(companion))[0] === bad.length, "all invalid records are counted");
        equal((await counted(companion))[1].sort(), [...new Set(bad.map(([what]) => report(what)))].sort(),
            "reports, each one once");
        equal((await companion.household.alerts()).map((alert) => alert.sentence), ["good"], "accepted alerts");
        for (const [collection, body] of [["events", household.event("x")], ["requests", household.launch()]]) {
            const pushed = await household.sealed(collection, randomID(), body, { author: laptop });
            const message = new TextEncoder().encode(JSON.stringify(pushed));
            equal(await refusal(() => openPush(companion.device, message)), "wrongWriter",
                `a push about another computer, ${collection}`);
        }
        companion.close();
    },

    async keysOfFarEpochsAndTooManyKeysAreRefused() {
        const { household, companion } = await paired();
        const keysWith = async (revision, entries) => {
            const name = { vault: household.id, collection: "keys", id: household.phone.id, revision };
            const ring = new KeyRing(entries.map((entry) =>
                ({ key: randomBytes(32), vault: household.id, kind: ringKind.status, ...entry })));
            const sealed = await sealBox(ring.plaintext, name, household.phone.boxPoint);
            return signRecord(household.computer.key, name, { epoch: 1, author: household.computer.id, sealed });
        };
        household.store(await keysWith(2, [{ epoch: 2 + 2 ** 16 }]));
        household.store(await keysWith(3, Array.from({ length: 4096 },
            (_, index) => ({ kind: ringKind.vault, vault: randomID(), epoch: index + 1 }))));
        await eventually(async () => (await counted(companion))[0] === 2, "both records are refused");
        equal([...companion.device.statusKeys.keys()], [1], "epochs of status keys");
        household.store(await keysWith(4, [{ epoch: 1 + 2 ** 16 }]));
        await eventually(() => companion.device.statusKeys.has(1 + 2 ** 16), "a key of a near epoch is accepted");
        companion.close();
    },

    async anotherComputerCannotReplaceAVaultsKey() {
        const { household, companion } = await paired();
        const laptop = await createDevice();
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
        await eventually(() => companion.device.keys.ring.current(ringKind.vault, own),
            "the key of its own vault is accepted");
        equal(companion.device.keys.ring.current(ringKind.vault, household.vault).epoch, 1,
            "the newest key of the first computer's vault");
        companion.close();
    },

    async anOlderRevisionIsRefused() {
        const { household, companion } = await paired();
        const note = await household.note("first");
        const newer = await household.note("second", { id: note.id, revision: 2 });
        household.store(note, newer, note);
        await eventually(async () => (await counted(companion))[0] === 1, "counted");
        equal((await counted(companion))[1], [report("an older state than before")], "reports");
        equal((await companion.notes.read(note.id)).title, "second", "the title in the newer version");
        companion.close();
    },

    async aRefusedChangeDoesNotBlockOtherChanges() {
        const { household, companion } = await paired();
        let refused = null;
        household.overrides["POST /v1/records"] = (_, body) => {
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
            "the other changes are sent");
        await eventually(async () => (await companion.report()).waiting === 1, "the refused change stays pending");
        expect(!household.records.some(({ id }) => id === refused), "refused");
        companion.close();
    },

    async aRefusedChangeDoesNotBlockReading() {
        /** Pauses that the test ends; null: pauses are short. */
        let pauses = null;
        const sleep = (milliseconds, signal) =>
            (pauses ? new Promise((resolve) => pauses.push(resolve)) : quick.sleep(milliseconds, signal));
        const household = await FakeHousehold.make();
        const { companion } = await pairedCompanion(household, { time: { ...quick, sleep } });
        household.overrides["POST /v1/records"] = (_, body) => (
            {
                outcomes: JSON.parse(body).records.map(() =>
                    ({ error: { code: "quota_exceeded", message: "It is full." } })),
            });
        pauses = [];
        await companion.notes.save(null, { title: "refused", body: "" });
        await eventually(() => pauses.length === 1, "the refused change waits to be sent again");
        household.disconnect();
        await eventually(() => pauses.length === 2, "the next connection waits");
        pauses[1]();
        await eventually(() => household.streams.length === 1 && companion.syncLoop.connection === "live", "live");
        household.store(await household.sealed("events", randomID(), household.event("later")));
        await eventually(async () => (await companion.household.alerts()).length === 1, "reading continues");
        companion.close();
    },

    async aForgedRecordIsOverwritten() {
        const { household, companion } = await paired();
        const note = await companion.notes.save(null, { title: "mine", body: "" });
        await eventually(async () => (await companion.device.store.waiting()).length === 0, "sent");
        const junk = {
            ...(await companion.device.store.record(`notes/${note.id}`)).record, revision: 7,
            signature: base64(randomBytes(64)),
        };
        const written = [];
        household.overrides["POST /v1/records"] = (_, body) => ({
            outcomes: JSON.parse(body).records.map((record) => {
                if (record.replaces !== 7) return { conflict: junk };
                written.push(record);
                return { sequence: 100 };
            }),
        });
        await companion.notes.save(note, { title: "changed", body: "" });
        await eventually(async () => (await companion.device.store.waiting()).length === 0, "sent again");
        equal(written.map(({ id, revision, replaces }) => [id, revision, replaces]), [[note.id, 8, 7]],
            "the record that replaces the forged one");
        equal((await companion.notes.list()).notes.map(({ title }) => title), ["changed"], "titles");
        companion.close();
    },

    async onlyADeviceItselfReportsItsOwner() {
        const { household, companion } = await paired();
        const [laptop, owner] = [await createDevice(), randomID()];
        await household.append(household.computer, household.admit(laptop, 1));
        await companion.device.followRoster();
        for (const author of [household.computer, laptop]) {
            const revision = author === laptop ? 2 : 1;
            household.store(await household.sealed("devices", laptop.id, { name: "laptop", owner },
                { author, revision }));
            await eventually(async () =>
                (await companion.device.store.record(`devices/${laptop.id}`))?.record.revision === revision,
                "the device's name arrives");
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
            "two missing events");
        household.store(await household.sealed("events", kept, household.event("two", one)));
        await eventually(async () => (await companion.household.computers())[0]?.missingEvents === 1,
            "one event is still missing");
        companion.close();
    },

    /** The hub serves two devices different rosters of the same length. */
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
        await eventually(async () => (await companion.household.computers())[0]?.name === "den",
            "the computer's status is read");
        equal((await companion.report()).misbehaviour, [], "reports with the same roster");
        household.store(await household.sealed("status", household.computer.id, status(base64(new Uint8Array(32))),
            { revision: 2 }));
        await eventually(async () => (await companion.report()).misbehaviour.length === 1,
            "the other roster is detected");
        equal((await companion.report()).misbehaviour[0]
            .includes("another list of devices than the computer has"), true,
            "whether the other roster is reported");
        companion.close();
    },

    async aRosterThatDoesNotContinueTheKnownOneIsRefused() {
        const { household, companion } = await paired();
        const { entries } = household;
        household.entries = entries.slice(0, 1);
        equal(await refusal(() => companion.refresh()), "untrusted", "an older roster");
        household.entries = [...entries];
        const stranger = await createDevice();
        await household.append(stranger, household.admit(stranger, 1));
        equal(await refusal(() => companion.refresh()), "untrusted", "an entry by a device of no household");
        equal(companion.device.roster.number, 2, "entries of the known roster");
        equal((await counted(companion))[1], [
            report("an older or another list of devices than before"),
            report("a list of devices that was changed without permission")], "reports");
        companion.close();
    },

    /** A hub cooperates with a removed member of a shared vault: it serves records as if written before the removal. */
    async aRemovedMemberReplacesNoRecordSealedSince() {
        const household = await FakeHousehold.make();
        const removed = await createDevice();
        await household.append(household.computer, household.admit(removed, 1));
        await household.append(household.computer, unhex(removed.id), 2);
        const roster = await Roster.read(household.entries);
        const shared = await sharedVaultID(roster.household);
        const written = (epoch, { collection = "moments", author = removed, vault = shared } = {}) =>
            signRecord(author.key, { vault, collection, id: randomID(), revision: 9 },
                { epoch, author: author.id, sealed: randomBytes(64) });
        const isAccepted = async (record, row) => (await checkFormerMemberRecord(roster, record, row)) !== null;
        const known = (epoch) => ({ record: { revision: 1, epoch } });
        const record = await written(1);
        equal([await isAccepted(record), await isAccepted(record, known(1))], [true, true],
            "a record under the keys before its removal");
        equal(await isAccepted(record, known(2)), false, "a record in place of one that was sealed since");
        equal(await isAccepted(await written(2)), false, "a record under later keys");
        equal(await isAccepted(await written(1, { vault: household.vault })), false, "a record of another vault");
        equal(await isAccepted(await written(1, { collection: "audit" })), true, "an entry of the log");
        equal(await refusal(async () => isAccepted(await written(1, { collection: "keys" }))), "wrongVault",
            "new vault keys");
        equal(await isAccepted(await written(1, { author: await createDevice() })), false,
            "a record of a device that never was a member");
        equal(await refusal(() => isAccepted({ ...record, id: randomID() })), "wrongSignature",
            "a record that was changed in transit");
    },

    /** After a revocation, records are sealed under a key that arrives later and opens only while unlocked. */
    async recordsOfANewEpochWaitForTheirKey() {
        const { household, companion } = await paired();
        companion.lock();
        household.statusKeys.push(randomBytes(32));
        household.store(await household.sealed("events", randomID(), household.event("new epoch")));
        household.store(await household.keysFor(household.phone, { revision: 2 }));
        await eventually(async () => (await companion.report()).deferred === 2, "both records wait for their key");
        await companion.unlockWithPIN("735102");
        equal((await companion.household.alerts()).map((alert) => alert.sentence), ["new epoch"],
            "alerts after unlocking");
        equal((await companion.report()).deferred, 0, "waiting records");
        const push = new TextEncoder()
            .encode(JSON.stringify(await household.sealed("events", randomID(), household.event("pushed"))));
        companion.lock();
        equal((await openPush(companion.device, push)).body.sentence, "pushed",
            "a push message that opens while locked");
        push[push.indexOf(0x22, 40) + 1] ^= 1;
        expect(await openPush(companion.device, push).then(() => false, () => true),
            "a changed push message does not open");
        companion.close();
    },

    async lockingTakesPrecedenceOverRunningOperations() {
        const { household, companion } = await paired();
        for (let index = 0; index < 20; index += 1) household.store(await household.note(`note ${index}`));
        await eventually(async () => (await companion.notes.list()).notes.length === 20, "notes");
        companion.notes.forget();
        const operations = [() => companion.notes.list(), () => companion.notes.read(household.records.at(-1).id),
            () => companion.household.alerts(), () => companion.intruderPhotos.list()]
            .map((operation) => refusal(operation));
        companion.lock();
        equal(await Promise.all(operations), Array(operations.length).fill("locked"),
            "results of operations that were running");
        const opening = refusal(() => companion.unlockWithPIN("735102"));
        companion.lock();
        equal([await opening, companion.state], ["locked", "locked"], "an unlock that was running, and the state");
        await companion.unlockWithPIN("735102");
        equal((await companion.notes.list()).notes.length, 20, "notes after unlocking again");
        companion.close();
    },

    async aDisconnectedStreamResumesWhereItEnded() {
        const { household, companion } = await paired();
        household.store(await household.sealed("events", randomID(), household.event("one")));
        await eventually(async () => (await companion.household.alerts()).length === 1, "the first event arrives");
        const missed = await household.sealed("events", randomID(), household.event("two"));
        household.disconnect();
        household.store(missed);
        await eventually(async () => (await companion.household.alerts()).length === 2, "two");
        await eventually(() => companion.syncLoop.connection === "live", "live again");
        const cursors = household.requests.filter(({ route }) => route === "GET /v1/stream")
            .map(({ headers }) => headers["Last-Event-ID"]);
        equal(cursors.length, 2, "streams");
        equal(Number(cursors[1]), 3, "the sequence from which the stream resumes");
        companion.close();
    },

    async dataEvictedByTheBrowserIsReported() {
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
