// The companion's state for people: its connection, pending changes, refused records, free storage.
import { storageRoom } from "../store/quota.js";
import { hasVaultKey } from "../household/private-storage.js";

/**
 * @typedef {{ device: Omit<import("./device-session.js").DeviceFacts, "token" | "deviceSecret"> | null,
 *   connection: string, problem: string | null, cursor: number, waiting: number, failed: number, deferred: number,
 *   refused: number, misbehaviour: string[], room: { persisted: boolean, usage: number, quota: number } }} Report
 */

/** @param {import("../session/session-state.js").SessionState} session @returns {Promise<Report>} */
export async function reportOf({ device: { store, facts, unlocked }, syncLoop }) {
    // Changes of another PIN's vault are not counted.
    const lines = (await store.waiting()).filter(({ record }) => !unlocked || hasVaultKey(unlocked.ring, record.vault));
    return {
        device: facts && {
            hub: facts.hub, household: facts.household, computer: facts.computer, device: facts.device,
            name: facts.name,
        },
        connection: syncLoop.connection, problem: syncLoop.problem,
        cursor: await store.sequence("cursor"), waiting: lines.filter((line) => !line.problem).length,
        failed: lines.filter((line) => line.problem).length,
        deferred: unlocked && !unlocked.receivesKeys ? 0 : (await store.deferred()).length,
        refused: await store.fact("refused", 0), misbehaviour: await store.fact("misbehaviour", []),
        room: await storageRoom(),
    };
}
