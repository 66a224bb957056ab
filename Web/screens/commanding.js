// One command on its way, told in one line. Nothing is said before it is so: "done" is the computer's own word.
import { element } from "../views/element.js";
import { icon } from "../views/icon.js";
import { named, sentenceOf } from "../views/words.js";

/** @typedef {import("../core/companion.js").Companion} Companion */
/** @typedef {import("../core/commands.js").Action} Action */
/** @typedef {import("../core/bodies.js").CommandReply} CommandReply */
/** @typedef {"idle" | "sending" | "sent" | "received" | "done" | "refused" | "failed"} FlightState */

const steps = ["sending", "sent", "received", "done"];
/** A line that says "done" goes after so long, in milliseconds. */
const shownFor = 6000;

export class Flight {
    /** @type {FlightState} */
    state = "idle";
    #companion;
    #signal;
    #marks = [0, 1, 2].map(() => element("span", { class: "flight-mark" }));
    #text = element("span", { class: "flight-text", dir: "auto" });
    #end = element("span", { class: "flight-end" });
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;

    /**
     * @param {Companion} companion
     * @param {AbortSignal} signal
     * @param {() => void} [changed] called at each step
     */
    constructor(companion, signal, changed = () => {}) {
        this.#companion = companion;
        this.#signal = signal;
        this.changed = changed;
        this.element = element("p", { class: "flight", role: "status", hidden: true },
            element("span", { class: "flight-marks", "aria-hidden": "true" }, ...this.#marks), this.#text, this.#end);
        signal.addEventListener("abort", () => clearTimeout(this.#timer), { once: true });
    }

    /** Whether its end is not known yet. */
    get isUnderWay() {
        return ["sending", "sent", "received"].includes(this.state);
    }

    /**
     * @param {string} computer
     * @param {string} name the computer's
     * @param {Action} action
     * @returns {Promise<CommandReply | null>} null where nobody knows what came of it; the line says why
     */
    async send(computer, name, action) {
        clearTimeout(this.#timer);
        this.#end.replaceChildren();
        this.#become("sending", "Sending…");
        try {
            const reply = await this.#companion.commands.send(computer, action, (state) => {
                if (this.#signal.aborted) return;
                if (state === "sent") this.#become("sent", `Sent; waiting for ${named(name)}…`);
                if (state === "received") this.#become("received", `Received by ${named(name)}…`);
            });
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
     * Something to tap behind the line.
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

    /** @param {FlightState} state @param {string} text */
    #become(state, text) {
        this.state = state;
        const step = steps.indexOf(state);
        this.element.hidden = false;
        this.element.dataset.state = state;
        for (const [index, mark] of this.#marks.entries()) {
            const isPassed = step > index;
            mark.classList.toggle("flight-mark-passed", isPassed);
            mark.replaceChildren(...(isPassed ? [icon("check")] : []));
        }
        this.#text.textContent = text;
        this.changed();
    }
}

/**
 * What a person may choose for how long something opens.
 * @typedef {{ label: string, value: import("../core/commands.js").Grant }} GrantChoice
 */

/** @param {number} seconds @returns {import("../core/commands.js").Grant} */
const lasting = (seconds) => ({ kind: "duration", seconds });

/** @type {GrantChoice[]} */
export const launchGrants = [
    { label: "This launch only", value: { kind: "this_launch" } },
    { label: "5 minutes", value: lasting(300) },
    { label: "15 minutes", value: lasting(900) },
    { label: "1 hour", value: lasting(3600) },
    { label: "Until locked", value: { kind: "until_locked" } },
];

/** @type {GrantChoice[]} */
export const appGrants = [
    { label: "30 seconds", value: lasting(30) },
    { label: "5 minutes", value: lasting(300) },
    { label: "15 minutes", value: lasting(900) },
    { label: "30 minutes", value: lasting(1800) },
    { label: "1 hour", value: lasting(3600) },
    { label: "Until locked", value: { kind: "until_locked" } },
];

/**
 * "for 5 minutes", "until it is locked".
 * @param {import("../core/commands.js").Grant} grant
 */
export function grantWords({ kind, seconds }) {
    if (kind === "this_launch") return "for this launch only";
    if (kind === "until_locked") return "until it is locked";
    return seconds ? `for ${secondsWords(seconds)}` : "for the usual time";
}

/**
 * "30 seconds", "5 minutes", "1 hour".
 * @param {number} seconds
 */
export function secondsWords(seconds) {
    const [count, unit] = seconds < 60 ? [seconds, "second"] : seconds < 3600 || seconds % 3600 ? [Math.round(seconds / 60), "minute"] : [seconds / 3600, "hour"];
    return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
