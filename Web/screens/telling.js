// A command whose way is told in one line below the screen; "done" is the computer's own word.
import { sentenceOf } from "../views/words.js";

/** @typedef {import("../views/shell.js").Context} Context */

/** As long as a command may take, in milliseconds. */
const longest = 40_000;

/**
 * Whether it was done. Never throws.
 * @param {Context} context
 * @param {{ id: string, name: string }} computer
 * @param {import("../core/commands.js").Action} action
 * @param {string} done what is said then
 */
export async function told({ companion, tell, signal }, { id, name }, action, done) {
    tell(`Sending to ${name}…`, { milliseconds: longest });
    try {
        const reply = await companion.commands.send(id, action, (state) => {
            if (signal.aborted) return;
            if (state === "sent") tell(`Sent to ${name}`, { milliseconds: longest });
            if (state === "received") tell(`Received by ${name}…`, { milliseconds: longest });
        });
        if (companion.state === "unlocked") tell(reply.state === "done" ? done : reply.sentence);
        return reply.state === "done";
    } catch (error) {
        if (companion.state === "unlocked") tell(sentenceOf(error));
        return false;
    }
}
