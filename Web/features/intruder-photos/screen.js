// Intruder photos by day. Each is opened when it is in view, and not stored.
import { groupBy } from "../../household/group-by.js";
import { element, keyed } from "../../ui/element.js";
import { banner, empty } from "../../ui/parts.js";
import { live, redrawing } from "../../ui/live.js";
import { counted, dayName, timeOfDay } from "../../ui/words.js";
import { PictureLoader, small } from "../../ui/picture-loader.js";
import { placeholder, viewPhoto } from "./view.js";
import { sendWithToasts } from "../../ui/command-progress.js";

/** @typedef {import("./intruder-photos.js").Photo} Photo */

/** Photos added as the grid's end comes into view. */
const step = 60;

/** @type {AppScreen} */
export async function intruderPhotos(context) {
    const grid = new PhotoGrid(context);
    await live(context.companion, ["intruders", "apps", "devices", "status"], () => grid.read(), context.signal);
    return { title: "Intruder photos", back: "home", body: [grid.element] };
}

class PhotoGrid {
    /** @type {Photo[]} */
    #photos = [];
    #shown = step;
    /** @type {Map<string, string>} */
    #computers = new Map();
    /** @type {Map<string, string>} */
    #apps = new Map();
    #context;
    #loader;
    #offline = element("div", { hidden: true });
    #days = element("div", { class: "photos-days" });
    #empty = element("div", {});
    #end = element("div", { class: "photos-end" });

    /** @param {Context} context */
    constructor(context) {
        this.#context = context;
        const { companion, signal } = context;
        this.#loader = new PictureLoader(companion, signal, (place) => place.setAttribute("data-failed", ""),
            { open: async (id) => small(await companion.intruderPhotos.picture(id)) });
        this.element = element("div", { class: "photos" }, this.#offline, this.#days, this.#empty, this.#end);
        companion.addEventListener("connection", redrawing(async () => () => this.#connection(), signal), { signal });
        const more = new IntersectionObserver((seen) => {
            if (!seen.some((one) => one.isIntersecting) || this.#shown >= this.#photos.length) return;
            this.#shown += step;
            this.#draw();
        }, { rootMargin: "1200px" });
        more.observe(this.#end);
        signal.addEventListener("abort", () => {
            more.disconnect();
            this.#photos = [];
        }, { once: true });
    }

    async read() {
        const { companion } = this.#context;
        const [found, computers] = [await companion.intruderPhotos.list(), await companion.household.computers()];
        for (const { id, name } of computers) {
            this.#computers.set(id, name);
            for (const app of await companion.household.apps(id).catch(() => [])) this.#apps.set(app.id, app.name);
        }
        return () => {
            this.#photos = found;
            this.#draw();
            this.#connection();
        };
    }

    #connection() {
        const isOffline = !["live", "other"].includes(this.#context.companion.syncLoop.connection);
        this.#offline.hidden = !isOffline || this.#photos.length === 0;
        this.#offline.replaceChildren(banner("offline", "warning",
            "Photos are stored sealed at your hub. They can be opened when it is reachable."));
        if (!isOffline) {
            for (const place of this.#days.querySelectorAll("[data-failed]")) place.removeAttribute("data-failed");
        }
    }

    /** @param {Photo} photo */
    #describe(photo) {
        const app = photo.app && (this.#apps.get(photo.app) ?? photo.app);
        const tries = photo.failures > 0 ? `, ${counted(photo.failures, "wrong passcode")}` : "";
        return `${this.#computers.get(photo.computer) ?? "A computer"}${app ? `, ${app}` : ""}${tries}`;
    }

    #draw() {
        const days = groupBy(this.#photos.slice(0, this.#shown), ({ time }) => dayName(time));
        keyed(this.#days, [...days], ([day]) => day, ([day]) => element("section", { class: "section" },
            element("div", { class: "section-head" }, element("h2", { class: "section-title" }, day)),
            element("ul", { class: "photos-grid" })), ([day]) => day);
        const kept = new Set(this.#photos.map(({ id }) => id));
        for (const place of this.#days.querySelectorAll("li")) {
            if (!kept.has(place.dataset.key ?? "")) this.#loader.forget(place);
        }
        for (const [index, list] of [...days.values()].entries()) {
            const grid = /** @type {Element} */ (this.#days.children[index].lastElementChild);
            keyed(grid, list, ({ id }) => id, (photo) => this.#tile(photo),
                (photo) => `${photo.id} ${this.#describe(photo)}`);
        }
        this.#empty.replaceChildren(this.#photos.length > 0 ? "" : empty("camera", "No intruder photos",
            "When someone enters a wrong passcode, your computer can take a photo. It appears here."));
    }

    /** @param {Photo} photo */
    #tile(photo) {
        const image = element("img", { class: "photos-image", alt: "" });
        const [when, what] = [timeOfDay(photo.time), this.#describe(photo)];
        const place = element("li", { class: "photos-tile" },
            element("button", {
                type: "button", class: "photos-open", "aria-label": `Photo, ${dayName(photo.time)}, ${when}, ${what}`,
                onclick: () => viewPhoto(this.#context, () => this.#photos, photo.id, {
                    describe: (one) => this.#describe(one), remove: (one) => this.#remove(one),
                }),
            }, placeholder(), image,
            element("span", { class: "photos-words" }, element("span", { class: "photos-time" }, when),
                element("span", { class: "photos-where", dir: "auto" }, what))));
        this.#loader.watch(place, photo.id, image);
        return place;
    }

    /**
     * Whether it was deleted, which only the computer's confirmation proves.
     * @param {Photo} photo
     */
    async #remove(photo) {
        const computer = this.#computers.get(photo.computer) ?? "the computer";
        const isSure = await this.#context.confirmUnlock({
            title: "Delete this photo?",
            text: `It is deleted on ${computer}, at the hub and on every device. This can’t be undone.`,
            action: "Delete",
        });
        if (!isSure) return false;
        return sendWithToasts(this.#context, { id: photo.computer, name: computer },
            { removePhoto: { photo: photo.id } }, "Photo deleted");
    }
}
