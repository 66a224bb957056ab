// The log of a vault beside a hub that a test plays: a chain for each device, and what is missing is found.
import { Companion } from "/session/companion.js";
import { systemTime } from "/hub/time.js";
import { eventually, equal, expect, refusal } from "./harness.js";
import { pairedCompanion, refusing } from "./made-household.js";
import { everythingIn, find, MomentHub } from "./made-moments.js";
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
    async everyOpeningAndEveryWrongPINIsWritten() {
        const { hub, companion } = await paired();
        companion.lock();
        hub.instead = { "POST /v1/pin-share/attempt": refusing("wrong_pin", 403) };
        shift += 60_000;
        equal(await refusal(() => companion.unlockWithPIN("918273")), "wrongPIN", "refused");
        shift += 60_000;
        equal(await refusal(() => companion.unlockWithPIN("918274")), "wrongPIN", "refused again");
        hub.instead = {};
        shift += 60_000;
        await companion.unlockWithPIN(pin);
        await eventually(async () => (await kinds(companion)).length === 3, "three entries");
        equal(await kinds(companion), ["unlocked", "wrongPIN", "wrongPIN"], "the newest first");
        const { lines } = await companion.audit.list();
        expect(lines[0].at - lines[1].at >= 60 && lines[1].at - lines[2].at >= 60, "when they were typed");
        companion.lock();
        await companion.unlockWithPIN(pin);
        await eventually(async () => (await kinds(companion)).length === 4, "told once");
        equal((await companion.audit.list()).missing, 0, "nothing is missing");
        companion.close();
    },

    async whatIsWrittenAtOnceIsOneChain() {
        const { companion } = await paired();
        await Promise.all(Array.from({ length: 8 }, () => companion.audit.record("imported", { photos: 1 })));
        await sent(companion);
        await companion.audit.record("exported", { moments: 2, photos: 3 });
        const { lines, missing } = await companion.audit.list();
        equal([missing, lines.filter(({ kind }) => kind === "imported").length], [0, 8], "whole");
        equal([lines.find(({ kind }) => kind === "exported").photos], [3], "amounts");
        companion.close();
    },

    /** Another member may write anything there, and a screen would end where it writes the date. */
    async aTimeOfNoCalendarIsNotShown() {
        const { companion } = await paired();
        for (const at of [1e308, -1, 8.64e15, 253_402_214_401]) await companion.audit.record("imported", { at });
        await companion.audit.record("exported");
        await sent(companion);
        const shown = await kinds(companion);
        equal([shown.includes("exported"), shown.includes("imported")], [true, false], "shown");
        companion.close();
    },

    async withheldEntriesAreDetected() {
        const { companion } = await paired();
        for (let count = 0; count < 4; count += 1) await companion.audit.record("exported");
        await sent(companion);
        const rows = await companion.device.store.records("audit");
        // As if it had never come; the newest first.
        const without = async (row) => {
            const real = companion.device.store.records;
            companion.device.store.records = async function (...given) {
                return (await real.apply(this, given)).filter(({ key }) => key !== row.key);
            };
            const found = await companion.audit.list();
            companion.device.store.records = real;
            return found.missing;
        };
        equal(await without(rows[1]), 1, "one in the middle");
        equal(await without(rows[3]), 1, "the first");
        companion.close();
    },

    async anEntryIsNotReplacedByAnyDevice() {
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
        equal((await companion.audit.list()).lines.filter(({ kind }) => kind === "exported").length, 1, "it stays");
        equal((await companion.report()).misbehaviour, [],
            "and nobody is accused: who removed it may have been a device");
        companion.close();
    },

    async eachPINHasTheLogOfItsOwnVault() {
        const { companion } = await paired();
        const decoy = "620485";
        await companion.audit.record("exported", { moments: 3 });
        await companion.decoy.set(decoy);
        companion.lock();
        await companion.unlockWithPIN(decoy);
        await eventually(async () => (await kinds(companion)).length === 1, "its own opening");
        equal(await kinds(companion), ["unlocked"], "and nothing of the other");
        await companion.audit.record("imported", { photos: 2 });
        equal((await companion.audit.list()).missing, 0, "whole");
        companion.lock();
        await companion.unlockWithPIN(pin);
        await eventually(async () => (await kinds(companion)).includes("unlocked"), "opened");
        equal(await kinds(companion), ["unlocked", "exported"], "the real one has nothing of the decoy's");
        equal((await companion.audit.list()).missing, 0, "whole, too");
        companion.close();
    },

    async anUnsentEntryIsNewerThanASentOneOfTheSameSecond() {
        const { hub, companion } = await paired();
        await companion.audit.record("exported", { at: 1_000 });
        await sent(companion);
        hub.instead = { "POST /v1/records": refusing("unavailable", 503) };
        await companion.audit.record("imported", { at: 1_000 });
        await companion.audit.record("restored", { at: 1_000 });
        equal((await kinds(companion)).slice(-3), ["restored", "imported", "exported"]);
        companion.close();
    },

    async whatWasChosenIsPushedOnceTheHubHasIt() {
        const { hub, companion, name } = await paired();
        const messages = [];
        const { honest } = hub;
        hub.honest = async (route, url, body, signal) => {
            if (route !== "POST /v1/push/messages") return honest.call(hub, route, url, body, signal);
            messages.push({
                ...body, record: JSON.parse(textOf(unbase64(body.payload))), known: hub.records.map(({ id }) => id),
            });
            return { subscriptions: 1 };
        };
        await companion.audit.record("exported");
        await sent(companion);
        equal(messages, [], "not chosen");
        await companion.audit.setAlerts(["exported"]);
        hub.instead = { "POST /v1/records": refusing("unavailable", 503) };
        await companion.audit.record("exported");
        await companion.audit.record("imported");
        equal(messages, [], "not before the hub has it");
        // It waits over a restart.
        companion.close();
        hub.instead = {};
        const again = await Companion.open({ name, time: quick });
        await again.unlockWithPIN(pin);
        await sent(again);
        await eventually(() => messages.length === 1, "told");
        const [{ record, known, devices, payload, urgency }] = messages;
        equal([record.collection, record.author, devices, urgency], ["audit", hub.phone.id, undefined, "high"],
            "to all others");
        expect(known.includes(record.id) && payload.length <= 4096, "the hub has it, and it fits");
        // A push service that does not answer keeps nothing back.
        hub.instead = { "POST /v1/push/messages": refusing("unavailable", 503) };
        await again.audit.record("exported");
        await sent(again);
        again.close();
    },

    async nothingOfItLiesInTheOpen() {
        const { companion, name } = await paired();
        await companion.audit.setAlerts(["wrongPIN"]);
        await companion.audit.record("exported", { moments: 1 });
        companion.lock();
        const bytes = await everythingIn(name);
        equal(find(bytes, utf8("exported")), -1, "sealed");
        equal(await refusal(() => companion.audit.list()), "locked", "closed");
        equal(await refusal(() => companion.audit.record("exported")), "locked", "closed to write");
        companion.close();
    },
};
