// A device that revokes others: what it reports where only a part of it succeeds.
import { admitting, foundedBy } from "/crypto/roster-writing.js";
import { importPrivate } from "/crypto/p256.js";
import { VaultMembership } from "/features/vaults/membership.js";
import { removeRevoked } from "/features/vaults/upkeep.js";
import { revokeMember } from "/household/administration.js";
import { freshIdentity } from "/household/identity.js";
import { ownerTag } from "/household/shared-keys.js";
import { HubUnreachable } from "/hub/errors.js";
import { keysAfterRevoking } from "/ui/words.js";
import { equal, refusal } from "./harness.js";

const now = 1_700_000_000;
const offline = () => new HubUnreachable("offline", "The hub can’t be reached.");

/** A device of a shared vault with two others, and a hub that stores its entries. */
async function sharedVault() {
    const [own, other, third] = await Promise.all([1, 2, 3].map(() => freshIdentity()));
    const signingKey = await importPrivate(own.signing.scalar, own.signing.point, "ECDSA");
    const roster = await foundedBy({ signingKey: own.signing.point, boxKey: own.box.point }, signingKey, now,
        "computer");
    for (const { signing, box } of [other, third]) {
        await roster.append(await admitting(roster,
            { role: "computer", signingKey: signing.point, boxKey: box.point }, { id: own.id, key: signingKey }, now));
    }
    const served = [...roster.entries];
    const device = {
        keys: { device: own.id, signingKey }, time: { now: () => now * 1000 }, roster,
        paired: { household: roster.household, device: own.id }, settled: 0,
        async followRoster() {
            for (const entry of served.slice(device.roster.number)) await device.roster.append(entry);
        },
        async beforeSending() {
            device.settled += 1;
        },
        hub: {
            async append(number, entry) {
                equal(number, served.length + 1, "the number of the next entry");
                served.push(entry);
            },
        },
    };
    return { device, served, other: other.id, third: third.id };
}

/** Fails at this point, after what was there. */
function failing(owner, name, { isBefore = false } = {}) {
    const original = owner[name];
    owner[name] = async (...values) => {
        if (!isBefore) await original(...values);
        throw offline();
    };
    return () => {
        owner[name] = original;
    };
}

export const tests = {
    async aRevocationIsReportedOnceAndReplacesTheKeys() {
        const { device, other, served } = await sharedVault();
        equal(await revokeMember(device, other), { isNew: true, pending: null }, "the first time");
        equal(await revokeMember(device, other), { isNew: false, pending: null }, "the second time");
        equal([served.length, device.settled], [4, 2], "entries, and times that the keys were settled");
    },

    async itIsAlsoReportedIfTheKeysAreNotReplacedYet() {
        for (const name of ["beforeSending", "followRoster"]) {
            const { device, other, served } = await sharedVault();
            // The list of devices is followed before an entry is made, too.
            const { append } = device.hub;
            device.hub.append = async (...values) => {
                await append(...values);
                failing(device, name);
            };
            const { isNew, pending } = await revokeMember(device, other);
            equal([isNew, pending?.code, served.length], [true, "offline", 4], name);
        }
    },

    async itIsAlsoReportedIfTheHubsReplyIsLost() {
        const { device, other, served } = await sharedVault();
        failing(device.hub, "append");
        equal(await revokeMember(device, other), { isNew: true, pending: null }, "the entry is there");
        equal(served.length, 4, "one entry");
    },

    async withoutTheHubNothingIsRevoked() {
        const { device, other, served } = await sharedVault();
        const restore = failing(device.hub, "append", { isBefore: true });
        equal(await refusal(() => revokeMember(device, other)), "offline", "the hub has no entry");
        equal([served.length, device.settled], [3, 0], "entries, and times that the keys were settled");
        restore();
        equal((await revokeMember(device, other)).isNew, true, "the next time");
    },

    async aMemberThatTheHouseholdRevokedIsReportedByName() {
        const { device, other, third } = await sharedVault();
        failing(device, "beforeSending", { isBefore: true });
        const { household } = device.paired;
        const [ben, cleo] = ["b".repeat(32), "c".repeat(32)];
        const devices = [
            { id: device.keys.device, name: "Anna", owner: null, isThis: true, spareOf: null, atHub: null },
            { id: other, name: "Ben", owner: await ownerTag(household, other, ben), isThis: false, spareOf: null,
                atHub: null },
            { id: third, name: "Cleo", owner: await ownerTag(household, third, cleo), isThis: false, spareOf: null,
                atHub: null },
        ];
        const here = () => devices.filter(({ id }) => device.roster.member(id));
        const membership = new VaultMembership(
            { device, household: { devices: async () => here(), members: async () => here() } },
            "a".repeat(32));
        const removed = [];
        const main = { device: { roster: { revoked: new Set([ben]) } } };
        await removeRevoked(main, { membership, isLocal: false }, (name) => removed.push(name));
        await removeRevoked(main, { membership, isLocal: false }, (name) => removed.push(name));
        equal(removed, ["Ben"], "who was removed");
        equal(here().map(({ name }) => name), ["Anna", "Cleo"], "who stays");
    },

    screensNameWhatIsLeftToDo() {
        equal(keysAfterRevoking("vault", null), "The vault’s keys are replaced.", "all is done");
        equal(keysAfterRevoking("household", offline()),
            "The household’s keys will be replaced later. The hub can’t be reached.", "the keys are left");
    },
};
