// Everline's own settings: the day that two people count from.
import { element } from "../views/element.js";
import { button, card, section } from "../views/parts.js";
import { sentenceOf } from "../views/words.js";
import { fileLinks } from "./everline-links.js";
import { setTogether, together } from "./moments-together.js";

/** @type {import("./settings.js").SettingsPage} */
export async function everline(context) {
    const { companion, signal } = context;
    const told = element("p", { class: "section-foot", role: "status" });
    const day = element("input", { class: "input", type: "date", min: "1900-01-01", max: "9999-12-30", value: (await together(companion)) ?? "" });
    const remove = button("Count no days", () => keep(null), { wide: true, hidden: !day.value });
    /** @param {string | null} since */
    const keep = async (since) => {
        try {
            await setTogether(companion, since);
            if (signal.aborted) return;
            if (since === null) day.value = "";
            remove.hidden = since === null;
            told.textContent = since === null ? "No days are counted any more." : "Kept.";
        } catch (error) {
            if (!signal.aborted) told.textContent = sentenceOf(error);
        }
    };
    const set = () => {
        if (day.value && day.validity.valid) return keep(day.value);
        told.textContent = "Choose the day you count from.";
        day.focus();
    };
    return {
        title: "Everline",
        body: [
            section("Days together", [
                card(element("label", { class: "field" }, element("span", { class: "field-label" }, "You count from"), day),
                    element("p", { class: "soft note" }, "The number stands in Everline’s figures. The day is kept sealed on this device alone: set it on each of yours.")),
                button("Keep this day", set, { kind: "primary", wide: true }), remove, told]),
            fileLinks(),
        ],
    };
}
