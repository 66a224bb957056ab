// Notes: a list, and an editor over it on a phone or beside it on a desktop.
import { controllerWithin } from "../../ui/abort.js";
import { element } from "../../ui/element.js";
import { button, empty, iconButton } from "../../ui/parts.js";
import { closeContent, isContentOpen, lockedContent } from "../../ui/content-lock.js";
import { redrawAtWidth } from "../../ui/width.js";
import { NotesList } from "./list.js";
import { openNote } from "./detail.js";

/** As in styles/vault.css. */
const wide = "(min-width: 64rem)";

/** @type {AppScreen} */
export async function notes(context) {
    if (!(await isContentOpen(context.companion))) return lockedContent(context, "Notes", "notes", "lock");
    const media = matchMedia(wide);
    redrawAtWidth(context, media);
    const [id] = context.parts;
    if (media.matches) return split(context, id);
    return id ? alone(context, id) : listed(context);
}

/** @param {Context} context */
const newButton = (context, open = () => context.go("notes/new")) => iconButton("plus", "New note", open);

/** @param {Context} context */
const lockButton = (context) => iconButton("lock", "Lock notes and moments", () => {
    closeContent(context.companion);
    context.go("notes", { replace: true });
});

/** @param {Context} context @returns {Promise<Page>} */
async function listed(context) {
    const list = new NotesList(context,
        { open: (id) => context.go(`notes/${id}`), create: () => context.go("notes/new") });
    await list.load();
    return { title: "Notes", actions: [lockButton(context), newButton(context)], body: [list.element] };
}

/** @param {Context} context @param {string} id @returns {Promise<Page>} */
async function alone(context, id) {
    const detail = await openNote(context, id,
        { signal: context.signal, leave: () => context.go("notes"), named: () => {} });
    return {
        title: id === "new" ? "New note" : "Note", back: "notes", actions: detail.actions, body: [detail.element],
    };
}

/**
 * The list stays while notes are shown beside it.
 * @param {Context} context
 * @param {string | undefined} first
 * @returns {Promise<Page>}
 */
async function split(context, first) {
    const pane = element("div", { class: "notes-pane" });
    let shown = controllerWithin(context.signal);
    const leave = () => {
        history.replaceState(history.state, "", "#/notes");
        show(null);
    };
    /** @param {string | null} id @returns {Promise<void>} */
    const show = async (id) => {
        shown.abort();
        if (context.signal.aborted) return;
        shown = controllerWithin(context.signal);
        const { signal } = shown;
        list.select(id);
        if (!id) {
            return pane.replaceChildren(empty("note", "No note is open", "Choose one in the list, or write a new one.",
                button("New note", () => open("new"), { kind: "primary", icon: "plus" })));
        }
        const detail = await openNote(context, id, { signal, leave, named: (made) => list.select(made) });
        if (signal.aborted) return;
        pane.replaceChildren(element("div", { class: "notes-pane-actions" }, ...detail.actions), detail.element);
    };
    /** @param {string} id @returns {Promise<void>} */
    const open = (id) => {
        history.replaceState(history.state, "", `#/notes/${id}`);
        return show(id);
    };
    const list = new NotesList(context, { open, create: () => open("new") });
    await list.load();
    await show(first ?? null);
    return {
        title: "Notes", actions: [lockButton(context), newButton(context, () => open("new"))],
        body: [element("div", { class: "notes-split" }, list.element, pane)],
    };
}
