// The files that could not be added: one line, with the reasons behind it.
import { element } from "../../ui/element.js";
import { banner, button } from "../../ui/parts.js";
import { counted } from "../../ui/words.js";

export class PhotoProblems {
    element = element("div", { class: "editor-notices", role: "alert" });
    #count = 0;
    #summary = element("summary", { class: "editor-problems-title" });
    #reasons = element("ul", { class: "editor-reasons" });
    #details = element("details", {}, this.#summary, this.#reasons);
    #dismissed;

    /** @param {() => void} dismissed the person has read them */
    constructor(dismissed) {
        this.#dismissed = dismissed;
    }

    /**
     * @param {string} sentence
     * @param {{ count?: number, again?: () => void }} rest `count`: of files. `again`: offered as "Try again"
     */
    add(sentence, { count = 1, again } = {}) {
        this.#count += count;
        const reason = element("li", {}, element("p", { dir: "auto" }, sentence),
            again && button("Try again", () => {
                this.#count -= count;
                reason.remove();
                this.#draw();
                again();
            }));
        this.#reasons.append(reason);
        // A single reason is shown at once.
        this.#details.open = this.#reasons.childElementCount === 1;
        this.#draw();
    }

    #draw() {
        this.#summary.textContent = `${counted(this.#count, "file")} couldn’t be added`;
        if (this.#reasons.childElementCount === 0) this.element.replaceChildren();
        else if (!this.element.hasChildNodes()) {
            this.element.append(banner("warning", "warning", this.#details,
                element("div", { class: "buttons" }, button("OK", () => this.#dismiss(), { kind: "plain" }))));
        }
    }

    #dismiss() {
        this.#count = 0;
        this.#reasons.replaceChildren();
        this.#draw();
        this.#dismissed();
    }
}
