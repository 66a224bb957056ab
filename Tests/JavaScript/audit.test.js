// The log of a vault with a simulated hub: a chain for each device, in which missing entries are detected.
import { Companion } from "/session/companion.js";
import { systemTime } from "/hub/time.js";
import { eventually, equal, expect, refusal } from "./harness.js";
import { pairedCompanion, refusing } from "./fake-household.js";
import { everythingIn, find, MomentHub } from "./fake-moments.js";
import { textOf, unbase64, utf8 } from "/crypto/bytes.js";

const pin = "735102";
let shift = 0;
const quick = {
    ...systemTime, now: () => systemTime.now() + shift,
    sleep: (milliseconds, signal) => systemTime.sleep(Math.min(milliseconds, 20), signal),
};

async function paired() {
    const hub = await MomentHub.make();
    return { hub, ...await pairedCompanion(hub, { pin, time: quick }) };
}

const kinds = async (companion) => (await companion.audit.list()).lines
    .filter(({ kind }) => kind !== "admitted").map(({ kind }) => kind);
const sent = (companion) => eventually(async () => (await companion.device.store.waiting()).length === 0, "all sent");

export const tests = {
    async everyUnlockAndEveryWrongPINIsLogged() {
        const { hub, companion } = await paired();
        companion.lock();
        hub.overrides = { "POST /v1/pin-share/attempt": refusing("wrong_pin", 403) };
        shift += 60_000;
        equal(await refusal(() => companion.unlockWithPIN("918273")), "wrongPIN", "refused");
        shift += 60_000;
        equal(await refusal(() => companion.unlockWithPIN("918274")), "wrongPIN", "refused again");
        hub.overrides = {};
        shift += 60_000;
        await companion.unlockWithPIN(pin);
        await eventually(async () => (await kinds(companion)).length === 3, "three entries");
        equal(await kinds(companion), ["unlocked", "wrongPIN", "wrongPIN"], "entries, newest first");
        const { lines } = await companion.audit.list();
        expect(lines[0].at - lines[1].at >= 60 && lines[1].at - lines[2].at >= 60,
            "each wrong PIN has the time when it was typed");
        companion.lock();
        await companion.unlockWithPIN(pin);
        await eventually(async () => (await kinds(companion)).length === 4, "the second unlock adds one entry");
        equal((await companion.audit.list()).missing, 0, "missing entries");
        companion.close();
    },

    async concurrentEntriesFormOneChain() {
        const { companion } = await paired();
        await Promise.all(Array.from({ length: 8 }, () => companion.audit.record("imported", { photos: 1 })));
        await sent(companion);
        await companion.audit.record("exported", { moments: 2, photos: 3 });
        const { lines, missing } = await companion.audit.list();
        equal([missing, lines.filter(({ kind }) => kind === "imported").length], [0, 8],
            "missing entries, and imports");
        equal([lines.find(({ kind }) => kind === "exported").photos], [3], "numbers of photos");
        companion.close();
    },

    /** Another member may write any value, and formatting an invalid date would make the screen fail. */
    async entriesWithInvalidTimesAreNotShown() {
        const { companion } = await paired();
        for (const at of [1e308, -1, 8.64e15, 253_402_214_401]) await companion.audit.record("imported", { at });
        await companion.audit.record("exported");
        await sent(companion);
        const shown = await kinds(companion);
        equal([shown.includes("exported"), shown.includes("imported")], [true, false], "shown entries");
        companion.close();
    },

    async withheldEntriesAreDetected() {
        const { companion } = await paired();
        for (let count = 0; count < 4; count += 1) await companion.audit.record("exported");
        await sent(companion);
        const rows = await companion.device.store.records("audit");
        // As if it had never arrived; the newest is first.
        const without = async (row) => {
            const real = companion.device.store.records;
            companion.device.store.records = async function (...args) {
                return (await real.apply(this, args)).filter(({ key }) => key !== row.key);
            };
            const found = await companion.audit.list();
            companion.device.store.records = real;
            return found.missing;
        };
        equal(await without(rows[1]), 1, "missing: one in the middle");
        equal(await without(rows[3]), 1, "missing: the first");
        companion.close();
    },

    async noDeviceReplacesAnEntry() {
        const { hub, companion } = await paired();
        await companion.audit.record("exported");
        await sent(companion);
        const [row] = await companion.device.store.records("audit");
        const keys = companion.device.keys;
        const tombstone = await keys.tombstone({
            vault: row.record.vault, collection: "audit", id: row.record.id, revision: 2,
        }, 1);
        const { replaces: _, ...record } = tombstone;
        hub.store(record);
        hub.serve();
        await companion.refresh();
        equal((await companion.audit.list()).lines.filter(({ kind }) => kind === "exported").length, 1,
            "entries");
        // A device may have removed it, so the hub is not reported.
        equal((await companion.report()).misbehaviour, [], "reports");
        companion.close();
    },

    async eachPINHasTheLogOfItsOwnVault() {
        const { companion } = await paired();
        const decoy = "620485";
        await companion.audit.record("exported", { moments: 3 });
        await companion.decoy.set(decoy);
        companion.lock();
        await companion.unlockWithPIN(decoy);
        await eventually(async () => (await kinds(companion)).length === 1, "its own unlock is logged");
        equal(await kinds(companion), ["unlocked"], "entries of the decoy");
        await companion.audit.record("imported", { photos: 2 });
        equal((await companion.audit.list()).missing, 0, "missing entries of the decoy");
        companion.lock();
        await companion.unlockWithPIN(pin);
        await eventually(async () => (await kinds(companion)).includes("unlocked"), "the unlock is logged");
        equal(await kinds(companion), ["unlocked", "exported"], "entries of the real vault");
        equal((await companion.audit.list()).missing, 0, "missing entries of the real vault");
        companion.close();
    },

    async anUnsentEntryIsNewerThanASentOneOfTheSameSecond() {
        const { hub, companion } = await paired();
        await companion.audit.record("exported", { at: 1_000 });
        await sent(companion);
        hub.overrides = { "POST /v1/records": refusing("unavailable", 503) };
        await companion.audit.record("imported", { at: 1_000 });
        await companion.audit.record("restored", { at: 1_000 });
        equal((await kinds(companion)).slice(-3), ["restored", "imported", "exported"]);
        companion.close();
    },

    async chosenEntriesArePushedOnceTheHubHasThem() {
        const { hub, companion, name } = await paired();
        const messages = [];
        const { defaultResponse } = hub;
        hub.defaultResponse = async (route, url, body, signal) => {
            if (route !== "POST /v1/push/messages") return defaultResponse.call(hub, route, url, body, signal);
            messages.push({
                ...body, record: JSON.parse(textOf(unbase64(body.payload))), known: hub.records.map(({ id }) => id),
            });
            return { subscriptions: 1 };
        };
        await companion.audit.record("exported");
        await sent(companion);
        equal(messages, [], "messages of a kind that is not chosen");
        await companion.audit.setAlerts(["exported"]);
        hub.overrides = { "POST /v1/records": refusing("unavailable", 503) };
        await companion.audit.record("exported");
        await companion.audit.record("imported");
        equal(messages, [], "messages before the hub has the entry");
        // It stays pending across a restart.
        companion.close();
        hub.overrides = {};
        const again = await Companion.open({ name, time: quick });
        await again.unlockWithPIN(pin);
        await sent(again);
        await eventually(() => messages.length === 1, "one message is sent");
        const [{ record, known, devices, payload, urgency }] = messages;
        equal([record.collection, record.author, devices, urgency], ["audit", hub.phone.id, undefined, "high"],
            "the record, for all other devices");
        expect(known.includes(record.id), "the hub has the record");
        expect(payload.length <= 4096, "the record fits into a message");
        // A push service without a response delays nothing.
        hub.overrides = { "POST /v1/push/messages": refusing("unavailable", 503) };
        await again.audit.record("exported");
        await sent(again);
        again.close();
    },

    async theLogIsStoredSealed() {
        const { companion, name } = await paired();
        await companion.audit.setAlerts(["wrongPIN"]);
        await companion.audit.record("exported", { moments: 1 });
        companion.lock();
        const bytes = await everythingIn(name);
        equal(find(bytes, utf8("exported")), -1, "the position of a plaintext word");
        equal(await refusal(() => companion.audit.list()), "locked", "reading while locked");
        equal(await refusal(() => companion.audit.record("exported")), "locked", "writing while locked");
        companion.close();
    },
};
