// How many remarks a moment has, in words.
import { counted } from "../../ui/words.js";

/** @param {{ comments: number, reactions: number }} counts "2 comments, 1 reaction" */
export const spokenCounts = ({ comments, reactions }) =>
    [comments > 0 && counted(comments, "comment"), reactions > 0 && counted(reactions, "reaction")]
        .filter(Boolean).join(", ");
