// How long a phone keeps alerts.
import { randomID } from "/crypto/bytes.js";
import { eventually, equal } from "./harness.js";
import { FakeHousehold, pairedCompanion } from "./fake-household.js";
import { quick } from "./restorable-household.js";

const day = 86_400_000;

/** A companion with the alert `id`. `keptFor(days)`: whether it still has the alert after so many days. */
async function withAlert(/** @type {(household: any) => Promise<object[]>} */ records) {
    const household = await FakeHousehold.make();
    const clock = { later: 0 };
    const { companion } = await pairedCompanion(household,
        { time: { ...quick, now: () => Date.now() + clock.later } });
    const id = randomID();
    household.store(...await records(household), await household.sealed("events", id, household.event("one")));
    const count = async () => (await companion.household.alerts()).length;
    await eventually(async () => (await count()) === 1, "the alert arrives");
    return {
        household, companion, id, count, keptFor: async (/** @type {number} */ days) => {
            clock.later = days * day;
            await companion.refresh();
            return (await count()) === 1;
        },
    };
}

/** @param {any} household @param {string} id @param {number} alertDays @param {string} [lastEvent] */
const statusOf = (household, id, alertDays, lastEvent) => household.sealed("status", id, {
    name: "den", clock: Date.now(), rosterNumber: 2, hubProblems: [], alertDays, lastEvent,
    status: {
        version: "1", isSetUp: true, protection: "held", degraded: [], monitoring: { isOn: true }, lockedApps: 0,
        unlockedApps: 0, waitingLaunches: 0, prompterConnected: false, lockout: { failures: 0, remainingSeconds: 0 },
    },
});

export const tests = {
    async alertsAreKeptForTheDaysThatTheComputerReports() {
        const { companion, keptFor } = await withAlert(async (household) =>
            [await statusOf(household, household.computer.id, 40)]);
        equal([await keptFor(39), await keptFor(41)], [true, false], "after 39 and 41 days");
        companion.close();
    },

    async alertsAreKeptForThirtyDaysWhereNoComputerReportsANumber() {
        const { companion, keptFor } = await withAlert(async () => []);
        equal([await keptFor(29), await keptFor(31)], [true, false], "after 29 and 31 days");
        companion.close();
    },

    async aNumberOutOfRangeDeletesNothingEarly() {
        const { companion, keptFor } = await withAlert(async (household) =>
            [await statusOf(household, household.computer.id, -1)]);
        equal([await keptFor(6), await keptFor(8)], [true, false], "after 6 and 8 days");
        companion.close();
    },

    async anExpiredAlertIsNotMissing() {
        const { household, companion, id, count, keptFor } = await withAlert(async () => []);
        equal(await keptFor(31), false, "whether it is kept");
        household.store(await statusOf(household, household.computer.id, 30, id));
        const missing = async () => (await companion.household.computers()).map(({ missingEvents }) => missingEvents);
        await eventually(async () => (await missing()).length === 1, "the status arrives");
        equal(await missing(), [0], "missing events, where a status names the expired one");
        household.store(await household.sealed("events", randomID(), household.event("two", id)));
        await eventually(async () => (await count()) === 1, "the next event arrives");
        equal(await missing(), [0], "missing events, where the next event names the expired one");
        companion.close();
    },
};
