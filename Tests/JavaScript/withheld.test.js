// What a hub keeps from a phone: what the phone misses, and what it does not.
import { base64, randomID, unhex } from "/crypto/bytes.js";
import { lastSeen } from "/ui/computer-choice.js";
import { eventually, equal } from "./harness.js";
import { MadeHousehold, madeDevice, pairedCompanion } from "./made-household.js";
import { quick } from "./restorable-household.js";

const revoke = 2;
const minute = 60_000;

/** A companion beside a household that a test plays. `later`: how far the test has moved its clock, in milliseconds. */
async function paired() {
    const household = await MadeHousehold.make();
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

/** The hub has it and does not send it; a phone that has what came after it never asks for it. */
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
        await eventually(async () => (await companion.household.alerts()).length === 1, "what came after it is here");
        await companion.refresh();
        equal(await titles(companion), ["after", "before"], "notes");
        equal([await misbehaviour(companion), (await companion.report()).refused], [[], 0], "nothing is reported");
        equal((await companion.household.computers()).map(({ missingEvents }) => missingEvents), [0],
            "nothing is missing");
        companion.close();
    },

    async aComputerWhoseReportsAreWithheldIsOfflineAfterFiveMinutes() {
        const { household, companion, clock } = await paired();
        household.store(await statusOf(household, 2));
        await eventually(async () => (await companion.household.computers()).length === 1, "the computer");
        const seen = async () => lastSeen(companion, (await companion.household.computers())[0], new Map());
        const { reported } = (await companion.household.computers())[0];
        clock.later = 5 * minute;
        equal(await seen(), null, "its next report is due");
        clock.later = 6 * minute;
        equal([companion.syncLoop.connection, await seen()], ["live", reported / 1000],
            "away since its report, with the hub connected");
        companion.close();
    },

    async aComputerThatTheHubCallsConnectedIsAwayOnceItsReportIsOverdue() {
        const { household, companion, clock } = await paired();
        household.store(await statusOf(household, 2));
        await eventually(async () => (await companion.household.computers()).length === 1, "the computer");
        const [{ id, reported }] = await companion.household.computers();
        const seen = async () => lastSeen(companion, (await companion.household.computers())[0],
            new Map([[id, { isConnected: true, lastSeen: null }]]));
        equal(await seen(), null, "it has just reported");
        clock.later = 6 * minute;
        equal(await seen(), reported / 1000, "away, whatever the hub says of it");
        companion.close();
    },

    async aTruncatedRosterIsDetectedByTheComputersStatus() {
        const { household, companion } = await paired();
        const served = [...household.entries];
        household.instead["GET /v1/roster"] = (url) =>
            ({ entries: served.slice(Number(url.searchParams.get("after"))).map(base64) });
        await household.append(household.computer, household.admit(await madeDevice(), 2));
        await companion.refresh();
        equal(await misbehaviour(companion), [], "the list alone shows nothing");
        household.store(await statusOf(household, household.entries.length));
        await eventually(async () => (await misbehaviour(companion)).length === 1, "found out");
        equal(await misbehaviour(companion),
            ["The hub returned an older list of devices than the computer has; it was refused."], "reported");
        companion.close();
    },

    /**
     * A thief of an unlocked phone writes on, and the hub helps: this phone does not learn that the other one was
     * revoked.
     */
    async aRevokedPhonesRecordsAreAcceptedUntilTheRevocationArrives() {
        const { household, companion } = await paired();
        const stolen = await madeDevice();
        await household.append(household.computer, household.admit(stolen, 2));
        await companion.refresh();
        const served = [...household.entries];
        await household.append(household.computer, unhex(stolen.id), revoke);
        household.instead["GET /v1/roster"] = (url) =>
            ({ entries: served.slice(Number(url.searchParams.get("after"))).map(base64) });
        await companion.refresh();
        household.store(await household.note("written after the revocation", { author: stolen }));
        await eventually(async () => (await titles(companion)).length === 1, "it is taken");
        equal([await titles(companion), await misbehaviour(companion)], [["written after the revocation"], []],
            "and nothing is reported");
        household.instead = {};
        await companion.refresh();
        household.store(await household.note("later", { author: stolen }), await household.note("of the computer"));
        await eventually(async () => (await titles(companion)).length === 2, "what came after it is here");
        equal(await titles(companion), ["of the computer", "written after the revocation"],
            "once the entry is here, nothing more");
        companion.close();
    },
};
