// The form of a moment: its content, its draft, and saving.
import { element } from "../../ui/element.js";
import { icon } from "../../ui/icon.js";
import { banner, button, section } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { ago, counted, sentenceOf } from "../../ui/words.js";
import { Drafts } from "./editor-draft.js";
import { MoodChips } from "./editor-mood.js";
import { PhotoTray } from "./editor-photos.js";
import { PlaceRow } from "./editor-place.js";
import { acceptDroppedFiles } from "./editor-drop.js";
import { WhenFields } from "./editor-when.js";

/** @typedef {import("./moments.js").Moment} Moment */
/** @typedef {import("./editor-draft.js").Draft} Draft */

export class MomentForm {
    /** The content at the beginning, to detect changes. */
    #before = "";
    #isSaving = false;
    #isAsking = false;
    #isOver = false;
    #context;
    /** @type {Moment | null} that is changed; null: a new one */
    #moment;
    #drafts;
    #notice = element("div", { class: "editor-notices", role: "status" });
    #state = element("p", { class: "editor-state", role: "status" });
    #title = element("input", {
        class: "editor-title", "aria-label": "Title", placeholder: "Title", dir: "auto", autocomplete: "off",
        enterkeyhint: "next",
    });
    #words = element("textarea", {
        class: "editor-words", "aria-label": "Words", placeholder: "What do you want to remember?",
        dir: "auto", rows: 4,
    });
    #heart = element("button", {
        type: "button", class: "button button-icon editor-heart", "aria-label": "Favourite", title: "Favourite",
    }, icon("heart"));
    /** In the page's head. */
    save = button("Save", () => this.#press(), { kind: "primary" });

    /** @param {Context} context @param {Moment | null} moment */
    constructor(context, moment) {
        this.#context = context;
        this.#moment = moment;
        this.#drafts = new Drafts(context.companion, moment?.id ?? null, () => this.#draft(), (error) => {
            if (!context.signal.aborted) this.#showStatus(`Not saved yet: ${sentenceOf(error)}`, true);
        });
        this.element = element("form",
            { class: "editor", onsubmit: (/** @type {Event} */ event) => event.preventDefault() });
    }

    /** Restores the draft, if any. */
    async open() {
        const { signal } = this.#context;
        const draft = await this.#drafts.open(signal).catch(() => null);
        if (signal.aborted) return;
        this.#build(this.#start);
        this.#before = this.#content();
        if (draft) this.#restoreDraft(draft);
        this.#listen();
        if (!this.#drafts.isOurs) {
            this.#showNotice(banner("warning", "", element("p", {},
                "Another tab has a draft, too. This one is stored only when you save it.")));
        }
    }

    /**
     * Adds what another app shared to what is written here.
     * @param {{ title: string, text: string, photos: File[] }} content
     */
    add({ title, text, photos }) {
        const more = this.#title.value ? [title, text] : [text];
        this.#title.value ||= title;
        this.#words.value = [this.#words.value, ...more].filter(Boolean).join("\n");
        this.tray?.add(photos);
        this.#grow();
        this.#changed();
    }

    focus() {
        this.#title.focus();
    }

    /** @returns {Omit<Draft, "at" | "base" | "lost">} */
    get #start() {
        const moment = this.#moment;
        const { title = "", words = "", mood = "", favourite = false, place = null } = moment ?? {};
        const when = moment
            ? WhenFields.of(moment.date, moment.offset)
            : WhenFields.of(this.#context.companion.now() / 1000);
        return { title, words, mood, favourite, place, ...when, isOwnTime: moment !== null, keepsOriginal: false,
            photos: (moment?.photos ?? []).map((photo) => ({ ...photo, isNew: false })) };
    }

    /** @param {Omit<Draft, "at" | "base" | "lost">} start */
    #build(start) {
        const { signal } = this.#context;
        const changed = () => this.#changed();
        this.#title.value = start.title;
        this.#words.value = start.words;
        this.#heart.setAttribute("aria-pressed", String(start.favourite));
        this.tray?.end();
        this.tray = new PhotoTray(this.#context, { ...start, vault: this.#moment?.vault }, {
            changed: () => {
                this.#follow();
                // What the status says of a refused file stays with its reason.
                if (!this.#isSaving && !this.#hasRefused) this.#showStatus("");
                this.#drafts.soon();
            },
            refused: () => this.#showStatus("A file could not be added: see above.", true),
            gone: (count) => this.#showNotice(banner("photo", "warning", element("p", {},
                `${counted(count, "file")} of this draft expired after a day. Choose ` +
                    `${count === 1 ? "it" : "them"} again.`))),
        });
        this.when = new WhenFields(start, changed);
        this.mood = new MoodChips(start.mood, signal, changed);
        this.place = new PlaceRow(this.#context, start.place,
            () => this.tray?.photos.find(({ position }) => position)?.position ?? null, changed);
        this.element.replaceChildren(
            element("div", { class: "editor-first" }, this.#notice, this.tray.element),
            element("div", { class: "editor-second" },
                element("div", { class: "card editor-sheet" },
                    element("div", { class: "editor-head" }, this.#title, this.#heart), this.#words),
                section("Mood", [this.mood.element]),
                section("When and where",
                    [element("div", { class: "card rows" }, this.when.element, this.place.element), this.when.note]),
                this.tray.original),
            element("div", { class: "editor-bar" }, this.#state));
        this.#grow();
        this.#follow();
    }

    #listen() {
        const { companion, signal } = this.#context;
        this.#heart.addEventListener("click", () => {
            this.#heart.setAttribute("aria-pressed", String(!this.#isFavourite));
            this.#changed();
        }, { signal });
        for (const field of [this.#title, this.#words]) {
            field.addEventListener("input", () => {
                this.#grow();
                this.#changed();
            }, { signal });
        }
        this.#title.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" || event.isComposing) return;
            event.preventDefault();
            this.#words.focus();
        }, { signal });
        document.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey) || document.querySelector("dialog")) return;
            event.preventDefault();
            this.#press();
        }, { signal });
        acceptDroppedFiles(this.element, signal, (files) => this.tray?.add(files));
        this.#context.beforeLeaving(() => !this.#isChanged || this.#mayLeave());
        companion.addEventListener("changed", (event) => {
            if (this.#moment && /** @type {CustomEvent<string[]>} */ (event).detail.includes(
                `moments/${this.#moment.id}`)) this.#look();
        }, { signal });
        signal.addEventListener("abort", () => {
            this.#drafts.now();
            this.#isOver = true;
            this.#title.value = this.#words.value = this.#before = "";
            this.#moment = null;
        }, { once: true });
    }

    // What is written

    get #isFavourite() {
        return this.#heart.getAttribute("aria-pressed") === "true";
    }

    get #written() {
        return {
            title: this.#title.value, words: this.#words.value, favourite: this.#isFavourite,
            mood: this.mood?.value ?? "",
            place: this.place?.value ?? null, photos: this.tray?.photos ?? [],
            keepsOriginal: this.tray?.keepsOriginal ?? false,
            ...(this.when?.fields ?? { day: "", time: "", offset: null, isOwnTime: false }),
        };
    }

    /** What counts as a change. */
    #content() {
        const { title, words, favourite, mood, place, photos, day, time, isOwnTime } = this.#written;
        return JSON.stringify([title, words, favourite, mood, place,
            photos.map(({ id, description }) => [id, description]), isOwnTime && [day, time], this.tray?.unsealed]);
    }

    get #isChanged() {
        return !this.#isOver && this.#content() !== this.#before;
    }

    /** @returns {boolean} */
    get #hasRefused() {
        return this.tray?.hasProblems ?? false;
    }

    /** @returns {Draft | null} */
    #draft() {
        if (!this.#isChanged) return null;
        const at = this.#context.companion.now() / 1000;
        return { at, base: this.#moment?.signature ?? null, lost: this.tray?.unsealed ?? 0, ...this.#written };
    }

    #changed() {
        this.#showStatus("");
        this.#drafts.soon();
    }

    /** Uses the time and place of the first photo. */
    #follow() {
        this.when?.propose(this.tray?.photos.find(({ taken }) => taken)?.taken ?? null);
        this.place?.draw();
    }

    /** As high as its text, where the browser does not do it. */
    #grow() {
        if (CSS.supports("field-sizing", "content")) return;
        this.#words.style.setProperty("height", "auto");
        requestAnimationFrame(() => this.#words.style.setProperty("height", `${this.#words.scrollHeight}px`));
    }

    /** @param {Draft} draft */
    #restoreDraft(draft) {
        this.#build(draft);
        const lost = draft.lost > 0
            ? ` ${counted(draft.lost, "file")} could not be stored in time; choose `
                + `${draft.lost === 1 ? "it" : "them"} again.`
            : "";
        this.#showNotice(banner("edit", "", element("p", {}, `Draft from ${ago(draft.at)}.${lost}`),
            element("div", { class: "buttons" },
                button(this.#moment ? "Restore the saved version" : "Discard draft", () => this.#discardDraft()))));
        // Above what is shown again where it was scrolled to.
        requestAnimationFrame(() => !this.#context.signal.aborted && window.scrollTo(0, 0));
        // Another device changed it since.
        if (this.#moment && draft.base !== this.#moment.signature) this.#showConflict();
    }

    async #discardDraft() {
        await this.tray?.discard();
        if (this.#context.signal.aborted) return;
        this.#notice.replaceChildren();
        this.#build(this.#start);
        this.#drafts.forget();
        this.focus();
    }

    // Saving

    /** @param {string} sentence */
    #showStatus(sentence, isProblem = false) {
        this.#state.classList.toggle("problem", isProblem);
        if (this.#state.textContent !== sentence) this.#state.textContent = sentence;
    }

    /** @param {HTMLElement} notice */
    #showNotice(notice) {
        this.#notice.append(notice);
    }

    #press() {
        if (this.#isSaving) return;
        this.#isSaving = true;
        this.save.setAttribute("aria-disabled", "true");
        this.#keep().catch((error) => {
            if (!this.#context.signal.aborted) this.#showStatus(sentenceOf(error), true);
        }).finally(() => {
            this.#isSaving = false;
            this.save.removeAttribute("aria-disabled");
        });
    }

    /** @returns {Promise<boolean>} whether it is a moment now */
    async #keep() {
        const { companion, signal } = this.#context;
        const { tray, when } = this;
        if (!tray || !when) return false;
        if (tray.unsealed > 0) {
            this.#showStatus(`Sealing ${counted(tray.unsealed, "file")}, then saving…`);
            const refused = tray.refused;
            await tray.settled();
            if (signal.aborted) return false;
            if (tray.refused > refused) {
                return this.#refuse("Not every file could be added: see the reason, then save again.");
            }
        }
        const { title, words, favourite, mood, place, photos } = this.#written;
        if (!title.trim() && !words.trim() && photos.length === 0) {
            this.focus();
            return this.#refuse("There is nothing to save yet: write a few words, or add a photo.");
        }
        const date = when.value;
        if (!date) {
            when.day.focus();
            return this.#refuse("Choose the day and the time.");
        }
        this.#showStatus("Saving…");
        const saving = companion.moments.save(this.#moment,
            { title: title.trim(), words: words.trimEnd(), favourite, mood, place, photos, ...date });
        await this.#drafts.dropAfter(saving);
        this.#isOver = true;
        const { id } = await saving;
        if (!signal.aborted) this.#context.go(`moments/${id}`, { replace: true });
        return true;
    }

    /** @param {string} sentence */
    #refuse(sentence) {
        this.#showStatus(sentence, true);
        return false;
    }

    // Leaving

    async #mayLeave() {
        const { signal } = this.#context;
        if (this.#isAsking) return false;
        this.#isAsking = true;
        const answer = await sheet("Leave this moment?", signal,
            (/** @type {(answer: "save" | "later" | "discard" | null) => void} */ end) => [
                element("p", { class: "soft" }, this.#moment ? "Your changes are not saved." : "It is not saved yet."),
                button("Save it", () => end("save"), { kind: "primary", wide: true }),
                this.#drafts.isOurs ? button("Keep the draft", () => end("later"), { wide: true }) : null,
                button(this.#moment ? "Discard the changes" : "Discard it", () => end("discard"),
                    { kind: "danger", wide: true }),
                button("Keep writing", () => end(null), { kind: "plain", wide: true }),
            ]);
        this.#isAsking = false;
        if (answer === "save") this.#press();
        if (answer === "later") {
            this.#drafts.now();
            this.#isOver = true;
        }
        if (answer === "discard") {
            this.#isOver = true;
            await this.tray?.discard();
            await this.#drafts.drop();
        }
        return answer === "later" || answer === "discard";
    }

    // Changed elsewhere meanwhile

    async #look() {
        const { companion, signal } = this.#context;
        const before = this.#moment;
        if (!before || this.#isOver || this.#isSaving) return;
        const newest = await companion.moments.read(before.id)
            .catch((error) => (error?.code === "notFound" ? null : before));
        if (signal.aborted || this.#isOver || this.#isSaving || this.#moment !== before) return;
        if (newest?.signature === before.signature) {
            this.#moment = newest;
            return;
        }
        if (!newest) {
            this.tray?.forgetOld();
            this.#moment = null;
            return this.#showNotice(banner("warning", "warning", element("p", {},
                "This moment was erased on another device, with its photos. Save stores your text as a new moment.")));
        }
        if (this.#isChanged) return this.#showConflict();
        this.#moment = newest;
        this.#build(this.#start);
        this.#before = this.#content();
    }

    #showConflict() {
        if (this.#notice.querySelector(".editor-other")) return;
        const notice = banner("warning", "warning", element("p", {},
            "This moment was changed on another device. Save keeps both versions; you can then choose between them."));
        notice.classList.add("editor-other");
        this.#showNotice(notice);
    }
}
