// Backups of moments: restored while another tab is unlocked, and with an invalid photo.
import { randomBytes, randomID } from "/crypto/bytes.js";
import { sealEnvelope } from "/crypto/envelope.js";
import { signRecord } from "/crypto/signature.js";
import { momentBody, photoBody } from "/formats/moment-format.js";
import { exportPlain, planExport } from "/features/backup/moment-export.js";
import { changesOf, forget, openMomentBackup, restoreMoments } from "/features/backup/moment-restore.js";
import { writeMomentBackup } from "/features/backup/moment-backup.js";
import { systemTime } from "/hub/time.js";
import { sweepStaged } from "/sync/photo-staging.js";
import { equal, eventually, expect, refusal } from "./harness.js";
import { pairedCompanion } from "./fake-household.js";
import { createPicture, MomentHub } from "./fake-moments.js";

const quick = { ...systemTime, sleep: (milliseconds, signal) =>
    systemTime.sleep(Math.min(milliseconds, 20), signal) };
const passphrase = "seven sealed lakes in the north";

const { signal } = new AbortController();

const sent = (companion) => eventually(async () => (await companion.device.store.waiting()).length === 0, "all sent");

/** A record that the computer wrote into the vault. */
async function record(hub, collection, body, blobs = []) {
    const name = { vault: hub.vault, collection, id: randomID(), revision: 1 };
    const sealed = await sealEnvelope(body, name, hub.vaultKey, 1);
    return signRecord(hub.computer.key, name, { epoch: 1, author: hub.computer.id, blobs, sealed });
}

/** Imports the backup of these parts. */
async function restoredFrom(companion, parts) {
    const backup = await openMomentBackup(new Blob(parts), passphrase);
    try {
        return await restoreMoments(companion, backup, await changesOf(companion, backup), { signal });
    } finally {
        forget(backup);
    }
}

async function restoredAfterErasing(companion, parts) {
    for (const moment of (await companion.moments.list()).moments) await companion.moments.erase(moment);
    await sent(companion);
    return restoredFrom(companion, parts);
}

export const tests = {
    async aPhotoOfARefusedSizeStopsNothingElse() {
        const hub = await MomentHub.make();
        const { companion } = await pairedCompanion(hub, { time: quick });
        const own = await companion.momentPhotos.seal(new Blob([await createPicture(64, 48, 1)]));
        await companion.moments.save(null, { title: "Lake", words: "", date: 1, photos: [own] });
        await sent(companion);
        const original = { type: "image/jpeg", size: 2 ** 40, key: randomBytes(32), blob: randomID() };
        const photo = await record(hub, "photos",
            photoBody({ width: 1, height: 1, original, thumbnail: randomBytes(9) }), [original.blob]);
        const theirs = await record(hub, "moments", momentBody({
            title: "Hill", words: "", date: 2, offset: 0, mood: "", favourite: false, created: 2, modified: 2,
            photos: [{ id: photo.id, width: 1, height: 1, hash: "0".repeat(40) }],
        }));
        hub.store(photo, theirs);
        const titles = async () => (await companion.moments.list()).moments.map(({ title }) => title);
        await eventually(async () => (await titles()).join() === "Hill,Lake", "both moments are shown");
        for (const read of ["thumbnail", "facts", "medium", "original"]) {
            equal(await refusal(() => companion.momentPhotos[read](photo.id)), "noKey", read);
        }
        equal(companion.syncLoop.connection, "live", "the connection");

        const plan = await planExport(companion, {}, { signal });
        equal([plan.moments.length, plan.photos.length, plan.missing.length], [2, 1, 1], "exported, and missing");
        const parts = [];
        const written = await writeMomentBackup(companion, passphrase, (bytes) => parts.push(bytes.slice()),
            { signal });
        equal([written.moments, written.photos.length, written.missing.length], [2, 1, 1], "in the backup");
        const restored = await restoredAfterErasing(companion, parts);
        const { moments, photos, lost, failed } = restored;
        equal([moments, photos.length, lost.length, failed], [2, 1, 1, 0], "moments, photos, lost photos and failures");
        equal((await titles()).sort(), ["Hill", "Lake"], "restored moments");
        companion.close();
    },

    async aPhotoThatTheHubHasLostStopsNeitherABackupNorItsMoment() {
        const hub = await MomentHub.make();
        const { companion } = await pairedCompanion(hub, { time: quick });
        const ids = [];
        for (const [title, seed] of [["Lake", 1], ["", 2], ["Hill", 3]]) {
            const photo = await companion.momentPhotos.seal(new Blob([await createPicture(64, 48, seed)]));
            ids.push(photo.id);
            await companion.moments.save(null, { title, words: "", date: seed, photos: [photo] });
        }
        await sent(companion);
        for (const id of ids.slice(0, 2)) {
            for (const blob of hub.newest("photos", id).blobs) hub.blobs.delete(blob);
        }
        const parts = [];
        let all = [0, 1];
        const written = await writeMomentBackup(companion, passphrase, (bytes) => parts.push(bytes.slice()),
            { signal, progress: (...progress) => (all = progress) });
        equal([written.moments, written.photos.length, written.missing.length], [3, 1, 2], "in the backup");
        equal(all[0], all[1], "progress");
        const files = [];
        const target = {
            write: async (path, pieces) => {
                for await (const piece of pieces) expect(piece.length > 0, "a piece");
                files.push(path);
            },
            end: async () => {}, abandon: async () => {},
        };
        const exported = await exportPlain(companion, await planExport(companion, {}, { signal }), target, { signal });
        equal([exported.photos.length, exported.missing.length, files.length], [1, 2, 3],
            "photos and files of the plain export");
        const restored = await restoredAfterErasing(companion, parts);
        const { moments, photos, lost, failed } = restored;
        // One has a title, and one had only its photo.
        equal([moments, photos.length, lost.length, failed], [2, 1, 2, 1], "moments, photos, lost photos and failures");
        const shown = (await companion.moments.list()).moments.map(({ title, photos: own }) => [title, own.length]);
        equal(shown, [["Hill", 1], ["Lake", 0]], "restored moments");
        companion.close();
    },

    async aSweepOfAnotherTabLeavesThePhotosOfARestore() {
        const hub = await MomentHub.make();
        const { companion } = await pairedCompanion(hub, { time: quick });
        const photo = await companion.momentPhotos.seal(new Blob([await createPicture(2600, 2000, 1)]),
            { keepsOriginal: true });
        const moment = await companion.moments.save(null, { title: "Lake", words: "", date: 1, photos: [photo] });
        await sent(companion);
        const parts = [];
        await writeMomentBackup(companion, passphrase, (bytes) => parts.push(bytes.slice()), { signal });
        await companion.moments.erase(moment);
        await sent(companion);

        const { device } = companion;
        const { putPieces } = Object.getPrototypeOf(device.store);
        const sweeps = [];
        device.store.putPieces = async (blob, sealed) => {
            await putPieces.call(device.store, blob, sealed);
            let isOver = false;
            sweeps.push(sweepStaged(device).then(() => (isOver = true)));
            await eventually(async () => isOver || (await device.tabs.isAwaited("seal")), "the sweep is over or waits");
        };
        const restored = await restoredFrom(companion, parts);
        await Promise.all(sweeps);
        equal([restored.moments, restored.photos.length, sweeps.length], [1, 1, 2], "moments, photos and sweeps");
        await sent(companion);
        const [again] = (await companion.moments.list()).moments;
        const { size } = (await companion.momentPhotos.facts(again.photos[0].id)).original;
        equal((await companion.momentPhotos.original(again.photos[0].id)).bytes.length, size, "the photo's bytes");
        equal(hub.orphans().length, 2, "blobs of the erased photo");
        companion.close();
    },
};
