// PINs that are changed, set and removed, also where the network goes in between: one of them always opens.
import { Companion } from "/session/companion.js";
import { equal, expect, refusal } from "./harness.js";
import { cutAtReplacement, decoy, other, paired, real, reopened, sent, third, titles,
    withDecoy } from "./made-decoys.js";

export const tests = {
    async eachChangesItsOwnPIN() {
        const { companion } = await withDecoy();
        await companion.notes.save(null, { title: "real", body: "" });
        await companion.setPIN("real-one-2");
        await reopened(companion, decoy);
        await companion.setPIN("decoy-one-2");
        equal(await refusal(() => companion.unlockWithPIN(decoy)), "wrongPIN", "the old decoy");
        equal(await refusal(() => companion.unlockWithPIN(real)), "wrongPIN", "the old one");
        await reopened(companion, "decoy-one-2");
        equal(await titles(companion), [], "the decoy");
        await reopened(companion, "real-one-2");
        equal([await titles(companion), await companion.decoy.isSet()], [["real"], true], "the real one");
        equal(await refusal(() => companion.setPIN("decoy-one-2")), "weakPIN", "two that are one");
        for (let round = 0; round < 3; round += 1) {
            await companion.setPIN(`real-again-${round}x`);
            await reopened(companion, `real-again-${round}x`);
        }
        companion.close();
    },

    async killedAnywhereTheOldOrTheNewPINOpens() {
        for (const pin of [real, decoy]) {
            for (const isBefore of [true, false]) {
                const { companion, household, name } = await withDecoy();
                await reopened(companion, pin);
                cutAtReplacement(household, isBefore);
                expect(await companion.setPIN(other).catch(() => "failed") === "failed", "interrupted");
                companion.close();
                household.serve();
                const again = await Companion.open({ name });
                const [opens, wrong] = isBefore ? [pin, other] : [other, pin];
                equal(await refusal(() => again.unlockWithPIN(wrong)), "wrongPIN", `${wrong}, ${isBefore}`);
                await again.unlockWithPIN(opens);
                // The passkey would not know which one it is: the hub does.
                await again.setPIN("the-last-1");
                await reopened(again, "the-last-1");
                const still = pin === real ? decoy : real;
                await reopened(again, still);
                equal(household.failures, 0, "nothing counted");
                again.close();
            }
        }
    },

    async oneThatWasInterruptedCanBeSetAgain() {
        for (const isBefore of [true, false]) {
            const { companion, household } = await paired();
            cutAtReplacement(household, isBefore);
            expect(await companion.decoy.set(decoy).catch(() => "failed") === "failed", "interrupted");
            household.serve();
            equal(await companion.decoy.isSet(), false, "not set");
            await companion.decoy.set(third);
            await reopened(companion, third);
            equal(await refusal(() => companion.unlockWithPIN(decoy)), "wrongPIN", "the first try");
            await reopened(companion, real);
            expect(await companion.decoy.isSet(), "set");
            companion.close();
        }
    },

    async aDecoyThatIsRemovedIsAWrongPINAndItsRecordsGo() {
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
        equal(await refusal(() => companion.decoy.remove()), "notFound", "none is left");
        companion.lock();
        equal(await refusal(() => companion.unlockWithPIN(decoy)), "wrongPIN", "its PIN");
        await companion.unlockWithPIN(real);
        await companion.decoy.set(third);
        await reopened(companion, third);
        equal(await titles(companion), [], "a new one is empty");
        companion.close();
    },

    async aRemovalThatWasInterruptedIsDoneAgain() {
        // Two PINs to remove, one after the other; the network goes before the hub hears of it, or before it is heard.
        for (const [last, isBefore] of [[1, true], [1, false], [2, true], [2, false]]) {
            const { companion, household, name } = await withDecoy();
            await companion.notes.save(null, { title: "real", body: "" });
            await reopened(companion, decoy);
            const note = await companion.notes.save(null, { title: "harmless", body: "" });
            await companion.decoy.set(third);
            await sent(companion);
            await reopened(companion, real);
            cutAtReplacement(household, isBefore, last);
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
                "what was written there");
            again.lock();
            for (const pin of [decoy, third]) equal(await refusal(() => again.unlockWithPIN(pin)), "wrongPIN", pin);
            await again.unlockWithPIN(real);
            await again.decoy.set(other);
            await reopened(again, other);
            equal(await titles(again), [], "a new one is empty");
            again.close();
        }
    },

    async aDecoyCanHaveADecoyAndTheRealOneStays() {
        const { companion } = await withDecoy();
        await companion.notes.save(null, { title: "real", body: "" });
        await reopened(companion, decoy);
        equal(await companion.decoy.isSet(), false, "as where there is none");
        await companion.notes.save(null, { title: "harmless", body: "" });
        equal(await refusal(() => companion.decoy.set(decoy)), "weakPIN", "the one that is used");
        await companion.decoy.set(third);
        await reopened(companion, third);
        equal(await titles(companion), [], "the third");
        await companion.notes.save(null, { title: "third", body: "" });
        equal(await refusal(() => companion.decoy.set(other)), "full", "no further");
        await reopened(companion, decoy);
        equal([await titles(companion), await companion.decoy.isSet()], [["harmless"], true], "the second");
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
