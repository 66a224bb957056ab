// Remarks in words: how many, and whose.
import { counted, isVisible, named } from "../../ui/words.js";

/** @param {{ comments: number, reactions: number }} counts "2 comments, 1 reaction" */
export const spokenCounts = ({ comments, reactions }) =>
    [comments > 0 && counted(comments, "comment"), reactions > 0 && counted(reactions, "reaction")]
        .filter(Boolean).join(", ");

/**
 * Names of authors in a shared vault: what their devices call themselves, each different from the others; "" in an own
 * vault.
 * @param {Companion} companion
 * @returns {Promise<(author: string) => string>}
 */
export async function authorNames({ device, household }) {
    if (!device.member) return () => "";
    const names = await household.ownNames();
    const inUse = [...names.values()].map((name) => named(name).trim().toLocaleLowerCase());
    return (author) => {
        const name = named(names.get(author) ?? "").trim();
        const isUsedTwice = inUse.filter((one) => one === name.toLocaleLowerCase()).length > 1;
        const shown = isVisible(name) ? `${name}${isUsedTwice ? ` (${author.slice(0, 4)})` : ""}` : author.slice(0, 8);
        return device.roster.member(author) ? shown : `${shown}, no longer a member`;
    };
}
