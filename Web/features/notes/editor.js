// One note: its title and text, saved while typing. Typed text is never overwritten.
import { element } from "../../ui/element.js";
import { banner, button } from "../../ui/parts.js";
import { dayAndTime, sentenceOf } from "../../ui/words.js";
import { writtenAt } from "./notes.js";

/** @typedef {import("./notes.js").Note} Note */
/** @typedef {import("./compare.js").Content} Content */

/** After the last key, in milliseconds. */
const pause = 1000;

/** @param {Note} note */
function stateOf(note) {
    if (note.problem === "too_large") return "This note is too long for the hub; it is only on this device.";
    if (note.problem) return "The hub did not accept this change; it is only on this device.";
    return note.isWaiting ? "Saved here, not sent yet" : "Saved";
}

export class NoteEditor {
    /** @type {Note | null} as it was read or saved last */
    note;
    #isDirty = false;
    #isStopped = false;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    #timer;
    #saving = Promise.resolve();
    /** Serializes the checks for a newer version: the last one counts. */
    #looking = Promise.resolve();
    #savesUnderWay = 0;
    #context;
    #signal;
    #events;
    #state = element("p", { class: "notes-state soft caption", role: "status" });
    #notice = element("div", { class: "notes-notice", role: "alert" });
    #title = element("input", {
        class: "notes-title-field", "aria-label": "Title", placeholder: "Title", dir: "auto", autocomplete: "off",
        enterkeyhint: "next",
    });
    #body = element("textarea",
        { class: "notes-body-field", "aria-label": "Text", placeholder: "Write here", dir: "auto" });

    /**
     * @param {Context} context
     * @param {Note | null} note null: a new one
     * @param {AbortSignal} signal the note is left, or AppLocker is locked
     * @param {{ made: (note: Note) => void, compare: (mine: Content, theirs: Note) => void }} events `made`: a new note
     *   was saved the first time. `compare`: shows both versions
     */
    constructor(context, note, signal, events) {
        this.#context = context;
        this.#signal = signal;
        this.#events = events;
        this.note = note;
        this.element = element("article", { class: "notes-editor" }, this.#notice,
            element("div", { class: "card notes-sheet" }, this.#title, this.#body), this.#state);
        this.#show(note);
        if (note) this.#showStatus(stateOf(note));
        for (const field of [this.#title, this.#body]) field.addEventListener("input", () => this.#typed(), { signal });
        this.#title.addEventListener("keydown", (event) => {
            if (event.key !== "Enter" || event.isComposing) return;
            event.preventDefault();
            this.#body.focus();
        }, { signal });
        // Before the listener that locks, so that it can still be sealed.
        document.addEventListener("visibilitychange", () => document.hidden && this.#keepNow(),
            { signal, capture: true });
        for (const kind of ["pagehide", "blur"]) {
            // The window's blur, not a field's.
            window.addEventListener(kind, (event) => event.target instanceof Element || this.#keepNow(),
                { signal, capture: true });
        }
        context.companion.addEventListener("locking", () => this.#keepNow(), { signal });
        context.companion.addEventListener("changed", (event) => {
            if (this.note && /** @type {CustomEvent<string[]>} */ (event).detail.includes(`notes/${this.note.id}`)) {
                this.#look();
            }
        }, { signal });
        context.companion.addEventListener("outbox", () => this.#look(), { signal });
        context.companion.addEventListener("connection", () => this.#isDirty && this.#save(), { signal });
        signal.addEventListener("abort", () => {
            this.#keepNow();
            this.note = null;
            this.#title.value = "";
            this.#body.value = "";
        }, { once: true });
        // Whether it was sent may have changed while it was read.
        if (note?.isWaiting) this.#look();
    }

    /** @returns {Content} */
    get content() {
        return { title: this.#title.value, body: this.#body.value };
    }

    focus() {
        (this.note ? this.#body : this.#title).focus();
    }

    /** Stops saving: the note is deleted, or both versions are shown. */
    stop() {
        this.#isStopped = true;
        clearTimeout(this.#timer);
    }

    /** @param {Note | null} note */
    #show(note) {
        this.#title.value = note?.title ?? "";
        this.#body.value = note?.body ?? "";
        this.#grow();
    }

    /** @param {string} sentence */
    #showStatus(sentence, isProblem = false) {
        this.#state.classList.toggle("problem", isProblem);
        this.#state.classList.toggle("soft", !isProblem);
        if (this.#state.textContent !== sentence) this.#state.textContent = sentence;
        this.#state.title = this.note ? `Changed ${dayAndTime(this.note.modified)}` : "";
    }

    /** As high as its text, where the browser does not do it. */
    #grow() {
        if (CSS.supports("field-sizing", "content")) return;
        this.#body.style.setProperty("height", "auto");
        requestAnimationFrame(() => this.#body.style.setProperty("height", `${this.#body.scrollHeight}px`));
    }

    #typed() {
        this.#isDirty = true;
        this.#grow();
        this.#showStatus("");
        clearTimeout(this.#timer);
        this.#timer = setTimeout(() => this.#save(), pause);
    }

    #save() {
        this.#saving = this.#saving.then(() => this.#saveOnce());
        return this.#saving;
    }

    get #hasNothing() {
        const { title, body } = this.content;
        return !this.note && !title.trim() && !body.trim();
    }

    async #saveOnce() {
        if (!this.#isDirty || this.#isStopped || this.#signal.aborted || this.#hasNothing) return;
        try {
            if (this.note && !(await this.#isNewest())) return;
            if (this.#signal.aborted) return;
            await this.#keep();
        } catch (error) {
            if (!this.#signal.aborted) this.#showStatus(sentenceOf(error), true);
        }
    }

    async #keep() {
        const isNew = this.note === null;
        const before = this.note;
        this.#isDirty = false;
        this.#savesUnderWay += 1;
        try {
            const note = await this.#context.companion.notes.save(before, this.content);
            if (this.#signal.aborted) return;
            this.note = note;
            if (isNew) this.#events.made(note);
        } catch (error) {
            this.#isDirty = true;
            throw error;
        } finally {
            this.#savesUnderWay -= 1;
        }
        if (!this.#isDirty) await this.#look();
    }

    /** At once, as the page may be closed or locked next. If the hub has another version, both stay. */
    #keepNow() {
        clearTimeout(this.#timer);
        if (!this.#isDirty || this.#isStopped || this.#hasNothing) return;
        this.#saving = Promise.all([this.#saving, this.#keep()]).then(() => {}, (error) => {
            if (!this.#signal.aborted) this.#showStatus(sentenceOf(error), true);
        });
    }

    /** Another version, or a removal, arrived. What is being saved here doesn't count. */
    async #look() {
        if (!this.note || this.#savesUnderWay > 0 || this.#isStopped || this.#signal.aborted) return;
        await this.#isNewest().catch(() => {});
    }

    /** @returns {Promise<boolean>} */
    #isNewest() {
        const look = this.#looking.then(() => this.#compare());
        this.#looking = look.then(() => {}, () => {});
        return look;
    }

    /**
     * Whether this is the note's newest version; otherwise the other one is shown, or asked about.
     * @returns {Promise<boolean>}
     */
    async #compare() {
        const { note } = this;
        if (!note || this.#signal.aborted || this.#isStopped) return false;
        const newest = await this.#context.companion.notes.read(note.id).catch((error) => {
            if (error?.code === "notFound") return null;
            throw error;
        });
        if (this.#signal.aborted || this.#isStopped) return false;
        // Saved meanwhile.
        if (this.note !== note) return this.#compare();
        if (newest?.signature === note.signature) {
            this.note = newest;
            this.#notice.replaceChildren();
            if (!this.#isDirty) this.#showStatus(stateOf(newest), newest.problem !== null);
            return true;
        }
        const isUntouched = !this.#isDirty && !this.element.contains(document.activeElement);
        if (newest && (isUntouched || (newest.title === this.#title.value && newest.body === this.#body.value))) {
            this.note = newest;
            this.#isDirty = false;
            this.#show(newest);
            this.#showStatus(`Changed ${writtenAt(newest, this.#context.companion)} just now`);
            return false;
        }
        this.#ask(newest);
        return false;
    }

    /** @param {Note | null} newest */
    #ask(newest) {
        this.#showStatus("Not saved: choose above which version to keep", true);
        if (this.#notice.dataset.of === (newest?.signature ?? "")) {
            if (this.#notice.childElementCount > 0) return;
        }
        this.#notice.dataset.of = newest?.signature ?? "";
        const saveAsNew = () => {
            this.note = null;
            this.#isDirty = true;
            this.#notice.replaceChildren();
            return this.#save();
        };
        this.#notice.replaceChildren(newest
            ? banner("warning", "warning",
                element("p", {}, `This note was changed ${writtenAt(newest, this.#context.companion)}. `
                    + "What you see here is yours."),
                element("div", { class: "buttons" },
                    button("See both", () => this.#events.compare(this.content, newest))))
            : banner("warning", "warning", element("p", {}, "This note was deleted elsewhere."),
                element("div", { class: "buttons" }, button("Save this text as a new note", saveAsNew))));
    }
}
