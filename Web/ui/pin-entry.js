// PIN input: a keypad with dots, or a field for letters.
import { element } from "./element.js";
import { secondsWords } from "./grants.js";
import { icon } from "./icon.js";
import { button } from "./parts.js";
import { countdown, counted } from "./words.js";

const longest = 64;

/** After so many wrong PINs the hub destroys its share. */
const attempts = 10;

/**
 * While unlocked the hub counts another vault's PIN as right; this must not be visible.
 * @param {number} failures by the hub's count
 * @param {string} loss what the last one costs
 */
export const wrongPINSentence = (failures, loss) =>
    `The PIN is wrong. ${counted(attempts - Math.max(1, failures), "try", "tries")} left before ${loss}.`;

/** `submit` throws if the PIN is refused, and the entry is cleared. `wait` disables it for so many seconds. */
export class PINEntry {
    #typed = "";
    #isBusy = false;
    #isText = false;
    #waitsUntil = 0;
    #submit;
    #signal;
    #dots = element("div", { class: "dots", "aria-hidden": "true" });
    #count = element("p", { class: "visually-hidden", role: "status" });
    #message = element("span", { role: "alert" });
    /** Ticks: a screen reader announces only when the wait begins and ends. */
    #clock = element("span", { class: "numbers", "aria-hidden": "true" });
    #body = element("div", {});
    /** @type {HTMLInputElement} */
    #field = element("input", {
        class: "input", type: "password", autocomplete: "off", "aria-label": "PIN", maxlength: longest,
        enterkeyhint: "go",
        autocapitalize: "none", spellcheck: "false",
    });

    /**
     * @param {{ submit: (pin: string) => Promise<void>, go: string, signal: AbortSignal, explain: (error: unknown) =>
     *   string }} options
     *   `go`: the label of the button that submits it
     */
    constructor({ submit, go, signal, explain }) {
        this.#submit = submit;
        this.#signal = signal;
        this.go = go;
        this.explain = explain;
        this.toggle = button("Use letters", () => this.#switch(), { kind: "plain", icon: "keyboard" });
        // In a sheet it has the focus, so that Enter submits and does not press the first key.
        this.element = element("div", {
            class: "pin-entry", role: "group", "aria-label": "PIN keypad", tabindex: "-1", autofocus: true,
        }, this.#dots, this.#count,
        element("p", { class: "problem note" }, this.#message, this.#clock), this.#body, this.toggle);
        document.addEventListener("keydown", (event) => this.#pressed(event), { signal });
        signal.addEventListener("abort", () => this.#clear(), { once: true });
        this.#draw();
    }

    /** @param {string} sentence */
    showMessage(sentence) {
        this.#message.textContent = sentence;
    }

    /** @param {number} seconds */
    wait(seconds) {
        this.#waitsUntil = performance.now() + seconds * 1000;
        this.#message.replaceChildren("Too many wrong PINs.",
            element("span", { class: "visually-hidden" }, ` Try again in ${secondsWords(Math.ceil(seconds))}.`));
        this.#tick();
    }

    #tick() {
        if (this.#signal.aborted) return;
        const left = (this.#waitsUntil - performance.now()) / 1000;
        this.#clock.textContent = left > 0 ? ` Try again in ${countdown(left)}.` : "";
        this.#enable();
        if (left > 0) return void setTimeout(() => this.#tick(), 500);
        this.showMessage("");
        this.#count.textContent = "You can enter the PIN now.";
    }

    #enable() {
        const disabled = this.#isBusy || this.#waitsUntil > performance.now();
        for (const control of this.#body.querySelectorAll("button, input")) {
            /** @type {HTMLButtonElement} */ (control).disabled = disabled;
        }
        return !disabled;
    }

    #switch() {
        this.#isText = !this.#isText;
        this.#clear();
        this.#draw();
        if (this.#isText) this.#field.focus();
    }

    #clear() {
        this.#typed = "";
        this.#field.value = "";
        this.#drawDots();
    }

    #draw() {
        /** @type {HTMLElement} */ (this.toggle.lastElementChild).textContent = this.#isText
            ? "Use the keypad"
            : "Use letters";
        this.#dots.hidden = this.#isText;
        if (this.#isText) {
            this.#body.replaceChildren(element("form", {
                class: "entry-page-form", onsubmit: (/** @type {Event} */ event) => {
                    event.preventDefault();
                    this.#send(this.#field.value);
                },
            }, this.#field, element("button",
                { class: "button button-primary button-wide", type: "submit" }, this.go)));
        } else {
            const digit = (/** @type {string} */ value) =>
                element("button", { type: "button", class: "key", onclick: () => this.#type(value) }, value);
            this.#body.replaceChildren(element("div", { class: "keypad" }, ..."123456789".split("").map(digit),
                element("button", { type: "button", class: "key key-plain", "aria-label": "Delete", onclick: () =>
                    this.#back() }, icon("erase")),
                digit("0"),
                element("button", { type: "button", class: "key key-go", "aria-label": this.go, onclick: () =>
                    this.#send(this.#typed) }, icon("check"))));
        }
        this.#drawDots();
        this.#enable();
    }

    #drawDots() {
        const shown = Math.max(6, this.#typed.length);
        this.#dots.replaceChildren(...Array.from({ length: shown }, (_, index) =>
            element("span", { class: `dot${index < this.#typed.length ? " dot-full" : ""}` })));
        this.#count.textContent = this.#isText || !this.#typed ? "" : `${this.#typed.length} entered`;
    }

    /** @param {string} value */
    #type(value) {
        if (!this.#enable() || this.#typed.length >= longest) return;
        if (this.#waitsUntil === 0 || this.#typed === "") this.showMessage("");
        this.#typed += value;
        navigator.vibrate?.(5);
        this.#drawDots();
    }

    #back() {
        this.#typed = this.#typed.slice(0, -1);
        this.#drawDots();
    }

    /** @param {KeyboardEvent} event */
    #pressed(event) {
        // A sheet over this one, or the field, handles its own keys. The topmost dialog is the last in the page.
        if (this.#isText || event.ctrlKey || event.metaKey || event.altKey) return;
        const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
        if (dialog && !dialog.contains(this.element)) return;
        if (/^\d$/.test(event.key)) this.#type(event.key);
        else if (event.key === "Backspace") this.#back();
        else if (event.key === "Enter" && !(event.target instanceof HTMLButtonElement)) this.#send(this.#typed);
        else return;
        event.preventDefault();
    }

    /** @param {string} pin */
    async #send(pin) {
        if (!pin || !this.#enable()) return;
        this.#isBusy = true;
        this.#enable();
        this.showMessage("");
        try {
            await this.#submit(pin);
        } catch (error) {
            const { code, retryAfterSeconds } =
                /** @type {{ code?: string, retryAfterSeconds?: number }} */ (error);
            if (code === "wait" && retryAfterSeconds) this.wait(retryAfterSeconds);
            else this.showMessage(this.explain(error));
            this.#shake();
        }
        this.#clear();
        this.#isBusy = false;
        if (this.#signal.aborted) return;
        this.#enable();
        if (this.#isText) this.#field.focus();
    }

    #shake() {
        navigator.vibrate?.([40, 60, 40]);
        const shaken = this.#isText ? this.#field : this.#dots;
        shaken.classList.remove("shaking");
        void shaken.offsetWidth;
        shaken.classList.add("shaking");
    }
}
