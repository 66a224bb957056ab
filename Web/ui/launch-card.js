// A pending launch, and its answer.
import { drawing, element } from "./element.js";
import { icon } from "./icon.js";
import { appTile, button } from "./parts.js";
import { choose } from "./sheet.js";
import { countdown, named } from "./words.js";
import { CommandProgress } from "./command-progress.js";
import { launchGrants, secondsWords } from "./grants.js";

/** @typedef {import("../household/household.js").Launch} Launch */
/** @typedef {import("../household/commands.js").Grant} Grant */

/** Milliseconds until a new card's buttons are enabled: a tap meant for what was there before has no effect. */
const wakesAfter = 500;

/** How long an answered card stays, in milliseconds. */
const staysFor = 5000;

export class LaunchCard {
    #context;
    #launch;
    #progress;
    #clock = element("p", { class: "launch-clock note numbers", role: "timer", "aria-live": "off" });
    /** Drains with the time that is left. */
    #ring = drawing("circle", { class: "launch-ring-left", cx: 24, cy: 24, r: 22, pathLength: 1 });
    #buttons;
    #answers;
    #isAwake = false;
    /** Its line disappears after a while. */
    #isDone = false;
    /** @type {number | null} */
    #ended = null;

    /**
     * @param {Context} context
     * @param {Launch} launch
     * @param {"approve" | "deny" | null} [prefer] chosen elsewhere: it is the first button, and needs a tap
     *   nevertheless
     */
    constructor(context, launch, prefer = null) {
        const { companion, signal } = context;
        this.#context = context;
        this.#launch = launch;
        this.#progress = new CommandProgress(companion, signal, () => {
            if (["done", "refused", "failed"].includes(this.#progress.state)) this.#ended ??= Date.now();
            this.#isDone ||= this.#progress.state === "done";
        });
        const approve = button("Approve", () => this.#approve({ kind: "duration" }),
            { kind: prefer === "deny" ? "" : "primary", icon: "check" });
        const deny = button("Deny", () => this.#deny(),
            { kind: prefer === "deny" ? "danger-strong" : "danger", icon: "cross" });
        const length = `for ${secondsWords(launch.defaultGrantSeconds)}`;
        const more = button(length, () => this.#more(), {
            class: "button button-plain launch-length", "aria-label": `${length}: choose the duration`,
        });
        more.append(icon("down"));
        this.#buttons = [...(prefer === "deny" ? [deny, approve] : [approve, deny]), more];
        for (const node of this.#buttons) node.disabled = true;
        const timer = setTimeout(() => this.#wake(), wakesAfter);
        signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
        const from = [launch.userName && `by ${named(launch.userName)}`, launch.parentName
            && `from ${named(launch.parentName)}`].filter(Boolean).join(" ");
        this.#answers = element("div", { class: "launch-answers" },
            element("div", { class: "launch-buttons" }, ...this.#buttons.slice(0, 2)), more);
        this.element = element("article", {
            class: "card launch", tabindex: "-1",
            "aria-label": `${named(launch.appName)} is waiting on ${named(launch.computerName)}`,
        },
            element("div", { class: "launch-head" },
                element("div", { class: "launch-app" }, appTile(launch.appName, launch.icon),
                    drawing("svg", { class: "launch-ring", viewBox: "0 0 48 48", "aria-hidden": "true" },
                        drawing("circle", { class: "launch-ring-all", cx: 24, cy: 24, r: 22 }), this.#ring)),
                element("div", { class: "launch-text" },
                    element("h2", { class: "launch-name", dir: "auto" }, launch.appName),
                    element("p", { class: "soft note launch-who", dir: "auto" },
                        `waiting to start on ${named(launch.computerName)}`, from && `, ${from}`),
                    this.#clock)),
            this.#answers,
            element("details", { class: "launch-details" }, element("summary", {}, "Details"),
                element("p", { class: "launch-path caption soft", dir: "ltr" }, launch.path)),
            this.#progress.element);
        this.tick();
    }

    get id() {
        return this.#launch.id;
    }

    /** Whether it was answered here. */
    get isAnswered() {
        return this.#progress.isUnderWay || this.#ended !== null;
    }

    /** Whether its outcome was shown for long enough to be read. */
    get isRead() {
        return !this.#progress.isUnderWay && this.#ended !== null && Date.now() - this.#ended > staysFor;
    }

    get isTimeOver() {
        return this.#launch.expires <= this.#context.companion.now();
    }

    #wake() {
        this.#isAwake = true;
        this.tick();
    }

    /** Called each second. */
    tick() {
        const left = this.#launch.expires - this.#context.companion.now();
        this.#clock.textContent = `${countdown(left / 1000)} left`;
        const share = left / Math.max(1, this.#launch.expires - this.#launch.clock);
        this.#ring.style.setProperty("stroke-dashoffset", String(1 - Math.min(1, Math.max(0, share))));
        const isOpen = left > 0 && !this.#progress.isUnderWay && !this.#isDone;
        for (const node of this.#buttons) node.disabled = !isOpen || !this.#isAwake;
        this.#answers.hidden = this.#clock.hidden = this.#isDone;
    }

    async #more() {
        const grant = await choose("Choose the duration", launchGrants, this.#context.signal);
        if (grant) await this.#approve(grant);
    }

    /** @param {Grant} grant */
    #approve(grant) {
        return this.#send({ approve: { prompt: this.#launch.prompt, grant } });
    }

    #deny() {
        return this.#send({ deny: { prompt: this.#launch.prompt } });
    }

    /** @param {import("../household/commands.js").Action} action */
    async #send(action) {
        if (this.#progress.isUnderWay) return;
        this.#ended = null;
        const sending = this.#progress.send(this.#launch.computer, this.#launch.computerName, action);
        // To the result: the buttons are disabled now, and another launch may follow with its own.
        this.#progress.element.focus({ preventScroll: true });
        this.tick();
        await sending;
        if (!this.#context.signal.aborted) this.tick();
    }
}

/** @param {Launch} launch */
export function outcomeWords({ outcome, ...launch }) {
    const [appName, computerName] = [named(launch.appName), named(launch.computerName)];
    switch (outcome) {
        case "allowed": return `${appName} was approved on ${computerName}.`;
        case "denied": return `${appName} was denied on ${computerName}.`;
        case "timed_out": return `Nobody answered in time, so ${appName} was denied on ${computerName}.`;
        case "gone": return `${appName} ended on ${computerName} before it was answered.`;
        default: return `The request expired, so ${appName} was denied on ${computerName}.`;
    }
}
