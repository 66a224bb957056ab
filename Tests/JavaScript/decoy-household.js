// A phone with a decoy PIN, at a simulated hub.
import { eventually } from "./harness.js";
import { pairedCompanion } from "./fake-household.js";
import { MomentHub } from "./fake-moments.js";

export const [real, decoy, third, other] = ["735102", "904417", "628053", "417390"];

const statusOf = (household) => ({
    name: "den", clock: Date.now(), rosterNumber: 2, hubProblems: [], vault: household.vault,
    status: {
        version: "1", isSetUp: true, protection: "held", degraded: [], monitoring: { isOn: true }, lockedApps: 0,
        unlockedApps: 0, waitingLaunches: 0, prompterConnected: true, lockout: { failures: 0, remainingSeconds: 0 },
    },
});

export async function paired() {
    const household = await MomentHub.make();
    const { companion, name } = await pairedCompanion(household, { pin: real });
    const background = watched(companion);
    household.store(await household.sealed("status", household.computer.id, statusOf(household)));
    await eventually(async () => (await companion.household.computers()).length === 1, "the computer");
    return { household, companion, name, background };
}

/**
 * What the companion does without being waited for: an unlock is logged, and changes are sent.
 * @returns {Set<Promise<unknown>>} those that run
 */
function watched(companion) {
    const running = new Set();
    for (const [object, name] of [[companion.audit, "unlocked"], [companion.administration, "publishOwnName"],
        [companion.syncLoop, "send"], [companion.syncLoop, "sync"]]) {
        const method = object[name];
        object[name] = (...args) => {
            const result = method.apply(object, args);
            const ended = result.catch(() => {}).then(() => running.delete(ended));
            running.add(ended);
            return result;
        };
    }
    return running;
}

/** Waits until everything that the companion began has ended, and the stream has returned what was sent. */
export async function settled({ companion, household, background }) {
    await eventually(() => companion.syncLoop.connection === "live", "live");
    await eventually(async () => {
        await Promise.all(background);
        const { store } = companion.device;
        if ((await store.waiting()).length > 0) return false;
        if (household.streams.length > 0
            && await store.sequence("cursor") !== household.records.at(-1).sequence) return false;
        return background.size === 0;
    }, "everything has ended");
    // A request that is begun by something else would come within these turns of the event loop.
    for (let turn = 0, before = household.requests.length; turn < 50; turn += 1) {
        await new Promise((done) => setTimeout(done));
        if (household.requests.length !== before) [turn, before] = [0, household.requests.length];
    }
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

/** The network fails at the `which`th change of a PIN: before the request (`isBefore`), or before the response. */
export function disconnectAtReplacement(household, isBefore, which = 1) {
    let count = 0;
    window.fetch = async (url, options) => {
        const isReplacement = new URL(url).pathname === "/v1/pin-share/replace";
        if (!isReplacement || (count += 1) < which) return household.respond(new URL(url), options);
        if (!isBefore) await household.respond(new URL(url), options);
        throw new TypeError("no network");
    };
}

export const titles = async (companion) => (await companion.notes.list()).notes.map(({ title }) => title).sort();
export const sent = (companion) =>
    eventually(async () => (await companion.device.store.waiting()).length === 0, "sent");
