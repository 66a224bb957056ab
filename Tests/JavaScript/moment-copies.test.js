// Which version of a moment becomes a copy.
import { randomBytes, randomID, utf8 } from "/crypto/bytes.js";
import { KeyRing } from "/crypto/ring.js";
import { freshIdentity } from "/household/identity.js";
import { UnlockedKeys } from "/household/keys.js";
import { sharedVaultID, withEpoch } from "/household/shared-keys.js";
import { copyDiverged } from "/sync/conflicts.js";
import { storeFacts } from "/sync/restored-hub.js";
import { equal } from "./harness.js";

const photo = { id: "1".repeat(32), width: 3, height: 2, hash: "a".repeat(40), description: "lake" };
const moment = {
    title: "Lake", words: "cold", date: 1, offset: 60, mood: "calm",
    place: { name: "Como", latitude: 46, longitude: 9 }, photos: [photo], favourite: true, created: 1, modified: 2,
};

/** As another device may write it. */
const reversed = (value) => (Array.isArray(value)
    ? value.map(reversed)
    : typeof value === "object" && value !== null
    ? Object.fromEntries(Object.entries(value).reverse().map(([name, one]) => [name, reversed(one)]))
    : value);

/** How many copies are made of a version beside another one. */
async function copies(own, theirs) {
    const household = randomID();
    const vault = await sharedVaultID(household);
    const { signing, box } = await freshIdentity();
    const keys = await UnlockedKeys.from(household, randomBytes(32), withEpoch(
        new KeyRing(UnlockedKeys.ownEntries(household, signing.scalar, box.scalar)), household, vault, 1));
    const name = { vault, collection: "moments", id: randomID(), revision: 2 };
    const [apart, record] = await Promise.all([own, theirs].map((content) =>
        keys.sealBody(name, utf8(JSON.stringify(content)), 1)));
    const key = `moments/${name.id}`;
    const device = {
        keys, unlocked: keys, paired: { name: "phone" }, changed() {}, tabs: { exclusive: async (_, body) => body() },
        store: {
            fact: async (fact, otherwise) => (fact === storeFacts.apart ? [apart] : otherwise),
            record: async (other) => (other === key ? { key, record } : undefined),
            waitingFor: async () => undefined, async write() {},
        },
    };
    return copyDiverged(device);
}

export const tests = {
    async versionsThatDifferInTheTimeOfTheirChangeAloneAreOne() {
        equal(await copies(moment, reversed({ ...moment, modified: 9 })), 0, "fields in another order");
        equal(await copies(reversed({ ...moment, place: undefined }), { ...moment, place: undefined }), 0, "no place");
        for (const change of [
            { title: "Sea" }, { words: "" }, { date: 2 }, { offset: 0 }, { mood: "" }, { favourite: false },
            { place: undefined }, { place: { ...moment.place, name: "" } }, { place: { ...moment.place, latitude: 1 } },
            { photos: [] }, { photos: [{ ...photo, description: "" }] }, { removed: 3 },
        ]) equal(await copies(moment, { ...moment, ...change }), 1, JSON.stringify(change));
        equal(await copies({ ...moment, removed: 3 }, moment), 0, "a move to the trash");
    },
};
