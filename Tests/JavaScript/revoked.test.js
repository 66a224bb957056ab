// A companion erases itself only if a computer's signature proves that it was revoked.
import { base64, unhex } from "/crypto/bytes.js";
import { Companion } from "/session/companion.js";
import { systemTime } from "/hub/time.js";
import { CompanionStore, revokedFact } from "/store/store.js";
import { Tabs } from "/store/tabs.js";
import { eventually, equal, expect, refusal } from "./harness.js";
import { FakeHousehold, createDevice, pairedCompanion, refusing } from "./fake-household.js";

const quick = { ...systemTime, sleep: (milliseconds, signal) => systemTime.sleep(Math.min(milliseconds, 20), signal) };
const revoke = 2;
const routes = ["GET /v1/records", "POST /v1/records",
    "GET /v1/stream", "GET /v1/devices", "GET /v1/device", "GET /v1/pin-share", "POST /v1/pin-share"];

/** The hub refuses the phone's token from now on, and serves only the roster. */
function refuseToken(household) {
    for (const route of routes) household.overrides[route] = refusing("unauthorized", 401);
    household.disconnect();
}

/** A phone with one note that the hub has and one that the hub refuses. */
async function paired() {
    const household = await FakeHousehold.make();
    const { companion, name } = await pairedCompanion(household, { time: quick });
    household.store(await household.note("at the hub"));
    await eventually(async () => (await companion.notes.list()).notes.length === 1, "a note");
    household.overrides["POST /v1/records"] = (_, body) =>
        ({ outcomes: JSON.parse(body).records.map(() => ({ error: { code: "quota_exceeded", message: "Full." } })) });
    await companion.notes.save(null, { title: "here alone", body: "" });
    return { household, companion, name };
}

/** The number of values in each store of a database. */
async function counts(name) {
    const database = await new Promise((resolve, reject) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const counted = {};
    for (const store of database.objectStoreNames) {
        const request = database.transaction(store).objectStore(store).count();
        counted[store] = await new Promise((resolve) => (request.onsuccess = () => resolve(request.result)));
    }
    database.close();
    return counted;
}

const nothing = { deferred: 0, facts: 1, keys: 0, outbox: 0, pieces: 0, records: 0, staged: 0 };

async function isErased(companion, name) {
    await eventually(() => companion.state === "revoked", "the companion is revoked");
    equal(await counts(name), nothing, "stored values");
    equal(await companion.device.store.fact(revokedFact, false), true, "the stored revocation");
    equal([companion.device.facts, companion.device.unlocked, companion.syncLoop.connection], [null, null, "off"],
        "facts, keys and connection");
    equal(localStorage.getItem(`applocker-device/${name}`), null, "the device's mark in localStorage");
}

/** Waits until the hub has refused the device again; all data is still present. */
async function nothingIsErased(companion) {
    await eventually(() => companion.syncLoop.connection === "removed", "refused");
    equal(companion.state, "unlocked", "state");
    equal((await companion.notes.list()).notes.map(({ title }) => title).sort(), ["at the hub", "here alone"], "notes");
    companion.close();
}

export const tests = {
    async aRevocationSignedByAComputerErasesEverything() {
        const { household, companion, name } = await paired();
        const vault = `${name}/shared`;
        (await CompanionStore.open(() => {}, vault)).close();
        const { ring, rootKey } = companion.device.unlocked;
        const keys = [rootKey, ...ring.entries.map(({ key }) => key)];
        await household.append(household.computer, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        expect(keys.every((key) => key.every((byte) => byte === 0)), "keys in memory are wiped");
        expect(!(await indexedDB.databases()).some((database) => database.name === vault),
            "databases of shared vaults are deleted");
        companion.close();
        const again = await Companion.open({ name, time: quick });
        equal(again.state, "revoked", "the state after the next start");
        await again.remove();
        equal([again.state, await counts(name)], ["new", { ...nothing, facts: 0 }],
            "state and stored values before pairing again");
        again.close();
    },

    /** Computers have equal rights; the phone was paired at the other one. */
    async aRevocationSignedByASecondComputerErasesEverything() {
        const { household, companion, name } = await paired();
        const laptop = await createDevice();
        await household.append(household.computer, household.admit(laptop, 1));
        await household.append(laptop, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        companion.close();
    },

    async aLockedPhoneErasesItselfAtItsStart() {
        const { household, companion, name } = await paired();
        companion.close();
        await household.append(household.computer, unhex(household.phone.id), revoke);
        for (const route of routes) household.overrides[route] = refusing("unauthorized", 401);
        const again = await Companion.open({ name, time: quick });
        equal(again.state, "locked", "locked");
        await isErased(again, name);
        again.close();
    },

    async aRefusalAloneErasesNothing() {
        const { household, companion } = await paired();
        household.overrides["GET /v1/roster"] = refusing("unauthorized", 401);
        refuseToken(household);
        await nothingIsErased(companion);
    },

    async aRosterNotSignedByAComputerOfThisHouseholdErasesNothing() {
        const stranger = await createDevice();
        const forgeries = {
            stranger: (household) => household.append(stranger, unhex(household.phone.id), revoke),
            companion: async (household) => {
                const other = await createDevice();
                await household.append(household.computer, household.admit(other, 2));
                await household.append(other, unhex(household.phone.id), revoke);
            },
            revokedComputer: async (household) => {
                const laptop = await createDevice();
                await household.append(household.computer, household.admit(laptop, 1));
                await household.append(household.computer, unhex(laptop.id), revoke);
                await household.append(laptop, unhex(household.phone.id), revoke);
            },
            // The hub has the keys of another household, which admitted this phone.
            anotherList: async (household) => {
                const other = await FakeHousehold.make();
                await other.append(other.computer, other.admit(household.phone, 2));
                await other.append(other.computer, unhex(household.phone.id), revoke);
                household.overrides["GET /v1/roster"] = () => ({ entries: other.entries.slice(1).map(base64) });
            },
        };
        for (const [what, forge] of Object.entries(forgeries)) {
            const { household, companion } = await paired();
            await forge(household);
            refuseToken(household);
            await eventually(async () => (await companion.report()).misbehaviour.some((sentence) =>
                sentence.includes("list of devices")), `${what} is reported`);
            expect(companion.state === "unlocked", what);
            equal((await companion.notes.list()).notes.length, 2, what);
            companion.close();
        }
    },

    /**
     * The only way in which a hub can have a phone erased: with the key of a computer that was revoked.
     */
    async aRevokedComputerCanEraseAPhoneUnawareOfTheRevocation() {
        for (const isAware of [true, false]) {
            const { household, companion, name } = await paired();
            const laptop = await createDevice();
            await household.append(household.computer, household.admit(laptop, 1));
            await companion.device.followRoster();
            // Two rosters with the same beginning: the correct one, and the laptop's, which the hub serves afterwards.
            const { entries, head } = household;
            household.entries = [...entries];
            await household.append(household.computer, unhex(laptop.id), revoke);
            if (isAware) await companion.device.followRoster();
            Object.assign(household, { entries: [...entries], head });
            await household.append(laptop, unhex(household.phone.id), revoke);
            refuseToken(household);
            if (isAware) {
                await eventually(async () => (await companion.report()).misbehaviour.length === 1,
                    "the other roster is reported");
                equal([companion.state, (await companion.notes.list()).notes.length], ["unlocked", 2],
                    "state and notes");
            } else {
                await isErased(companion, name);
                equal(household.records.filter(({ collection }) => collection === "notes").length, 1,
                    "notes at the hub: the unsent one is lost");
            }
            companion.close();
        }
    },

    async theRevocationOfAnotherDeviceErasesNothing() {
        const { household, companion, name } = await paired();
        const tab = await Companion.open({ name, time: quick });
        let events = 0;
        tab.device.events.addEventListener("roster", () => (events += 1));
        const other = await createDevice();
        await household.append(household.computer, household.admit(other, 2));
        await household.append(household.computer, unhex(other.id), revoke);
        refuseToken(household);
        await nothingIsErased(companion);
        equal(companion.device.roster.number, 4, "entries of the known roster");
        await eventually(() => events === 1 && tab.device.roster.number === 4,
            "another tab receives the roster, for its shared vaults");
        tab.close();
    },

    async aRejectedPhoneKeepsRequestingTheProof() {
        const { household, companion, name } = await paired();
        refuseToken(household);
        household.overrides["GET /v1/roster"] = () => Promise.reject(new TypeError("no network"));
        await eventually(() => companion.syncLoop.connection === "waiting", "no network");
        delete household.overrides["GET /v1/roster"];
        await eventually(() => companion.syncLoop.connection === "removed", "refused");
        await household.append(household.computer, unhex(household.phone.id), revoke);
        await isErased(companion, name);
        companion.close();
    },

    async aPhoneThatWasRefusedOnceReconnects() {
        const { household, companion } = await paired();
        refuseToken(household);
        await eventually(() => companion.syncLoop.connection === "removed", "refused");
        household.overrides = {};
        await eventually(() => companion.syncLoop.connection === "live", "live");
        equal((await companion.notes.list()).notes.length, 2, "notes");
        companion.close();
    },

    async aFullStoreErasesItself() {
        const { household, companion, name } = await paired();
        const { store } = companion.device;
        const { write } = Object.getPrototypeOf(store);
        store.write = (change) => (change.facts?.roster
            ? Promise.reject(new DOMException("full", "QuotaExceededError"))
            : write.call(store, change));
        await household.append(household.computer, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        companion.close();
    },

    /** The other tab stored the roster, and was closed before it erased anything. */
    async aTabFinishesTheErasureThatAnotherTabBegan() {
        const { household, companion, name } = await paired();
        household.overrides["GET /v1/roster"] = () => new Promise(() => {});
        await household.append(household.computer, unhex(household.phone.id), revoke);
        const store = await CompanionStore.open(() => {}, name);
        await store.write({ facts: { roster: household.entries } });
        store.close();
        const other = new Tabs(name);
        other.post({ kind: "state" });
        await isErased(companion, name);
        other.close();
        companion.close();
    },

    /** A tab or a worker with running operations that has not yet received the event. */
    async runningOperationsStoreNothingAfterTheErasure() {
        const { household, companion, name } = await paired();
        const other = await Companion.open({ name, time: quick });
        const late = await CompanionStore.open(() => {}, name);
        const [row] = await companion.device.store.records("notes");
        await household.append(household.computer, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        equal(await refusal(() => late.write({ records: [row] })), "revoked", "a record");
        equal(await refusal(() => late.beginComparing(0, [], { facts: { cursor: 7 } })), "revoked",
            "storing what a restored hub lost");
        equal(await refusal(() => late.putPieces("a".repeat(32), new Uint8Array(10))), "revoked", "storing a photo");
        equal(await counts(name), nothing, "stored values");
        await eventually(() => other.state === "revoked", "the other tab shows it");
        equal(other.syncLoop.connection, "off", "the other tab's connection");
        late.close();
        other.close();
        companion.close();
    },

    async anInterruptedErasureIsFinishedAtTheNextStart() {
        const { household, companion, name } = await paired();
        companion.close();
        await household.append(household.computer, unhex(household.phone.id), revoke);
        // The roster was stored, and then the browser was closed.
        const store = await CompanionStore.open(() => {}, name);
        await store.write({ facts: { roster: household.entries } });
        store.close();
        household.overrides["GET /v1/roster"] = () => new Promise(() => {});
        const again = await Companion.open({ name, time: quick });
        await isErased(again, name);
        again.close();
    },

    async aRevokedPhoneCanBePairedAgain() {
        const { household, companion, name } = await paired();
        await household.append(household.computer, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        const former = household.phone.id;
        household.overrides = {};
        await companion.pair(household.link(), "phone again");
        await companion.setPIN("735102");
        await eventually(() => companion.syncLoop.connection === "live", "live");
        expect(companion.device.paired.device !== former, "another device");
        equal((await companion.notes.list()).notes.map(({ title }) => title), ["at the hub"], "notes of the hub");
        companion.close();
    },

    async aPhonePairedAgainInOneTabIsNotErasedByAnother() {
        const { household, companion, name } = await paired();
        const other = await Companion.open({ name, time: quick });
        await household.append(household.computer, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        await eventually(() => other.state === "revoked", "the other tab shows it");
        await refusal(() => other.pair("https://hub.made/#pair=x", "phone"));
        equal(await other.device.store.fact(revokedFact, false), true,
            "the stored revocation after opening another link");
        household.overrides = {};
        await companion.pair(household.link(), "phone again");
        await companion.setPIN("735102");
        await eventually(() => other.state === "locked", "the other tab detects the pairing");
        equal(other.syncLoop.connection, "other", "the other tab's connection");
        equal(await refusal(() => other.pair(household.link(), "phone")), "alreadyPaired", "pairing in the other tab");
        expect((await counts(name)).facts > 1, "data is stored");
        for (const one of [other, companion]) one.close();
    },

    async aRevokedPhoneCanBePairedToAnotherHousehold() {
        const { household, companion, name } = await paired();
        await household.append(household.computer, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        equal([companion.device.roster.number, companion.device.statusKeys.size], [0, 0],
            "roster and status keys in memory");
        equal(await refusal(() => companion.device.hub.household()), "notPaired", "no token");
        // The roster of that household is shorter.
        const next = await FakeHousehold.make();
        next.serve();
        await companion.pair(next.link(), "phone");
        await companion.setPIN("735102");
        await eventually(() => companion.syncLoop.connection === "live", "live");
        equal(companion.device.roster.household, next.id, "the roster's household");
        companion.close();
    },
};
