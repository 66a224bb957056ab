// PINs are changed, set and removed, also while the network fails: one of them always unlocks.
import { Companion } from "/session/companion.js";
import { equal, expect, refusal } from "./harness.js";
import { disconnectAtReplacement, decoy, other, paired, real, reopened, sent, third, titles,
    withDecoy } from "./decoy-household.js";

export const tests = {
    async eachVaultChangesItsOwnPIN() {
        const { companion } = await withDecoy();
        await companion.notes.save(null, { title: "real", body: "" });
        await companion.setPIN("real-one-2");
        await reopened(companion, decoy);
        await companion.setPIN("decoy-one-2");
        equal(await refusal(() => companion.unlockWithPIN(decoy)), "wrongPIN", "the decoy PIN from before");
        equal(await refusal(() => companion.unlockWithPIN(real)), "wrongPIN", "the real PIN from before");
        await reopened(companion, "decoy-one-2");
        equal(await titles(companion), [], "the decoy");
        await reopened(companion, "real-one-2");
        equal([await titles(companion), await companion.decoy.isSet()], [["real"], true],
            "notes of the real vault, and whether a decoy is set");
        equal(await refusal(() => companion.setPIN("decoy-one-2")), "weakPIN", "a PIN that is the decoy PIN too");
        for (let round = 0; round < 3; round += 1) {
            await companion.setPIN(`real-again-${round}x`);
            await reopened(companion, `real-again-${round}x`);
        }
        companion.close();
    },

    async afterAnInterruptedChangeTheOldOrTheNewPINUnlocks() {
        for (const pin of [real, decoy]) {
            for (const isBefore of [true, false]) {
                const { companion, household, name } = await withDecoy();
                await reopened(companion, pin);
                disconnectAtReplacement(household, isBefore);
                expect(await companion.setPIN(other).catch(() => "failed") === "failed", "interrupted");
                companion.close();
                household.serve();
                const again = await Companion.open({ name });
                const [opens, wrong] = isBefore ? [pin, other] : [other, pin];
                equal(await refusal(() => again.unlockWithPIN(wrong)), "wrongPIN", `${wrong}, ${isBefore}`);
                await again.unlockWithPIN(opens);
                // The hub determines which PIN is valid; a passkey could not.
                await again.setPIN("the-last-1");
                await reopened(again, "the-last-1");
                const still = pin === real ? decoy : real;
                await reopened(again, still);
                equal(household.failures, 0, "wrong PINs at the hub");
                again.close();
            }
        }
    },

    async anInterruptedDecoyCanBeSetAgain() {
        for (const isBefore of [true, false]) {
            const { companion, household } = await paired();
            disconnectAtReplacement(household, isBefore);
            expect(await companion.decoy.set(decoy).catch(() => "failed") === "failed", "interrupted");
            household.serve();
            equal(await companion.decoy.isSet(), false, "not set");
            await companion.decoy.set(third);
            await reopened(companion, third);
            equal(await refusal(() => companion.unlockWithPIN(decoy)), "wrongPIN", "the PIN of the first attempt");
            await reopened(companion, real);
            expect(await companion.decoy.isSet(), "set");
            companion.close();
        }
    },

    async aRemovedDecoyIsAWrongPINAndItsRecordsAreDeleted() {
        const { companion, household } = await withDecoy();
        await reopened(companion, decoy);
        const note = await companion.notes.save(null, { title: "harmless", body: "" });
        await sent(companion);
        await reopened(companion, real);
        await companion.notes.save(null, { title: "real", body: "" });
        await companion.decoy.remove();
        equal([await companion.decoy.isSet(), await titles(companion)], [false, ["real"]], "here");
        await sent(companion);
        const newest = household.records.filter(({ id }) => id === note.id).at(-1);
        equal([newest.sealed, newest.revision], [undefined, 2], "a tombstone");
        equal(await refusal(() => companion.decoy.remove()), "notFound", "a second removal");
        companion.lock();
        equal(await refusal(() => companion.unlockWithPIN(decoy)), "wrongPIN", "the removed PIN");
        await companion.unlockWithPIN(real);
        await companion.decoy.set(third);
        await reopened(companion, third);
        equal(await titles(companion), [], "notes of a new decoy");
        companion.close();
    },

    async anInterruptedRemovalIsRepeated() {
        // Two PINs are removed, one after the other. The network fails before the request or before the response.
        for (const [last, isBefore] of [[1, true], [1, false], [2, true], [2, false]]) {
            const { companion, household, name } = await withDecoy();
            await companion.notes.save(null, { title: "real", body: "" });
            await reopened(companion, decoy);
            const note = await companion.notes.save(null, { title: "harmless", body: "" });
            await companion.decoy.set(third);
            await sent(companion);
            await reopened(companion, real);
            disconnectAtReplacement(household, isBefore, last);
            expect(await companion.decoy.remove().catch(() => "failed") === "failed", "interrupted");
            companion.close();
            household.serve();
            const again = await Companion.open({ name });
            await again.unlockWithPIN(real);
            equal([await again.decoy.isSet(), await titles(again)], [true, ["real"]],
                `${last}, ${isBefore}: still to be removed`);
            await again.decoy.remove();
            equal(await again.decoy.isSet(), false, "removed");
            await sent(again);
            equal(household.records.filter(({ id }) => id === note.id).at(-1).sealed, undefined,
                "records of the removed vault");
            again.lock();
            for (const pin of [decoy, third]) equal(await refusal(() => again.unlockWithPIN(pin)), "wrongPIN", pin);
            await again.unlockWithPIN(real);
            await again.decoy.set(other);
            await reopened(again, other);
            equal(await titles(again), [], "notes of a new decoy");
            again.close();
        }
    },

    async aDecoyCanSetADecoyWithoutReplacingTheRealPIN() {
        const { companion } = await withDecoy();
        await companion.notes.save(null, { title: "real", body: "" });
        await reopened(companion, decoy);
        equal(await companion.decoy.isSet(), false, "whether a decoy is set, seen from the decoy");
        await companion.notes.save(null, { title: "harmless", body: "" });
        equal(await refusal(() => companion.decoy.set(decoy)), "weakPIN", "the decoy PIN itself");
        await companion.decoy.set(third);
        await reopened(companion, third);
        equal(await titles(companion), [], "the third");
        await companion.notes.save(null, { title: "third", body: "" });
        equal(await refusal(() => companion.decoy.set(other)), "full", "a fourth PIN");
        await reopened(companion, decoy);
        equal([await titles(companion), await companion.decoy.isSet()], [["harmless"], true],
            "notes of the decoy, and whether it has a decoy");
        await reopened(companion, real);
        equal(await titles(companion), ["real"], "the first");
        await companion.decoy.remove();
        for (const pin of [decoy, third]) equal(await refusal(() => companion.unlockWithPIN(pin)), "wrongPIN", pin);
        await reopened(companion, real);
        await companion.decoy.set(decoy);
        await reopened(companion, decoy);
        await companion.decoy.set(third);
        await reopened(companion, third);
        companion.close();
    },
};
