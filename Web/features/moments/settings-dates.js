// The list of special dates in Everline's settings: add, change, remove.
import { cleanDateName, isDay, localDay, longestDateName, nextTime } from "../../formats/special-date.js";
import { element } from "../../ui/element.js";
import { spanOf, wholeDayName } from "../../ui/occasion-words.js";
import { button, field, row, rows, section, switchRow, tile } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { counted, isVisible, named, sentenceOf } from "../../ui/words.js";

/** @typedef {import("../../formats/special-date.js").SpecialDate} SpecialDate */
/** @typedef {import("../../formats/special-date.js").DateContent} DateContent */

/** @param {Context} context */
export function datesSection(context) {
    const list = element("div", { class: "settings-parts" });
    const foot = element("p", { class: "section-foot" });
    /** @param {import("../../formats/special-date.js").DateList} found */
    const show = ({ dates, hidden, unreadable }) => {
        const today = localDay(context.companion.now());
        list.replaceChildren(...(dates.length === 0 ? [] : [rows(...dates.map((date) => row({
            start: tile("calendar"), title: date.name, note: noteOf(date, today),
            onclick: () => change(context, date),
        })))]));
        foot.textContent = [
            dates.length === 0 && "Birthdays, anniversaries, a journey: Home shows those that are near.",
            hidden > 0 && `${counted(hidden, "more date is", "more dates are")} not shown: a vault has at most 50.`,
            unreadable > 0 && `${counted(unreadable, "date")} can’t be opened on this device.`,
        ].filter(Boolean).join(" ");
    };
    return {
        show,
        element: section("Special dates", [list, foot,
            button("Add a date", () => change(context, null), { wide: true, icon: "plus" })]),
    };
}

/** @param {SpecialDate} date @param {string} today */
function noteOf(date, today) {
    const next = nextTime(date, today);
    if (!next) return `${wholeDayName(date.day)}, over`;
    const years = next.years > 0 ? `, ${spanOf({ years: next.years, days: 0 })}` : "";
    return `${date.yearly ? "Every year, next " : ""}${wholeDayName(next.day)}${years}`;
}

/** @param {Context} context @param {SpecialDate | null} date null: a new one */
async function change(context, date) {
    const { companion, signal, toast } = context;
    const answer = await askDate(date, signal);
    if (answer === null) return;
    try {
        const dates = await companion.dates();
        if (answer !== "remove") return await dates.save(date, answer);
        if (!date) return;
        await dates.remove(date);
        if (companion.state === "unlocked") toast(`“${named(date.name)}” removed`, {
            undo: () => dates.save(date, date).catch((error) => toast(sentenceOf(error))),
        });
    } catch (error) {
        if (companion.state === "unlocked") toast(sentenceOf(error));
    }
}

/**
 * @param {SpecialDate | null} date
 * @param {AbortSignal} signal
 * @returns {Promise<DateContent | "remove" | null>}
 */
function askDate(date, signal) {
    return sheet(date ? "Change the date" : "Add a date", signal,
        (/** @type {(answer: DateContent | "remove" | null) => void} */ end) => {
            const refusal = element("p", { class: "problem note", role: "alert" });
            const [name, day] = [
                field("Name", {
                    value: date?.name ?? "", maxlength: String(longestDateName), autocomplete: "off", dir: "auto",
                    autofocus: !date,
                }),
                field("Day", { type: "date", min: "1000-01-01", max: "9999-12-30", value: date?.day ?? "" }),
            ];
            let yearly = date?.yearly ?? true;
            const submit = (/** @type {Event} */ event) => {
                event.preventDefault();
                const [typed, chosen] = [name, day]
                    .map(({ lastElementChild }) => /** @type {HTMLInputElement} */ (lastElementChild).value);
                const content = { name: cleanDateName(typed), day: chosen, yearly };
                if (!isVisible(content.name)) refusal.textContent = "A date needs a name.";
                else if (!isDay(content.day)) refusal.textContent = "Choose a day.";
                else end(content);
            };
            return [element("form", { class: "settings-form", onsubmit: submit, novalidate: true }, name, day,
                rows(switchRow({ title: "Every year", checked: yearly, change: (checked) => (yearly = checked) })),
                refusal,
                element("div", { class: "buttons buttons-even" },
                    button("Cancel", () => end(null)),
                    element("button", { class: "button button-primary", type: "submit" }, "Save")),
                date && button("Remove this date", () => end("remove"), { kind: "danger", wide: true }))];
        });
}
