// Moments that were deleted in the last 30 days: restored or erased here.
import { trashSeconds } from "../../formats/moment-format.js";
import { element, keyed } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { button, empty } from "../../ui/parts.js";
import { live } from "../../ui/live.js";
import { counted, named, sentenceOf } from "../../ui/words.js";
import { countedKinds } from "../../ui/recording-words.js";
import { thumbnails } from "./thumbnails.js";
import { nameOf, shortDay } from "./timeline-card.js";

/** @typedef {import("./moments.js").Moment} Moment */

/** Rows added as the end of the list comes into view. */
const step = 40;

/** @type {AppScreen} */
export async function trash(context) {
    const shown = new Trash(context);
    await live(context.companion, ["moments"], () => shown.read(), context.signal);
    return { title: "Trash", back: "moments", actions: [shown.eraseAll], body: [shown.element] };
}

/** @param {Companion} companion */
const where = ({ isLocal, isShared }) => (isLocal ? "" : isShared ? " for all members" : " on all your devices");

class Trash {
    /** @type {Moment[]} */
    #moments = [];
    #shown = step;
    #context;
    #loader;
    #list = element("ul", { class: "card rows moment-trash-list" });
    #head = element("p", { class: "soft" }, "Moments in the trash are erased 30 days after you delete them.");
    #empty = element("div", {});
    #end = element("div", { class: "moment-end" });

    /** @param {Context} context */
    constructor(context) {
        this.#context = context;
        this.#loader = thumbnails(context);
        this.eraseAll = button("Erase all", () => this.#eraseAll(),
            { class: "button button-plain moment-danger", hidden: true });
        this.element = element("div", { class: "moment-trash" }, this.#head, this.#list, this.#empty, this.#end);
        const more = new IntersectionObserver((seen) => {
            if (!seen.some((one) => one.isIntersecting) || this.#shown >= this.#moments.length) return;
            this.#shown += step;
            this.#draw();
        }, { rootMargin: "800px" });
        more.observe(this.#end);
        context.signal.addEventListener("abort", () => {
            more.disconnect();
            this.#moments = [];
        }, { once: true });
    }

    async read() {
        const { moments } = await this.#context.companion.moments.list({ trash: true });
        return () => {
            this.#moments = moments.sort((one, other) => (other.removed ?? 0) - (one.removed ?? 0));
            this.#draw();
        };
    }

    #draw() {
        const isEmpty = this.#moments.length === 0;
        this.#list.hidden = isEmpty;
        this.#head.hidden = isEmpty;
        this.eraseAll.hidden = isEmpty;
        this.#empty.replaceChildren(isEmpty ? empty("trash", "The trash is empty",
            "A moment that you delete stays here for 30 days, in case you want it back.") : "");
        const shown = this.#moments.slice(0, this.#shown);
        const kept = new Set(shown.map(({ id }) => id));
        for (const node of this.#list.children) {
            if (!kept.has(/** @type {HTMLElement} */ (node).dataset.key ?? "")) {
                for (const place of node.querySelectorAll(".moment-photo")) this.#loader.forget(place);
            }
        }
        keyed(this.#list, shown, ({ id }) => id, (moment) => this.#row(moment),
            (moment) => `${moment.signature} ${this.#daysLeft(moment)}`);
    }

    /** @param {Moment} moment */
    #daysLeft({ removed = 0 }) {
        return Math.max(0, Math.ceil((removed + trashSeconds - this.#context.companion.now() / 1000) / 86_400));
    }

    /** @param {Moment} moment */
    #row(moment) {
        const image = element("img", { class: "moment-image", alt: "", decoding: "async" });
        const place = element("span", { class: "moment-photo moment-trash-photo" },
            moment.photos.length > 0 ? image : icon("note"));
        if (moment.photos.length > 0) this.#loader.watch(place, moment.photos[0].id, image);
        const [name, left] = [nameOf(moment), this.#daysLeft(moment)];
        return element("li", { class: "moment-trash-row" },
            element("a", { class: "moment-trash-link", href: `#/moments/${moment.id}` }, place,
                element("span", { class: "row-text" }, element("span", { class: "row-title", dir: "auto" }, name),
                    element("span", { class: "row-note" },
                        [shortDay(moment), countedKinds(moment.photos)].filter(Boolean).join(" · ")),
                    element("span", { class: "moment-left" }, left === 0
                        ? "Erased today"
                        : `${counted(left, "day")} left`))),
            element("div", { class: "buttons moment-trash-actions" },
                button("Restore", () => this.#restore(moment), { "aria-label": `Restore ${named(name)}` }),
                button("Erase now", () => this.#erase(moment),
                    { class: "button button-plain moment-danger", "aria-label": `Erase ${named(name)} now` })));
    }

    /** @param {Moment} moment */
    async #restore(moment) {
        const { companion, toast } = this.#context;
        await companion.moments.restore(moment).then(() => toast("The moment was restored"),
            (error) => toast(sentenceOf(error)));
    }

    /** @param {Moment} moment */
    async #erase(moment) {
        const photos = moment.photos.length > 0 ? ` and ${countedKinds(moment.photos)}` : "";
        const isSure = await this.#context.ask({
            title: "Erase this moment now?",
            text: `“${named(nameOf(moment))}”${photos} will be erased${where(this.#context.companion)}. This can’t be `
                + "undone.",
            action: "Erase", isDanger: true,
        });
        if (isSure) {
            await this.#context.companion.moments.erase(moment)
                .catch((error) => this.#context.toast(sentenceOf(error)));
        }
    }

    async #eraseAll() {
        const all = [...this.#moments];
        const isSure = await this.#context.ask({
            title: "Erase all of the trash?",
            text: `${counted(all.length, "moment")} will be erased${where(this.#context.companion)}. This can’t be `
                + "undone.",
            action: "Erase all", isDanger: true,
        });
        if (!isSure) return;
        try {
            for (const moment of all) await this.#context.companion.moments.erase(moment);
        } catch (error) {
            this.#context.toast(sentenceOf(error));
        }
    }
}
