// A companion with a real hub and a real computer. The tests run in this order; `computer` runs commands there.
import { openEnvelope } from "/crypto/envelope.js";
import { Companion } from "/session/companion.js";
import { KeySlots } from "/crypto/slots.js";
import { eventually, equal, expect, refusal } from "./harness.js";

const pin = "735102";
/** @type {Companion} */
let companion;
let den = "";
let note;
const computer = (...words) => window.computer(words);

async function appNamed(name) {
    return (await companion.household.apps(den)).find((app) => app.name === name);
}

async function noteAtComputer(title) {
    return JSON.parse(await computer("show", title));
}

export const tests = {
    async isPairedByALink() {
        companion = await Companion.open();
        equal(companion.state, "new", "state");
        equal(await refusal(() => companion.pair("https://hub.example/#pair=AQAA", "phone")), "malformed",
            "a broken link");
        let hasAsked = false;
        await companion.pair(await computer("pair"), "Anna's tablet", { waiting: () => (hasAsked = true) });
        expect(hasAsked, "the owner confirmed the pairing");
        equal(companion.state, "choosingPIN", "state");
        for (const weak of ["12345", "123456", "654321", "aaaaaa", "121212", "01011990", "qwerty"]) {
            equal(await refusal(() => companion.setPIN(weak)), "weakPIN", weak);
        }
        equal(await companion.device.store.fact("device", null), null, "stored data before a PIN is set");
        await companion.setPIN(pin);
        equal(companion.state, "unlocked", "state");
        await eventually(() => companion.syncLoop.connection === "live", "live");
        await eventually(async () => (await companion.household.computers()).length === 1, "a status");
        const [status] = await companion.household.computers();
        den = status.id;
        expect(status.status.isSetUp && status.vault, "the computer is set up");
        const report = await companion.report();
        equal([report.refused, report.misbehaviour, report.deferred], [0, [], 0], "reports of a correct hub");
        await eventually(async () => (await companion.household.devices())
            .some((device) => device.name === "Anna's tablet" && device.isThis), "the device is listed with its name");
    },

    async showsAnAlert() {
        const start = performance.now();
        await computer("wrong-passcode");
        const sent = performance.now();
        await eventually(async () => (await companion.household.alerts()).some((alert) => alert.kind === "failed"),
            "an alert");
        console.log(
            `alert ${Math.round(performance.now() - sent)} ms after a command of ${Math.round(sent - start)} ms`);
        equal((await companion.household.computers())[0].missingEvents, 0, "missing events");
        const [newest] = await companion.household.alerts();
        await companion.household.hideAlerts([newest.key]);
        expect(!(await companion.household.alerts()).some((alert) => alert.key === newest.key),
            "the alert is dismissed");
        await companion.household.hideAlerts([newest.key], false);
        expect((await companion.household.alerts()).some((alert) => alert.key === newest.key), "shown again");
    },

    async unlocksAndLocksAnApp() {
        await eventually(async () => (await appNamed("diary"))?.state === "locked", "the list of apps is read");
        const { id } = await appNamed("diary");
        const states = [];
        const reply = await companion.commands.send(
            den, { unlockApp: { app: id, grant: { kind: "duration", seconds: 60 } } }, (state) => states.push(state));
        equal([reply.state, states], ["done", ["sent", "received", "done"]], "the command");
        await eventually(async () => (await appNamed("diary")).state === "unlocked", "the app is unlocked");
        expect((await computer("diary-state")).includes("unlocked"), "the app is unlocked at the computer");
        equal((await companion.commands.send(den, { lockApp: { app: id } })).state, "done", "locked again");
        const refused = await companion.commands.send(den, { lockApp: { app: "no such app" } });
        equal(refused.state, "refused", "an unknown app");
        expect(refused.sentence.length > 0 && refused.reason, "the reply has a reason");
    },

    async aClockWrongByAnHourIsCorrected() {
        const { time } = companion.device;
        const lockDiary = { lockApp: { app: (await appNamed("diary")).id } };
        companion.device.time = { ...time, now: () => time.now() - 3_600_000 };
        const reply = await companion.commands.send(den, lockDiary);
        companion.device.time = time;
        equal(reply.state, "done", "the state after one more attempt");
        equal((await companion.commands.send(den, lockDiary)).state, "done", "the state with the correct clock");
    },

    async notesSyncInBothDirections() {
        note = await companion.notes.save(null, { title: "Safe", body: "12-34-56 🔑 <b>" });
        await eventually(async () => (await noteAtComputer("Safe"))?.body === "12-34-56 🔑 <b>", "at the computer");
        await eventually(async () => !(await companion.notes.read(note.id)).isWaiting, "sent");
        await computer("edit", "Safe", "changed at the computer");
        await eventually(async () => (await companion.notes.read(note.id)).body.startsWith("changed at"), "here");
        note = await companion.notes.read(note.id);
        note = await companion.notes.save(note, { title: "Safe", body: "and again" });
        note = await companion.notes.save(note, { title: "Safe", body: "and again, twice" });
        await eventually(async () => (await noteAtComputer("Safe"))?.body === "and again, twice",
            "both changes arrive");
        equal((await companion.notes.list("TWICE safe")).notes.length, 1, "found");
        equal((await companion.notes.list("thrice")).notes.length, 0, "not found");
        const away = await companion.notes.save(null, { title: "Away", body: "" });
        await eventually(async () => await noteAtComputer("Away"), "the note is at the computer");
        const removed = await companion.notes.remove(await companion.notes.read(away.id));
        await eventually(async () => !(await noteAtComputer("Away")), "the note is removed at the computer");
        equal(await refusal(() => companion.notes.read(removed.id)), "notFound", "the removed note");
        await companion.notes.save(removed, { title: "Away", body: "and back" });
        await eventually(async () => (await noteAtComputer("Away"))?.body === "and back",
            "the note is restored at the computer");
    },

    async photosAreTakenShownAndRemoved() {
        const states = [];
        const reply = await companion.commands.send(den, { takePhoto: {} }, (state) => states.push(state));
        equal([reply.state, states], ["done", ["sent", "received", "done"]], "states of the command");
        await eventually(async () => (await companion.intruderPhotos.list()).some(({ id }) => id === reply.record),
            "the photo is listed");
        const photo = (await companion.intruderPhotos.list()).find(({ id }) => id === reply.record);
        expect(photo.computer === den && Date.now() / 1000 - photo.time < 120, "the photo's computer and time");
        expect(photo.size > 65_536, `more than one chunk: ${photo.size}`);
        let picture;
        await eventually(async () => {
            picture = await companion.intruderPhotos.picture(photo.id).catch((error) => {
                if (error.code !== "notFound" && error.code !== "not_found") throw error;
            });
            return picture;
        }, "the picture is downloaded");
        equal(picture.length, photo.size, "the size of the picture");
        const image = await createImageBitmap(new Blob([picture], { type: "image/jpeg" }));
        equal([image.width, image.height], [1920, 1080], "a picture");
        equal((await companion.commands.send(den, { removePhoto: { photo: photo.id } })).state, "done", "removed");
        await eventually(async () => (await companion.intruderPhotos.list()).length === 0, "the photo is removed");
    },

    async subscribesToPushes() {
        const bytes = (count) => btoa(String.fromCharCode(...Array(count).fill(7))).replaceAll("=", "");
        const pair = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
        const point = new Uint8Array(await crypto.subtle.exportKey("raw", pair.publicKey));
        const p256dh = btoa(String.fromCharCode(...point))
            .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
        const hasPush = async () => (await companion.household.devices()).find((device) => device.isThis).atHub.hasPush;
        const endpoint = "https://push.example/x";
        await companion.device.hub.setPush({ endpoint, expirationTime: null, keys: { p256dh, auth: bytes(16) } });
        expect(await hasPush(), "subscribed");
        await companion.device.hub.removePush();
        expect(!(await hasPush()), "unsubscribed");
    },

    async lockingWipesEveryKey() {
        const { rootKey, ring } = companion.device.unlocked;
        const keys = ring.entries.map((entry) => entry.key);
        expect(keys.length >= 4, "there are keys of vault, inbox, status and device");
        companion.lock();
        expect([rootKey, ...keys].every((key) => key.every((byte) => byte === 0)), "wiped");
        for (const operation of [() => companion.notes.list(), () => companion.household.alerts(),
            () => companion.intruderPhotos.list(),
            () => companion.household.computers(), () => companion.commands.send(den, { lockAll: {} }),
            () => companion.notes.save(null, { title: "", body: "" })]) {
            equal(await refusal(operation), "locked", "an operation while locked");
        }
        equal(await refusal(() => companion.unlockWithPIN("000000")), "wrongPIN", "a wrong PIN");
        equal((await companion.pinState()).failures, 1, "wrong PINs counted by the hub");
        await companion.unlockWithPIN(pin);
        equal((await companion.notes.read(note.id)).body, "and again, twice", "the note after unlocking");
    },

    async aPasskeyUnlocksWithoutTheHub() {
        const output = crypto.getRandomValues(new Uint8Array(32));
        await companion.addPasskey({ credential: new Uint8Array(16), salt: new Uint8Array(32) }, output.slice());
        await window.offline(true);
        companion.lock();
        equal(await refusal(() => companion.unlockWithPIN(pin)), "offline", "unlocking with the PIN without the hub");
        equal(await refusal(() => companion.unlockWithPasskey(new Uint8Array(32))), "noPasskey", "another passkey");
        await companion.unlockWithPasskey(output.slice());
        equal((await companion.notes.read(note.id)).body, "and again, twice", "the note after unlocking offline");
        await window.offline(false);
        await companion.removePasskey();
        companion.lock();
        equal(await refusal(() => companion.unlockWithPasskey(output.slice())), "noPasskey", "removed");
        await companion.unlockWithPIN(pin);
    },

    async aNewPINReplacesTheOldOne() {
        await companion.setPIN("correct battery");
        companion.lock();
        equal(await refusal(() => companion.unlockWithPIN(pin)), "wrongPIN", "the PIN from before");
        await companion.unlockWithPIN("correct battery");
        await companion.setPIN(pin);
        companion.lock();
        await companion.unlockWithPIN(pin);
    },

    /** Without the hub's share, the profile and the PIN are not sufficient. */
    async theProfileAloneDecryptsNothing() {
        const { store, facts } = companion.device;
        const gate = await store.fact("gate", null);
        const slots = KeySlots.read(gate.slots);
        const stretched = await slots.stretch(new TextEncoder().encode(pin));
        for (const guess of [new Uint8Array(32), facts.deviceSecret, facts.token]) {
            equal(await slots.open(await slots.kek(stretched, guess)), null, "the root key of a slot");
        }
        const row = await store.record(`notes/${note.id}`);
        const sealed = Uint8Array.from(atob(row.record.sealed), (character) => character.charCodeAt(0));
        for (const { key } of await store.statusKeys()) {
            expect(!key.extractable, "a script can't read a status key");
            equal(await refusal(() => openEnvelope(sealed, row.record, key)), "wrongKey",
                "opening a note with a status key");
        }
    },

    async offlineEditsAreSentLater() {
        await computer("stop-hub");
        await eventually(() => companion.syncLoop.connection === "waiting", "the hub is unreachable");
        note = await companion.notes.save(await companion.notes.read(note.id),
            { title: "Safe", body: "written offline" });
        const fresh = await companion.notes.save(null, { title: "Offline", body: "new" });
        // Without entries of the vault's log.
        const waiting = (await companion.device.store.waiting())
            .map(({ key }) => key).filter((key) => key.startsWith("notes/"));
        equal(waiting.sort(), [note.id, fresh.id].map((id) => `notes/${id}`).sort(), "unsent changes");
        equal((await companion.notes.read(fresh.id)).body, "new", "the body of an unsent note");
        // The app is closed and opened again before it sends.
        companion.close();
        companion = await Companion.open();
        equal(companion.state, "locked", "state");
        await computer("start-hub");
        companion.wake();
        await companion.unlockWithPIN(pin);
        await eventually(async () => (await noteAtComputer("Offline"))?.body === "new", "sent");
        await eventually(async () => (await noteAtComputer("Safe"))?.body === "written offline", "sent");
        await eventually(async () => (await companion.report()).waiting === 0, "all changes are sent");
    },

    async conflictsKeepBothVersions() {
        const before = await companion.notes.read(note.id);
        await window.offline(true);
        await companion.notes.save(before, { title: "Safe", body: "by the phone" });
        await computer("edit", "Safe", "by the computer");
        await window.offline(false);
        companion.wake();
        await eventually(async () => (await companion.notes.list("conflict")).notes.length === 1,
            "a conflict copy exists");
        const [copy] = (await companion.notes.list("conflict")).notes;
        equal([copy.title, copy.body], ["Safe (conflict, Anna's tablet)", "by the phone"], "the conflict copy");
        await eventually(async () => (await companion.notes.read(note.id)).body.startsWith("by the computer"),
            "the computer's");
        await eventually(async () => (await noteAtComputer(copy.title))?.body === "by the phone", "at the computer");
        const { notes, unreadable } = await companion.notes.list("safe");
        equal([notes.length, unreadable], [2, 0], "two");
    },

    async twoTabsSendOnce() {
        const other = await Companion.open();
        equal(other.syncLoop.connection, "other", "the other tab's connection");
        await other.unlockWithPIN(pin);
        const written = await other.notes.save(null, { title: "Tab", body: "two" });
        companion.syncLoop.send();
        await eventually(async () => (await noteAtComputer("Tab"))?.body === "two", "sent");
        await eventually(async () => !(await companion.notes.read(written.id)).isWaiting,
            "the first tab receives the change");
        equal((await companion.notes.read(written.id)).revision, 1, "once");
        equal((await companion.notes.list("conflict")).notes.length, 1, "conflict copies");
        const lockDiary = { lockApp: { app: (await appNamed("diary")).id } };
        equal((await other.commands.send(den, lockDiary)).state, "done", "the state of a command from the other tab");
        other.lock();
        await eventually(() => companion.state === "locked", "both tabs lock");
        other.close();
        await companion.unlockWithPIN(pin);
    },

    async tenWrongPINsInvalidateThePIN() {
        companion.lock();
        const codes = [];
        for (let attempt = 0; attempt < 6; attempt += 1) {
            codes.push(await refusal(() => companion.unlockWithPIN(`00000${attempt}`)));
        }
        equal(codes, [...Array(4).fill("wrongPIN"), "wait", "wait"], "results of six wrong PINs");
        expect((await companion.pinState()).retryAfterSeconds > 0, "counted down");
    },

    async isRevoked() {
        await computer("revoke", "Anna's tablet");
        companion.wake();
        await eventually(() => companion.state === "revoked", "revoked");
        await companion.remove();
        equal(companion.state, "new", "state");
        equal([await companion.device.store.fact("gate", null), await companion.device.store.statusKeys()], [null, []],
            "stored data");
        companion.close();
    },
};
