// Unlocking with passkeys through the browser's own WebAuthn, and confirming with the PIN while unlocked.
import { Companion } from "/session/companion.js";
import { verifierOf } from "/household/pin-slots.js";
import { openStored } from "/household/keys.js";
import { askPasskey, createPasskey, isAvailable } from "/household/passkey.js";
import { base64, randomID, unbase64, unhex, utf8 } from "/crypto/bytes.js";
import { KeySlots } from "/crypto/slots.js";
import { StoreError } from "/store/errors.js";
import { eventually, equal, expect, refusal } from "./harness.js";
import { FakeHousehold, pairedCompanion } from "./fake-household.js";

const pin = "735102";

async function paired() {
    const household = await FakeHousehold.make();
    return { household, ...await pairedCompanion(household, { pin }) };
}

const isWiped = (bytes) => bytes.every((byte) => byte === 0);
const attempts = (household) => household.requests.filter(({ route }) => route === "POST /v1/pin-share/attempt").length;

export const tests = {
    async aPasskeyUnlocksWithoutTheHub() {
        await window.authenticator({});
        expect(await isAvailable(), "a platform authenticator is available");
        const { household, companion } = await paired();
        const { passkey, output } = await createPasskey("Anna's phone");
        equal([output.length, passkey.salt.length], [32, 32], "sizes");
        const again = await askPasskey(passkey);
        equal([...again], [...output], "the second output");
        await companion.addPasskey(passkey, output);
        expect(isWiped(output), "the output is wiped");
        companion.lock();
        household.overrides[""] = () => {
            throw new TypeError("no network");
        };
        const stored = await companion.passkey();
        const secret = await askPasskey(stored);
        await companion.unlockWithPasskey(secret);
        expect(isWiped(secret), "the output is wiped");
        equal(companion.state, "unlocked", "state");
        companion.close();
    },

    async anotherPasskeyUnlocksNothing() {
        await window.authenticator({});
        const { companion } = await paired();
        const { passkey, output } = await createPasskey("phone");
        await companion.addPasskey(passkey, output);
        const other = await createPasskey("phone");
        companion.lock();
        equal(await refusal(() => companion.unlockWithPasskey(other.output)), "noPasskey", "another passkey");
        equal(companion.state, "locked", "state");
        companion.close();
    },

    async confirmingThePINLeavesTheKeysUnchanged() {
        await window.authenticator({});
        const { household, companion } = await paired();
        const { passkey, output } = await createPasskey("phone");
        await companion.addPasskey(passkey, output);
        const { keys } = companion.device;
        const [root, before] = [[...keys.rootKey], attempts(household)];
        await companion.confirmWithPIN(pin);
        equal(attempts(household), before + 1, "the hub counted it");
        equal(await refusal(() => companion.confirmWithPIN("864209")), "wrongPIN", "another PIN");
        equal(attempts(household), before + 2, "the hub counted it");
        const secret = await askPasskey(passkey);
        await companion.confirmWithPasskey(secret);
        expect(isWiped(secret), "the output is wiped");
        equal(await refusal(() => companion.confirmWithPasskey(new Uint8Array(32).fill(7))), "noPasskey",
            "another error code than a wrong passkey");
        companion.device.requireUnlocked(keys);
        equal([...keys.rootKey], root, "the root key in use");
        // The keys still seal.
        household.store(await household.sealed("status", household.computer.id, {
            name: "den", clock: Date.now(), rosterNumber: 2, hubProblems: [], vault: household.vault,
            status: {
                version: "1", isSetUp: true, protection: "held", degraded: [], monitoring: { isOn: true },
                lockedApps: 0,
                unlockedApps: 0, waitingLaunches: 0, prompterConnected: true,
                lockout: { failures: 0, remainingSeconds: 0 },
            },
        }));
        await eventually(async () => (await companion.household.computers()).length === 1, "the computer");
        const note = await companion.notes.save(null, { title: "still", body: "" });
        equal((await companion.notes.read(note.id)).title, "still", "a note");
        companion.lock();
        equal(await refusal(() => companion.confirmWithPIN(pin)), "locked", "confirming while locked");
        companion.close();
    },

    async unlockingSucceedsWhereNothingCanBeStored() {
        const { companion } = await paired();
        const { store } = companion.device;
        companion.syncLoop.stop();
        companion.lock();
        let attempts = 0;
        store.deferred = () => {
            attempts += 1;
            throw new StoreError("full", "The storage is full.");
        };
        const states = [];
        companion.addEventListener("state", () => states.push(companion.state));
        await companion.unlockWithPIN(pin);
        equal([states, attempts], [["unlocked"], 1], "states, and attempts");
        // A lock before the attempt ends is the last state.
        companion.lock();
        store.deferred = async () => {
            companion.lock();
            return [];
        };
        equal(await refusal(() => companion.unlockWithPIN(pin)), "locked", "the lock counts");
        equal(companion.state, "locked", "state");
        delete store.deferred;
        await companion.unlockWithPIN(pin);
        const read = store.deferred.bind(store);
        store.deferred = () => {
            attempts += 1;
            return read();
        };
        companion.syncLoop.start();
        await eventually(() => attempts >= 2, "the next connection tries again");
        companion.close();
    },

    async lockingDuringAConfirmationRefusesIt() {
        const { household, companion } = await paired();
        household.overrides["POST /v1/pin-share/attempt"] = () => {
            companion.lock();
            delete household.overrides["POST /v1/pin-share/attempt"];
            return { share: household.shares[0].share };
        };
        const code = await refusal(() => companion.confirmWithPIN(pin));
        expect(code === "locked" || code === "pairAgain", `refused: ${code}`);
        equal(companion.state, "locked", "state");
        companion.close();
    },

    /**
     * A push message opens while the app is locked, so its key is stored unsealed. docs/threat-model.md, "Thief of a
     * locked phone".
     */
    async aLockedDeviceReadsReportsButNoVault() {
        const { household, companion } = await paired();
        household.store(await household.sealed("events", randomID(), household.event("blocked")),
            await household.note("a note"));
        await eventually(async () => (await companion.notes.list()).notes.length === 1, "event and note arrive");
        companion.lock();
        const { device } = companion;
        const [[event], [note]] = [await device.store.records("events"), await device.store.records("notes")];
        equal((await openStored(device, event.record, "events")).sentence, "blocked", "an event of a computer");
        equal(await openStored(device, note.record, "notes"), null, "a note while locked");
        equal(await refusal(() => companion.household.alerts()), "locked", "listing alerts while locked");
        companion.close();
    },

    /** With the hub's database alone a guess can't be checked. docs/threat-model.md, "The hub". */
    async theHubsHalfOfAPINMatchesOnlyWithThePhonesSecret() {
        const phones = [];
        for (const household of [await FakeHousehold.make(), await FakeHousehold.make()]) {
            const [sent, { answer }] = [[], household];
            household.answer = (url, options) => {
                sent.push(String(options.body));
                return answer.call(household, url, options);
            };
            const { companion } = await pairedCompanion(household, { pin });
            const { slots } = await companion.device.store.fact("gate", null);
            const { deviceSecret, device } = companion.device.paired;
            companion.close();
            const kept = household.shares.flatMap(({ verifier, share, changeHash }) => [verifier, share, changeHash]);
            phones.push({ kept, verifiers: household.shares.map(({ verifier }) => verifier), slots, deviceSecret });

            // The PIN itself, and the salt that the hub doesn't have either.
            const stretched = await KeySlots.read(slots).stretch(utf8(pin));
            const fits = async (secret) =>
                phones.at(-1).verifiers.includes(base64(await verifierOf(stretched, secret)));
            expect(await fits(deviceSecret), "the verifier matches with the phone's secret");
            const known = [new Uint8Array(), unhex(device), unhex(household.id), ...kept.map(unbase64)];
            for (const secret of known) expect(!await fits(secret), "the verifier does not match with the hub's data");
            expect(!sent.some((body) => body.includes(base64(deviceSecret))), "the secret is not sent");
        }
        equal(new Set(phones.flatMap(({ kept }) => kept)).size, 24, "different values of two phones with the same PIN");
    },

    async lockingOneTabLeavesTheOthersUnlocked() {
        const { companion, name } = await paired();
        const other = await Companion.open({ name });
        await other.unlockWithPIN(pin);
        // The tabs receive messages in order: one that locks would be received before this one.
        const received = new Promise((resolve) => {
            other.addEventListener("changed", ({ detail }) => {
                if (detail.includes("notes/marker")) resolve(null);
            });
        });
        companion.lockTab();
        companion.device.tabs.post({ kind: "changed", keys: ["notes/marker"] });
        await received;
        equal([companion.state, other.state], ["locked", "unlocked"], "states of both tabs");
        other.lock();
        companion.close();
        other.close();
    },

    async aMissingPRFExtensionIsReported() {
        await window.authenticator(null);
        equal(await isAvailable(), false, "whether an authenticator is available");
        await window.authenticator({ hasPrf: false });
        equal(await refusal(() => createPasskey("phone")), "noPRF", "no PRF");
    },

    // A failed verification leaves the authenticator unusable, so this test is the last one.
    async failedUserVerificationIsReported() {
        await window.authenticator({});
        const { passkey } = await createPasskey("phone");
        await window.verified(false);
        equal(await refusal(() => askPasskey(passkey)), "cancelled", "not recognised");
        equal(await refusal(() => createPasskey("phone")), "cancelled", "not recognised");
    },
};
