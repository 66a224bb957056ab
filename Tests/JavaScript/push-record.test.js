// What is pushed to other devices when the hub has a record, and how often.
import { noticeOfRecord, authorOfNotice } from "/formats/record-notice.js";
import { pushRecord } from "/sync/push-record.js";
import { randomID, utf8 } from "/crypto/bytes.js";
import { freshPair, importPrivate, importPublic } from "/crypto/p256.js";
import { deviceID, sealedBytes, signRecord } from "/crypto/signature.js";
import { equal } from "./harness.js";

const { point, scalar } = await freshPair();
const author = { id: await deviceID(point), key: await importPrivate(scalar, point, "ECDSA") };
const member = { id: author.id, verifyKey: await importPublic(point, "ECDSA") };
const roster = { member: (id) => (id === author.id ? member : undefined) };

/** A signed record whose content is too long for a push. */
const record = (collection, vault = randomID(), sealed = new Uint8Array(20_000)) => signRecord(
    author.key, { vault, collection, id: randomID(), revision: 1 }, { epoch: 1, author: author.id, sealed });

/** A device whose clock the test sets, and what it pushes. */
function pushing() {
    const pushed = [];
    const device = { now: 0, time: { now: () => device.now }, hub: { push: async (message) => pushed.push(message) } };
    return { device, pushed };
}

const refusalOf = (work) => work.then(() => "accepted", (error) => error.code ?? String(error));

export const tests = {
    async aNoticeProvesItsAuthorWithoutTheContent() {
        const notice = await noticeOfRecord(await record("moments"));
        equal("sealed" in notice, false, "it has no content");
        equal(JSON.stringify(notice).length < 3072, true, "it fits into a push");
        equal((await authorOfNotice(roster, notice)).id, author.id, "the author");
    },

    async aChangedNoticeIsRefused() {
        const notice = await noticeOfRecord(await record("moments"));
        const refusals = [];
        for (const change of [
            { id: randomID() }, { vault: randomID() }, { collection: "remarks" }, { revision: 2 }, { epoch: 2 },
            { blobs: [randomID()] }, { digest: btoa("0".repeat(32)) }, { digest: "" }, { digest: "?" },
            { author: randomID() },
        ]) refusals.push(await refusalOf(authorOfNotice(roster, { ...notice, ...change })));
        equal(refusals, [...Array(7).fill("wrongSignature"), "malformed", "malformed", "unknownAuthor"], "refused");
    },

    async aRemovalIsNoNotice() {
        const removal = await record("moments", randomID(), null);
        equal(sealedBytes(removal), null, "a tombstone");
        equal(await refusalOf(authorOfNotice(roster, await noticeOfRecord(removal))), "malformed", "refused");
    },

    async manyMomentsOfOneVaultAreOnePushAMinute() {
        const { device, pushed } = pushing();
        const vault = randomID();
        for (const second of [0, 1, 59, 60, 61]) {
            device.now = second * 1000;
            await pushRecord(device, await record("moments", vault));
        }
        equal(pushed.length, 2, "in the first and in the second minute");
        // The clock was set back.
        device.now = -3_600_000;
        await pushRecord(device, await record("moments", vault));
        equal(pushed.length, 3, "an hour earlier");
        await pushRecord(device, await record("remarks", vault));
        await pushRecord(device, await record("moments"));
        equal(pushed.length, 5, "another kind, another vault");
        equal(pushed.every(({ content }) => "digest" in content && !("sealed" in content)), true, "notices");
    },

    async everyEntryOfTheLogIsPushedWhole() {
        const { device, pushed } = pushing();
        const entries = [await record("audit", randomID(), utf8("1")), await record("audit", randomID(), utf8("2"))];
        for (const entry of entries) await pushRecord(device, entry);
        equal(pushed.map(({ content }) => content), entries, "two records");
    },
};
