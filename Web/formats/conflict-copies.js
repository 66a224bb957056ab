// A note that two devices changed at once is kept twice: the second version becomes a note of its own, with "(conflict,
// NAME)" after its title (docs/formats.md). Both have the same time of creation, by which they are found.

/** @typedef {{ id: string, vault: string, title: string, created: number }} Kept */

const ending = /^(.*) \(conflict, (.+)\)$/s;

/**
 * Whose version it is; null for a note that is not a copy.
 * @param {{ title: string }} note
 */
export const copyOf = (note) => ending.exec(note.title)?.[2] ?? null;

/**
 * The title without the name of the copy.
 * @param {{ title: string }} note
 */
export const plainTitle = (note) => ending.exec(note.title)?.[1] ?? note.title;

/** @param {Kept} note */
const origin = (note) => `${note.vault} ${note.created}`;

/**
 * The versions of each note, by id.
 * @template {Kept} Note
 * @param {Note[]} notes
 * @returns {Map<string, Note[]>} the original first
 */
export function conflictsOf(notes) {
    /** @type {Map<string, Note[]>} */
    const copies = new Map();
    for (const note of notes) {
        if (copyOf(note) !== null) copies.set(origin(note), [...(copies.get(origin(note)) ?? []), note]);
    }
    const found = new Map();
    if (copies.size === 0) return found;
    for (const note of notes) {
        const others = copyOf(note) === null && copies.get(origin(note));
        if (!others) continue;
        for (const one of [note, ...others]) found.set(one.id, [note, ...others]);
    }
    return found;
}
