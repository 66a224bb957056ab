// The timeline: newest first, by month, with links to each year.
import { dayOf } from "../../formats/moment-format.js";
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { banner, button, empty, iconButton } from "../../ui/parts.js";
import { onLongPress } from "../../ui/long-press.js";
import { choose } from "../../ui/sheet.js";
import { live, redrawing, whenChanged } from "../../ui/live.js";
import { counted } from "../../ui/words.js";
import { conflictsOf, plainTitle } from "../../formats/conflict-copies.js";
import { thumbnails } from "./thumbnails.js";
import { cardHeight, momentCard } from "./timeline-card.js";
import { Flow } from "./timeline-flow.js";
import { momentMenu } from "./timeline-menu.js";
import { onThisDayCard } from "./timeline-on-this-day.js";
import { MomentSearch } from "./timeline-search.js";
import { SharpPictures } from "./timeline-sharp.js";

/** @typedef {import("./moments.js").Moment} Moment */

const month = new Intl.DateTimeFormat(undefined, { month: "long", year: "numeric", timeZone: "UTC" });

/** @type {AppScreen} */
export async function timeline(context) {
    const shown = new Timeline(context);
    whenChanged(context.companion, ["moments", "keys", "dates"], shown.update, context.signal);
    await shown.update();
    // Drawn without them first: they are opened one by one.
    void live(context.companion, ["remarks", "keys"], () => shown.readRemarks(), context.signal);
    return { title: "Everline", actions: shown.actions, body: [shown.element] };
}

/** Expected width of the timeline before it is attached, in pixels; it is corrected later. */
function widthToBe() {
    const frame = document.querySelector(".frame");
    if (!frame) return 361;
    const { paddingLeft, paddingRight, fontSize } = getComputedStyle(frame);
    return Math.min(frame.clientWidth - parseFloat(paddingLeft) - parseFloat(paddingRight), 80 * parseFloat(fontSize));
}

class Timeline {
    /** @type {Moment[]} */
    #found = [];
    /** @type {Map<string, Moment[]>} */
    #versions = new Map();
    /** @type {import("./remark-index.js").RemarkIndex | null} */
    #remarks = null;
    /** @type {Map<string, { key: string, name: string, year: string }>} */
    #months = new Map();
    #context;
    #loader;
    #flow;
    #sharp;
    #search;
    #year = "";
    #remembered = element("div", {});
    #rememberedKey = "";
    #years = element("nav", { class: "moment-years", "aria-label": "Years", hidden: true });
    #warning = element("div", { hidden: true });
    #empty = element("div", {});
    #add = element("a", {
        class: "moment-add", href: "#/moments/new", "aria-label": "New moment", title: "New moment", hidden: true,
    }, icon("plus"));
    #status = element("p", { class: "soft note", role: "status" });

    /** @param {Context} context */
    constructor(context) {
        this.#context = context;
        const { signal } = context;
        this.#loader = thumbnails(context);
        const watch = (/** @type {HTMLElement} */ place, /** @type {string} */ id,
            /** @type {HTMLImageElement} */ image) => {
                this.#loader.watch(place, id, image);
                this.#sharp.add(place, id);
                // It may be opened after the screen came to rest.
                image.addEventListener("load", () => this.#sharp.moved(), { signal });
            };
        this.#flow = new Flow({
            keyOf: (/** @type {Moment} */ moment) => moment.id,
            versionOf: (moment) => `${moment.signature} ${moment.isWaiting} ${moment.problem} ${
                this.#versions.has(moment.id)} ${JSON.stringify(this.#countsOf(moment))}`,
            groupOf: (moment) => this.#monthOf(moment),
            heightOf: (moment, width, rem) => cardHeight(this.#shown(moment), width, rem),
            make: (moment, width, rem) => {
                const card = momentCard(this.#shown(moment),
                    { width, rem, hasVersions: this.#versions.has(moment.id), remarks: this.#countsOf(moment), watch });
                onLongPress(card, () => momentMenu(context, moment));
                return card;
            },
            forget: (node) => this.#forget(node),
            moved: (moment) => this.#passed(moment),
        }, signal);
        this.#sharp = new SharpPictures(context, this.#flow.element);
        this.update = redrawing(() => this.#read(), signal);
        this.#search = new MomentSearch(this.update, signal);
        this.watch = watch;
        this.actions = [iconButton("more", "More of Everline", () => this.#more())];
        this.element = element("div", { class: "moment-timeline" }, this.#search.element, this.#warning, this.#status,
            this.#remembered,
            this.#years, this.#flow.element, this.#empty, this.#add);
        signal.addEventListener("abort", () => {
            this.#found = [];
            this.#remarks = null;
            this.#versions.clear();
            this.#rememberedKey = "";
        }, { once: true });
    }

    async #read() {
        const { companion } = this.#context;
        const { filter } = this.#search;
        const { search, mood, favourite, from, to } = filter;
        const isAll = !this.#search.isActive;
        const { moments: all, unreadable } = await companion.moments.list();
        const found = isAll
            ? all
            : (await companion.moments.list({ search, mood, favourite: favourite || undefined, from, to })).moments;
        const today = isAll ? await companion.moments.onThisDay() : [];
        const dates = isAll ? (await (await companion.dates()).occasions()).filter(({ inDays }) => inDays === 0) : [];
        return () => {
            // What another filter finds is read next.
            if (filter !== this.#search.filter) return;
            this.#versions = conflictsOf(all);
            this.#found = found;
            this.#search.offer([...new Set(all.map((moment) => moment.mood))]);
            this.#search.element.hidden = all.length === 0;
            this.#add.hidden = all.length === 0;
            this.#warning.hidden = unreadable === 0;
            this.#warning.replaceChildren(...(unreadable === 0 ? []
                : [banner("warning", "warning",
                    `${counted(unreadable, "moment")} can’t be opened with this device’s keys.`)]));
            this.#status.hidden = isAll;
            this.#status.textContent = isAll ? "" : `${counted(found.length, "moment")} found`;
            this.#drawRemembered(today, dates);
            this.#drawYears();
            this.#flow.show(found, widthToBe());
            this.#flow.element.hidden = found.length === 0;
            this.#empty.replaceChildren(found.length > 0 ? "" : this.#nothing(all.length));
        };
    }

    async readRemarks() {
        const { companion } = this.#context;
        const remarks = await (await companion.moments.remarks()).index();
        return () => {
            this.#remarks = remarks;
            if (this.#found.length > 0) this.#flow.show(this.#found, widthToBe());
        };
    }

    /** @param {Moment} moment */
    #countsOf(moment) {
        const counts = this.#remarks?.counts(moment);
        return counts && counts.comments + counts.reactions > 0 ? counts : null;
    }

    /** @param {Moment} moment without what names it a copy */
    #shown(moment) {
        return this.#versions.has(moment.id) ? { ...moment, title: plainTitle(moment) } : moment;
    }

    /** @param {number} all */
    #nothing(all) {
        const { search, mood, from, to, favourite } = this.#search.filter;
        if (all === 0) {
            return empty("heart", "Begin your story here",
                "A photo, a few words, a day: what you keep in Everline is sealed on this device"
                    + `${this.#context.companion.isLocal ? "" : " before it leaves it"}.`,
                element("a", { class: "button button-primary", href: "#/moments/new" }, icon("plus"),
                    element("span", {}, "Keep a first moment")));
        }
        const again = button("Show all", () => this.#search.clear());
        if (favourite && !search.trim() && !mood && !from && !to) {
            return empty("heart", "No favourites yet", "Tap the heart of a moment to show it here.", again);
        }
        return empty("search", "Nothing found",
            "No moment matches. Try fewer words, another mood or more days.", again);
    }

    /** @param {Moment} moment */
    #monthOf(moment) {
        const key = dayOf(moment).slice(0, -3);
        let known = this.#months.get(key);
        if (!known) {
            this.#months.set(key,
                (known = { key, name: month.format(new Date(`${key}-15T00:00:00Z`)), year: key.slice(0, -3) }));
        }
        return known;
    }

    /** @param {Moment[]} moments @param {import("../../formats/special-date.js").Occasion[]} dates */
    #drawRemembered(moments, dates) {
        const key = JSON.stringify([moments.map(({ signature }) => signature), dates]);
        if (key === this.#rememberedKey) return;
        this.#rememberedKey = key;
        this.#forget(this.#remembered);
        this.#remembered.replaceChildren(moments.length + dates.length === 0
            ? "" : onThisDayCard(moments, dates, this.watch));
    }

    /** @param {HTMLElement} node whose pictures are released */
    #forget(node) {
        for (const place of node.querySelectorAll(".moment-photo")) this.#loader.forget(place);
    }

    #drawYears() {
        const years = [...new Set(this.#found.map((moment) => this.#monthOf(moment).year))];
        this.#years.hidden = years.length < 2;
        const before = [...this.#years.children].map((node) => node.textContent).join();
        if (before === years.join()) return;
        this.#years.replaceChildren(...years.map((year) => element("button", {
            type: "button", class: "moment-year", "data-year": year,
            onclick: () => this.#flow.reveal((moment) => this.#monthOf(moment).year === year, this.#years.offsetHeight),
        }, year)));
        this.#markYear();
    }

    /** @param {Moment | null} moment that is on top of the screen now */
    #passed(moment) {
        this.#sharp?.moved();
        const year = moment ? this.#monthOf(moment).year : "";
        if (year === this.#year) return;
        this.#year = year;
        this.#markYear();
    }

    #markYear() {
        for (const node of this.#years.children) {
            const own = /** @type {HTMLElement} */ (node);
            if (own.dataset.year !== this.#year) own.removeAttribute("aria-current");
            else {
                own.setAttribute("aria-current", "true");
                this.#years.scrollTo({ left: own.offsetLeft - (this.#years.clientWidth - own.offsetWidth) / 2 });
            }
        }
    }

    async #more() {
        const where = await choose("Everline", [
            { value: "moments/statistics", label: "Statistics" }, { value: "moments/map", label: "Map" },
            { value: "moments/trash", label: "Trash" }, { value: "settings/everline", label: "Settings" },
        ], this.#context.signal);
        if (where) this.#context.go(where);
    }
}
