// Two PINs open two vaults, and nothing distinguishes one from the other.
import { Companion } from "/session/companion.js";
import { randomBytes } from "/crypto/bytes.js";
import { ringKind } from "/crypto/ring.js";
import { followReminders } from "/features/notifications/reminders.js";
import { eventually, equal, expect, refusal } from "./harness.js";
import { decoy, paired, real, reopened, sent, settled, titles, withDecoy } from "./decoy-household.js";
import { refusing } from "./fake-household.js";

/** Counts the page's calls of WebCrypto. */
function counting() {
    const counts = {};
    const { subtle } = crypto;
    const originals = {};
    for (const name of ["deriveBits", "decrypt", "encrypt", "importKey", "digest", "sign"]) {
        originals[name] = subtle[name];
        Object.defineProperty(subtle, name, {
            configurable: true, value: (...args) => {
                const algorithm = name === "importKey" ? args[2] : args[0];
                const key = `${name} ${algorithm.name ?? algorithm}`;
                counts[key] = (counts[key] ?? 0) + 1;
                return originals[name].apply(subtle, args);
            },
        });
    }
    return { counts, stop: () => Object.keys(originals).forEach((name) => delete subtle[name]) };
}

/** The size of a stored value, in bytes. */
function sizeOf(value) {
    if (value instanceof Uint8Array) return value.length;
    if (Array.isArray(value)) return value.map(sizeOf);
    if (value && typeof value === "object" && !(value instanceof CryptoKey)) {
        return Object.fromEntries(Object.entries(value)
            .map(([name, one]) => [/^[0-9a-f]{32}$/.test(name) ? "id" : name, sizeOf(one)]));
    }
    return typeof value;
}

/** The values of a database; facts have their names. `isLeftOut` selects other values to skip. */
async function everything(name, isLeftOut = () => false) {
    const database = await new Promise((resolve, reject) => {
        const request = indexedDB.open(name);
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
    const read = (store, method) => new Promise((resolve) => {
        const request = database.transaction(store).objectStore(store)[method]();
        request.onsuccess = () => resolve(request.result);
    });
    const found = {};
    for (const store of database.objectStoreNames) {
        const [keys, values] = [await read(store, "getAllKeys"), await read(store, "getAll")];
        const rows = keys.map((key, index) => [store === "facts" ? key : "", values[index]]);
        found[store] = rows.filter(([key, value]) => key !== "" || !isLeftOut(value))
            .map(([key, value]) => [key, sizeOf(value)]);
    }
    database.close();
    return found;
}

export const tests = {
    async eachPINOpensOnlyItsOwnVault() {
        const { companion, household } = await withDecoy();
        await companion.notes.save(null, { title: "the real one", body: "" });
        await companion.moments.save(null, { title: "really", words: "", date: 1 });
        await companion.privateStorage.set("small", { since: "2019-06-01" });
        await (await companion.dates()).save(null, { name: "the real one", day: "2019-06-01", yearly: true });
        await (await companion.dates()).setTogether("2019-06-01");
        await sent(companion);
        expect(await companion.decoy.isSet(), "a decoy PIN is set");
        await reopened(companion, decoy);
        equal(await companion.notes.list(), { notes: [], unreadable: 0 }, "notes");
        equal(await companion.moments.list(), { moments: [], unreadable: 0 }, "moments");
        equal([await companion.privateStorage.get("small"), await companion.decoy.isSet()], [null, false],
            "private values, and whether a decoy is set");
        const dates = await companion.dates();
        equal(await dates.list(), { together: null, dates: [], hidden: 0, unreadable: 0 }, "dates");
        await dates.setTogether("2001-01-01");
        const note = await companion.notes.save(null, { title: "a harmless one", body: "" });
        await companion.moments.save(null, { title: "harmless", words: "", date: 2 });
        expect(note.vault !== household.vault, "the decoy's vault differs from the real one");
        await sent(companion);
        equal(["notes", "moments"]
            .map((kind) => household.records.filter(({ vault, collection }) =>
                vault === note.vault && collection === kind).length),
            [1, 1], "records at the hub");
        equal(await titles(companion), ["a harmless one"], "notes of the decoy");
        const foreign = household.records.find(({ vault, collection }) =>
            vault === household.vault && collection === "notes");
        equal(await refusal(() => companion.notes.read(foreign.id)), "notFound", "a note of the other vault");
        await reopened(companion, real);
        equal([await titles(companion), (await companion.notes.list()).unreadable], [["the real one"], 0], "notes");
        equal((await companion.moments.list()).moments.map(({ title }) => title), ["really"], "moments");
        equal((await companion.moments.list()).unreadable, 0, "unreadable moments");
        const all = await (await companion.dates()).list();
        equal([all.together?.day, all.dates.map(({ name }) => name), all.unreadable],
            ["2019-06-01", ["the real one"], 0], "dates");
        equal((await companion.privateStorage.get("small")).since, "2019-06-01", "private values");
        companion.close();
    },

    async bothPINsShowTheSameHousehold() {
        const { companion, household } = await withDecoy();
        household.store(await household.sealed("events", "ab".repeat(16), household.event("blocked")));
        await eventually(async () => (await companion.household.alerts()).length === 1, "an alert");
        const seen = async () => [await companion.household.computers(),
            await companion.household.alerts(), await companion.household.devices()];
        const before = await seen();
        await reopened(companion, decoy);
        equal(await seen(), before, "computers, alerts and devices");
        // A command is sealed and signed as with the real PIN.
        companion.commands.send(household.computer.id, { lockAll: {} }).catch(() => {});
        await eventually(() => household.records.some(({ collection }) => collection === "commands"), "the command");
        const command = household.records.find(({ collection }) => collection === "commands");
        equal([command.author, command.epoch], [household.phone.id, 1], "author and epoch of a command");
        companion.close();
    },

    async bothPINsCauseTheSameWork() {
        const all = await withDecoy();
        const { companion } = all;
        await companion.setPIN(real);
        await settled(all);
        const work = {};
        const times = { [real]: [], [decoy]: [] };
        for (let round = 0; round < 9; round += 1) {
            for (const pin of round % 2 ? [real, decoy] : [decoy, real]) {
                companion.lock();
                const { counts, stop } = counting();
                const start = performance.now();
                const { unlockWithPIN } = await import("/household/unlock.js");
                await unlockWithPIN(companion.device, pin);
                times[pin].push(performance.now() - start);
                stop();
                work[pin] ??= counts;
                equal(counts, work[pin], "each time");
            }
        }
        equal(work[decoy], work[real], "work");
        equal(work[real]["deriveBits PBKDF2"], 1, "derivations of a key from the PIN");
        const sorted = Object.fromEntries(Object.entries(times)
            .map(([pin, all]) => [pin, all.sort((one, two) => one - two).map((time) => Math.round(time))]));
        console.log(
            `unlocking, ms: real ${sorted[real].join(" ")}; decoy ${sorted[decoy].join(" ")}; `
                + `${JSON.stringify(work[real])}`);
        companion.close();
    },

    async bothPINsSendTheSameRequests() {
        const all = await withDecoy();
        const { companion, household } = all;
        const { defaultResponse } = household;
        household.defaultResponse = async (route, ...args) =>
            (route === "POST /v1/push/messages"
                ? { subscriptions: 1 }
                : defaultResponse.call(household, route, ...args));
        // Other devices are notified of both.
        await companion.audit.setAlerts(["unlocked"]);
        await settled(all);
        const sentRequests = {};
        for (const pin of [real, decoy, real, decoy]) {
            companion.lock();
            household.requests = [];
            await companion.unlockWithPIN(pin);
            // The last request of an unlock; later ones are not part of it.
            await eventually(() => household.requests.some(({ route }) => route === "POST /v1/push/messages"),
                "a push is sent");
            await companion.confirmWithPIN(pin);
            await settled(all);
            const requests = household.requests.map(({ route, size }) => [route, size]);
            sentRequests[pin] ??= requests;
            equal(requests, sentRequests[pin], "requests of each unlock");
        }
        expect(sentRequests[real].length >= 2, "unlocking sends requests");
        equal(sentRequests[decoy], sentRequests[real], "requests and their sizes");
        companion.close();
    },

    async eachPINSendsAReminderListOfItsOwnWithEachUnlock() {
        const all = await withDecoy();
        const { companion, household } = all;
        const { defaultResponse } = household;
        const lists = [];
        household.defaultResponse = async (route, url, body, signal) => {
            if (route !== "PUT /v1/push/reminders") return defaultResponse.call(household, route, url, body, signal);
            lists.push(body);
            return undefined;
        };
        await companion.settings.set("wantsPush", true);
        const update = followReminders(companion);
        const sentBy = async (pin) => {
            lists.length = 0;
            await reopened(companion, pin);
            await update();
            return lists.map(({ list, reminders }) => [list, reminders.map(({ at, content }) => [at, content.length])]);
        };
        const [[own]] = [await sentBy(real), await sentBy(decoy)];
        const tomorrow = new Date(Date.now() + 86_400_000 - new Date().getTimezoneOffset() * 60_000);
        const date = { name: "x", day: tomorrow.toISOString().slice(0, 10), yearly: true };
        await (await companion.dates()).save(null, date);
        await eventually(() => lists.length > 0, "the list after a change");
        const [found, others] = [await sentBy(decoy), await sentBy(real)];
        equal([found.length, others.length], [1, 1], "requests of each unlock");
        equal(others, [own], "the real PIN's list, without the decoy's date");
        expect(found[0][0] !== own[0], "the lists have different ids");
        equal(found[0][1].map(([, length]) => length), [60], "44 bytes in base64");
        await companion.decoy.remove();
        equal(lists.at(-1), { list: found[0][0], reminders: [] }, "the decoy's list is removed with it");
        companion.close();
    },

    async theHubCountsBothPINsAlike() {
        const { companion, household } = await withDecoy();
        const counted = async (pins) => {
            companion.lock();
            const counts = [];
            for (const pin of pins) {
                companion.lock();
                await companion.unlockWithPIN(pin).catch(() => {});
                counts.push(household.failures);
            }
            return counts;
        };
        const wrong = "318246";
        equal(await counted([wrong, wrong, real, wrong, real]), [1, 2, 0, 1, 0], "right ones");
        equal(await counted([wrong, wrong, decoy, wrong, decoy]), [1, 2, 0, 1, 0], "decoys");
        await reopened(companion, real);
        household.requests = [];
        equal(await refusal(() => companion.confirmWithPIN(decoy)), "wrongPIN", "confirming with the other PIN");
        equal(household.requests.filter(({ route }) => route.includes("pin-share")).map(({ route }) => route),
            ["POST /v1/pin-share/attempt"], "requests");
        companion.close();
    },

    async storageLooksTheSameWithAndWithoutADecoy() {
        const found = [];
        for (const pin of [null, real, decoy]) {
            const all = await paired();
            const { companion, name } = all;
            if (pin) await companion.decoy.set(decoy);
            await reopened(companion, pin ?? real);
            await settled(all);
            companion.close();
            found.push(await everything(name));
        }
        expect(found[0].facts.some(([name]) => name === "drawers"), "searched");
        equal(found[1], found[0], "names and sizes, with a decoy");
        equal(found[2], found[0], "names and sizes, after opening the decoy");
    },

    /**
     * docs/threat-model.md, "A decoy PIN": a person with a copy of the storage and the decoy PIN identifies the decoy's
     * vault.
     */
    async aCopyOfTheStorageRevealsADecoyOnlyByAnotherVaultsIDs() {
        const [vaults, rest] = [[], []];
        for (const isBehindADecoy of [false, true]) {
            const all = await (isBehindADecoy ? withDecoy() : paired());
            const { companion, household, name } = all;
            // The stream does not return what is written: stream and response race, and storage shows which one won.
            household.streams = [];
            for (const pin of isBehindADecoy ? [real, decoy] : [real]) {
                await reopened(companion, pin);
                await companion.notes.save(null, { title: "a note", body: "" });
                await companion.moments.save(null, { title: "a moment", words: "", date: 1 });
            }
            await settled(all);
            const { store, keys } = companion.device;
            const known = [household.id, ...keys.ring.entries.map(({ vault }) => vault)];
            const isForeign = (value) => value.record !== undefined && !known.includes(value.record.vault);
            const rows = (await Promise.all(["audit", "moments", "notes"]
                .map((collection) => store.records(collection)))).flat();
            vaults.push(rows.filter(isForeign).map(({ collection }) => collection));
            const databases = (await indexedDB.databases()).filter((database) => database.name.startsWith(name));
            rest.push([await everything(name, isForeign), databases.length]);
            companion.close();
        }
        equal(vaults, [[], ["audit", "moments", "notes"]], "records of another vault");
        equal(rest[1], rest[0], "names and sizes of everything else, without and with a decoy");
    },

    async aDecoyHasNoKeyForRecordsSealedToTheDevice() {
        const { companion, household } = await withDecoy();
        await reopened(companion, decoy);
        const { ring } = companion.device.keys;
        equal(ring.entries.map(({ kind, epoch }) => [kind, epoch]),
            [[ringKind.vault, 1], [ringKind.device, 3], [ringKind.device, 4]],
            "its vault's key, its signing key, and an unused one");
        expect(ring.entries[0].vault !== household.vault, "the vault key is the decoy's");
        household.statusKeys.push(randomBytes(32));
        household.store(await household.keysFor(household.phone, { revision: 2 }));
        household.store(await household.sealed("events", "cd".repeat(16), household.event("later"), { epoch: 2 }));
        await eventually(async () => (await companion.device.store.deferred()).length === 2,
            "both records wait for their key");
        equal((await companion.report()).deferred, 0, "waiting records that are reported");
        await reopened(companion, decoy);
        equal([(await companion.device.store.deferred()).length, (await companion.report()).deferred], [2, 0],
            "records that stay pending");
        await reopened(companion, real);
        equal((await companion.device.store.deferred()).length, 0, "waiting records with the real PIN");
        await reopened(companion, decoy);
        equal((await companion.household.alerts()).map(({ sentence }) => sentence), ["later"],
            "alerts that both PINs read");
        companion.close();
    },

    async unsentChangesAreNotShownInTheOtherVault() {
        const { companion, household } = await withDecoy();
        household.overrides["POST /v1/records"] = refusing("unavailable", 503);
        await companion.notes.save(null, { title: "waits", body: "" });
        equal((await companion.report()).waiting, 1, "unsent changes");
        await reopened(companion, decoy);
        equal([(await companion.report()).waiting, (await companion.report()).failed], [0, 0],
            "unsent and failed changes in the other vault");
        delete household.overrides["POST /v1/records"];
        await companion.notes.save(null, { title: "mine", body: "" });
        await sent(companion);
        equal(household.records.filter(({ collection }) => collection === "notes").length, 2, "notes at the hub");
        companion.close();
    },

    async aConflictWaitsForTheVaultThatCanOpenIt() {
        const { companion, household } = await withDecoy();
        const note = await companion.notes.save(null, { title: "one", body: "" });
        await sent(companion);
        household.overrides["POST /v1/records"] = refusing("unavailable", 503);
        await companion.notes.save(note, { title: "mine", body: "" });
        household.store(await household.note("theirs", { id: note.id, revision: 2 }));
        await reopened(companion, decoy);
        delete household.overrides["POST /v1/records"];
        await companion.refresh();
        await eventually(async () => (await companion.device.store.waiting()).some(({ conflict }) => conflict),
            "the conflict waits");
        equal(await titles(companion), [], "notes of the other vault");
        await reopened(companion, real);
        await eventually(async () => (await titles(companion)).length === 2, "two notes are listed");
        equal(await titles(companion), ["mine (conflict, phone)", "theirs"], "both versions");
        companion.close();
    },

    async aPasskeyOpensTheVaultThatItWasAddedIn() {
        const { companion } = await withDecoy();
        await companion.notes.save(null, { title: "real", body: "" });
        const passkey = { credential: randomBytes(16), salt: randomBytes(32) };
        await companion.addPasskey(passkey, new Uint8Array(32).fill(5));
        await reopened(companion, decoy);
        expect((await companion.passkey()) !== null, "a passkey is set in both vaults");
        await companion.confirmWithPasskey(new Uint8Array(32).fill(5));
        equal(await titles(companion), [], "notes of the decoy, after confirming with the passkey");
        companion.lock();
        await companion.unlockWithPasskey(new Uint8Array(32).fill(5));
        equal(await titles(companion), ["real"], "notes of the real vault");
        companion.close();
    },
};
