// Moments by month of one year, as bars and as a table.
import { drawing, element } from "../../ui/element.js";

const [width, height, base, top] = [360, 190, 160, 26];
const monthOf = (/** @type {number} */ month, /** @type {"long" | "narrow"} */ style) =>
    new Intl.DateTimeFormat(undefined, { month: style, timeZone: "UTC" }).format(Date.UTC(2024, month, 15));

/**
 * @param {{ month: string, moments: number, photos: number }[]} months "2024-05"
 * @param {number} year
 * @returns {Element[]}
 */
export function monthChart(months, year) {
    const found = new Map(months.map((one) => [one.month, one]));
    const all = Array.from({ length: 12 }, (_, month) =>
        found.get(`${String(year).padStart(4, "0")}-${String(month + 1).padStart(2, "0")}`) ?? {
            moments: 0, photos: 0,
        });
    const most = Math.max(1, ...all.map(({ moments }) => moments));
    const step = (width - 12) / 12;
    const described = all.flatMap(({ moments }, month) => (moments > 0 ? [`${monthOf(month, "long")} ${moments}`] : []))
        .join(", ");
    const bars = all.flatMap(({ moments }, month) => {
        const x = 6 + month * step;
        const tall = moments === 0 ? 3 : Math.max(8, ((base - top) * moments) / most);
        return [
            drawing("rect", { class: moments === 0 ? "statistics-bar statistics-bar-none" : "statistics-bar", x: x
                + step * 0.18, y: base - tall, width: step * 0.64, height: tall, rx: moments === 0 ? 1.5 : 6 }),
            moments > 0 && drawing("text",
                { class: "statistics-label statistics-label-strong", x: x + step / 2, y: base - tall - 7 }, moments),
            drawing("text", { class: "statistics-label", x: x + step / 2, y: base + 20 }, monthOf(month, "narrow")),
        ];
    });
    const chart = drawing("svg", { viewBox: `0 0 ${width} ${height}`, class: "statistics-chart", role: "img" },
        drawing("title", {}, `Moments by month in ${year}: ${described || "none"}`), ...bars);
    const line = (/** @type {typeof all[number]} */ { moments, photos }, /** @type {number} */ month) =>
        element("tr", {},
            element("th", { scope: "row" }, monthOf(month, "long")), element("td", {}, moments),
            element("td", {}, photos));
    return [chart, element("details", { class: "statistics-details" }, element("summary", {}, "As a table"),
        element("table", { class: "statistics-table" },
            element("caption", { class: "visually-hidden" }, `Moments by month in ${year}`),
            element("thead", {}, element("tr", {}, ...["Month", "Moments", "Photos"]
                .map((name) => element("th", { scope: "col" }, name)))),
            element("tbody", {}, ...all.map(line))))];
}
