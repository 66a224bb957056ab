// Changes of one note or moment in two tabs, while the hub can't be reached.
import { RecordEditor } from "/sync/record-editor.js";
import { equal } from "./harness.js";

const [id, vault] = ["1".repeat(32), "2".repeat(32)];

/** Two tabs of a device on which nothing is at the hub. */
function twoTabs() {
    /** @type {Map<string, any>} */
    const lines = new Map();
    const device = {
        stored: async (collection, one) => {
            const line = lines.get(`${collection}/${one}`);
            return { key: `${collection}/${one}`, line, record: line?.record };
        },
        store: { write: async ({ waiting }) => waiting.forEach((line) => lines.set(line.key, line)) }, changed() {},
    };
    const tab = () => new RecordEditor(/** @type {any} */ (device), /** @type {any} */ ({}), () => {});
    return { lines, one: tab(), other: tab() };
}

/** Saves a change; returns the version that it makes. */
async function save(tab, collection, version, signature, isRemoval = false) {
    const { name, replaces } = await tab.next(collection, version, {}, isRemoval);
    const record = { ...name, replaces, signature, sealed: isRemoval ? null : "sealed" };
    await tab.commit({ waiting: [{ key: `${collection}/${name.id}`, record }] });
    return { ...name, base: replaces, signature };
}

export const tests = {
    async aChangeThatWaitsInAnotherTabIsNotReplaced() {
        for (const collection of ["notes", "moments"]) {
            const { lines, one, other } = twoTabs();
            const read = { id, vault, revision: 1, base: 0, signature: "read" };
            await save(one, collection, read, "of one tab");
            const copy = await save(other, collection, read, "of the other");
            equal([copy.id === id, copy.revision, copy.base], [false, 1, 0], "the other tab's change");
            equal([...lines.values()].map(({ record }) => record.signature), ["of one tab", "of the other"],
                collection);
        }
    },

    async aTabReplacesItsOwnChangesAndThoseThatItRead() {
        const { lines, one, other } = twoTabs();
        const read = { id, vault, revision: 1, base: 0, signature: "read" };
        const first = await save(one, "notes", read, "first");
        // A second change can begin before the first one has returned.
        await save(one, "notes", read, "second");
        equal([...lines.values()].map(({ record }) => [record.id, record.revision]), [[id, 3]], "of this tab");
        await save(other, "notes", { ...first, revision: 3, signature: "second" }, "third");
        await save(one, "notes", { ...first, revision: 3, signature: "second" }, "removal", true);
        equal([...lines.values()].map(({ record }) => [record.id, record.signature]), [[id, "removal"]], "one line");
    },

    async changesOfOtherRecordsReplaceThoseOfAnotherTab() {
        const { lines, one, other } = twoTabs();
        const read = { id, vault, revision: 1, base: 0, signature: "read" };
        await save(one, "dates", read, "of one tab");
        await save(other, "dates", read, "of the other");
        equal([...lines.values()].map(({ record }) => record.signature), ["of the other"], "dates");
    },
};
