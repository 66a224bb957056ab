// A moment's day and time, local to the place.
import { element } from "../../ui/element.js";

/** @typedef {{ date: number, offset: number }} Taken seconds since 1970, minutes ahead of UTC */

/** The range of a moment's day. */
const [first, last] = ["0001-01-02", "9999-12-30"];

export class WhenFields {
    /** @type {number | null} minutes ahead of UTC; null: this device's on that day */
    #offset;
    #note = element("p", { class: "section-foot", hidden: true });

    /**
     * @param {{ day: string, time: string, offset: number | null, isOwnTime: boolean }} start `isOwnTime`: the person
     *   chose it
     * @param {() => void} changed
     */
    constructor({ day, time, offset, isOwnTime }, changed) {
        this.#offset = offset;
        this.isOwnTime = isOwnTime;
        const oninput = () => {
            this.isOwnTime = true;
            this.#note.hidden = true;
            changed();
        };
        this.day = element("input", {
            class: "input editor-day", type: "date", min: first, max: last, required: true, value: day,
            "aria-label": "Day", oninput,
        });
        this.time = element("input",
            { class: "input editor-time", type: "time", required: true, value: time, "aria-label": "Time", oninput });
        this.element = element("div", { class: "editor-when" }, this.day, this.time);
        this.note = this.#note;
    }

    /** @param {number} date seconds since 1970 @param {number | null} [offset] */
    static of(date, offset = null) {
        const local = new Date((date + 60 * (offset ?? zoneAt(date))) * 1000).toISOString();
        const [day, time] = local.split("T");
        return { day, time: time.slice(0, 5), offset };
    }

    /**
     * Uses the first photo's time, unless the person chose one.
     * @param {Taken | null} taken
     */
    propose(taken) {
        if (this.isOwnTime || !taken) return;
        const { day, time } = WhenFields.of(taken.date, taken.offset);
        if (this.day.value === day && this.time.value === time) return;
        [this.day.value, this.time.value, this.#offset] = [day, time, taken.offset];
        this.#note.textContent = "From the first photo.";
        this.#note.hidden = false;
    }

    get fields() {
        return { day: this.day.value, time: this.time.value, offset: this.#offset, isOwnTime: this.isOwnTime };
    }

    /**
     * Null for an invalid day or time.
     * @returns {Taken | null}
     */
    get value() {
        const asUTC = Date.parse(`${this.day.value}T${this.time.value.slice(0, 5)}Z`) / 1000;
        if (!Number.isFinite(asUTC) || this.day.value < first
            || this.day.value.length !== 10 || this.day.value > last) {
            return null;
        }
        const offset = this.#offset ?? -new Date(`${this.day.value}T${this.time.value}`).getTimezoneOffset();
        return { date: asUTC - offset * 60, offset: Math.round(offset) };
    }
}

/** @param {number} date */
const zoneAt = (date) => -new Date(date * 1000).getTimezoneOffset();
