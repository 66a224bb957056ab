// What a member of a shared vault seals again of a member who left.
import { base64, randomBytes, randomID, unbase64 } from "/crypto/bytes.js";
import { KeyRing } from "/crypto/ring.js";
import { freshIdentity } from "/household/identity.js";
import { UnlockedKeys } from "/household/keys.js";
import { sharedVaultID, withEpoch } from "/household/shared-keys.js";
import { adoptRecords } from "/sync/former-members.js";
import { equal, refusal } from "./harness.js";

/** A member's device with records of a former one, under the keys of epoch 1; and what it writes. */
async function memberWith(collection, contents) {
    const household = randomID();
    const vault = await sharedVaultID(household);
    const { signing, box } = await freshIdentity();
    const ring = withEpoch(new KeyRing([]), household, vault, 1);
    const keysWith = (more) => UnlockedKeys.from(household, randomBytes(32),
        new KeyRing([...UnlockedKeys.ownEntries(household, signing.scalar, box.scalar), ...more.entries]));
    const former = await keysWith(ring);
    const records = await Promise.all(contents.map(async (content) => {
        const name = { vault, collection, id: randomID(), revision: 1 };
        const record = await former.sealBody(name, randomBytes(20), 0);
        return { ...record, author: "f".repeat(32), ...content };
    }));
    const rows = records.map((record, index) => ({ key: `${collection}/${record.id}`, sequence: index + 1, record }));
    /** @type {any[]} */
    const changes = [];
    const device = {
        keys: await keysWith(withEpoch(ring, household, vault, 2)), changed() {}, isLocked: false,
        roster: { number: 3, revoked: new Set([1]), member: () => undefined },
        requireUnlocked() {
            if (this.isLocked) throw Object.assign(new Error("locked"), { code: "locked" });
        },
        tabs: { exclusive: async (_, body) => body() },
        store: {
            fact: async (_, otherwise) => otherwise, waitingFor: async () => undefined,
            records: async (other) => (other === collection ? rows : []),
            record: async (key) => rows.find((row) => row.key === key),
            write: async (change) => void changes.push(change),
        },
    };
    return { device, vault, records, changes };
}

export const tests = {
    async recordsOfAFormerMemberThatDoNotOpenAreLeftOut() {
        for (const collection of ["notes", "moments", "photos"]) {
            const { device, vault, records, changes } = await memberWith(collection,
                [{ sealed: base64(randomBytes(200)) }, { sealed: "" }, { id: randomID() }, {}]);
            await adoptRecords(device, vault);
            const [sealedAgain, { facts }] = changes;
            equal(changes.length, 2, "changes");
            equal(sealedAgain.waiting.map(({ record }) => [record.id, record.revision, record.epoch]),
                [[records[3].id, 2, 2]], collection);
            equal(facts.adopted, { roster: 3, sequence: 4 }, "what is not read again");
        }
    },

    async recordsAreSealedAgainAfterALock() {
        const { device, vault, changes } = await memberWith("notes", [{}]);
        const { keys } = device;
        const { openContent } = UnlockedKeys.prototype;
        keys.openContent = async function (record) {
            keys.wipe();
            device.isLocked = true;
            return openContent.call(this, record, unbase64(record.sealed));
        };
        equal([await refusal(() => adoptRecords(device, vault)), changes], ["locked", []], "what ends it, and changes");
    },
};
