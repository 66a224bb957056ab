// Which of two versions of a record is kept after a hub's store was restored from a backup.
import { base64, unhex } from "/crypto/bytes.js";
import { ancestorsAfterChange, compare, follows, version, versionsOf } from "/sync/versions.js";
import { commonSequence } from "/sync/restored-hub.js";
import { equal, expect } from "./harness.js";

const made = (collection, revision, text, rest = {}) => ({
    collection, id: "1".repeat(32), vault: "2".repeat(32), revision, epoch: 1, author: "3".repeat(32), blobs: [],
    signature: `${revision} ${text}`,
    ...(text === null ? {} : { sealed: btoa(text) }), sequence: revision, ...rest,
});
const note = (revision, text, rest) => made("notes", revision, text, rest);
const photo = (revision, text, rest) => made("photos", revision, text, rest);
const row = (record, versions = []) =>
    ({ key: "notes/1", collection: record.collection, sequence: 7, record, at: 0, versions, atHub: 0 });
const naming = async (...records) => ({ ancestors: base64(unhex((await Promise.all(records.map(version))).join(""))) });

/** Returns which record stays, which revision is sent again, and which record becomes a copy. */
async function outcome(here, served) {
    const { row: stays, copied } = await compare(here, served);
    return [stays ? stays.record.signature : served.signature, stays ? stays.atHub
        ?? null : null, copied?.signature ?? null];
}

export const tests = {
    async anOlderVersionAtTheHubIsReplaced() {
        const [old, own] = [note(2, "old"), note(5, "new")];
        equal(await outcome(row(own, [await version(old)]), old), ["5 new", 2, null], "a note");
        equal(await outcome(row(note(5, null), [await version(old)]), old), ["5 null", 2, null], "a removal");
        equal(await outcome(row(own, [await version(note(5, "before"))]), note(5, "before")), ["5 new", 5, null],
            "of the same revision");
    },

    async theSameVersionAtTheHubIsNotSentAgain() {
        const found = await compare(row(note(5, "new")), { ...note(5, "new"), author: "4".repeat(32), sequence: 9 });
        equal([found.row.atHub, found.row.sequence, found.copied], [undefined, 9, undefined], "another device sent it");
    },

    async successorsOfTheLocalVersionAreAccepted() {
        const own = note(5, "new");
        equal(await outcome(row(own), note(6, "next", await naming(note(4, "x"), own))), ["6 next", null, null],
            "a change");
        equal(await outcome(row(own), note(6, null, await naming(own))), ["6 null", null, null], "a removal");
    },

    async olderVersionsReplaceNothing() {
        const own = note(5, "new");
        // Ancestors are not signed: a hub can name any.
        for (const forged of [{}, await naming(own)]) {
            equal(await outcome(row(own), note(3, "never seen", forged)), ["5 new", 3, "3 never seen"], "a note");
            equal(await outcome(row(own), note(3, null, forged)), ["5 new", 3, null], "a removal");
            equal(await outcome(row(note(5, null)), note(3, "never seen", forged)), ["5 null", 3, null],
                "of a removed note");
            equal(await outcome(row(photo(5, "new")), photo(3, "never seen", forged)), ["5 new", 3, null], "a photo");
            equal(await outcome(row(photo(5, "new")), photo(3, null, forged)), ["5 new", 3, null], "a photo's removal");
        }
    },

    async concurrentVersionsAreBothKept() {
        equal(await outcome(row(note(5, "here")), note(5, "there")), ["5 there", null, "5 here"],
            "of the same revision");
        equal(await outcome(row(note(5, "here")), note(7, "there")), ["7 there", null, "5 here"],
            "of a higher revision");
        equal(await outcome(row(note(5, "here")), note(5, null)), ["5 null", null, "5 here"], "a removal there");
        equal(await outcome(row(note(5, null)), note(5, "there")), ["5 there", null, null], "a removal here");
        equal(await outcome(row(photo(5, null)), photo(7, "there")), ["5 null", 7, null], "a photo removed here");
        equal(await outcome(row(photo(5, "here")), photo(5, "there")), ["5 there", null, null],
            "a photo changed on both sides");
    },

    async logEntriesAreNotReplaced() {
        const entry = made("audit", 1, "entry");
        equal(await outcome(row(entry), made("audit", 2, null)), ["1 entry", null, null], "an entry");
    },

    async aChangeFollowsTheVersionsThatItsAuthorHad() {
        const [first, second] = [note(1, "first"), note(2, "second")];
        const change = { ...note(3, "change"), replaces: 2, ...(await naming(first)) };
        expect(await follows(change, row(first)), "it follows the version that it names");
        expect(!(await follows(change, row(second))), "it does not follow another version with that revision");
        expect(await follows({ ...note(3, "change"), replaces: 2 }, row(second)),
            "a change that names nothing follows by its revision");
        let [line, known] = [change, row(first)];
        for (let revision = 4; revision < 40; revision += 1) {
            line = { ...note(revision, "more"), replaces: 2, ancestors: await ancestorsAfterChange(line, known) };
        }
        expect(await follows(line, known), "it follows after many changes");
        expect(await follows(line, row(note(38, "more"))), "it follows a change whose response was lost");
        equal((await versionsOf(row(line))).length, 17, "the version itself and at most 16 ancestors");
    },

    theCommonSequenceOfTwoStoresIsFound() {
        const [a, b, c] = ["a", "b", "c"].map((letter, index) => ({ id: letter.repeat(32), after: index * 10 }));
        for (const [known, newest, served, sequence, common] of [
            [[a, b], 15, [a, b], 15, 15], [[a, b], 15, [a, b, c], 22, 15], [[a, b], 15, [a, b], 12, 12],
            [[a, b], 15, [a, { ...c, after: 7 }], 40, 7], [[a], 8, [b], 30, 0], [[], 8, [a], 30, 0],
            [[a, b], 25, [a, b, c], 30, 20],
            [null, 8, [a], 30, 8], [null, 8, [a], 5, 5],
        ]) equal(commonSequence(known, newest, served, sequence), common,
            JSON.stringify([known, newest, served, sequence]));
    },
};
