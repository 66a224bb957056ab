// Everline on a map: the moments with a position, and a list of places.
import { element, keyed } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { live } from "../../ui/live.js";
import { button, empty, row, rows, section } from "../../ui/parts.js";
import { counted, named } from "../../ui/words.js";
import { clustered, pointsOf } from "./map-clusters.js";
import { Plot } from "./map-plot.js";
import { countedKinds } from "../../ui/recording-words.js";
import { thumbnails } from "./thumbnails.js";
import { shortDay } from "./timeline-card.js";

/** @typedef {import("./moments.js").Moment} Moment */
/** @typedef {import("./map-clusters.js").Cluster} Cluster */
/** @typedef {import("./map-clusters.js").Point} Point */
/** @typedef {{ name: string, moments: Moment[], points: Point[] }} Place */

/** Distance of marks, in pixels: a finger's width. */
const apart = 46;
/** How far beyond the edge marks are drawn, in pixels. */
const beyond = 100;
/** Rows added on request, and rows at first. */
const [atOnce, first] = [40, 5];

/** @param {Context} context @returns {Promise<Page>} */
export async function map(context) {
    const { companion, signal } = context;
    const found = element("div", { class: "map-found", role: "status" });
    const list = element("div", { class: "map-list" });
    const page = element("div", { class: "map" });
    /** @type {Point[]} */
    let points = [];
    /** @type {{ scale: number, clusters: Cluster[] }} */
    let drawn = { scale: 0, clusters: [] };
    const plot = new Plot(signal, () => drawMarks());
    const small = new Small(context);

    const drawMarks = () => {
        // In steps, so that marks stay the same for a while during a pinch.
        const scale = 2 ** (Math.floor(Math.log2(plot.view.scale) * 2) / 2);
        if (drawn.scale !== scale) drawn = { scale, clusters: clustered(points, scale, apart) };
        const { width, height } = plot.size;
        const seen = drawn.clusters.filter((cluster) => {
            const { x, y } = plot.screenAt(cluster);
            return x > -beyond && x < width + beyond && y > -beyond && y < height + beyond;
        });
        keyed(plot.marks, seen, keyOf, (cluster) => mark(cluster, small, () => show(cluster)),
            ({ points: inside }) =>
                `${inside.length} ${inside[0].moment.signature} ${inside.at(-1)?.moment.signature}`);
        small.sweep();
        for (const [index, cluster] of seen.entries()) {
            const { x, y } = plot.screenAt(cluster);
            /** @type {HTMLElement} */ (plot.marks.children[index]).style.setProperty("translate",
                `${x.toFixed(1)}px ${y.toFixed(1)}px`);
        }
    };
    /** @param {{ points: Point[], moments?: Moment[], name?: string }} chosen */
    const show = ({ points: inside, moments = inside.map(({ moment }) => moment), name = placeName(inside) }) => {
        moments.sort((one, other) => other.date - one.date);
        const isWide = inside.some(({ x, y }) => Math.hypot(x - inside[0].x, y - inside[0].y) > 1e-7);
        found.replaceChildren(section(name, [momentRows(moments, small)], {
            end: isWide ? button("Closer", () => plot.fit(inside), { kind: "plain" }) : null,
        }));
        small.sweep();
    };
    await live(companion, ["moments"], async () => {
        const { moments } = await companion.moments.list();
        return () => {
            points = pointsOf(moments);
            [plot.points, drawn.scale] = [points, 0];
            const places = placesOf(moments);
            list.replaceChildren(...(places.length > 0 ? [section("Places", [placeRows(places, (place) => {
                if (place.points.length > 0) plot.fit(place.points);
                show(place);
                /** @type {HTMLElement | null} */ (found.querySelector("a"))?.focus({ preventScroll: true });
                page.scrollIntoView({ block: "start" });
            })])] : []));
            page.replaceChildren(...(places.length === 0
                ? [empty("pin", "No places yet", "Add a place to a moment to see it here.",
                    button("Write a moment", () => context.go("moments/new"), { kind: "primary", icon: "plus" }))] : [
                element("div", { class: "map-main" }, plot.element),
                element("div", { class: "map-side" }, found, list)]));
            plot.draw();
        };
    }, signal);
    signal.addEventListener("abort", () => page.replaceChildren(), { once: true });
    return { title: "Map", back: "moments", body: [page] };
}

/** @param {Cluster} cluster */
const keyOf = ({ points }) => points[0].moment.id;

/** The thumbnails that are on the page now. */
class Small {
    /** @type {Set<HTMLElement>} */
    #places = new Set();
    #loader;

    /** @param {Context} context */
    constructor(context) {
        this.#loader = thumbnails(context);
    }

    /** @param {Moment | undefined} moment the first photo of which is shown @param {string} name a class */
    of(moment, name) {
        const image = element("img", { class: "map-image", alt: "", decoding: "async" });
        const place = element("span", { class: name }, icon("heart"), image);
        if (moment?.photos[0]) {
            this.#places.add(place);
            this.#loader.watch(place, moment.photos[0].id, image);
        }
        return place;
    }

    sweep() {
        for (const place of this.#places) {
            if (place.isConnected) continue;
            this.#loader.forget(place);
            this.#places.delete(place);
        }
    }
}

/** @param {Cluster} cluster @param {Small} small @param {() => void} onclick */
function mark({ points }, small, onclick) {
    const name = `${placeName(points)}, ${counted(points.length, "moment")}`;
    const pictured = points.find(({ moment }) => moment.photos.length > 0)?.moment;
    const count = points.length > 1 && element("span", { class: "map-count numbers" }, points.length);
    return element("button", {
        type: "button", class: `map-mark${pictured ? " map-mark-picture" : ""}`, "aria-label": name,
        title: name, onclick,
    },
        pictured || !count ? small.of(pictured, "map-thumb") : null, count);
}

/**
 * The most frequent name.
 * @param {Point[]} points
 */
function placeName(points) {
    /** @type {Map<string, number>} */
    const names = new Map();
    for (const { moment } of points) {
        if (moment.place?.name) names.set(moment.place.name, (names.get(moment.place.name) ?? 0) + 1);
    }
    const [first] = [...names].sort(([, one], [, other]) => other - one);
    if (!first) return "Without a name";
    return names.size === 1 ? named(first[0]) : `${named(first[0])} and nearby`;
}

/**
 * By name or by position; the most moments first.
 * @param {Moment[]} moments newest first
 * @returns {Place[]}
 */
function placesOf(moments) {
    /** @type {Map<string, Place>} */
    const places = new Map();
    for (const moment of moments) {
        if (!moment.place) continue;
        const [point] = pointsOf([moment]);
        const key = moment.place.name?.toLocaleLowerCase()
            || (point ? `${point.x.toFixed(4)} ${point.y.toFixed(4)}` : "");
        if (!key) continue;
        const place = places.get(key) ?? { name: moment.place.name || "Without a name", moments: [], points: [] };
        place.moments.push(moment);
        if (point) place.points.push(point);
        places.set(key, place);
    }
    return [...places.values()].sort((one, other) => other.moments.length - one.moments.length);
}

/** @param {Moment[]} moments @param {Small} small */
const momentRows = (moments, small) => more(moments, (moment) => row({
    start: small.of(moment, "map-row-thumb"), title: moment.title
        || moment.words.split("\n")[0].slice(0, 80) || countedKinds(moment.photos) || shortDay(moment),
    note: shortDay(moment), href: `#/moments/${moment.id}`,
}));

/** @param {Place[]} places @param {(place: Place) => void} open */
const placeRows = (places, open) => more(places, (place) => row({
    start: icon("pin"), title: place.name,
    note: `${counted(place.moments.length, "moment")}${place.points.length === 0 ? ", without a position" : ""}`,
    onclick: () => open(place),
}));

/**
 * The first items, and the others on request.
 * @template Item
 * @param {Item[]} items
 * @param {(item: Item) => HTMLElement} make
 */
function more(items, make) {
    const card = rows(...items.slice(0, first).map(make));
    let shown = first;
    const next = button("Show more", () => {
        const fresh = items.slice(shown, shown + atOnce).map(make);
        shown += fresh.length;
        next.before(...fresh);
        next.hidden = shown >= items.length;
        fresh[0]?.focus();
    }, { kind: "plain", wide: true, hidden: items.length <= first });
    card.append(next);
    return card;
}
