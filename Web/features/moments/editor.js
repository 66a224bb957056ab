// Everline: writes or changes a moment.
import { element } from "../../ui/element.js";
import { button, empty } from "../../ui/parts.js";
import { MomentForm } from "./editor-form.js";

/**
 * @param {Context} context
 * @param {string | null} id null: a new one
 * @param {string | null} [vault] the shared vault's name
 * @returns {Promise<Page>}
 */
export async function editor(context, id, vault = null) {
    const { companion, signal } = context;
    const moment = id === null ? null : await companion.moments.read(id).catch((error) => {
        if (error?.code === "notFound") return undefined;
        throw error;
    });
    if (moment === undefined) {
        return { title: "Edit moment", back: "moments",
            body: [empty("heart", "Moment not found", "It may have been erased on another device.",
                button("Open the timeline", () => context.go("moments"), { kind: "primary" }))] };
    }
    const address = location.hash;
    const hasShared = id === null && context.query.has("shared");
    // Before the form notes the address that it is left from.
    if (hasShared) history.replaceState(history.state, "", "#/moments/new");
    const form = new MomentForm(context, moment);
    await form.open();
    if (hasShared) {
        const { offerShared } = await import("./editor-shared.js");
        void offerShared(context, address, vault, (content) => form.add(content));
    }
    if (!signal.aborted && !moment && matchMedia("(pointer: fine)").matches) requestAnimationFrame(() => form.focus());
    return { title: moment ? "Edit moment" : "New moment", back: id
        ? `moments/${id}`
        : "moments", actions: [form.save], body: [element("div", { class: "editor-page" }, form.element)] };
}
