// A phone with a decoy PIN, beside a hub that a test plays.
import { Companion } from "/core/companion.js";
import { eventually } from "./harness.js";
import { MomentHub } from "./made-moments.js";

export const [real, decoy, third, other] = ["735102", "904417", "628053", "417390"];
let names = 0;

const statusOf = (household) => ({
    name: "den", clock: Date.now(), rosterNumber: 2, hubProblems: [], vault: household.vault,
    status: {
        version: "1", isSetUp: true, protection: "held", degraded: [], monitoring: { isOn: true }, lockedApps: 0,
        unlockedApps: 0, waitingLaunches: 0, prompterConnected: true, lockout: { failures: 0, remainingSeconds: 0 },
    },
});

export async function paired() {
    const household = await MomentHub.make();
    household.serve();
    const name = `decoy-${(names += 1)}`;
    const companion = await Companion.open({ name });
    await companion.pair(household.link(), "phone");
    await companion.setPIN(real);
    await eventually(() => companion.following.connection === "live", "live");
    household.store(await household.sealed("status", household.computer.id, statusOf(household)));
    await eventually(async () => (await companion.household.computers()).length === 1, "the computer");
    return { household, companion, name };
}

export async function withDecoy() {
    const all = await paired();
    await all.companion.decoy.set(decoy);
    return all;
}

export async function reopened(companion, pin) {
    companion.lock();
    await companion.unlockWithPIN(pin);
}

export const titles = async (companion) => (await companion.notes.list()).notes.map(({ title }) => title).sort();
export const sent = (companion) => eventually(async () => (await companion.device.store.waiting()).length === 0, "sent");
