// A hub withholds records from a phone: which omissions the phone detects, and which not.
import { base64, randomID, unhex } from "/crypto/bytes.js";
import { lastSeen } from "/ui/computer-choice.js";
import { eventually, equal } from "./harness.js";
import { FakeHousehold, createDevice, pairedCompanion } from "./fake-household.js";
import { quick } from "./restorable-household.js";

const revoke = 2;
const minute = 60_000;

/** A companion in a simulated household. `later`: how far the test has advanced its clock, in milliseconds. */
async function paired() {
    const household = await FakeHousehold.make();
    const clock = { later: 0 };
    const time = { ...quick, now: () => Date.now() + clock.later };
    return { household, clock, ...await pairedCompanion(household, { time }) };
}

const statusOf = (household, rosterNumber) => household.sealed("status", household.computer.id, {
    name: "den", clock: Date.now(), rosterNumber, hubProblems: [],
    status: {
        version: "1", isSetUp: true, protection: "held", degraded: [], monitoring: { isOn: true }, lockedApps: 0,
        unlockedApps: 0, waitingLaunches: 0, prompterConnected: false, lockout: { failures: 0, remainingSeconds: 0 },
    },
});

/** The hub does not send the record; a phone that has later records never requests it. */
function withhold(household, record) {
    const { streams } = household;
    household.streams = [];
    household.store(record);
    household.streams = streams;
}

const titles = async (companion) => (await companion.notes.list()).notes.map(({ title }) => title).sort();
const misbehaviour = async (companion) => (await companion.report()).misbehaviour;

export const tests = {
    async aWithheldNoteIsNotDetected() {
        const { household, companion } = await paired();
        household.store(await statusOf(household, 2), await household.note("before"));
        withhold(household, await household.note("withheld"));
        household.store(await household.note("after"),
            await household.sealed("events", randomID(), household.event("after")));
        await eventually(async () => (await companion.household.alerts()).length === 1, "later records arrive");
        await companion.refresh();
        equal(await titles(companion), ["after", "before"], "notes");
        equal([await misbehaviour(companion), (await companion.report()).refused], [[], 0],
            "reports, and refused records");
        equal((await companion.household.computers()).map(({ missingEvents }) => missingEvents), [0],
            "missing events");
        companion.close();
    },

    async aComputerWhoseReportsAreWithheldIsOfflineAfterFiveMinutes() {
        const { household, companion, clock } = await paired();
        household.store(await statusOf(household, 2));
        await eventually(async () => (await companion.household.computers()).length === 1, "the computer");
        const seen = async () => lastSeen(companion, (await companion.household.computers())[0], new Map());
        const { reported } = (await companion.household.computers())[0];
        clock.later = 5 * minute;
        equal(await seen(), null, "the time since which the computer is offline");
        clock.later = 6 * minute;
        equal([companion.syncLoop.connection, await seen()], ["live", reported / 1000],
            "the time of the last report, while the hub is connected");
        companion.close();
    },

    async aComputerWithAnOverdueReportIsOfflineWhateverTheHubReports() {
        const { household, companion, clock } = await paired();
        household.store(await statusOf(household, 2));
        await eventually(async () => (await companion.household.computers()).length === 1, "the computer");
        const [{ id, reported }] = await companion.household.computers();
        const seen = async () => lastSeen(companion, (await companion.household.computers())[0],
            new Map([[id, { isConnected: true, lastSeen: null }]]));
        equal(await seen(), null, "offline since, after a report");
        clock.later = 6 * minute;
        equal(await seen(), reported / 1000, "offline since, although the hub reports it as connected");
        companion.close();
    },

    async aTruncatedRosterIsDetectedByTheComputersStatus() {
        const { household, companion } = await paired();
        const served = [...household.entries];
        household.overrides["GET /v1/roster"] = (url) =>
            ({ entries: served.slice(Number(url.searchParams.get("after"))).map(base64) });
        await household.append(household.computer, household.admit(await createDevice(), 2));
        await companion.refresh();
        equal(await misbehaviour(companion), [], "reports before the status");
        household.store(await statusOf(household, household.entries.length));
        await eventually(async () => (await misbehaviour(companion)).length === 1, "the truncated roster is detected");
        equal(await misbehaviour(companion),
            ["The hub returned an older list of devices than the computer has; it was refused."], "reports");
        companion.close();
    },

    /**
     * A thief of an unlocked phone keeps writing, and the hub cooperates: it hides the revocation from this phone.
     */
    async aRevokedPhonesRecordsAreAcceptedUntilTheRevocationArrives() {
        const { household, companion } = await paired();
        const stolen = await createDevice();
        await household.append(household.computer, household.admit(stolen, 2));
        await companion.refresh();
        const served = [...household.entries];
        await household.append(household.computer, unhex(stolen.id), revoke);
        household.overrides["GET /v1/roster"] = (url) =>
            ({ entries: served.slice(Number(url.searchParams.get("after"))).map(base64) });
        await companion.refresh();
        household.store(await household.note("written after the revocation", { author: stolen }));
        await eventually(async () => (await titles(companion)).length === 1, "the record is accepted");
        equal([await titles(companion), await misbehaviour(companion)], [["written after the revocation"], []],
            "notes and reports");
        household.overrides = {};
        await companion.refresh();
        household.store(await household.note("later", { author: stolen }), await household.note("of the computer"));
        await eventually(async () => (await titles(companion)).length === 2, "later records arrive");
        equal(await titles(companion), ["of the computer", "written after the revocation"],
            "notes after the revocation arrived");
        companion.close();
    },
};
