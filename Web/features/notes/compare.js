// Two versions of one note side by side: the person keeps one, both, or merges them.
import { element } from "../../ui/element.js";
import { button, section } from "../../ui/parts.js";
import { dayAndTime } from "../../ui/words.js";

/** @typedef {{ title: string, body: string }} Content */
/** @typedef {Content & { label: string, modified: number | null }} Side */
/** @typedef {{ keep: 0 | 1 } | { keep: "both" } | { merged: Content }} Decision */

/**
 * Marks the lines that the other version does not have.
 * @param {string} text
 * @param {string} other
 */
function marked(text, other) {
    const known = new Set(other.split("\n").map((line) => line.trim()));
    return text.split("\n").flatMap((line, index) => [
        index > 0 ? "\n" : null,
        known.has(line.trim()) ? line : element("mark", { class: "notes-differs" }, line),
    ]);
}

/**
 * The first version, then what only the second has.
 * @param {Content} one
 * @param {Content} other
 * @returns {Content}
 */
function together(one, other) {
    const known = new Set(one.body.split("\n").map((line) => line.trim()));
    const more = other.body.split("\n").filter((line) => !known.has(line.trim()));
    return { title: one.title || other.title, body: more.length > 0
        ? `${one.body.trimEnd()}\n\n${more.join("\n")}`
        : one.body };
}

/**
 * @param {string} text why there are two
 * @param {[Side, Side]} sides
 * @param {(decision: Decision) => unknown} decide
 */
export function comparison(text, sides, decide) {
    const view = element("div", { class: "notes-compare" });
    const pane = (/** @type {Side} */ side, /** @type {Side} */ other, /** @type {0 | 1} */ index) =>
        element("section", { class: "card notes-version", "aria-label": side.label },
            element("div", { class: "card-body" },
                element("p", { class: "notes-version-label" }, element("strong", { dir: "auto" }, side.label),
                    side.modified !== null && element("span", { class: "soft caption" }, dayAndTime(side.modified))),
                element("h2", { class: "notes-version-title", dir: "auto" }, side.title || "Without a title"),
                element("div", {
                    class: "notes-version-body", dir: "auto", tabindex: "0", role: "group",
                    "aria-label": `Text, ${side.label}`,
                },
                    ...marked(side.body, other.body)),
                button("Keep only this version", () => decide({ keep: index }),
                    { wide: true, "aria-label": `Keep only this version: ${side.label}` })));
    const choose = () => view.replaceChildren(
        element("p", { class: "soft" }, text),
        element("div", { class: "notes-versions" }, pane(sides[0], sides[1], 0), pane(sides[1], sides[0], 1)),
        element("div", { class: "buttons buttons-even" },
            button("Keep both", () => decide({ keep: "both" })),
            button("Merge manually", merge, { kind: "primary" })));
    const merge = () => {
        const start = together(sides[0], sides[1]);
        const title = element("input", { class: "input", value: start.title, "aria-label": "Title", dir: "auto" });
        const body = element("textarea", { class: "input notes-merge", "aria-label": "Text", dir: "auto", rows: 14 });
        body.value = start.body;
        view.replaceChildren(section("Merge", [
            element("p", { class: "soft" }, "Both texts are below, one after the other. Delete what you don’t want."),
            title, body,
            element("div", { class: "buttons buttons-even" }, button("Back", choose),
                button("Save", () => decide({ merged: { title: title.value, body: body.value } }),
                    { kind: "primary" }))]));
        title.focus();
    };
    choose();
    return view;
}
