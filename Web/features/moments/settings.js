// Everline's own settings: the day that two people count from.
import { element } from "../../ui/element.js";
import { button, card, section } from "../../ui/parts.js";
import { sentenceOf } from "../../ui/words.js";
import { fileLinks } from "./settings-links.js";
import { setTogether, together } from "./together.js";

/** @type {SettingsPage} */
export async function everline(context) {
    const { companion, signal } = context;
    const status = element("p", { class: "section-foot", role: "status" });
    const day = element("input", {
        class: "input", type: "date", min: "1900-01-01", max: "9999-12-30", value: (await together(companion)) ?? "",
    });
    const remove = button("Stop counting days", () => keep(null), { wide: true, hidden: !day.value });
    /** @param {string | null} since */
    const keep = async (since) => {
        try {
            await setTogether(companion, since);
            if (signal.aborted) return;
            if (since === null) day.value = "";
            remove.hidden = since === null;
            status.textContent = since === null ? "Counting was turned off." : "Saved.";
        } catch (error) {
            if (!signal.aborted) status.textContent = sentenceOf(error);
        }
    };
    const set = () => {
        if (day.value && day.validity.valid) return keep(day.value);
        status.textContent = "Choose the day you count from.";
        day.focus();
    };
    return {
        title: "Everline",
        body: [
            section("Days together", [
                card(element("label", { class: "field" },
                    element("span", { class: "field-label" }, "Together since"), day),
                    element("p", { class: "soft note" },
                        "The number is shown in Statistics. The day is stored sealed on this device only: set "
                            + "it on each of your devices.")),
                button("Save day", set, { kind: "primary", wide: true }), remove, status]),
            fileLinks(),
        ],
    };
}
