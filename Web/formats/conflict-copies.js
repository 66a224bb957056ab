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
    const originals = new Map();
    // A copy that was kept as an ordinary note has the same time of creation.
    for (const note of notes)
        if (copyOf(note) === null) originals.set(origin(note), [...(originals.get(origin(note)) ?? []), note]);
    /** @type {Map<string, Note[]>} */
    const groups = new Map();
    for (const note of notes) {
        if (copyOf(note) === null) continue;
        const candidates = originals.get(origin(note)) ?? [];
        const named = candidates.filter(({ title }) => title === plainTitle(note));
        const original = named.length === 1 ? named[0] : candidates.length === 1 ? candidates[0] : null;
        if (original) groups.set(original.id, [...(groups.get(original.id) ?? [original]), note]);
    }
    /** @type {Map<string, Note[]>} */
    const found = new Map();
    for (const group of groups.values()) for (const one of group) found.set(one.id, group);
    return found;
}
