// What another app shared becomes a part of the draft, once the person agrees: any site can send the same form.
import { element } from "../../ui/element.js";
import { button } from "../../ui/parts.js";
import { sheet } from "../../ui/sheet.js";
import { counted, named } from "../../ui/words.js";
import { shareLimits as most } from "../../workers/share-limits.js";
import { takeShared } from "../../workers/shared-content.js";

/** @typedef {import("../../workers/share-limits.js").SharedContent} SharedContent */

/**
 * @param {Context} context
 * @param {string} address with the id of what was shared
 * @param {string | null} vault the shared vault's name
 * @param {(content: SharedContent) => void} add
 */
export async function offerShared({ signal, toast }, address, vault, add) {
    const content = await takeShared(address);
    if (signal.aborted) return;
    if (!content) return toast("What was shared is gone. Share it once more.");
    const { photos, title, text } = content;
    const hasText = Boolean(title || text);
    const what = [photos.length > 0 && counted(photos.length, "photo"), hasText && "a text"]
        .filter(Boolean).join(" and ");
    const were = photos.length > 1 || (photos.length > 0 && hasText) ? "were" : "was";
    const problem = problemOf(content);
    const where = vault === null ? "a new moment" : `a new moment of “${named(vault)}”`;
    const agrees = await sheet(what ? "Add what was shared?" : "Nothing was added", signal,
        (/** @type {(answer: boolean) => void} */ end) => [
            what && element("p", { class: "soft", dir: "auto" },
                `${what[0].toUpperCase()}${what.slice(1)} ${were} sent to AppLocker, for ${where}. `
                + "A website can send this too: continue only if you shared it yourself."),
            problem && element("p", { class: "problem" }, problem),
            what ? element("div", { class: "buttons buttons-even" }, button("Discard", () => end(false)),
                button("Add", () => end(true), { kind: "primary" }))
                : button("Close", () => end(false), { wide: true }),
        ]);
    if (agrees && !signal.aborted) add(content);
}

/** @param {SharedContent} content */
function problemOf({ others, left }) {
    const megabytes = (/** @type {number} */ bytes) => `${bytes / 1_000_000} MB`;
    return [
        left > 0 && `${counted(left, "photo")} left out: at most ${most.photos} can be shared at once, each of at most `
            + `${megabytes(most.photo)}, ${megabytes(most.all)} in all.`,
        others > 0 && `${counted(others, "file")} left out: only photos can be shared.`,
    ].filter(Boolean).join(" ");
}
