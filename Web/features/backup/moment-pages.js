// Moments as a page and as data, readable without AppLocker: part of a plain export.
import { counted } from "../../ui/words.js";

/**
 * `file`, `shown`: paths relative to the page; a browser can display `shown`. Null: it could not be opened.
 * @typedef {{ id: string, width: number, height: number, duration?: number, type: string, taken: string | null,
 *   file: string | null, shown: string | null }} PageFile
 */
/**
 * `author`: "" in an own vault.
 * @typedef {{ moment: Moment, photos: PageFile[], comments: { author: string, at: number, text: string,
 *   from?: string }[], reactions: { author: string, kind: string }[] }} PageMoment
 */

/** The same as `Vectors/moment-pages.css`, which the command line uses too. */
export const style = `
:root { color-scheme: light dark; --text: #1d2130; --soft: #5b647c; --ground: #f6f5f3; --card: #fff; --heart: #b4326b; }
@media (prefers-color-scheme: dark) {
    :root { --text: #eef0f7; --soft: #a9b2c8; --ground: #12151f; --card: #1b2030; --heart: #ff9cc4; }
}
* { box-sizing: border-box; }
body { margin: 0; background: var(--ground); color: var(--text); font: 1rem/1.55 system-ui, sans-serif; }
main { max-width: 44rem; margin: 0 auto; padding: 2rem 1rem 4rem; }
h1 { font-size: 2.2rem; margin: 0; }
h2 { font-size: 1.5rem; margin: 3rem 0 1rem; }
article { background: var(--card); border-radius: 1rem; padding: 1.25rem; margin: 0 0 1.25rem; }
article { overflow-wrap: anywhere; }
h3 { margin: 0; font-size: 1.15rem; }
.soft { color: var(--soft); margin: 0 0 .5rem; font-size: .9rem; }
.words { white-space: pre-wrap; margin: .5rem 0; }
.heart { color: var(--heart); }
.photos { display: grid; grid-template-columns: repeat(auto-fill, minmax(10rem, 1fr)); gap: .5rem; margin-top: .75rem; }
.photos a { display: block; }
.photos a:only-child, .photos video:only-child, .photos audio { grid-column: 1 / -1; }
.photos img, .photos video { display: block; width: 100%; height: auto; border-radius: .5rem; }
.photos audio { width: 100%; align-self: center; }
@media print { article { break-inside: avoid; } }
`;

const signs = /** @type {Record<string, string>} */ ({
    "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;",
});

/** @param {string} text */
export const escaped = (text) => text.replace(/[&<>"']/g, (sign) => signs[sign]);

/** @param {string} path */
const address = (path) => escaped(path.split("/").map(encodeURIComponent).join("/"));

/** @param {Intl.DateTimeFormatOptions} options */
const format = (options) => new Intl.DateTimeFormat(undefined, { ...options, timeZone: "UTC" });
const written = format({
    weekday: "long", day: "numeric", month: "long", year: "numeric", hour: "numeric", minute: "2-digit",
});

/**
 * Local time there: "2024-05-17T18:30:05".
 * @param {number} date seconds since 1970
 * @param {number} offset minutes ahead of UTC
 */
export const localISO = (date, offset) => new Date(Math.floor(date + offset * 60) * 1000).toISOString().slice(0, 19);

/** @param {number} offset minutes */
function zone(offset) {
    const minutes = Math.abs(offset);
    const digits = (/** @type {number} */ value) => String(Math.floor(value)).padStart(2, "0");
    return `${offset < 0 ? "-" : "+"}${digits(minutes / 60)}:${digits(minutes % 60)}`;
}

/** @param {Moment["place"]} place */
function placeWords(place) {
    if (!place) return "";
    const point = place.latitude === undefined || place.longitude === undefined
        ? ""
        : `${place.latitude.toFixed(5)}, ${place.longitude.toFixed(5)}`;
    return [place.name, point].filter(Boolean).join(" · ");
}

/** @param {PageMoment["comments"][0]} comment */
const commentLines = ({ author, at, text, from }) => [
    `<p class="soft" dir="auto">${escaped([author, from && `from ${from}`, written.format(at * 1000)]
        .filter(Boolean).join(" · "))}</p>`,
    `<p class="words" dir="auto">${escaped(text)}</p>`];

/** @param {PageMoment["reactions"]} reactions */
const reactionLine = (reactions) => (reactions.length === 0 ? ""
    : `<p class="soft" dir="auto">${escaped(reactions.map(({ author, kind }) =>
        (author ? `${author}: ${kind}` : kind)).join(", "))}</p>`);

/** @param {PageMoment} one */
function article({ moment, photos, comments, reactions }) {
    const line = [written.format((moment.date + moment.offset * 60) * 1000), moment.mood, placeWords(moment.place)]
        .filter(Boolean).join(" · ");
    const missing = photos.filter(({ file }) => file === null).length;
    const pictures = photos.flatMap(({ file, shown, width, height, type }) => {
        if (file === null || shown === null) return [];
        const size = `width="${width}" height="${height}"`;
        return [type.startsWith("audio/") ? `<audio controls preload="none" src="${address(file)}"></audio>`
            : type.startsWith("video/") ? `<video controls preload="metadata" src="${address(file)}" ${size}></video>`
            : `<a href="${address(file)}"><img src="${address(shown)}" ${size} loading="lazy" alt=""></a>`];
    });
    return [
        `<article id="m${moment.id}">`,
        moment.title
            ? `<h3 dir="auto">${escaped(moment.title)}`
                + `${moment.favourite ? ' <span class="heart" title="Favourite">♥</span>' : ""}</h3>`
            : moment.favourite ? '<p class="heart" title="Favourite">♥</p>' : "",
        `<p class="soft" dir="auto">${escaped(line)}</p>`,
        moment.words ? `<p class="words" dir="auto">${escaped(moment.words)}</p>` : "",
        pictures.length > 0 ? `<div class="photos">${pictures.join("\n")}</div>` : "",
        missing > 0 ? `<p class="soft">${counted(missing, "file")} could not be opened.</p>` : "",
        reactionLine(reactions), ...comments.flatMap(commentLines),
        "</article>",
    ].filter(Boolean).join("\n");
}

/**
 * A page that needs nothing but the photos beside it. No content of a moment runs as a script.
 * @param {PageMoment[]} moments newest first
 */
export function timelinePage(moments) {
    const parts = [];
    let year = "";
    for (const one of moments) {
        const own = localISO(one.moment.date, one.moment.offset).slice(0, 4);
        if (own !== year) parts.push(`<h2>${Number(own)}</h2>`);
        year = own;
        parts.push(article(one));
    }
    return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self' file:; media-src 'self' file:;
    style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Everline</title>
<style>${style}</style>
</head>
<body>
<main>
<h1>Everline</h1>
<p class="soft">${moments.length === 1 ? "1 moment" : `${moments.length} moments`}</p>
${parts.join("\n")}
</main>
</body>
</html>
`;
}

/** @param {PageMoment[]} moments @param {number} now seconds since 1970 */
export function momentsData(moments, now) {
    return `${JSON.stringify({
        format: "everline-moments", version: 1, exported: new Date(now * 1000).toISOString(),
        moments: moments.map(({ moment, photos, comments, reactions }) => ({
            id: moment.id, title: moment.title, words: moment.words,
            date: localISO(moment.date, moment.offset) + zone(moment.offset),
            mood: moment.mood, ...(moment.place ? { place: moment.place } : {}), favourite: moment.favourite,
            created: new Date(moment.created * 1000).toISOString(),
            modified: new Date(moment.modified * 1000).toISOString(),
            photos: photos.map(({ id, width, height, duration, type, taken, file, shown }) => ({
                id, file, ...(shown !== file ? { shown } : {}), type, width, height, ...(taken ? { taken } : {}),
                ...(duration ? { duration } : {}),
            })),
            ...(comments.length > 0 ? {
                comments: comments.map(({ author, at, text, from }) => ({
                    ...(author ? { author } : {}), ...(from ? { from } : {}), at: new Date(at * 1000).toISOString(),
                    text,
                })),
            } : {}),
            ...(reactions.length > 0 ? {
                reactions: reactions.map(({ author, kind }) => ({ ...(author ? { author } : {}), kind })),
            } : {}),
        })),
    }, null, 2)}\n`;
}
