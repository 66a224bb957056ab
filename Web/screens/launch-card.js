// A launch that waits at a computer, and the answer to it.
import { element } from "../views/element.js";
import { icon } from "../views/icon.js";
import { button, iconButton, letter } from "../views/parts.js";
import { choose } from "../views/sheet.js";
import { countdown, named } from "../views/words.js";
import { Flight, launchGrants, secondsWords } from "./commanding.js";

/** @typedef {import("../core/household.js").Launch} Launch */
/** @typedef {import("../core/commands.js").Grant} Grant */

/**
 * A card comes up by itself, and must not take a tap that was meant for what stood there before: its buttons wake so many
 * milliseconds later.
 */
const wakesAfter = 500;

/** A card that was answered stays so long, in milliseconds, so that its end is read. */
const staysFor = 5000;

export class LaunchCard {
    #context;
    #launch;
    #flight;
    #clock = element("span", { class: "launch-clock numbers", role: "timer", "aria-live": "off" });
    #buttons;
    #row;
    #badge = element("span", { class: "badge badge-warning" }, icon("clock"), this.#clock);
    #hint;
    #isAwake = false;
    /** Its line goes after a while; what was done stays done. */
    #isDone = false;
    /** @type {number | null} */
    #ended = null;

    /**
     * @param {import("../views/shell.js").Context} context
     * @param {Launch} launch
     * @param {"approve" | "deny" | null} [prefer] what was asked for elsewhere: it stands first, and a tap is needed all the same
     */
    constructor(context, launch, prefer = null) {
        const { companion, signal } = context;
        this.#context = context;
        this.#launch = launch;
        this.#flight = new Flight(companion, signal, () => {
            if (["done", "refused", "failed"].includes(this.#flight.state)) this.#ended ??= Date.now();
            this.#isDone ||= this.#flight.state === "done";
        });
        const approve = button("Approve", () => this.#approve({ kind: "duration" }), { kind: prefer === "deny" ? "" : "primary", icon: "check" });
        const deny = button("Deny", () => this.#deny(), { kind: prefer === "deny" ? "danger-strong" : "danger", icon: "cross" });
        const more = iconButton("more", "Approve for how long", () => this.#more());
        this.#buttons = prefer === "deny" ? [deny, approve, more] : [approve, deny, more];
        for (const node of this.#buttons) node.disabled = true;
        const timer = setTimeout(() => this.#wake(), wakesAfter);
        signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
        this.#hint = element("p", { class: "soft note launch-hint" }, `Approve opens it for ${secondsWords(launch.defaultGrantSeconds)}.`);
        const from = [launch.userName && `by ${named(launch.userName)}`, launch.parentName && `from ${named(launch.parentName)}`].filter(Boolean).join(" ");
        this.#row = element("div", { class: "launch-buttons" }, ...this.#buttons);
        this.element = element("article", { class: "card launch", tabindex: "-1", "aria-label": `${named(launch.appName)} waits on ${named(launch.computerName)}` },
            element("div", { class: "launch-head" }, letter(launch.appName),
                element("div", { class: "launch-text" },
                    element("h2", { class: "launch-name", dir: "auto" }, launch.appName),
                    element("p", { class: "soft note launch-who", dir: "auto" }, `wants to open on ${named(launch.computerName)}`, from && `, ${from}`)),
                this.#badge),
            element("p", { class: "launch-path caption soft", dir: "ltr" }, launch.path),
            this.#row, this.#hint, this.#flight.element);
        this.tick();
    }

    get id() {
        return this.#launch.id;
    }

    /** Whether somebody answered here. */
    get isAnswered() {
        return this.#flight.isUnderWay || this.#ended !== null;
    }

    /** Whether an answer was given here, and what came of it was shown for long enough to be read. */
    get isRead() {
        return !this.#flight.isUnderWay && this.#ended !== null && Date.now() - this.#ended > staysFor;
    }

    get isTimeOver() {
        return this.#launch.expires <= this.#context.companion.device.time.now();
    }

    #wake() {
        this.#isAwake = true;
        this.tick();
    }

    /** Each second. */
    tick() {
        const left = this.#launch.expires - this.#context.companion.device.time.now();
        this.#clock.textContent = countdown(left / 1000);
        const isOpen = left > 0 && !this.#flight.isUnderWay && !this.#isDone;
        for (const node of this.#buttons) node.disabled = !isOpen || !this.#isAwake;
        this.#hint.hidden = this.isAnswered;
        // Another launch may wait below, with buttons of its own.
        if (this.#isDone && this.#row.contains(document.activeElement)) this.element.focus({ preventScroll: true });
        this.#row.hidden = this.#badge.hidden = this.#isDone;
    }

    async #more() {
        const grant = await choose("Approve for how long", launchGrants, this.#context.signal);
        if (grant) await this.#approve(grant);
    }

    /** @param {Grant} grant */
    #approve(grant) {
        return this.#send({ approve: { prompt: this.#launch.prompt, grant } });
    }

    #deny() {
        return this.#send({ deny: { prompt: this.#launch.prompt } });
    }

    /** @param {import("../core/commands.js").Action} action */
    async #send(action) {
        if (this.#flight.isUnderWay) return;
        this.#ended = null;
        const sending = this.#flight.send(this.#launch.computer, this.#launch.computerName, action);
        this.tick();
        await sending;
        if (!this.#context.signal.aborted) this.tick();
    }
}

/**
 * What became of a launch, in words.
 * @param {Launch} launch
 */
export function outcomeWords({ outcome, ...launch }) {
    const [appName, computerName] = [named(launch.appName), named(launch.computerName)];
    switch (outcome) {
        case "allowed": return `${appName} was let in on ${computerName}.`;
        case "denied": return `${appName} was not let in on ${computerName}.`;
        case "timed_out": return `Nobody answered in time, so ${appName} was not let in on ${computerName}.`;
        case "gone": return `${appName} went away on ${computerName} before anybody answered.`;
        default: return `The time for an answer is over, so ${appName} was not let in on ${computerName}.`;
    }
}
