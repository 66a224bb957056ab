// The editor of a note, or its two versions, beside the list or over it.
import { controllerWithin } from "../../ui/abort.js";
import { drawn, element } from "../../ui/element.js";
import { banner, button, empty, iconButton } from "../../ui/parts.js";
import { sentenceOf } from "../../ui/words.js";
import { comparison } from "./compare.js";
import { conflictsOf, copyOf, plainTitle } from "../../formats/conflict-copies.js";
import { NoteEditor } from "./editor.js";
import { writtenAt } from "./notes.js";

/** @typedef {import("./notes.js").Note} Note */
/** @typedef {import("./compare.js").Decision} Decision */
/** @typedef {import("./compare.js").Content} Content */
/**
 * `leave`: the note is gone. `named`: a new one has an id now.
 * @typedef {{ signal: AbortSignal, leave: () => void, named: (id: string) => void }} Place
 */

/**
 * @param {Context} context
 * @param {string} id or "new"
 * @param {Place} place
 * @returns {Promise<{ element: HTMLElement, actions: HTMLElement[] }>}
 */
export async function openNote(context, id, place) {
    const { companion } = context;
    /** @type {Note | null} */
    let note = null;
    try {
        if (id !== "new") note = await companion.notes.read(id);
    } catch (error) {
        return { element: empty("note", "This note can’t be shown", sentenceOf(error)), actions: [] };
    }
    return new Detail(context, place, note);
}

class Detail {
    #context;
    #place;
    /** @type {Note[]} */
    #versions = [];
    #conflict = element("div", {});
    #isComparing = false;
    #newestLook = 0;

    /** @param {Context} context @param {Place} place @param {Note | null} note */
    constructor(context, place, note) {
        this.#context = context;
        this.#place = place;
        this.element = element("div", { class: "notes-detail" });
        this.actions = [iconButton("trash", "Delete this note", () => this.#remove())];
        this.#edit(note);
        if (!note) requestAnimationFrame(() => !place.signal.aborted && this.editor?.focus());
        context.companion.addEventListener("changed", (event) => {
            const own = `notes/${this.editor?.note?.id}`;
            const keys = /** @type {CustomEvent<string[]>} */ (event).detail;
            // A copy arrives as another note.
            if (keys.some((key) => key.startsWith("notes/") && key !== own)) this.#lookForVersions();
        }, { signal: place.signal });
        place.signal.addEventListener("abort", () => {
            this.#versions = [];
        }, { once: true });
        this.#lookForVersions();
    }

    /** @param {Note | null} note */
    #edit(note) {
        this.shown?.abort();
        this.shown = controllerWithin(this.#place.signal);
        this.editor = new NoteEditor(this.#context, note, this.shown.signal, {
            made: (made) => {
                history.replaceState(history.state, "", `#/notes/${made.id}`);
                this.#place.named(made.id);
            },
            compare: (mine, theirs) => this.#compareTyped(mine, theirs),
        });
        this.element.replaceChildren(this.#conflict, this.editor.element);
    }

    /** Links to the other version of a note that is kept twice. */
    async #lookForVersions() {
        const { companion } = this.#context;
        const id = this.editor?.note?.id;
        if (!id) return;
        const look = (this.#newestLook += 1);
        const { notes } = await companion.notes.list("(conflict,").catch(() => ({ notes: [] }));
        if (this.#place.signal.aborted || this.editor?.note?.id !== id || look !== this.#newestLook) return;
        // Reads the whole list only if there are copies.
        const all = notes.length === 0 ? [] : (await companion.notes.list().catch(() => ({ notes: [] }))).notes;
        // A later look was drawn already.
        if (this.#place.signal.aborted || look !== this.#newestLook) return;
        this.#versions = conflictsOf(all).get(id) ?? [];
        // One that is there stays: a press on a button that is replaced before the release does nothing.
        drawn(this.#conflict, this.#versions.length > 0, () => banner("warning", "warning",
            element("p", {}, "Two devices changed this note at the same time. Both versions are kept."),
            element("div", { class: "buttons" }, button("See both", () => this.#compareKept()))));
    }

    async #remove() {
        const { companion, toast } = this.#context;
        const { editor } = this;
        const note = editor?.note;
        editor?.stop();
        if (!note) return this.#place.leave();
        try {
            const typed = editor?.content ?? note;
            const removed = await companion.notes.remove(note);
            this.#place.leave();
            toast("Note deleted", { undo: () => this.#again(removed, typed) });
        } catch (error) {
            toast(sentenceOf(error));
        }
    }

    /** @param {Note} note @param {Content} content */
    async #again(note, content) {
        await this.#context.companion.notes.save(note, content)
            .catch((error) => this.#context.toast(sentenceOf(error)));
    }

    /** Compares two stored notes: one is the original. */
    #compareKept() {
        const [original, copy] = this.#versions;
        const { companion, toast } = this.#context;
        const name = copyOf(copy) ?? "another device";
        this.editor?.stop();
        this.element.replaceChildren(comparison(
            "Choose the version to keep. You can undo this right afterwards.",
            [{ label: "The earlier version", ...original },
                { label: `The version of ${name}`, ...copy, title: plainTitle(copy) }],
            (decision) => this.#decided(async () => {
                if ("keep" in decision && decision.keep === "both") {
                    // With another title it is an ordinary note.
                    await companion.notes.save(copy, { title: `${plainTitle(copy)} (from ${name})`, body: copy.body });
                    return original;
                }
                const content = "merged" in decision ? decision.merged
                    : decision.keep === 0 ? null : { title: plainTitle(copy), body: copy.body };
                const kept = content ? await companion.notes.save(original, content) : original;
                const removed = await companion.notes.remove(copy);
                toast(content ? "The other version was replaced" : "The other version was deleted", {
                    undo: async () => {
                        await this.#again(removed, copy);
                        if (content) await this.#again(kept, original);
                    },
                });
                return kept;
            })));
        this.#focusFirst();
    }

    /**
     * Compares what is typed here with a version from elsewhere. Until the person decides it is a note of its own,
     * which stays if this is left.
     * @param {Content} mine
     * @param {Note} theirs
     */
    async #compareTyped(mine, theirs) {
        if (this.#isComparing) return;
        this.#isComparing = true;
        const { companion, toast } = this.#context;
        const own = companion.own.name;
        const copy = await companion.notes.save(null, { title: `${mine.title} (from ${own})`, body: mine.body })
            .catch((error) => void toast(sentenceOf(error)));
        this.#isComparing = false;
        if (!copy || this.#place.signal.aborted) return;
        this.editor?.stop();
        this.element.replaceChildren(comparison(
            `This note was changed ${writtenAt(theirs, companion)} while you wrote here.`,
            [{ label: `Written ${writtenAt(theirs, companion)}`, ...theirs },
                { label: "What you wrote here", ...mine, modified: null }],
            (decision) => this.#decided(async () => {
                if ("keep" in decision && decision.keep === "both") return theirs;
                const content = "merged" in decision ? decision.merged : decision.keep === 1 ? mine : null;
                const kept = content ? await companion.notes.save(theirs, content) : theirs;
                await companion.notes.remove(copy);
                if (!content) toast("Your text was discarded", { undo: () => this.#again(theirs, mine) });
                return kept;
            })));
        this.#focusFirst();
    }

    /** The other view begins at its first button. */
    #focusFirst() {
        /** @type {HTMLElement | null} */ (this.element.querySelector("button, [tabindex]"))?.focus({
            preventScroll: true,
        });
        window.scrollTo(0, 0);
    }

    /** @param {() => Promise<Note>} decide */
    async #decided(decide) {
        try {
            const note = await decide();
            if (this.#place.signal.aborted) return;
            history.replaceState(history.state, "", `#/notes/${note.id}`);
            this.#place.named(note.id);
            this.#conflict.replaceChildren();
            this.#edit(await this.#context.companion.notes.read(note.id));
            await this.#lookForVersions();
        } catch (error) {
            this.#context.toast(sentenceOf(error));
        }
    }
}
