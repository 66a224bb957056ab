// What a companion can say of itself: its connection, what waits, what the hub served that was refused, the room that is left.
import { CompanionStore } from "../store/store.js";
import { knowsVault } from "./drawer.js";

/**
 * @typedef {{ device: Omit<import("./device.js").DeviceFacts, "token" | "deviceSecret"> | null, connection: string, problem: string | null,
 *   cursor: number, waiting: number, failed: number, deferred: number, refused: number, misbehaviour: string[],
 *   room: { persisted: boolean, usage: number, quota: number } }} Report
 */

/**
 * @param {import("./companion.js").Companion} companion
 * @returns {Promise<Report>}
 */
export async function reportOf({ device: { store, facts, unlocked }, following }) {
    // What is of another PIN is not told.
    const lines = (await store.waiting()).filter(({ record }) => !unlocked || knowsVault(unlocked.ring, record.vault));
    return {
        device: facts && {
            hub: facts.hub, household: facts.household, computer: facts.computer, device: facts.device, name: facts.name,
        },
        connection: following.connection, problem: following.problem,
        cursor: await store.sequence("cursor"), waiting: lines.filter((line) => !line.problem).length,
        failed: lines.filter((line) => line.problem).length, deferred: unlocked && !unlocked.receivesKeys ? 0 : (await store.deferred()).length,
        refused: await store.fact("refused", 0), misbehaviour: await store.fact("misbehaviour", []),
        room: await CompanionStore.room(),
    };
}
