// Statistics of Everline: days together, when, where, and moods.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { live } from "../../ui/live.js";
import { button, empty, section, segments } from "../../ui/parts.js";
import { counted } from "../../ui/words.js";
import { moodIcon, moodName } from "./moods.js";
import { monthChart } from "./statistics-chart.js";
import { localDay } from "../../formats/special-date.js";
import { spanOf } from "../../ui/occasion-words.js";
import { nextOccasion } from "./together.js";

/** @typedef {import("./moment-queries.js").Statistics} Statistics */

const number = new Intl.NumberFormat();
const longDay = new Intl.DateTimeFormat(undefined, { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });

/** Years that fit side by side on a phone. */
const yearsBeside = 4;

/** @param {Context} context @returns {Promise<Page>} */
export async function statistics(context) {
    const { companion, signal } = context;
    const page = element("div", { class: "statistics" });
    /** @type {number | null} */
    let year = null;
    await live(companion, ["moments", "dates"], async () => {
        const since = (await (await companion.dates()).list()).together?.day ?? null;
        const found = await companion.moments.statistics(since ? { together: since } : {});
        return () => {
            if (found.moments > 0 && !found.years.some((one) => one.year === year)) year = found.years[0].year;
            const draw = () => page.replaceChildren(...parts(context, found, since, year, (chosen) => {
                year = chosen;
                draw();
                /** @type {HTMLElement | null} */ (page.querySelector(
                    ".statistics-years [aria-pressed=true], .statistics-years select"))?.focus();
            }));
            draw();
        };
    }, signal);
    signal.addEventListener("abort", () => page.replaceChildren(), { once: true });
    return { title: "Statistics", back: "moments", body: [page] };
}

/**
 * @param {Context} context
 * @param {Statistics} found
 * @param {string | null} since
 * @param {number | null} year
 * @param {(year: number) => void} choose
 */
function parts(context, found, since, year, choose) {
    const nothing = found.moments === 0 ? [empty("heart", "No statistics yet",
        "Statistics start with your first moment.",
        button("Write a moment", () => context.go("moments/new"), { kind: "primary", icon: "plus" }))] : [];
    if (nothing.length > 0 || year === null) return [days(context, found, since), ...nothing];
    return [
        element("div", { class: "statistics-part" }, days(context, found, since), totals(found)),
        element("div", { class: "statistics-part" },
            section("By month", [element("div", { class: "card statistics-card" }, years(found, year, choose),
                inYear(found, year), ...monthChart(found.months, year))]),
            ...moods(found)),
    ];
}

/** @param {Context} context @param {Statistics} found @param {string | null} since */
function days(context, found, since) {
    if (since === null || found.daysTogether === null) {
        return element("div", { class: "card statistics-days" }, icon("heart"),
            element("p", { class: "statistics-since" }, "How many days have you been together?"),
            button("Set the day you count from", () => context.go("settings/everline"), { kind: "primary" }));
    }
    const today = localDay(context.companion.now());
    const isAhead = since > today;
    const next = isAhead ? null : nextOccasion(since, today);
    return element("div", { class: "card statistics-days" }, icon("heart"),
        element("p", { class: "statistics-number" }, number.format(found.daysTogether)),
        element("p", { class: "statistics-word" }, found.daysTogether === 1 ? "day together" : "days together"),
        element("p", { class: "statistics-since" }, `since ${longDay.format(Date.parse(since))}`),
        next && element("p", { class: "statistics-next" },
            `${next.inDays === 1 ? "Tomorrow" : `In ${number.format(next.inDays)} days`}: ${spanOf(next)}`));
}

/** @param {Statistics} found */
function totals(found) {
    /** @type {[string, string, number, import("../../ui/icon.js").IconName][]} */
    const all = [
        ["moment", "moments", found.moments, "edit"], ["photo", "photos", found.photos, "photo"],
        ...(found.videos > 0 ? [/** @type {any} */ (["video", "videos", found.videos, "video"])] : []),
        ...(found.voiceNotes > 0
            ? [/** @type {any} */ (["voice note", "voice notes", found.voiceNotes, "microphone"])] : []),
        ["place", "places", found.places, "pin"],
        ["favourite", "favourites", found.favourites, "heart"],
        ["day with a moment", "days with a moment", found.days, "calendar"],
    ];
    return element("ul", { class: "statistics-totals", "aria-label": "Total" }, ...all.map(([one, many, count, name]) =>
        element("li", { class: "card statistics-total" }, icon(name),
            element("span", { class: "statistics-count" }, number.format(count)),
            element("span", { class: "statistics-what" }, count === 1 ? one : many))));
}

/** @param {Statistics} found @param {number} year @param {(year: number) => void} choose */
function years({ years: all }, year, choose) {
    if (all.length === 1) return null;
    if (all.length <= yearsBeside) {
        const options = all.map((one) => /** @type {[string, string]} */ ([String(one.year), String(one.year)]))
            .reverse();
        const beside = segments("Year", options, String(year), (chosen) => choose(Number(chosen)));
        beside.classList.add("statistics-years");
        return beside;
    }
    const select = element("select",
        { class: "input", "aria-label": "Year", onchange: () => choose(Number(select.value)) },
        ...all.map((one) => element("option", { value: one.year, selected: one.year === year },
            `${one.year} (${number.format(one.moments)})`)));
    select.value = String(year);
    return element("div", { class: "statistics-years" }, select);
}

/** @param {Statistics} found @param {number} year */
function inYear({ months }, year) {
    const of = months.filter(({ month }) => Number(month.slice(0, -3)) === year);
    const sum = (/** @type {"moments" | "photos"} */ what) => of.reduce((so, one) => so + one[what], 0);
    return element("p", { class: "statistics-year" },
        `${year}: ${counted(sum("moments"), "moment")}, ${counted(sum("photos"), "photo")}`);
}

/** @param {Statistics} found */
function moods({ moods: all }) {
    if (all.length === 0) return [];
    const most = all[0].moments;
    return [section("Moods",
        [element("ul", { class: "card statistics-moods" }, ...all.slice(0, 12).map(({ mood, moments }) =>
            element("li", { class: "statistics-mood" }, icon(moodIcon(mood)),
                element("span", { class: "statistics-name", dir: "auto" }, moodName(mood)),
                share(moments / most),
                element("span", { class: "statistics-amount numbers" }, number.format(moments)))))])];
}

/** @param {number} part of the longest */
function share(part) {
    const bar = element("span", { class: "statistics-share" });
    bar.style.setProperty("inline-size", `${Math.max(2, part * 100).toFixed(1)}%`);
    return element("span", { class: "statistics-meter" }, bar);
}
