// The list of notes, with a search. Its content is dropped with the screen.
import { searchText } from "./notes.js";
import { textMatcher } from "../../household/text-search.js";
import { element, keyed } from "../../ui/element.js";
import { redrawing } from "../../ui/live.js";
import { badge, banner, button, empty, searchField } from "../../ui/parts.js";
import { ago, counted, dayAndTime, isVisible } from "../../ui/words.js";
import { conflictsOf, plainTitle } from "../../formats/conflict-copies.js";

/** @typedef {import("./notes.js").Note} Note */
/**
 * `text`: what a search looks through.
 * @typedef {{ note: Note, text: string }} Entry
 */

/** Rows added as the end of the list comes into view. */
const step = 30;
/** After more changes than this the whole list is read again. */
const few = 50;
const previewLength = 140;

/** @param {Note} note */
const entryOf = (note) => ({ note, text: searchText(note) });

/** @param {string} body */
function firstLine(body) {
    const line = /\S.*/.exec(body)?.[0] ?? "";
    return [...line.slice(0, 2 * previewLength)].slice(0, previewLength).join("");
}

export class NotesList {
    /** @type {Map<string, Entry>} */
    #entries = new Map();
    /** @type {Set<string>} ids of notes that changed and are read again */
    #stale = new Set();
    #loading = Promise.resolve();
    /** @type {Note[]} */
    #found = [];
    #words = "";
    #shown = 2 * step;
    #unreadable = 0;
    /** @type {string | null} */
    #selected = null;
    /** @type {Map<string, Note[]>} */
    #conflicts = new Map();
    #context;
    #open;
    #create;
    #list = element("div", { class: "card notes-list" });
    #empty = element("div", {});
    #status = element("p", { class: "visually-hidden", role: "status" });
    #warning = element("div", { hidden: true });
    #end = element("div", { class: "notes-end" });

    /** @param {Context} context @param {{ open: (id: string) => unknown, create: () => unknown }} actions */
    constructor(context, { open, create }) {
        this.#context = context;
        this.#open = open;
        this.#create = create;
        const { signal, companion } = context;
        this.search = searchField("Search notes", (words) => this.#search(words));
        this.element = element("div", { class: "notes-column" }, this.search, this.#warning, this.#list, this.#empty,
            this.#end, this.#status);
        const update = redrawing(() => this.#readStale(), signal);
        companion.addEventListener("changed", (event) => {
            const keys = /** @type {CustomEvent<string[]>} */ (event).detail.filter((key) => key.startsWith("notes/"));
            for (const key of keys) this.#stale.add(key.slice(6));
            if (keys.length > 0) update();
        }, { signal });
        // A change that the hub refuses has no new record.
        companion.addEventListener("outbox", () => {
            for (const { note } of this.#entries.values()) if (note.isWaiting) this.#stale.add(note.id);
            if (this.#stale.size > 0) update();
        }, { signal });
        const more = new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && this.#more(),
            /** @type {IntersectionObserverInit} */ ({ rootMargin: "1200px", scrollMargin: "1200px" }));
        more.observe(this.#end);
        signal.addEventListener("abort", () => {
            more.disconnect();
            this.#entries.clear();
            this.#stale.clear();
            this.#conflicts.clear();
            this.#found = [];
        }, { once: true });
    }

    /** Throws CompanionError `locked`. */
    load() {
        return (this.#loading = this.#readAll().then((draw) => {
            if (!this.#context.signal.aborted) draw();
        }));
    }

    async #readAll() {
        const { notes, unreadable } = await this.#context.companion.notes.list();
        return () => {
            this.#entries = new Map(notes.map((note) => [note.id, entryOf(note)]));
            this.#unreadable = unreadable;
            this.#find();
        };
    }

    async #readStale() {
        const { companion, signal } = this.#context;
        // A list that is being read may be from before a change.
        await this.#loading.catch(() => {});
        const ids = [...this.#stale];
        this.#stale.clear();
        if (ids.length > few) return this.#readAll();
        for (const id of ids) {
            const note = await companion.notes.read(id).catch(() => null);
            if (signal.aborted) return null;
            if (note) this.#entries.set(id, entryOf(note));
            else this.#entries.delete(id);
        }
        return () => this.#find();
    }

    /** @param {string} words */
    #search(words) {
        this.#words = words;
        this.#shown = 2 * step;
        this.#find();
        this.#status.textContent = words.trim() ? counted(this.#found.length, "note") + " found" : "";
    }

    #find() {
        const isFound = textMatcher(this.#words);
        this.#found = [...this.#entries.values()].filter(({ text }) => isFound(() => text))
            .map(({ note }) => note).sort((one, other) => other.modified - one.modified);
        this.#conflicts = conflictsOf([...this.#entries.values()].map(({ note }) => note));
        this.#draw();
    }

    #more() {
        if (this.#shown >= this.#found.length) return;
        this.#drawRows(this.#shown, this.#shown + step);
        this.#shown += step;
    }

    /** @param {number} from @param {number} to */
    #drawRows(from, to) {
        for (let start = from; start < Math.min(to, this.#found.length); start += step) {
            let part = this.#list.children[start / step];
            if (!part) this.#list.append(part = element("ul", { class: "rows notes-part" }));
            keyed(part, this.#found.slice(start, start + step), (note) => note.id, (note) => this.#row(note),
                (note) =>
                    `${note.signature} ${note.isWaiting} ${note.problem} ${this.#conflicts.has(note.id)} `
                        + `${ago(note.modified)}`);
        }
    }

    /** @param {string | null} id the one that is open beside the list */
    select(id) {
        this.#selected = id;
        for (const link of this.#list.querySelectorAll("a")) {
            if (/** @type {HTMLElement} */ (link.parentElement).dataset.key === id)
                link.setAttribute("aria-current", "true");
            else link.removeAttribute("aria-current");
        }
    }

    #draw() {
        const isEmpty = this.#entries.size === 0;
        this.search.hidden = isEmpty;
        this.#list.hidden = this.#found.length === 0;
        this.#warning.hidden = this.#unreadable === 0;
        this.#warning.replaceChildren(...(this.#unreadable === 0 ? [] : [banner("warning", "warning",
            `${counted(this.#unreadable, "note")} can’t be opened with this device’s keys. Another device `
                + `of yours may open them.`)]));
        this.#drawRows(0, this.#shown);
        while (this.#list.children.length > Math.ceil(
            Math.min(this.#shown, this.#found.length) / step)) this.#list.lastElementChild?.remove();
        if (this.#found.length > 0) return this.#empty.replaceChildren();
        this.#empty.replaceChildren(isEmpty
            ? empty("note", "No notes yet", "What you write here is sealed on this device before it leaves it.",
                button("Write a note", this.#create, { kind: "primary", icon: "plus" }))
            : empty("search", "Nothing found", "No note has all of these words."));
    }

    /** @param {Note} note */
    #row(note) {
        const [title, preview] = [plainTitle(note).slice(0, 400), firstLine(note.body)];
        const state = this.#conflicts.has(note.id) ? badge("Two versions", "warning")
            : note.problem ? badge("Not accepted by the hub", "danger") : note.isWaiting ? badge("Not sent yet") : null;
        return element("li", { class: "notes-item" }, element("a", {
            class: "row notes-row", href: `#/notes/${note.id}`,
            "aria-current": note.id === this.#selected ? "true" : null,
            onclick: (/** @type {MouseEvent} */ event) => {
                if (event.metaKey || event.ctrlKey || event.shiftKey) return;
                event.preventDefault();
                this.#open(note.id);
            },
        }, element("span", { class: "row-text" },
            element("span", { class: "row-title notes-name", dir: "auto" },
                isVisible(title) ? title : "Without a title"),
            element("span", { class: "row-note notes-first", dir: "auto" }, isVisible(preview) ? preview : "No text"),
            element("span", { class: "notes-meta" },
                element("time", { title: dayAndTime(note.modified) }, ago(note.modified)), state))));
    }
}
