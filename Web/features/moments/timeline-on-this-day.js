// Moments of this day in other years, above the timeline.
import { dayOf } from "../../formats/moment-format.js";
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { counted } from "../../ui/words.js";
import { occasionTitle, yearsOf } from "../../ui/occasion-words.js";
import { nameOf, wholeDay } from "./timeline-card.js";
import { mosaic } from "./timeline-mosaic.js";

/** @typedef {import("./moments.js").Moment} Moment */

/** Shown side by side. */
const most = 12;

/** @param {Moment} moment */
function yearsAgo(moment) {
    const years = new Date().getFullYear() - Number(dayOf(moment).slice(0, -6));
    return years > 0 ? `${counted(years, "year")} ago` : wholeDay(moment);
}

/**
 * @param {Moment[]} moments
 * @param {import("../../formats/special-date.js").Occasion[]} dates of today
 * @param {(place: HTMLElement, id: string, image: HTMLImageElement) => void} watch
 */
export function onThisDayCard(moments, dates, watch) {
    return element("section", { class: "moment-remembered", "aria-labelledby": "moment-remembered" },
        element("h2", { class: "moment-remembered-title", id: "moment-remembered" }, icon("clock"), "On this day"),
        ...dates.slice(0, most).map((date) => element("p", { class: "moment-occasion", dir: "auto" },
            [occasionTitle(date), yearsOf(date)].filter(Boolean).join(", "))),
        moments.length > 0 && element("ul", { class: "moment-strip" }, ...moments.slice(0, most).map((moment) =>
            element("li", { class: "moment-strip-item" }, element("a", {
                class: `moment-memory${moment.photos.length > 0 ? "" : " moment-memory-plain"}`,
                href: `#/moments/${moment.id}`,
            }, moment.photos.length > 0 && mosaic(moment.photos.slice(0, 1), watch),
            element("span", { class: "moment-memory-text" },
                element("span", { class: "moment-memory-years" }, yearsAgo(moment)),
                element("span", { class: "moment-memory-name", dir: "auto" }, nameOf(moment))))))));
}
