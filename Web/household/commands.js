// Commands of a companion to a computer. docs/formats.md, "Command".
import { recordKey } from "../formats/record-key.js";
import { randomID } from "../crypto/bytes.js";
import { clockOf, resetClock } from "./computer-clocks.js";
import { CompanionError } from "./errors.js";

/** @typedef {import("./household.js").Household} Household */
/** @typedef {import("../formats/record-bodies.js").CommandReply} CommandReply */
/**
 * `seconds`: 30 to 3,600, absent: the computer's default.
 * @typedef {{ kind: "duration" | "this_launch" | "until_locked", seconds?: number }} Grant
 */
/**
 * An object with one key (Sources/Shared/Household/RemoteCommand.swift).
 * @typedef {{ lockAll: {} } | { unlockAll: { grant: Grant } } | { lockApp: { app: string } }
 *   | { unlockApp: { app: string, grant: Grant } } | { approve: { prompt: string, grant: Grant } }
 *   | { deny: { prompt: string } } | { lockVault: {} } | { takePhoto: {} } | { removePhoto: { photo: string } }
 *   | { addApp: { app: string } } | { removeApp: { app: string } } | { setSchedule: { app: string, schedule: string } }
 *   | { setCategories: { app: string, categories: string[] } } | { renameDevice: { device: string, name: string } }
 *   | { revokeDevice: { device: string } }} Action
 */
/**
 * `issued`: milliseconds since 1970 by the computer's clock.
 * @typedef {{ computer: string, issued: number, action: Action }} RemoteCommand
 */
/**
 * `sent`: the hub has it.
 * @typedef {"sent" | "received" | "done" | "refused"} CommandState
 */

const patience = 30_000;

const steps = /** @type {const} */ (["sent", "received"]);

/**
 * Reports each step once and in order: the stream may be faster than the response.
 * @param {((state: CommandState) => void) | undefined} progress
 */
function inOrder(progress) {
    let reported = 0;
    return (/** @type {"sent" | "received"} */ state) => {
        for (const end = steps.indexOf(state) + 1; reported < end; reported += 1) progress?.(steps[reported]);
    };
}

export class Commands {
    /** @param {DeviceSession} device @param {Household} household */
    constructor(device, household) {
        this.device = device;
        this.household = household;
    }

    /**
     * Sends a command and waits for its reply; retries once if the computer's clock differs. Throws CompanionError
     * `locked`, `noAnswer`, HubError, HubUnreachable. Never queued: it would arrive too late.
     * @param {string} computer
     * @param {Action} action
     * @param {(state: CommandState) => void} [progress]
     * @returns {Promise<CommandReply>} its state is "done" or "refused"
     */
    async send(computer, action, progress) {
        const step = inOrder(progress);
        let reply = await this.#attempt(computer, action, step);
        if (reply.state === "refused" && (reply.reason === "too_old" || reply.reason === "too_early")) {
            const { clock } = reply;
            await this.device.tabs.exclusive("take", async () => {
                const clocks = await this.device.store.fact("clocks", {});
                resetClock(clocks, computer, clock, this.device.time.now());
                await this.device.store.write({ facts: { clocks } });
            });
            reply = await this.#attempt(computer, action, step);
        }
        progress?.(reply.state === "done" ? "done" : "refused");
        return reply;
    }

    /** @param {string} computer @param {Action} action @param {(state: "sent" | "received") => void} step */
    async #attempt(computer, action, step) {
        const { device } = this;
        const clocks = await device.store.fact("clocks", {});
        const id = randomID();
        const issued = Math.round(clockOf(clocks, computer, device.time.now()));
        /** @type {RemoteCommand} */
        const command = { computer, issued, action };
        const record = await device.keys.sealHousehold("commands", id, command, device.statusKeys);
        const ended = new AbortController();
        try {
            const reply = this.#reply(id, computer, ended.signal, () => step("received"));
            reply.catch(() => {});
            const [outcome] = await device.hub.write([record]);
            if (outcome.sequence === undefined) {
                throw new CompanionError("noAnswer", outcome.error?.message ?? "The hub did not accept the command.");
            }
            step("sent");
            return await reply;
        } finally {
            ended.abort();
        }
    }

    /**
     * @param {string} id
     * @param {string} computer
     * @param {AbortSignal} signal
     * @param {() => void} received
     * @returns {Promise<CommandReply>}
     */
    #reply(id, computer, signal, received) {
        const { device, household } = this;
        const key = recordKey("commands", id);
        return new Promise((resolve, reject) => {
            let wasReceived = false;
            const look = async (/** @type {Event} */ event) => {
                if (!(/** @type {CustomEvent<string[]>} */ (event).detail.includes(key))) return;
                const reply = await household.reply(id).catch(reject);
                if (!reply || reply.computer !== computer) return;
                if (!wasReceived && reply.reason !== "too_old" && reply.reason !== "too_early") received();
                wasReceived = true;
                if (reply.state !== "received") resolve(reply);
            };
            device.events.addEventListener("changed", look);
            signal.addEventListener("abort", () => device.events.removeEventListener("changed", look));
            device.time.sleep(patience, signal).then(() =>
                reject(new CompanionError("noAnswer",
                    "The computer did not answer. Check that it is running and connected.")));
        });
    }
}
