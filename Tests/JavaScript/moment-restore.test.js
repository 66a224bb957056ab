// Restoring moments from a sealed file while another tab is unlocked.
import { changesOf, forget, openMomentBackup, restoreMoments } from "/features/backup/moment-restore.js";
import { writeMomentBackup } from "/features/backup/moment-backup.js";
import { systemTime } from "/hub/time.js";
import { sweepStaged } from "/sync/photo-staging.js";
import { equal, eventually } from "./harness.js";
import { pairedCompanion } from "./fake-household.js";
import { createPicture, MomentHub } from "./fake-moments.js";

const quick = { ...systemTime, sleep: (milliseconds, signal) =>
    systemTime.sleep(Math.min(milliseconds, 20), signal) };
const passphrase = "seven sealed lakes in the north";

const sent = (companion) => eventually(async () => (await companion.device.store.waiting()).length === 0, "all sent");

export const tests = {
    async aSweepOfAnotherTabLeavesThePhotosOfARestore() {
        const hub = await MomentHub.make();
        const { companion } = await pairedCompanion(hub, { time: quick });
        const photo = await companion.momentPhotos.seal(new Blob([await createPicture(2600, 2000, 1)]),
            { keepsOriginal: true });
        const moment = await companion.moments.save(null, { title: "Lake", words: "", date: 1, photos: [photo] });
        await sent(companion);
        const { signal } = new AbortController();
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
        const backup = await openMomentBackup(new Blob(parts), passphrase);
        const restored = await restoreMoments(companion, backup, await changesOf(companion, backup), { signal });
        forget(backup);
        await Promise.all(sweeps);
        equal([restored.moments, restored.photos, sweeps.length], [1, 1, 2], "moments, photos and sweeps");
        await sent(companion);
        const [again] = (await companion.moments.list()).moments;
        const { size } = (await companion.momentPhotos.facts(again.photos[0].id)).original;
        equal((await companion.momentPhotos.original(again.photos[0].id)).bytes.length, size, "the photo's bytes");
        equal(hub.orphans().length, 2, "blobs of the erased photo");
        companion.close();
    },
};
