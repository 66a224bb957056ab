// Links that new devices begin with, and the rules of a household that a phone founded.
import { sealBox } from "/crypto/box.js";
import { base64url, concat, fields, hex, randomBytes, u64, unhex } from "/crypto/bytes.js";
import { pairingLink, readLink, readVaultLink, sealJoin } from "/crypto/invitation.js";
import { importPrivate } from "/crypto/p256.js";
import { sha256 } from "/crypto/primitives.js";
import { Roster } from "/crypto/roster.js";
import { admitting, foundedBy, revoking } from "/crypto/roster-writing.js";
import { signRecord } from "/crypto/signature.js";
import { KeyRing, maximumEntries, maximumGiven, ringKind } from "/crypto/ring.js";
import { nameOfSpare } from "/features/vaults/spare.js";
import { checkRecord } from "/formats/record-check.js";
import { found, readStartLink } from "/household/founding.js";
import { freshIdentity } from "/household/identity.js";
import { UnlockedKeys } from "/household/keys.js";
import { addVaultKeys, keysRecord, sharedVaultID, withEpoch } from "/household/shared-keys.js";
import { ingestRecords } from "/sync/ingest.js";
import { equal, expect, refusal } from "./harness.js";

const now = 1_700_000_000;

/** A device with the keys to sign and to open boxes. */
async function createDevice() {
    const identity = await freshIdentity();
    const { signing, box } = identity;
    return {
        ...identity, key: await importPrivate(signing.scalar, signing.point, "ECDSA"),
        member: (role) => ({ role, signingKey: signing.point, boxKey: box.point }),
    };
}

/** A household of a first phone and a second one, with the first epoch's keys on the first. */
async function phones() {
    const [first, second, guest] = [await createDevice(), await createDevice(), await createDevice()];
    const roster = await foundedBy({ signingKey: first.signing.point, boxKey: first.box.point }, first.key, now,
        "administrator");
    await roster.append(await admitting(roster, second.member("administrator"), first, now));
    const { household } = roster;
    const vault = await sharedVaultID(household);
    const keysOf = ({ signing, box }, ring = new KeyRing([])) => UnlockedKeys.from(household, randomBytes(32),
        new KeyRing([...UnlockedKeys.ownEntries(household, signing.scalar, box.scalar), ...ring.entries]));
    const ring = withEpoch(new KeyRing([]), household, vault, 1);
    return { first, second, guest, roster, household, vault, ring, keysOf };
}

/** Whether a device accepts a record of keys. */
async function accepts(roster, keys, record, needsBox = false) {
    const checked = await checkRecord(roster, record, 0);
    return refusal(() => addVaultKeys(keys, checked, true, needsBox));
}

const startLink = ({ version = 1, expires = now + 60, length = 32 } = {}) =>
    `https://hub.example/#start=${base64url(concat([version], randomBytes(16), u64(expires), randomBytes(length)))}`;

export const tests = {
    async aStartLinkIsReadUntilItExpires() {
        const link = startLink();
        equal(`https://hub.example/#start=${readStartLink(link, now * 1000)}`, link, "the text for the hub");
        for (const [bad, code] of [
            [startLink({ expires: now }), "tooLate"], [startLink({ version: 2 }), "unknownVersion"],
            [startLink({ length: 31 }), "malformed"], [startLink({ length: 33 }), "malformed"],
            [`${link}=`, "malformed"], [link.replace("start", "pair"), "malformed"],
        ]) equal(await refusal(() => readStartLink(bad, now * 1000)), code, bad);
    },

    async aLinkSaysInWhichRoleADeviceJoins() {
        const invitation = { hub: "https://hub.example", household: "1".repeat(32), computer: "2".repeat(32),
            id: "3".repeat(32), secret: randomBytes(32) };
        equal(readLink(pairingLink({ ...invitation, role: "administrator" })).role, "administrator", "a second phone");
        equal(readLink(pairingLink({ ...invitation, role: "companion" })).role, "companion", "a phone of a computer");
        equal(await refusal(() => readLink(pairingLink({ ...invitation, role: "computer" }))), "unknownVersion",
            "a computer");
        const vault = pairingLink({ ...invitation, role: "administrator" }).replace("#pair=", "#vault=");
        equal(await refusal(() => readVaultLink(vault)), "unknownVersion", "no shared vault has phones as members");
    },

    async aPhoneAdministersAndACompanionDoesNot() {
        const { first, second, guest, roster } = await phones();
        expect(roster.isPhoneFounded, "a phone founded it");
        expect((await Roster.read(roster.entries)).isPhoneFounded && roster.copy().isPhoneFounded, "also when read");
        await roster.append(await admitting(roster, guest.member("companion"), second, now));
        const other = await createDevice();
        equal(await refusal(async () => roster.append(await admitting(roster, other.member("administrator"), guest,
            now))), "damaged", "a companion admits nobody");
        equal(await refusal(async () => roster.append(await revoking(roster, first.id, guest, now))), "damaged",
            "a companion revokes nobody");
        await roster.append(await revoking(roster, first.id, second, now));
        equal(await refusal(async () => roster.append(await revoking(roster, second.id, second, now))), "damaged",
            "the last administrator stays");
    },

    async aPhoneWritesNamesAndKeysAndNothingOfAComputer() {
        const { first, roster, household, vault } = await phones();
        const allowed = async (collection, revision = 1, id = first.id) => {
            const place = { vault: collection === "intruders" ? vault : household, collection, id, revision };
            const record = await signRecord(first.key, place, { epoch: 1, author: first.id, sealed: randomBytes(40) });
            return refusal(() => checkRecord(roster, record, 0));
        };
        for (const collection of ["keys", "devices", "commands"]) equal(await allowed(collection), null, collection);
        equal(await allowed("commands", 2), "wrongWriter", "the reply to a command");
        for (const collection of ["status", "apps", "events", "requests", "intruders"]) {
            equal(await allowed(collection), "wrongWriter", collection);
        }
    },

    async keysGoOnlyToTheDevicesThatAreChosen() {
        const { first, second, roster, vault, ring, keysOf } = await phones();
        const own = await keysOf(first, ring);
        const record = await keysRecord({ members: [roster.member(first.id)], keys: own, ring: own.ring, epoch: 1,
            revision: 1, replaces: 0 });
        const theirs = await keysOf(second);
        equal(await accepts(roster, theirs, record), null, "a device without keys stores it");
        equal(theirs.ring.key(ringKind.vault, vault, 1), undefined, "and has none");
    },

    async whoHasNoKeysCannotReplaceThem() {
        const { first, second, guest, roster, vault, ring, keysOf } = await phones();
        const own = await keysOf(second, ring);
        await roster.append(await admitting(roster, guest.member("administrator"), first, now));
        await roster.append(await revoking(roster, guest.id, first, now));
        // A session of a decoy PIN on the first phone signs for it, and makes keys of its own.
        const forged = withEpoch(new KeyRing([]), roster.household, vault, 2);
        const decoy = await keysOf(first, forged);
        const make = (members) => keysRecord({ members, keys: decoy, ring: decoy.ring, epoch: 2, revision: 1,
            replaces: 0 });
        equal(await accepts(roster, own, await make(roster.members)), "unreadable", "keys without the first one");
        equal(await accepts(roster, own, await make([roster.member(first.id)]), true), "unreadable",
            "no box for this one, which had one before");
        equal(own.ring.key(ringKind.vault, vault, 2), undefined, "the forged key");
        // Who has them can.
        const honest = await keysOf(first, withEpoch(ring, roster.household, vault, 2));
        const record = await keysRecord({ members: roster.members, keys: honest, ring: honest.ring, epoch: 2,
            revision: 1, replaces: 0 });
        equal(await accepts(roster, own, record), null, "keys of a session that had them");
        expect(own.ring.key(ringKind.vault, vault, 2) !== undefined, "the new key");
    },

    async noRingIsMadeThatIsTooFullToBeReadAgain() {
        const { first, second, roster, household, vault, ring, keysOf } = await phones();
        const many = (count) => Array.from({ length: count }, (_, index) => (
            { kind: ringKind.vault, vault: "a".repeat(32), epoch: index + 1, key: randomBytes(32) }));
        equal(new KeyRing(many(maximumEntries)).entries.length, maximumEntries, "a full ring");
        equal(await refusal(() => new KeyRing(many(maximumEntries + 1))), "tooLarge", "one more");
        // Of a computer, with room for the keys that this device makes when it revokes that computer.
        const own = await keysOf(second, ring);
        const name = { vault: household, collection: "keys", id: second.id, revision: 1 };
        const send = async (count) => {
            const sealed = await sealBox(new KeyRing(many(count)).plaintext, name, second.box.point);
            const record = { name, epoch: 1, author: roster.member(first.id), sealed, blobs: [] };
            return refusal(() => own.add(record, {}, () => true, vault));
        };
        const room = maximumGiven - own.ring.entries.length;
        equal(await send(room + 1), "unreadable", "too many keys of a computer");
        equal(await send(room), null, "as many as there is room for");
        equal(withEpoch(own.ring, household, vault, 2).entries.length, maximumGiven + 2, "own keys afterwards");
    },

    async aComputersKeysAreNotThoseOfTheHousehold() {
        const { first, second, roster, household, vault, ring, keysOf } = await phones();
        const own = await keysOf(second, ring);
        const other = "a".repeat(32);
        const sent = new KeyRing([
            { kind: ringKind.vault, vault, epoch: 2, key: randomBytes(32) },
            { kind: ringKind.status, vault: household, epoch: 2, key: randomBytes(32) },
            { kind: ringKind.vault, vault: other, epoch: 1, key: randomBytes(32) },
        ]);
        const name = { vault: household, collection: "keys", id: second.id, revision: 1 };
        const sealed = await sealBox(sent.plaintext, name, second.box.point);
        const record = { name, epoch: 1, author: roster.member(first.id), sealed, blobs: [] };
        await own.add(record, {}, () => true, vault);
        equal([own.ring.key(ringKind.vault, vault, 2), own.ring.key(ringKind.status, household, 2)],
            [undefined, undefined], "keys of the household");
        expect(own.ring.key(ringKind.vault, other, 1) !== undefined, "the computer's own vault");
    },

    async onlyAComputerSendsTheKeysOfAnotherVault() {
        const { first, second, roster, household, ring, keysOf } = await phones();
        const unlocked = await keysOf(second, ring);
        /** @type {any[]} */
        const [written, reports] = [[], []];
        const device = {
            roster, unlocked, keys: unlocked, member: null, sharesKeys: true, paired: { device: second.id, household },
            time: { now: () => now * 1000 }, tabs: { exclusive: async (_, body) => body() }, changed() {},
            reportProtocolViolation: async (message) => void reports.push(message), async openStatusKeys() {},
            async loadRing() {},
            store: {
                fact: async (_, otherwise) => otherwise, sequence: async () => 0, record: async () => undefined,
                write: async ({ records }) => void written.push(...records),
            },
        };
        const id = hex((await sha256(fields("applocker/1/keys", unhex(first.id), unhex(second.id)))).slice(0, 16));
        const name = { vault: household, collection: "keys", id, revision: 1 };
        const theirs = new KeyRing([{ kind: ringKind.vault, vault: "a".repeat(32), epoch: 9, key: randomBytes(32) }]);
        const sealed = await sealBox(theirs.plaintext, name, second.box.point);
        const before = unlocked.ring.entries.length;
        await ingestRecords(device, [await signRecord(first.key, name, { epoch: 1, author: first.id, sealed })]);
        equal(reports, ["a record of a device that may not write it"], "reports of keys that a phone sent");
        equal([unlocked.ring.entries.length, written], [before, []], "keys, and stored records");
    },

    async namesHaveAtMost64Bytes() {
        const { first } = await phones();
        const device = { time: { now: () => now * 1000 },
            store: { fact: async (_, otherwise) => otherwise, wasRevoked: async () => false } };
        const named = (name) => refusal(() => found(device, "https://hub.example", name, {}));
        equal([await named("字".repeat(21)), await named("字".repeat(22))], [null, "malformed"],
            "a founder's name of 63 and 66 bytes");
        const invitation = { household: "1".repeat(32), computer: "2".repeat(32), id: "3".repeat(32),
            secret: randomBytes(32) };
        for (const [name, spare] of [
            ["phone", "phone (recovery)"], ["字".repeat(21), `${"字".repeat(17)} (recovery)`],
            ["😀".repeat(40), `${"😀".repeat(13)} (recovery)`], ["a".repeat(40), `${"a".repeat(21)} (recovery)`],
        ]) {
            equal(nameOfSpare(name), spare, name);
            const joining = { signingKey: first.signing.point, boxKey: first.box.point, name: spare };
            equal(await refusal(() => sealJoin(invitation, joining)), null, `a spare member of ${name} joins`);
        }
    },
};
