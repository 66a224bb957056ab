// What a phone sends a restored hub of spare members' secrets, and keeps current for that.
import { randomBytes, randomID } from "/crypto/bytes.js";
import { KeyRing } from "/crypto/ring.js";
import { ensureSpare } from "/features/vaults/spare.js";
import { freshIdentity } from "/household/identity.js";
import { UnlockedKeys } from "/household/keys.js";
import { sharedVaultID, withEpoch } from "/household/shared-keys.js";
import { resendLost } from "/sync/resend-lost.js";
import { compareStores, storeFacts } from "/sync/restored-hub.js";
import { equal } from "./harness.js";

/** A phone's keys before and after a revocation, and their vault. */
async function twoEpochs() {
    const household = randomID();
    const vault = await sharedVaultID(household);
    const { signing, box } = await freshIdentity();
    const keys = (ring) => UnlockedKeys.from(household, randomBytes(32),
        new KeyRing([...UnlockedKeys.ownEntries(household, signing.scalar, box.scalar), ...ring.entries]));
    const before = withEpoch(new KeyRing([]), household, vault, 1);
    return { vault, former: await keys(before), unlocked: await keys(withEpoch(before, household, vault, 2)) };
}

/** A phone whose hub lost everything, after one device was revoked. `sent`: what it sends again. */
async function phoneAtRestoredHub() {
    const { vault, former, unlocked } = await twoEpochs();
    const rows = new Map();
    const facts = new Map([["cursor", 9], [storeFacts.newest, 9], [storeFacts.generations, [{ id: "1", after: 0 }]]]);
    const generations = [{ id: "2", after: 0 }];
    const sent = [];
    const write = async ({ records = [], facts: changed = {} }) => {
        for (const row of records) rows.set(row.key, row);
        for (const [name, value] of Object.entries(changed)) facts.set(name, value);
    };
    const device = {
        unlocked, keys: unlocked, member: null, sharesKeys: true, paired: { device: unlocked.device },
        notResent: new Set(), roster: { revoked: new Set(["f"]) }, changed() {}, requireUnlocked() {},
        tabs: { exclusive: async (_, body) => body() },
        hub: {
            household: async () => ({ generations, sequence: 0 }),
            async write(records) {
                sent.push(...records);
                return records.map((_, index) => ({ sequence: index + 1 }));
            },
        },
        store: {
            write, fact: async (name, otherwise) => facts.get(name) ?? otherwise,
            sequence: async (name) => facts.get(name) ?? 0, waitingFor: async () => undefined,
            records: async () => [], record: async (key) => rows.get(key),
            lost: async () => [...rows.values()].filter(({ atHub }) => atHub !== undefined).map(({ key }) => key),
            async beginComparing(_, collections, change) {
                for (const row of rows.values()) if (collections.includes(row.collection)) row.atHub = 0;
                await write(change);
            },
        },
    };
    return {
        sent, async knows(make, epoch) {
            const name = { vault, collection: "vaults", id: randomID(), revision: 3 };
            const record = await make(epoch === 1 ? former : unlocked, name);
            const key = `vaults/${name.id}`;
            rows.set(key, { key, collection: "vaults", sequence: 5, record, at: 0 });
            return name.id;
        },
        async connect() {
            await compareStores(device);
            facts.set(storeFacts.comparing, false);
            await resendLost(device);
        },
    };
}

export const tests = {
    async secretsOfSpareMembersAreSentAgainUnlessARevokedDeviceKnowsThem() {
        const { sent, knows, connect } = await phoneAtRestoredHub();
        const secret = (keys, name) => keys.sealContent(name, { seed: "a" }, 2);
        const removal = (keys, name) => keys.tombstone(name, 2);
        const current = await knows(secret, 2);
        await knows(secret, 1);
        const removed = await knows(removal, 1);
        await connect();
        equal(sent.map(({ id }) => id).sort(), [current, removed].sort(), "the secret of this epoch, and a removal");
        equal(sent.map(({ revision, replaces }) => [revision, replaces]), [[3, 0], [3, 0]], "revisions");
    },

    async aRecordWithoutASecretIsWrittenAgainAfterARevocation() {
        const { vault, former, unlocked } = await twoEpochs();
        const [household, { device: phone }] = [randomID(), unlocked];
        for (const [keys, epochs] of [[former, [2]], [unlocked, []]]) {
            const name = { vault, collection: "vaults", id: household, revision: 1 };
            const record = await keys.sealContent(name,
                { hub: "https://hub.example", household, name: "Ours", seed: null, pins: [phone] }, 0);
            const written = [];
            const device = {
                keys: unlocked, paired: { device: phone }, roster: { revoked: new Set(["f"]), member: () => ({}) },
                stored: async () => ({ key: `vaults/${household}`, record, row: { record } }),
            };
            const editor = {
                exclusive: async (body) => body(unlocked), commit: async ({ waiting }) => void written.push(...waiting),
            };
            const companion = {
                device: { paired: { household, hub: "https://hub.example" } },
                privateStorage: { get: async () => null },
            };
            await ensureSpare({ device, editor }, { companion, name: "Ours" }, true);
            equal(written.map(({ record: one }) => one.epoch), epochs, "epochs of what is written");
        }
    },
};
