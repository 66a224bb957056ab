// One moment: photos, words, time and place.
import { dayOf } from "../../formats/moment-format.js";
import { controllerWithin } from "../../ui/abort.js";
import { element, keyed } from "../../ui/element.js";
import { redrawing, whenChanged } from "../../ui/live.js";
import { banner, button, empty, iconButton } from "../../ui/parts.js";
import { sentenceOf } from "../../ui/words.js";
import { neighbours } from "./detail-neighbours.js";
import { carousel } from "./detail-photos.js";
import { UploadState } from "./detail-uploads.js";
import { remarksOf } from "./detail-remarks.js";
import { comparedVersions, marks } from "./detail-versions.js";
import { removeMoment } from "./remove.js";
import { shareMoment } from "./share.js";
import { seen, wholeDay } from "./timeline-card.js";
import { conflictsOf, plainTitle } from "../../formats/conflict-copies.js";

/** @typedef {import("./moments.js").Moment} Moment */

const clock = new Intl.DateTimeFormat(undefined, { hour: "numeric", minute: "2-digit", timeZone: "UTC" });

/** @param {Moment} moment the time that clocks there showed */
const timeThere = ({ date, offset }) => clock.format(new Date((date + offset * 60) * 1000));

/**
 * The page's title is the same for all: browsers store titles.
 * @param {Context} context
 * @param {string} id
 * @returns {Promise<Page>}
 */
export async function detail(context, id) {
    try {
        const moment = await context.companion.moments.read(id);
        const { moments } = await context.companion.moments.list();
        const remarks = await remarksOf(context, moment);
        const shown = new Detail(context, moment, moments, remarks);
        return { title: "Moment", back: moment.removed === undefined
            ? "moments"
            : "moments/trash", actions: shown.actions, body: [shown.element] };
    } catch (error) {
        if (context.companion.state !== "unlocked") throw error;
        return {
            title: "Moment", back: "moments", body: [empty("heart", "This moment can’t be shown", sentenceOf(error))],
        };
    }
}

class Detail {
    #context;
    #moment;
    /** @type {Moment[]} */
    #versions = [];
    #isComparing = false;
    /** Ends when the presses so far are stored. */
    #favoured = Promise.resolve();
    #photosKey = "";
    #photosShown = new AbortController();
    #notice = element("div", { class: "moment-notice" });
    #photos = element("div", { class: "moment-stage" });
    #text = element("div", { class: "moment-story" });
    #uploads;
    #heart;

    /**
     * @param {Context} context
     * @param {Moment} moment
     * @param {Moment[]} moments newest first
     * @param {HTMLElement} remarks
     */
    constructor(context, moment, moments, remarks) {
        this.#context = context;
        this.#moment = moment;
        const { companion, signal } = context;
        this.#uploads = new UploadState(context);
        this.#heart = iconButton("heart", "Favourite", () => this.#favour(),
            { class: "button button-icon moment-favour" });
        const isHere = moment.removed === undefined;
        this.actions = isHere ? [this.#heart,
            iconButton("share", "Share this moment", () => shareMoment(context, this.#moment)),
            iconButton("edit", "Edit this moment", () => context.go(`moments/${moment.id}/edit`)),
            iconButton("trash", "Delete this moment", () => this.#remove())] : [];
        const side = element("div", { class: "moment-side" }, this.#text, this.#uploads.element, remarks);
        side.append(neighbours(context, side, moment.id, moments));
        this.element = element("div", { class: "moment-detail" }, this.#notice, this.#photos, side);
        this.#draw(moments);
        const update = redrawing(() => this.#read(), signal);
        whenChanged(companion, ["moments"], update, signal);
        companion.addEventListener("outbox", update, { signal });
        signal.addEventListener("abort", () => {
            this.#versions = [];
            this.#moment = { ...this.#moment, title: "", words: "", mood: "", place: undefined };
        }, { once: true });
    }

    async #read() {
        const { companion } = this.#context;
        if (this.#isComparing) return null;
        try {
            const moment = await companion.moments.read(this.#moment.id);
            const { moments } = await companion.moments.list();
            return () => {
                // What was pressed meanwhile is read next.
                if (this.#isComparing || moment.revision < this.#moment.revision) return;
                this.#moment = moment;
                this.#draw(moments);
            };
        } catch (error) {
            return () => {
                if (companion.state !== "unlocked") return;
                this.#photosShown.abort();
                this.element.replaceChildren(empty("heart", "This moment can’t be shown", sentenceOf(error)));
            };
        }
    }

    /** @param {Moment[]} moments */
    #draw(moments) {
        const moment = this.#moment;
        this.#heart.setAttribute("aria-pressed", String(moment.favourite));
        this.#versions = conflictsOf(moments).get(moment.id) ?? [];
        const { photos } = moment;
        const key = JSON.stringify(photos.map(({ id, description }) => [id, description]));
        this.element.classList.toggle("moment-detail-plain", photos.length === 0);
        if (key !== this.#photosKey) {
            this.#photosShown.abort();
            this.#photosShown = controllerWithin(this.#context.signal);
            this.#photosKey = key;
            this.#photos.replaceChildren(photos.length === 0
                ? ""
                : carousel({ ...this.#context, signal: this.#photosShown.signal }, () => this.#moment));
        }
        this.#photos.hidden = photos.length === 0;
        this.#drawText(this.#versions.length > 0 ? plainTitle(moment) : moment.title);
        this.#uploads.show(moment);
        this.#drawNotices();
    }

    /** @param {string} title */
    #drawText(title) {
        const moment = this.#moment;
        this.#text.replaceChildren(
            element("p", { class: "moment-when" }, element("time", { datetime: dayOf(moment) }, wholeDay(moment)),
                element("span", { class: "soft" }, timeThere(moment))),
            element("h2", { class: `moment-headline${seen(title) ? "" : " visually-hidden"}`, dir: "auto" },
                seen(title) ? title : wholeDay(moment)),
            moment.mood || moment.place?.name ? marks({ ...moment, favourite: false }) : "",
            seen(moment.words) ? element("div", { class: "moment-body", dir: "auto" }, moment.words) : "");
    }

    /** Those that are there stay: a press on a button that is replaced before the release does nothing. */
    #drawNotices() {
        const kinds = [this.#moment.removed !== undefined && "removed", this.#versions.length > 0 && "versions"];
        keyed(this.#notice, kinds.flatMap((kind) => kind || []), (kind) => kind,
            (kind) => (kind === "removed" ? this.#removedNotice() : this.#versionsNotice()));
    }

    #removedNotice() {
        return banner("trash", "warning", element("p", {}, "This moment is in the trash."),
            element("div", { class: "buttons" }, button("Restore", () => this.#restore())));
    }

    #versionsNotice() {
        return banner("warning", "warning",
            element("p", {}, "Two devices changed this moment at the same time. Both versions are kept."),
            element("div", { class: "buttons" }, button("See both", () => this.#compare())));
    }

    #compare() {
        const view = comparedVersions(this.#context, this.#versions, (id) => {
            if (id === this.#moment.id) this.#context.go(`moments/${id}`, { replace: true });
            else this.#context.go(`moments/${id}`);
        });
        this.#photosShown.abort();
        this.#isComparing = true;
        for (const action of this.actions) action.hidden = true;
        this.element.className = "";
        this.element.replaceChildren(view);
        view.focus({ preventScroll: true });
        window.scrollTo(0, 0);
    }

    /** The second of two quick presses undoes the first. */
    #favour() {
        this.#favoured = this.#favoured.then(async () => {
            const { companion } = this.#context;
            this.#moment = await companion.moments.setFavourite(this.#moment, !this.#moment.favourite);
            this.#heart.setAttribute("aria-pressed", String(this.#moment.favourite));
        }).catch((error) => this.#context.toast(sentenceOf(error)));
    }

    async #restore() {
        const { companion, go, toast } = this.#context;
        try {
            await companion.moments.restore(this.#moment);
            go(`moments/${this.#moment.id}`, { replace: true });
        } catch (error) {
            toast(sentenceOf(error));
        }
    }

    async #remove() {
        try {
            await removeMoment(this.#context, this.#moment);
            this.#context.go("moments");
        } catch (error) {
            this.#context.toast(sentenceOf(error));
        }
    }
}
