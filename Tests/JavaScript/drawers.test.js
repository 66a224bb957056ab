// Private values are stored by name in the drawer that the root key opens.
import { Companion } from "/session/companion.js";
import { drawerCount, freshDrawers, leastDrawer, openDrawers, putInto } from "/crypto/drawers.js";
import { randomBytes, randomID } from "/crypto/bytes.js";
import { KeyRing, ringKind } from "/crypto/ring.js";
import { equal, expect, refusal } from "./harness.js";
import { FakeHousehold, pairedCompanion } from "./fake-household.js";

const pin = "735102";

async function paired() {
    const household = await FakeHousehold.make();
    return { household, ...await pairedCompanion(household, { pin }) };
}

const someRing = () => new KeyRing([{ kind: ringKind.vault, vault: randomID(), epoch: 1, key: randomBytes(32) }]);
const sizes = (drawers) => drawers.map(({ length }) => length);

export const tests = {
    async eachRootKeyOpensItsOwnDrawer() {
        const roots = [randomBytes(32), randomBytes(32)];
        let drawers = freshDrawers();
        equal(await openDrawers(drawers, roots[0]), null, "the content of new drawers");
        drawers = await putInto(drawers, 2, { ring: someRing(), kept: { who: "one" } }, roots[0]);
        drawers = await putInto(drawers, 0, { ring: someRing(), kept: { who: "two" } }, roots[1]);
        equal(sizes(drawers), Array(drawerCount).fill(leastDrawer), "sizes");
        const [one, two] = [await openDrawers(drawers, roots[0]), await openDrawers(drawers, roots[1])];
        equal([one.index, one.content.kept.who, one.content.ring.entries.length], [2, "one", 1],
            "index and content of the first drawer");
        equal([two.index, two.content.kept.who], [0, "two"], "index and content of the second drawer");
        equal(await openDrawers(drawers, randomBytes(32)), null, "another key");
    },

    async drawersGrowTogetherAndStillOpen() {
        const roots = [randomBytes(32), randomBytes(32)];
        let drawers = await putInto(freshDrawers(), 1, { ring: someRing(), kept: { who: "one" } }, roots[0]);
        drawers = await putInto(drawers, 2, { ring: someRing(), kept: { text: "é".repeat(40_000) } }, roots[1]);
        equal(sizes(drawers), Array(drawerCount).fill(2 * leastDrawer), "sizes");
        equal((await openDrawers(drawers, roots[0])).content.kept.who, "one",
            "the content of the drawer that stayed small");
        equal((await openDrawers(drawers, roots[1])).content.kept.text.length, 40_000,
            "the content's length in the drawer that grew");
        drawers = await putInto(drawers, 2, { ring: someRing(), kept: {} }, roots[1]);
        equal(sizes(drawers), Array(drawerCount).fill(2 * leastDrawer), "sizes after the content shrank");
        equal((await openDrawers(drawers, roots[0])).content.kept.who, "one", "the content of the other drawer");
    },

    async aChangedDrawerDoesNotOpen() {
        const root = randomBytes(32);
        const drawers = await putInto(freshDrawers(), 1, { ring: someRing(), kept: {} }, root);
        for (const place of [0, 40, 64, 5000, leastDrawer - 1]) {
            const changed = drawers.map((drawer) => drawer.slice());
            changed[1][place] ^= 1;
            equal(await openDrawers(changed, root), null, `byte ${place}`);
        }
    },

    async privateValuesAreSealedAndDurable() {
        const { companion, name } = await paired();
        equal(await companion.privateStorage.get("together"), null, "a value that was never set");
        await companion.privateStorage.set("together", { since: "2019-06-01", text: "marker-of-a-secret" });
        await companion.privateStorage.set("draft", { words: "x" });
        await companion.privateStorage.set("draft", null);
        const at = JSON.stringify((await companion.device.store.fact("drawers", []))
            .map((drawer) => String.fromCharCode(...drawer.slice(0, 9000))));
        expect(!at.includes("marker-of-a-secret"), "sealed");
        companion.lock();
        equal(await refusal(() => companion.privateStorage.get("together")), "locked", "locked");
        equal(await refusal(() => companion.privateStorage.set("together", 1)), "locked", "locked");
        companion.close();
        const again = await Companion.open({ name });
        await again.unlockWithPIN(pin);
        equal((await again.privateStorage.get("together")).since, "2019-06-01", "durable");
        equal(await again.privateStorage.get("draft"), null, "removed");
        again.close();
    },

    async twoTabsKeepBothChanges() {
        const { companion, name } = await paired();
        const other = await Companion.open({ name });
        await other.unlockWithPIN(pin);
        await Promise.all(Array.from({ length: 10 }, (_, index) =>
            (index % 2 ? companion : other).privateStorage.set(`thing-${index}`, index)));
        for (let index = 0; index < 10; index += 1) {
            equal(await companion.privateStorage.get(`thing-${index}`), index, `thing ${index}`);
        }
        companion.close();
        other.close();
    },

    async theRingOfAnEarlierVersionMovesAtTheNextUnlock() {
        const { companion, name } = await paired();
        const { keys, store } = companion.device;
        await store.write({ facts: { ring: await keys.ring.sealed(keys.rootKey), drawers: null } });
        companion.close();
        const again = await Companion.open({ name });
        await again.unlockWithPIN(pin);
        equal([await again.device.store.fact("ring", null), (await again.device.store.fact("drawers", [])).length],
            [null, drawerCount], "moved");
        await again.privateStorage.set("x", 1);
        again.lock();
        await again.unlockWithPIN(pin);
        equal(await again.privateStorage.get("x"), 1, "a value after the next unlock");
        again.close();
    },
};
