// Keys that arrive while AppLocker is locked, or while another tab changes those in memory: a record of keys is stored
// with its keys or not at all.
import { randomBytes, randomID } from "/crypto/bytes.js";
import { KeyRing, ringKind } from "/crypto/ring.js";
import { changeDrawer, openDrawer } from "/household/private-storage.js";
import { StoreError } from "/store/errors.js";
import { equal, eventually, expect } from "./harness.js";
import { FakeHousehold, pairedCompanion } from "./fake-household.js";
import { quick } from "./restorable-household.js";

const pin = "735102";

/** Calls `body` before the first call of a method, which waits for it. */
function before(object, method, body, isMeant = () => true) {
    const original = object[method];
    object[method] = async function (...rest) {
        if (isMeant(...rest)) {
            delete object[method];
            await body();
        }
        return original.apply(this, rest);
    };
}

/**
 * A phone receives keys of a second epoch. `once` arranges what happens meanwhile; afterwards the phone has the keys,
 * in memory and stored.
 * @param {(companion: any) => void} once
 */
async function receivedKeys(once) {
    const household = await FakeHousehold.make();
    const { companion } = await pairedCompanion(household, { pin, time: quick });
    const { device } = companion;
    once(companion);
    household.statusKeys.push(randomBytes(32));
    household.store(await household.keysFor(household.phone, { revision: 2 }));
    await eventually(async () => (await device.store.sequence("cursor")) === household.records.at(-1).sequence,
        "the record is ingested, or deferred");
    // Until the batch is complete.
    await device.tabs.exclusive("take", async () => {});
    if (companion.state === "locked") await companion.unlockWithPIN(pin);
    equal((await device.store.record(`keys/${household.phone.id}`)).record.revision, 2, "the stored revision");
    const { content } = await openDrawer(device, device.keys.rootKey);
    for (const [where, ring] of Object.entries({ stored: content.ring, "in memory": device.keys.ring })) {
        for (const [index, sent] of household.statusKeys.entries()) {
            const key = ring.key(ringKind.status, household.id, index + 1);
            equal(key && [...key], [...sent], `status key ${index + 1}, ${where}`);
        }
    }
    equal((await device.store.statusKeys()).map(({ epoch }) => epoch), [1, 2], "status keys for a locked phone");
    return { companion, household, ring: content.ring };
}

/** Runs between the reading of the keys and the change of the stored ones. */
const onceRead = ({ device }, body) => before(device, "openStatusKeys", body);

/** Runs while the change of the stored keys waits for its lock. */
const onceStoring = ({ device }, body) => before(device.tabs, "exclusive", body, (what) => what === "drawer");

export const tests = {
    async aRecordThatArrivesBeforeItsKeyIsReadOnceTheKeyIsThere() {
        const household = await FakeHousehold.make();
        const { companion } = await pairedCompanion(household, { pin, time: quick });
        const { store } = companion.device;
        household.statusKeys.push(randomBytes(32));
        const event = await household.sealed("events", randomID(), household.event("Under the key that comes later."));
        household.store(event);
        await eventually(async () => (await store.deferred()).length === 1, "the event is deferred");
        household.store(await household.keysFor(household.phone, { revision: 2 }));
        await eventually(async () => await store.record(`events/${event.id}`), "the event is read");
        equal((await store.deferred()).length, 0, "deferred records");
        companion.close();
    },

    async keysAreStoredIfAppLockerIsLockedMeanwhile() {
        for (const once of [onceRead, onceStoring]) {
            const { companion } = await receivedKeys((phone) => once(phone, () => phone.lock()));
            companion.close();
        }
    },

    async keysAreStoredIfAppLockerIsLockedAndUnlockedMeanwhile() {
        for (const once of [onceRead, onceStoring]) {
            const { companion } = await receivedKeys((phone) => once(phone, async () => {
                phone.lock();
                await phone.unlockWithPIN(pin);
            }));
            companion.close();
        }
    },

    async keysAreStoredIfAnotherTabChangesThoseInMemoryMeanwhile() {
        for (const once of [onceRead, onceStoring]) {
            const { companion } = await receivedKeys((phone) => once(phone, () => phone.device.load()));
            companion.close();
        }
    },

    async keysThatAnotherTabStoredMeanwhileAreKept() {
        const theirs = { kind: ringKind.vault, vault: randomID(), epoch: 1, key: randomBytes(32) };
        for (const isLoaded of [true, false]) {
            const { companion, ring } = await receivedKeys((phone) => onceRead(phone, async () => {
                await changeDrawer(phone.device, phone.device.keys.rootKey, (content) => {
                    content.ring = KeyRing.copying([...content.ring.entries, theirs]);
                });
                if (isLoaded) await phone.device.load();
            }));
            for (const known of [ring, companion.device.keys.ring]) {
                equal([...(known.key(theirs.kind, theirs.vault, 1) ?? [])], [...theirs.key], "the other tab's key");
            }
            companion.close();
        }
    },

    async keysThatCouldNotBeStoredAreNotInMemory() {
        let after;
        const { companion, household } = await receivedKeys((phone) => {
            const { store } = phone.device;
            before(store, "write", async () => {
                before(phone.syncLoop.backoff, "next", () => {
                    after = phone.device.keys.ring.entries.map(({ kind, epoch }) => `${kind} ${epoch}`);
                });
                throw new StoreError("full", "The storage is full.");
            }, (change) => change.keys !== undefined);
        });
        expect(after, "the connection was closed");
        equal(after.includes("4 2"), false, "the second status key is in memory");
        expect(household.requests.filter(({ route }) => route === "GET /v1/records").length > 1, "it was read again");
        companion.close();
    },
};
