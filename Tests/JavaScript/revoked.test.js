// A companion erases itself where a computer's signature proves that it was revoked, and for no other reason.
import { base64, unhex } from "/crypto/bytes.js";
import { Companion } from "/session/companion.js";
import { systemTime } from "/hub/time.js";
import { CompanionStore, revokedFact } from "/store/store.js";
import { Tabs } from "/store/tabs.js";
import { eventually, equal, expect, refusal } from "./harness.js";
import { MadeHousehold, madeDevice, pairedCompanion, refusing } from "./made-household.js";

const quick = { ...systemTime, sleep: (milliseconds, signal) => systemTime.sleep(Math.min(milliseconds, 20), signal) };
const revoke = 2;
const routes = ["GET /v1/records", "POST /v1/records",
    "GET /v1/stream", "GET /v1/devices", "GET /v1/device", "GET /v1/pin-share", "POST /v1/pin-share"];

/** Its hub refuses the token from now on, and serves the list of devices alone. */
function refuseToken(household) {
    for (const route of routes) household.instead[route] = refusing("unauthorized", 401);
    household.cut();
}

/** A phone with a note that the hub has and one that it does not take. */
async function paired() {
    const household = await MadeHousehold.make();
    const { companion, name } = await pairedCompanion(household, { time: quick });
    household.store(await household.note("at the hub"));
    await eventually(async () => (await companion.notes.list()).notes.length === 1, "a note");
    household.instead["POST /v1/records"] = (_, body) =>
        ({ outcomes: JSON.parse(body).records.map(() => ({ error: { code: "quota_exceeded", message: "Full." } })) });
    await companion.notes.save(null, { title: "here alone", body: "" });
    return { household, companion, name };
}

/** How many things each store of a database has. */
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
    await eventually(() => companion.state === "revoked", "it is revoked");
    equal(await counts(name), nothing, "what is kept");
    equal(await companion.device.store.fact(revokedFact, false), true, "that it was revoked");
    equal([companion.device.facts, companion.device.unlocked, companion.syncLoop.connection], [null, null, "off"],
        "keys and connection");
    equal(localStorage.getItem(`applocker-device/${name}`), null, "the mark");
}

/** Asked again, and refused, by now; and everything is there as before. */
async function nothingIsErased(companion) {
    await eventually(() => companion.syncLoop.connection === "removed", "refused");
    equal(companion.state, "unlocked", "state");
    equal((await companion.notes.list()).notes.map(({ title }) => title).sort(), ["at the hub", "here alone"], "notes");
    companion.close();
}

export const tests = {
    async whatAComputerSignedErasesEverything() {
        const { household, companion, name } = await paired();
        const vault = `${name}/shared`;
        (await CompanionStore.open(() => {}, vault)).close();
        const { ring, rootKey } = companion.device.unlocked;
        const keys = [rootKey, ...ring.entries.map(({ key }) => key)];
        await household.append(household.computer, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        expect(keys.every((key) => key.every((byte) => byte === 0)), "keys in memory are wiped");
        expect(!(await indexedDB.databases()).some((database) => database.name === vault), "shared vaults");
        companion.close();
        const again = await Companion.open({ name, time: quick });
        equal(again.state, "revoked", "after the next start");
        await again.remove();
        equal([again.state, await counts(name)], ["new", { ...nothing, facts: 0 }], "to be paired again");
        again.close();
    },

    /** Computers are equals: the phone was paired at another one. */
    async whatASecondComputerSignedErasesEverything() {
        const { household, companion, name } = await paired();
        const laptop = await madeDevice();
        await household.append(household.computer, household.admit(laptop, 1));
        await household.append(laptop, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        companion.close();
    },

    async aLockedPhoneErasesItselfWhileItIsOpened() {
        const { household, companion, name } = await paired();
        companion.close();
        await household.append(household.computer, unhex(household.phone.id), revoke);
        for (const route of routes) household.instead[route] = refusing("unauthorized", 401);
        const again = await Companion.open({ name, time: quick });
        equal(again.state, "locked", "locked");
        await isErased(again, name);
        again.close();
    },

    async aRefusalAloneErasesNothing() {
        const { household, companion } = await paired();
        household.instead["GET /v1/roster"] = refusing("unauthorized", 401);
        refuseToken(household);
        await nothingIsErased(companion);
    },

    async aListThatNoComputerOfThisHouseholdSignedErasesNothing() {
        const stranger = await madeDevice();
        const forgeries = {
            stranger: (household) => household.append(stranger, unhex(household.phone.id), revoke),
            companion: async (household) => {
                const other = await madeDevice();
                await household.append(household.computer, household.admit(other, 2));
                await household.append(other, unhex(household.phone.id), revoke);
            },
            revokedComputer: async (household) => {
                const laptop = await madeDevice();
                await household.append(household.computer, household.admit(laptop, 1));
                await household.append(household.computer, unhex(laptop.id), revoke);
                await household.append(laptop, unhex(household.phone.id), revoke);
            },
            // The hub has the keys of another household, and this phone in it.
            anotherList: async (household) => {
                const other = await MadeHousehold.make();
                await other.append(other.computer, other.admit(household.phone, 2));
                await other.append(other.computer, unhex(household.phone.id), revoke);
                household.instead["GET /v1/roster"] = () => ({ entries: other.entries.slice(1).map(base64) });
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
     * The only way in which a hub has a phone erased: a computer that was revoked, and has not forgotten its key, helps
     * it.
     */
    async aRevokedComputerErasesAPhoneThatDoesNotKnowOfItsRevocation() {
        for (const knowsOfIt of [true, false]) {
            const { household, companion, name } = await paired();
            const laptop = await madeDevice();
            await household.append(household.computer, household.admit(laptop, 1));
            await companion.device.followRoster();
            // Two lists with one beginning: the honest one, and the laptop's, which the hub serves afterwards.
            const { entries, head } = household;
            household.entries = [...entries];
            await household.append(household.computer, unhex(laptop.id), revoke);
            if (knowsOfIt) await companion.device.followRoster();
            Object.assign(household, { entries: [...entries], head });
            await household.append(laptop, unhex(household.phone.id), revoke);
            refuseToken(household);
            if (knowsOfIt) {
                await eventually(async () => (await companion.report()).misbehaviour.length === 1,
                    "the other list is reported");
                equal([companion.state, (await companion.notes.list()).notes.length], ["unlocked", 2],
                    "everything is there");
            } else {
                await isErased(companion, name);
                equal(household.records.filter(({ collection }) => collection === "notes").length, 1,
                    "what was not sent is lost");
            }
            companion.close();
        }
    },

    async theRevocationOfAnotherDeviceErasesNothing() {
        const { household, companion, name } = await paired();
        const tab = await Companion.open({ name, time: quick });
        let told = 0;
        tab.device.events.addEventListener("roster", () => (told += 1));
        const other = await madeDevice();
        await household.append(household.computer, household.admit(other, 2));
        await household.append(household.computer, unhex(other.id), revoke);
        refuseToken(household);
        await nothingIsErased(companion);
        equal(companion.device.roster.number, 4, "the list was followed");
        await eventually(() => told === 1 && tab.device.roster.number === 4,
            "another tab learns of it, for its shared vaults");
        tab.close();
    },

    async aRejectedPhoneKeepsRequestingTheProof() {
        const { household, companion, name } = await paired();
        refuseToken(household);
        household.instead["GET /v1/roster"] = () => Promise.reject(new TypeError("no network"));
        await eventually(() => companion.syncLoop.connection === "waiting", "no network");
        delete household.instead["GET /v1/roster"];
        await eventually(() => companion.syncLoop.connection === "removed", "refused");
        await household.append(household.computer, unhex(household.phone.id), revoke);
        await isErased(companion, name);
        companion.close();
    },

    async aPhoneThatWasRefusedOnceIsLiveAgain() {
        const { household, companion } = await paired();
        refuseToken(household);
        await eventually(() => companion.syncLoop.connection === "removed", "refused");
        household.instead = {};
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

    /** The other one followed the list, and ended before it erased anything. */
    async aTabErasesWhatAnotherOneFollowed() {
        const { household, companion, name } = await paired();
        household.instead["GET /v1/roster"] = () => new Promise(() => {});
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

    /** A tab or a worker that was at work, and has not been told yet. */
    async nothingIsKeptByWhatWasAtWorkMeanwhile() {
        const { household, companion, name } = await paired();
        const other = await Companion.open({ name, time: quick });
        const late = await CompanionStore.open(() => {}, name);
        const [row] = await companion.device.store.records("notes");
        await household.append(household.computer, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        equal(await refusal(() => late.write({ records: [row] })), "revoked", "a record");
        equal(await refusal(() => late.beginComparing(0, [], { facts: { cursor: 7 } })), "revoked",
            "what a restored hub lost");
        equal(await refusal(() => late.putPieces("a".repeat(32), new Uint8Array(10))), "revoked", "a photo");
        equal(await counts(name), nothing, "what is kept");
        await eventually(() => other.state === "revoked", "the other tab shows it");
        equal(other.syncLoop.connection, "off", "and follows no more");
        late.close();
        other.close();
        companion.close();
    },

    async anErasureThatWasCutOffIsFinishedAtTheNextStart() {
        const { household, companion, name } = await paired();
        companion.close();
        await household.append(household.computer, unhex(household.phone.id), revoke);
        // The list was followed, and the browser ended.
        const store = await CompanionStore.open(() => {}, name);
        await store.write({ facts: { roster: household.entries } });
        store.close();
        household.instead["GET /v1/roster"] = () => new Promise(() => {});
        const again = await Companion.open({ name, time: quick });
        await isErased(again, name);
        again.close();
    },

    async aRevokedPhoneIsPairedAgain() {
        const { household, companion, name } = await paired();
        await household.append(household.computer, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        const former = household.phone.id;
        household.instead = {};
        await companion.pair(household.link(), "phone again");
        await companion.setPIN("735102");
        await eventually(() => companion.syncLoop.connection === "live", "live");
        expect(companion.device.paired.device !== former, "another device");
        equal((await companion.notes.list()).notes.map(({ title }) => title), ["at the hub"], "what the hub has");
        companion.close();
    },

    async aPhoneThatOneTabPairedAgainIsErasedByNoOther() {
        const { household, companion, name } = await paired();
        const other = await Companion.open({ name, time: quick });
        await household.append(household.computer, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        await eventually(() => other.state === "revoked", "the other tab shows it");
        await refusal(() => other.pair("https://hub.made/#pair=x", "phone"));
        equal(await other.device.store.fact(revokedFact, false), true, "another link changes nothing");
        household.instead = {};
        await companion.pair(household.link(), "phone again");
        await companion.setPIN("735102");
        await eventually(() => other.state === "locked", "the other tab knows of it");
        equal(other.syncLoop.connection, "other", "and follows where this one ends");
        equal(await refusal(() => other.pair(household.link(), "phone")), "alreadyPaired", "a link in the other tab");
        expect((await counts(name)).facts > 1, "everything is there");
        for (const one of [other, companion]) one.close();
    },

    async aRevokedPhoneIsPairedToAnotherHousehold() {
        const { household, companion, name } = await paired();
        await household.append(household.computer, unhex(household.phone.id), revoke);
        refuseToken(household);
        await isErased(companion, name);
        equal([companion.device.roster.number, companion.device.statusKeys.size], [0, 0], "what is in memory");
        equal(await refusal(() => companion.device.hub.household()), "notPaired", "no token");
        // Its list of devices is shorter.
        const next = await MadeHousehold.make();
        next.serve();
        await companion.pair(next.link(), "phone");
        await companion.setPIN("735102");
        await eventually(() => companion.syncLoop.connection === "live", "live");
        equal(companion.device.roster.household, next.id, "its household");
        companion.close();
    },
};
