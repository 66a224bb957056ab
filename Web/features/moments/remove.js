// Moves a moment to the trash, with an undo.
import { sentenceOf } from "../../ui/words.js";
import { countedKinds } from "../../ui/recording-words.js";

/** How long a deletion can be undone, in milliseconds. */
const undoTime = 30_000;

/** @param {Context} context @param {import("./moments.js").Moment} moment */
export async function removeMoment({ companion, toast }, moment) {
    const removed = await companion.moments.remove(moment);
    const { photos } = removed;
    toast(`Moment${photos.length > 0 ? ` and ${countedKinds(photos)}` : ""} moved to the trash`, {
        milliseconds: undoTime,
        undo: () => companion.moments.restore(removed).catch((error) => toast(sentenceOf(error))),
    });
}
