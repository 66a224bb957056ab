// Everline: a moment is written, or changed.
import { element } from "../views/element.js";
import { button, empty } from "../views/parts.js";
import { MomentForm } from "./moments-editor-form.js";

/** @typedef {import("../views/shell.js").Context} Context */
/** @typedef {import("../views/shell.js").Page} Page */

/**
 * @param {Context} context
 * @param {string | null} id null: a new one
 * @returns {Promise<Page>}
 */
export async function editor(context, id) {
    const { companion, signal } = context;
    const moment = id === null ? null : await companion.moments.read(id).catch((error) => {
        if (error?.code === "notFound") return undefined;
        throw error;
    });
    if (moment === undefined) {
        return { title: "Edit moment", back: "moments", body: [empty("heart", "This moment is gone", "It was erased, perhaps on another device.",
            button("To the timeline", () => context.go("moments"), { kind: "primary" }))] };
    }
    const form = new MomentForm(context, moment);
    await form.open();
    if (!signal.aborted && !moment && matchMedia("(pointer: fine)").matches) requestAnimationFrame(() => form.focus());
    return { title: moment ? "Edit moment" : "New moment", back: id ? `moments/${id}` : "moments", body: [element("div", { class: "editor-page" }, form.element)] };
}
