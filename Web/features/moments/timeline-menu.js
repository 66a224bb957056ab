// What a long press on a moment of the timeline offers. The moment's own page has the same as buttons.
import { choose } from "../../ui/sheet.js";
import { named, sentenceOf } from "../../ui/words.js";
import { removeMoment } from "./remove.js";
import { shareMoment } from "./share.js";
import { nameOf } from "./timeline-card.js";

/** @typedef {import("./moments.js").Moment} Moment */

/** @param {Context} context @param {Moment} moment */
export async function momentMenu(context, moment) {
    const { companion, signal, toast } = context;
    const chosen = await choose(named(nameOf(moment)), [
        { value: "favour", label: moment.favourite ? "Remove from favourites" : "Add to favourites" },
        { value: "share", label: "Share" }, { value: "edit", label: "Edit" },
        { value: "remove", label: "Move to the trash", isDanger: true },
    ], signal);
    try {
        switch (chosen) {
            case "favour": return void await companion.moments.setFavourite(moment, !moment.favourite);
            case "share": return await shareMoment(context, moment);
            case "edit": return context.go(`moments/${moment.id}/edit`);
            case "remove": return await removeMoment(context, moment);
        }
    } catch (error) {
        toast(sentenceOf(error));
    }
}
