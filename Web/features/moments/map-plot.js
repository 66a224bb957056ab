// The map: an outline of the continents and a graticule under the points. It is drawn here, without a map server, which
// would learn where these moments were.
import { drawing, element } from "../../ui/element.js";
import { iconButton } from "../../ui/parts.js";
import { project, unproject } from "./map-clusters.js";
import { follow } from "./map-gestures.js";
import { land } from "./map-land.js";

/** Widths of the world in pixels: the coarse outline begins to fade, it is hidden, and the maximum. */
const [fading, coarse, most] = [5_000, 40_000, 2 ** 27];
/** Distances of the graticule, in degrees; and of its lines on the screen, in pixels. */
const steps = [90, 60, 30, 20, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001];
const between = 64;
/** Margins in pixels: half a mark, and the buttons on the right. */
const [room, controls] = [40, 56];
/** Points within this part of the world's width, some hundred metres, are one place. */
const spot = 1e-5;
/** Circumference of the earth, in metres. */
const equator = 40_075_017;

/** A thousand units wide. */
const outline = () => land().map((points) => `M${points.map(([longitude, latitude]) => {
    const { x, y } = project(longitude, latitude);
    return `${(x * 1000).toFixed(2)} ${(y * 1000).toFixed(2)}`;
}).join("L")}Z`).join("");

export class Plot {
    #land = drawing("path", { class: "map-land", d: outline(), "fill-rule": "evenodd" });
    #lines = drawing("path", { class: "map-lines" });
    #names = drawing("g", { class: "map-names", "aria-hidden": "true" });
    #drawing = drawing("svg", { class: "map-drawing", "aria-hidden": "true", focusable: "false" }, this.#land,
        this.#lines, this.#names);
    #scaleBar = element("p", { class: "map-scale", "aria-hidden": "true" });
    #frame = 0;
    #moved;

    /** The visible part: its middle, from 0 to 1, and the world's width in pixels. */
    view = { x: 0.5, y: 0.42, scale: 300 };
    size = { width: 0, height: 0 };
    marks = element("div", { class: "map-marks" });

    /** @param {AbortSignal} signal @param {() => void} moved once a frame, after the view or the size changed */
    constructor(signal, moved) {
        this.#moved = moved;
        this.surface = element("div", {
            class: "map-surface", tabindex: "0", role: "group",
            "aria-label": "Map of your moments. Arrow keys move it, plus and minus zoom, 0 shows all.",
        }, this.#drawing, this.marks, this.#scaleBar);
        this.controls = element("div", { class: "map-controls" },
            iconButton("plus", "Zoom in", () => this.zoom(2)), iconButton("minus", "Zoom out", () => this.zoom(0.5)),
            iconButton("expand", "Show all", () => this.all()));
        this.element = element("div", { class: "card map-plot" }, this.surface, this.controls);
        follow(this, signal);
        const observer = new ResizeObserver(([{ contentRect: { width, height } }]) => {
            const isFirst = this.size.width === 0;
            this.size = { width, height };
            if (isFirst && width > 0) this.all();
            this.draw();
        });
        observer.observe(this.surface);
        signal.addEventListener("abort", () => {
            observer.disconnect();
            cancelAnimationFrame(this.#frame);
            this.marks.replaceChildren();
        }, { once: true });
    }

    /** @type {{ x: number, y: number }[]} what `all` shows */
    points = [];

    all() {
        this.fit(this.points);
    }

    /** @param {{ x: number, y: number }[]} points */
    fit(points) {
        const { width, height } = this.size;
        if (points.length === 0 || width === 0) {
            this.view = { x: 0.5, y: 0.42, scale: this.least };
            return this.draw();
        }
        const [xs, ys] = [points.map(({ x }) => x), points.map(({ y }) => y)];
        const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
        // A single place is shown with the coasts around it.
        const closest = right - left < spot && bottom - top < spot ? fading : 2 ** 15;
        const scale = Math.min((width - 2 * room - controls) / Math.max(right - left, 1e-9),
            (height - 2 * room) / Math.max(bottom - top, 1e-9), closest);
        this.view = { x: (left + right) / 2 + controls / 2 / scale, y: (top + bottom) / 2, scale };
        this.draw();
    }

    /** The whole world is as wide as the plot then, or as high. */
    get least() {
        return Math.max(this.size.width, this.size.height * 0.9, 200);
    }

    /**
     * @param {number} factor
     * @param {{ x: number, y: number }} [at] the fixed point, in pixels of the surface; by default the middle
     */
    zoom(factor, at = { x: this.size.width / 2, y: this.size.height / 2 }) {
        const scale = Math.min(most, Math.max(this.least, this.view.scale * factor));
        const there = this.worldAt(at);
        this.view = {
            x: there.x - (at.x - this.size.width / 2) / scale,
            y: there.y - (at.y - this.size.height / 2) / scale, scale,
        };
        this.draw();
    }

    /** @param {number} x @param {number} y pixels */
    pan(x, y) {
        this.view = { ...this.view, x: this.view.x - x / this.view.scale, y: this.view.y - y / this.view.scale };
        this.draw();
    }

    /** @param {{ x: number, y: number }} at pixels of the surface */
    worldAt({ x, y }) {
        const { view, size } = this;
        return { x: view.x + (x - size.width / 2) / view.scale, y: view.y + (y - size.height / 2) / view.scale };
    }

    /** @param {{ x: number, y: number }} point of the world */
    screenAt({ x, y }) {
        const { view, size } = this;
        return { x: (x - view.x) * view.scale + size.width / 2, y: (y - view.y) * view.scale + size.height / 2 };
    }

    draw() {
        const { view } = this;
        view.scale = Math.min(most, Math.max(this.least, view.scale));
        view.x = Math.min(1, Math.max(0, view.x));
        view.y = Math.min(0.95, Math.max(0.05, view.y));
        if (this.#frame !== 0) return;
        this.#frame = requestAnimationFrame(() => {
            this.#frame = 0;
            if (this.size.width === 0) return;
            this.#drawGround();
            this.#moved();
        });
    }

    #drawGround() {
        const { scale } = this.view;
        const { width, height } = this.size;
        this.#drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
        const isCoarse = scale > coarse;
        this.#land.setAttribute("opacity", isCoarse
            ? "0"
            : Math.min(1, 1 - Math.log(scale / fading) / Math.log(coarse / fading)).toFixed(2));
        const origin = this.screenAt({ x: 0, y: 0 });
        if (!isCoarse) {
            this.#land.setAttribute("transform", `translate(${origin.x} ${origin.y}) scale(${scale / 1000})`);
        }
        const step = [...steps].reverse().find((one) => (one / 360) * scale >= between) ?? 90;
        const [first, last] = [this.worldAt({ x: 0, y: 0 }), this.worldAt({ x: width, y: height })];
        const [from, to] = [unproject(first.x, first.y), unproject(last.x, last.y)];
        const decimals = Math.max(0, Math.ceil(-Math.log10(step)));
        const name = (/** @type {number} */ degrees, /** @type {string} */ ahead, /** @type {string} */ behind) =>
            `${Math.abs(degrees).toFixed(decimals)}°`
                + (Math.abs(degrees) < step / 2 ? "" : ` ${degrees < 0 ? behind : ahead}`);
        let lines = "";
        const names = [];
        for (let index = Math.ceil(from.longitude / step); index * step <= to.longitude; index += 1) {
            const { x } = this.screenAt(project(index * step, 0));
            lines += `M${x.toFixed(1)} 0V${height}`;
            if (x > 20 && x < width - 60) {
                names.push(drawing("text", { x: x + 4, y: 14 }, name(index * step, "E", "W")));
            }
        }
        for (let index = Math.ceil(Math.max(-85, to.latitude) / step); index * step <= Math.min(85,
            from.latitude); index += 1) {
            const { y } = this.screenAt(project(0, index * step));
            lines += `M0 ${y.toFixed(1)}H${width}`;
            if (y > 28 && y < height - 28) {
                names.push(drawing("text", { x: 6, y: y - 4 }, name(index * step, "N", "S")));
            }
        }
        this.#lines.setAttribute("d", lines);
        this.#names.replaceChildren(...names);
        this.#drawScale((from.latitude + to.latitude) / 2);
    }

    /** @param {number} latitude of the middle: Mercator enlarges the far north */
    #drawScale(latitude) {
        const metres = (equator * Math.cos((latitude * Math.PI) / 180)) / this.view.scale;
        const target = metres * 110;
        const power = 10 ** Math.floor(Math.log10(target));
        const round = [5, 2, 1].find((one) => one * power <= target) ?? 1;
        const long = round * power;
        this.#scaleBar.textContent = long >= 1000 ? `${long / 1000} km` : `${long} m`;
        this.#scaleBar.style.setProperty("width", `${long / metres}px`);
    }
}
