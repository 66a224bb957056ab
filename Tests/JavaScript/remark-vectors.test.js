// The companion reads or refuses Vectors/remarks.json, which an independent implementation of docs/formats.md wrote.
import { textOf, utf8 } from "/crypto/bytes.js";
import { mayWriteRemark, remarkTag } from "/formats/remark-author.js";
import { isShortEnough, newRemarkID, readRemark, remarkBody } from "/formats/remark-format.js";
import { equal, refusal, vectors } from "./harness.js";

export const tests = {
    async remarksAreReadOrRefused() {
        const { opens, refused } = (await vectors("remarks")).bodies;
        equal([opens.length, refused.length], [8, 14], "complete");
        for (const { name, content } of opens) {
            equal(readRemark(utf8(JSON.stringify(content))), content, name);
            equal(JSON.parse(textOf(remarkBody(content))), content, `${name}, written`);
        }
        for (const { name, content } of refused) {
            equal(readRemark(utf8(JSON.stringify(content))), null, name);
            equal(await refusal(() => remarkBody(content)), "malformed", `${name}, written`);
        }
        equal(readRemark(Uint8Array.of(0xff)), null, "no text");
        equal([isShortEnough(new Uint8Array(20_000)), isShortEnough(new Uint8Array(20_001))], [true, false], "length");
    },

    async onlyItsAuthorWritesARemark() {
        const { ids } = await vectors("remarks");
        equal(ids.length, 5, "complete");
        for (const { name, vault, household, author, id, mayWrite } of ids) {
            equal(await mayWriteRemark({ vault, id }, author, household), mayWrite, name);
        }
        const [{ vault, author, household }] = ids;
        const made = await newRemarkID(vault, author);
        equal([made.length, made.slice(0, 16), await mayWriteRemark({ vault, id: made }, author, household)],
            [32, await remarkTag(vault, author), true], "a new one");
    },
};
