// Which notes are versions of one another.
import { conflictsOf } from "/formats/conflict-copies.js";
import { equal } from "./harness.js";

const note = (/** @type {string} */ id, /** @type {string} */ title, created = 1) =>
    ({ id, vault: "v", title, created });

/** @param {ReturnType<typeof note>[]} notes */
const versions = (notes) =>
    Object.fromEntries([...conflictsOf(notes)].map(([id, found]) => [id, found.map((one) => one.id).join()]));

export const tests = {
    aCopyBelongsToTheNoteOfItsTime() {
        const notes = [note("c", "Bank (conflict, den)"), note("o", "Bank"), note("other", "Bank", 2),
            note("alone", "Trip (conflict, den)", 3)];
        equal(versions(notes), { o: "o,c", c: "o,c" }, "the original first");
        equal(versions([note("o", "Renamed"), note("c", "Bank (conflict, den)")]), { o: "o,c", c: "o,c" }, "renamed");
    },

    aCopyThatWasKeptAsANoteOfItsOwnIsNoVersion() {
        const notes = [note("kept", "Bank (from den)"), note("o", "Bank"), note("c", "Bank (conflict, ann)")];
        equal(versions(notes), { o: "o,c", c: "o,c" }, "the one with the title");
        equal(versions([...notes, note("same", "Bank")]), {}, "two of the title: neither is replaced by mistake");
    },
};
