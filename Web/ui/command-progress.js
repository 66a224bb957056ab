// The progress of one command to a computer, as a line in a screen or as toasts. "Done" is shown once the computer has
// replied.
import { element } from "./element.js";
import { icon } from "./icon.js";
import { named, sentenceOf } from "./words.js";

/** @typedef {import("../household/commands.js").Action} Action */
/** @typedef {import("../formats/record-bodies.js").CommandReply} CommandReply */
/** @typedef {"idle" | "sending" | "sent" | "received" | "done" | "refused" | "failed"} CommandState */

const steps = ["sending", "sent", "received", "done"];
/** How long a finished command stays visible, in milliseconds. */
const shownFor = 6000;
/** Longest duration of a command, in milliseconds. */
const longestCommand = 40_000;

/**
 * Why no command can be sent now, or null.
 * @param {Companion} companion
 */
export const offlineReason = ({ syncLoop }) => (syncLoop.connection === "waiting"
    ? "You’re offline. Try again once the hub is reachable." : null);

export class CommandProgress {
    /** @type {CommandState} */
    state = "idle";
    #companion;
    #signal;
    #marks = [0, 1, 2].map(() => element("span", { class: "command-progress-mark" }));
    #text = element("span", { class: "command-progress-text", dir: "auto" });
    #end = element("span", { class: "command-progress-end" });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;

    /** @param {Companion} companion @param {AbortSignal} signal @param {() => void} [changed] called at each step */
    constructor(companion, signal, changed = () => {}) {
        this.#companion = companion;
        this.#signal = signal;
        this.changed = changed;
        this.element = element("p", { class: "command-progress", role: "status", tabindex: "-1", hidden: true },
            element("span", { class: "command-progress-marks", "aria-hidden": "true" }, ...this.#marks),
            this.#text, this.#end);
        signal.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
    }

    /** Asked before the PIN is: whether a command may begin now. If the hub can't be reached, the line reports it. */
    mayBegin() {
        if (this.isUnderWay) return false;
        const reason = offlineReason(this.#companion);
        if (reason) this.#become("failed", reason);
        return reason === null;
    }

    /** Whether its outcome is pending. */
    get isUnderWay() {
        return ["sending", "sent", "received"].includes(this.state);
    }

    /**
     * @param {string} computer
     * @param {string} name the computer's
     * @param {Action} action
     * @returns {Promise<CommandReply | null>} null if the outcome is unknown; the line shows why
     */
    async send(computer, name, action) {
        clearTimeout(this.#timer);
        this.#end.replaceChildren();
        this.#become("sending", "Sending…");
        try {
            const reply = await this.#companion.commands.send(computer, action, reporting(this.#signal, {
                sent: () => this.#become("sent", `Sent; waiting for ${named(name)}…`),
                received: () => this.#become("received", `Received by ${named(name)}…`),
            }));
            if (this.#signal.aborted) return reply;
            if (reply.state === "done") {
                this.#become("done", `Done. ${reply.sentence}`);
                this.#timer = setTimeout(() => this.clear(), shownFor);
            } else this.#become("refused", `Refused. ${reply.sentence}`);
            return reply;
        } catch (error) {
            if (!this.#signal.aborted) this.#become("failed", sentenceOf(error));
            return null;
        }
    }

    /**
     * Shows a control after the line.
     * @param {Node} node
     */
    offer(node) {
        clearTimeout(this.#timer);
        this.#end.replaceChildren(node);
    }

    clear() {
        clearTimeout(this.#timer);
        this.state = "idle";
        this.element.hidden = true;
        this.#text.textContent = "";
        this.#end.replaceChildren();
        this.changed();
    }

    /** @param {CommandState} state @param {string} text */
    #become(state, text) {
        this.state = state;
        const step = steps.indexOf(state);
        this.element.hidden = false;
        this.element.dataset.state = state;
        for (const [index, mark] of this.#marks.entries()) {
            const isPassed = step > index;
            mark.classList.toggle("command-progress-mark-passed", isPassed);
            mark.replaceChildren(...(isPassed ? [icon("check")] : []));
        }
        this.#text.textContent = text;
        this.changed();
    }
}

/**
 * Not disabled: a keyboard user would lose the focus. Every command refuses to begin while another one is under way.
 * @param {Iterable<Element>} buttons
 * @param {CommandProgress} progress
 */
export function markBusy(buttons, { isUnderWay }) {
    for (const node of buttons) node.setAttribute("aria-disabled", String(isUnderWay));
}

/**
 * Sends a command and shows its progress as toasts. Never throws.
 * @param {Context} context
 * @param {{ id: string, name: string }} computer
 * @param {Action} action
 * @param {string} done shown when the computer has done it
 * @returns {Promise<boolean>} whether it was done
 */
export async function sendWithToasts({ companion, toast, signal }, { id, name }, action, done) {
    const show = (/** @type {string} */ sentence) => toast(sentence, { milliseconds: longestCommand });
    show(`Sending to ${name}…`);
    try {
        const reply = await companion.commands.send(id, action,
            reporting(signal, { sent: () => show(`Sent to ${name}`), received: () => show(`Received by ${name}…`) }));
        if (companion.state === "unlocked") toast(reply.state === "done" ? done : reply.sentence);
        return reply.state === "done";
    } catch (error) {
        if (companion.state === "unlocked") toast(sentenceOf(error));
        return false;
    }
}

/**
 * A listener for a command's steps that does nothing after the screen is left.
 * @param {AbortSignal} signal
 * @param {Record<string, () => void>} steps
 */
const reporting = (signal, steps) => (/** @type {string} */ state) => {
    if (!signal.aborted) steps[state]?.();
};
