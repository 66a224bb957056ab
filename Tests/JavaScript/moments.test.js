// Moments and their photos with a simulated hub: sealing, opening, resuming, removing, searching and counting.
import { utf8 } from "/crypto/bytes.js";
import { Companion } from "/session/companion.js";
import { systemTime } from "/hub/time.js";
import { pieceSize } from "/store/store.js";
import { eventually, equal, expect, refusal } from "./harness.js";
import { pairedCompanion } from "./fake-household.js";
import { everythingIn, find, createPicture, createTiff, MomentHub, withExif } from "./fake-moments.js";

let shift = 0;
const quick = {
    ...systemTime, now: () => systemTime.now() + shift,
    sleep: (milliseconds, signal) => systemTime.sleep(Math.min(milliseconds, 20), signal),
};
const pin = "735102";

async function paired() {
    const hub = await MomentHub.make();
    return { hub, ...await pairedCompanion(hub, { pin, time: quick }) };
}

const file = (bytes) => new Blob([bytes]);
const draft = (photos = [], rest = {}) =>
    ({ title: "Lake", words: "cold water", date: 1_715_961_600, offset: 120, mood: "joy", photos, ...rest });
const sent = (companion) => eventually(async () => (await companion.device.store.waiting()).length === 0, "all sent");
const list = async (companion, filter) => (await companion.moments.list(filter)).moments;

async function left(companion) {
    const { store } = companion.device;
    const pieces = await everythingIn(companion.name);
    return { staged: (await store.staged()).length, waiting: (await store.waiting()).length, size: pieces.length };
}

export const tests = {
    async aPhotoIsSealedAndOpened() {
        const { hub, companion } = await paired();
        const tiff = createTiff({
            date: "2024:05:17 18:30:05", offset: "+02:00", latitude: ["N", [[47, 1], [30, 1], [0, 1]]],
            longitude: ["W", [[8, 1], [15, 1], [36, 1]]], orientation: 6, description: "MARKER-CAMERA",
        });
        const chosen = withExif(await createPicture(3000, 2000, 1), tiff);
        const steps = [];
        const plain = await companion.momentPhotos.seal(file(chosen), { progress: (step) => steps.push(step) });
        equal(steps, ["reading", "drawing", "sealing", "keeping"], "progress");
        equal([plain.width, plain.height], [2000, 3000], "the upright size");
        equal([plain.taken.date, plain.taken.offset], [Date.parse("2024-05-17T16:30:05Z") / 1000, 120],
            "the time of the photo");
        expect(Math.abs(plain.position.latitude - 47.5) < 1e-9
            && Math.abs(plain.position.longitude + 8.26) < 1e-9, "the position of the photo");
        expect(plain.thumbnail.length <= 16_384 && plain.thumbnail[0] === 0xff, "the thumbnail is a small JPEG");
        const kept = await companion.momentPhotos.seal(file(chosen), { keepsOriginal: true });
        const moment = await companion.moments.save(null, draft([plain, kept]));
        equal(moment.photos.length, 2, "photos");
        const opens = async (when) => {
            const original = await companion.momentPhotos.original(plain.id);
            const image = await createImageBitmap(new Blob([original.bytes]));
            equal([original.type, image.width, image.height], ["image/jpeg", 2000, 3000], `original ${when}`);
            equal([find(original.bytes, utf8("Exif")), find(original.bytes, utf8("MARKER"))], [-1, -1],
                `positions of metadata ${when}`);
            const same = await companion.momentPhotos.original(kept.id);
            expect(same.bytes.length === chosen.length && same.bytes.every((byte, index) => byte === chosen[index]),
                `the camera's original is unchanged ${when}`);
            const medium = await createImageBitmap(new Blob([(await companion.momentPhotos.medium(kept.id)).bytes]));
            equal([medium.width, medium.height], [1365, 2048], `medium ${when}`);
            const thumbnail = await createImageBitmap(new Blob([await companion.momentPhotos.thumbnail(kept.id)]));
            expect(thumbnail.height <= 320 && thumbnail.height > 160
                && Math.abs(thumbnail.height / thumbnail.width - 1.5) < 0.02,
                `thumbnail ${thumbnail.width} × ${thumbnail.height} ${when}`);
        };
        await opens("before or during the upload");
        await sent(companion);
        await opens("from the hub");
        equal([hub.kept("moments").length, hub.kept("photos").length, hub.blobs.size, hub.orphans()], [1, 2, 4, []],
            "moments, photos, blobs and unnamed blobs at the hub");
        equal((await left(companion)).staged, 0, "staged photos");
        const transparent = await companion.momentPhotos.seal(file(await createPicture(300, 200, 2, "image/png")));
        await companion.moments.save(moment, draft([plain, transparent]));
        equal((await companion.momentPhotos.original(transparent.id)).type, "image/png", "the original's type");
        equal((await companion.momentPhotos.medium(transparent.id)).type, "image/jpeg", "the type of the medium size");
        await sent(companion);
        equal(hub.kept("photos").map(({ id }) => id).sort(), [plain.id, transparent.id].sort(), "photos at the hub");
        companion.close();
    },

    async filesThatAreNotPicturesAreRefused() {
        const { companion } = await paired();
        const picture = await createPicture(40, 30, 3);
        for (const bytes of [new Uint8Array(), utf8("<svg xmlns='http://www.w3.org/2000/svg'/>"),
            picture.slice(0, 200), new Uint8Array(51 << 20)]) {
            equal(await refusal(() => companion.momentPhotos.seal(file(bytes))), "notPicture", `${bytes.length} bytes`);
        }
        equal(await left(companion).then(({ staged }) => staged), 0, "staged photos");
        const photo = await companion.momentPhotos.seal(file(picture));
        equal([photo.width, photo.height, photo.taken, photo.position], [40, 30, null, null],
            "a photo without metadata");
        equal(await refusal(() => companion.moments.save(null, draft([{ ...photo, id: "0".repeat(32) }]))), "notFound",
            "a photo that does not exist");
        equal(await refusal(() => companion.moments.save(null, draft([photo, photo]))), "malformed",
            "the same photo twice");
        companion.lock();
        equal(await refusal(() => companion.momentPhotos.seal(file(picture))), "locked", "sealing while locked");
        equal(await refusal(() => companion.moments.list()), "locked", "listing while locked");
        companion.close();
    },

    async theOrderOfPhotosIsKept() {
        const { companion } = await paired();
        const photos = [];
        for (const seed of [4, 5, 6, 7]) {
            photos.push(await companion.momentPhotos.seal(file(await createPicture(60, 40, seed))));
        }
        let moment = await companion.moments.save(null, draft(photos));
        const order = async () => (await companion.moments.read(moment.id)).photos.map(({ id }) => id);
        equal(await order(), photos.map(({ id }) => id), "as chosen");
        moment = await companion.moments.save(moment, draft([...photos].reverse()));
        await sent(companion);
        companion.lock();
        await companion.unlockWithPIN(pin);
        equal(await order(), photos.map(({ id }) => id).reverse(), "as changed, after locking");
        companion.close();
    },

    async nothingIsReadableWhileLocked() {
        const { hub, companion, name } = await paired();
        const [title, words] = ["MARKER-TITLE-Übermut", "MARKER-WORDS and no one else"];
        const picture = await createPicture(2400, 1600, 8);
        hub.requestsLeft = 1;
        const photo = await companion.momentPhotos.seal(file(picture), { keepsOriginal: true });
        await companion.moments.save(null,
            draft([photo], { title, words, place: { name: "MARKER-PLACE", latitude: 47.123456, longitude: 8.1 } }));
        const staged = await companion.momentPhotos.seal(file(await createPicture(2400, 1600, 9)),
            { keepsOriginal: true });
        // Enough moments that the index is stored.
        for (let count = 0; count < 70; count += 1) {
            await companion.moments.save(null, draft([], { title: `${title} ${count}`, words }));
        }
        hub.requestsLeft = Infinity;
        await sent(companion);
        companion.lock();
        await companion.unlockWithPIN(pin);
        await companion.moments.list();
        await eventually(async () => (await companion.device.store.fact("momentIndex", null)) !== null,
            "the index is stored");
        const { thumbnail } = photo;
        const needles = [utf8(title), utf8(words), utf8("MARKER"),
            utf8("47.123456"), picture.slice(2000, 2032), thumbnail.slice(300, 332), staged.thumbnail.slice(300, 332)];
        companion.lock();
        const all = await everythingIn(name);
        expect(all.length > picture.length / 2, "the database has data to search");
        for (const needle of needles) equal(find(all, needle), -1, `a marker of ${needle.length} bytes`);
        expect(find(all, utf8("momentIndex")) >= 0 || all.length > 0, "the search finds what is stored");
        for (const blob of hub.blobs.values()) {
            equal(needles.map((needle) => find(blob.bytes, needle)), needles.map(() => -1), "a blob");
        }
        const served = utf8(JSON.stringify(hub.records));
        equal(find(served, utf8("MARKER")), -1, "a marker in records");
        equal(await caches.keys(), [], "caches");
        companion.close();
    },

    async interruptedUploadsBecomeOneMomentWithAllPhotos() {
        const { hub, companion: first, name } = await paired();
        const pictures = [await createPicture(1800, 1500, 10), await createPicture(2600, 2000, 11)];
        let companion = first;
        let requests = 0;
        // The first round counts the requests of an undisturbed upload. In each later round the network fails and the
        // app is closed after one request less.
        for (let left = Infinity, round = 0; left > 0 || round === 0; round += 1, left -= 1) {
            hub.requestsLeft = left;
            const before = hub.requests.length;
            const photos = [];
            for (const picture of pictures) {
                photos.push(await companion.momentPhotos.seal(file(picture), { keepsOriginal: true }));
            }
            const { id } = await companion.moments.save(null, draft(photos, { title: `round ${round}` }));
            if (left !== Infinity) {
                // Records that are sent together need fewer requests than in the first round.
                await eventually(async () => hub.requestsLeft === 0
                    || (await companion.device.store.waiting()).length === 0, `${left} requests`);
                companion.close();
                if (round % 2) hub.sweep();
                hub.requestsLeft = Infinity;
                companion = await Companion.open({ name, time: quick });
            }
            // The app stays locked: sending needs no key.
            await sent(companion);
            if (left === Infinity) {
                requests = hub.requests.slice(before)
                    .filter(({ route }) => /^(POST|PATCH) \/v1\/(blobs|records)/.test(route)).length;
                left = requests;
            } else await companion.unlockWithPIN(pin);
            equal(hub.kept("moments").length, round + 1, `moments after ${left}`);
            equal(hub.kept("photos").length, 2 * (round + 1), `photos after ${left}`);
            equal(hub.orphans(), [], `orphans after ${left}`);
            const moment = await companion.moments.read(id);
            equal(moment.photos.map((photo) => photo.id), photos.map((photo) => photo.id), "the moment's photos");
            for (const [index, photo] of moment.photos.entries()) {
                equal((await companion.momentPhotos.original(photo.id)).bytes.length, pictures[index].length,
                    "the length of the original");
            }
            equal(find(await everythingIn(name), pictures[0].slice(1000, 1032)), -1, "the position of plaintext");
        }
        expect(requests >= 8,
            `several pieces: ${requests} requests, ${pictures.map(({ length }) => length)} bytes in `
                + `pieces of ${pieceSize}`);
        const { store } = companion.device;
        equal([await store.staged(), await store.piece([...hub.blobs.keys()][0], 0)], [[], undefined],
            "staged photos, and a piece of a blob");
        companion.close();
    },

    async blobsThatTheHubLostAreSentAgain() {
        const { hub, companion } = await paired();
        hub.overrides["POST /v1/records"] = () =>
            new Response(JSON.stringify({ error: { code: "unavailable", message: "No." } }), { status: 503 });
        const photo = await companion.momentPhotos.seal(file(await createPicture(900, 700, 12)));
        await companion.moments.save(null, draft([photo]));
        await eventually(() => [...hub.blobs.values()].some(({ isComplete }) => isComplete),
            "the blob is complete at the hub");
        await eventually(async () => (await companion.device.store.waiting()).some(({ isUploaded }) => isUploaded),
            "the phone has stored that");
        hub.sweep();
        equal(hub.blobs.size, 0, "blobs at the hub a day later");
        delete hub.overrides["POST /v1/records"];
        companion.wake();
        await sent(companion);
        equal([hub.kept("photos").length, hub.orphans()], [1, []], "photos and unnamed blobs at the hub");
        companion.close();
    },

    async cancellingLeavesNothing() {
        const { hub, companion, name } = await paired();
        const picture = await createPicture(2400, 1800, 13);
        const empty = (await everythingIn(name)).length;
        for (const step of ["immediately", "reading", "drawing", "sealing", "keeping"]) {
            const controller = new AbortController();
            if (step === "immediately") controller.abort();
            const code = await refusal(() => companion.momentPhotos.seal(file(picture), {
                signal: controller.signal, progress: (now) => now === step && controller.abort(),
            }));
            equal(code, "cancelled", step);
            equal((await everythingIn(name)).length, empty, `stored bytes after ${step}`);
        }
        const photo = await companion.momentPhotos.seal(file(picture));
        expect((await everythingIn(name)).length > empty + 1000, "the photo is stored");
        await companion.momentPhotos.discard(photo.id);
        equal((await everythingIn(name)).length, empty, "stored bytes after discarding");
        const sealing = companion.momentPhotos.seal(file(picture),
            { progress: (step) => step === "drawing" && companion.lock() });
        equal(await refusal(() => sealing), "locked", "sealing when the app is locked meanwhile");
        equal((await everythingIn(name)).length, empty, "stored bytes after locking");
        await companion.unlockWithPIN(pin);
        equal([hub.blobs.size, hub.kept("photos").length], [0, 0], "blobs and photos at the hub");
        const forgotten = await companion.momentPhotos.seal(file(picture));
        shift += 2 * 86_400_000;
        companion.lock();
        await companion.unlockWithPIN(pin);
        await eventually(async () => (await companion.device.store.staged()).length === 0,
            "the photo is removed after a day");
        equal(await refusal(() => companion.momentPhotos.thumbnail(forgotten.id)), "notFound", "the removed photo");
        shift = 0;
        companion.close();
    },

    async aPhotoRemovedDuringItsUploadIsDeleted() {
        const { hub, companion } = await paired();
        hub.requestsLeft = 3;
        const photos = [await companion.momentPhotos.seal(file(await createPicture(2600, 2000, 14)),
            { keepsOriginal: true }),
            await companion.momentPhotos.seal(file(await createPicture(300, 200, 15)))];
        let moment = await companion.moments.save(null, draft(photos));
        await eventually(() => hub.requestsLeft === 0, "the upload began");
        moment = await companion.moments.save(moment, draft([photos[1]]));
        hub.requestsLeft = Infinity;
        await sent(companion);
        equal([hub.kept("moments").length, hub.kept("photos").map(({ id }) => id)], [1, [photos[1].id]],
            "moments and photos at the hub");
        hub.sweep();
        equal(hub.blobs.size, 1, "blobs after a day");
        equal(await refusal(() => companion.momentPhotos.thumbnail(photos[0].id)), "notFound", "the removed photo");
        equal(moment.photos.length, 1, "photos of the moment");
        companion.close();
    },

    async duplicatesAreDetected() {
        const { companion } = await paired();
        const [picture, other] = [await createPicture(300, 200, 16), await createPicture(300, 200, 17)];
        const one = await companion.momentPhotos.seal(file(picture));
        equal(one.duplicate, null, "of a new photo");
        const again = await companion.momentPhotos.seal(file(picture));
        equal(again.duplicate, { moment: null, photo: one.id }, "of a photo that was just chosen");
        await companion.momentPhotos.discard(again.id);
        const moment = await companion.moments.save(null, draft([one]));
        companion.lock();
        await companion.unlockWithPIN(pin);
        equal((await companion.momentPhotos.seal(file(picture))).duplicate, { moment: moment.id, photo: one.id },
            "of a photo in a moment");
        await companion.moments.remove(await companion.moments.read(moment.id));
        equal((await companion.momentPhotos.seal(file(picture), { keepsOriginal: true })).duplicate.moment, moment.id,
            "of a photo in the trash");
        equal((await companion.momentPhotos.seal(file(other))).duplicate, null, "of another photo");
        companion.close();
    },

    async theTrashKeepsMomentsForThirtyDays() {
        const { hub, companion } = await paired();
        const shared = await companion.momentPhotos.seal(file(await createPicture(200, 150, 18)));
        const own = await companion.momentPhotos.seal(file(await createPicture(200, 150, 19)));
        const one = await companion.moments.save(null, draft([shared, own], { title: "one" }));
        await companion.moments.save(null, draft([shared], { title: "two" }));
        await sent(companion);
        const removed = await companion.moments.remove(await companion.moments.read(one.id));
        equal([(await list(companion)).map(({ title }) => title), (await list(companion, { trash: true })).length],
            [["two"], 1], "titles, and moments in the trash");
        await companion.moments.restore(removed);
        equal([(await list(companion)).length, (await list(companion, { trash: true })).length], [2, 0],
            "moments, and moments in the trash, after restoring");
        await companion.moments.remove(await companion.moments.read(one.id));
        await sent(companion);
        const reopened = async () => {
            companion.lock();
            await companion.unlockWithPIN(pin);
            await companion.moments.list();
        };
        shift = 29 * 86_400_000;
        await reopened();
        // Once more than the app itself does, so that the purge has ended.
        await companion.moments.purge();
        await sent(companion);
        equal([hub.kept("moments").length, hub.kept("photos").length], [2, 2], "moments and photos after 29 days");
        shift = 31 * 86_400_000;
        await reopened();
        await eventually(() => hub.kept("moments").length === 1, "the moment is removed after 31 days");
        await sent(companion);
        equal(hub.kept("photos").map(({ id }) => id), [shared.id], "photos after 31 days");
        equal(await refusal(() => companion.moments.read(one.id)), "notFound", "the removed moment");
        shift = 0;
        companion.close();
    },

    async bothVersionsOfAConflictAreKept() {
        const { hub, companion, name } = await paired();
        const moment = await companion.moments.save(null, draft());
        await sent(companion);
        // The change of another device is sealed with the phone's own keys.
        const stale = await companion.moments.read(moment.id);
        hub.requestsLeft = 0;
        const mine = await companion.moments.save(stale, draft([], { title: "mine" }));
        const line = await companion.device.store.waitingFor(`moments/${moment.id}`);
        const body = utf8(JSON.stringify({ ...draft(), title: "theirs", favourite: false, created: 1, modified: 2 }));
        const theirs = await companion.device.keys.sealBody({
            vault: moment.vault, collection: "moments", id: moment.id, revision: 2,
        }, body, 1);
        hub.store(theirs);
        companion.lock();
        hub.requestsLeft = Infinity;
        companion.wake();
        await eventually(async () => (await companion.device.store.waiting()).some(({ conflict }) => conflict),
            "the conflict waits for unlocking");
        await companion.unlockWithPIN(pin);
        await sent(companion);
        equal((await list(companion)).map(({ title }) => title).sort(), ["mine (conflict, phone)", "theirs"], "titles");
        equal([mine.revision, line.record.replaces, name.length > 0], [2, 1, true],
            "revision, replaced revision and name");
        companion.close();
    },

    async momentsAreFoundAndCounted() {
        const { companion } = await paired();
        const at = (text) => Date.parse(text) / 1000;
        const save = (title, date, rest = {}) =>
            companion.moments.save(null, { title, words: "", date: at(date), offset: 0, mood: "", ...rest });
        await save("Snow", "2020-02-29T10:00:00Z", { mood: "joy", place: { name: "Zürich" } });
        await save("Rain", "2021-02-28T23:30:00Z", { offset: 60, mood: "calm" });
        await save("Sun", "2023-02-28T12:00:00Z", { mood: "joy", words: "a long walk", favourite: true });
        await save("Fog", "2023-03-01T12:00:00Z", {});
        const titles = async (filter) => (await list(companion, filter)).map(({ title }) => title);
        equal(await titles(), ["Fog", "Sun", "Rain", "Snow"], "newest first");
        equal(await titles({ search: "ZÜRICH joy" }), ["Snow"], "place and mood");
        equal(await titles({ search: "walk" }), ["Sun"], "words");
        equal(await titles({ search: "2023-02" }), ["Sun"], "a month");
        equal(await titles({ search: "2021-03-01" }), ["Rain"], "the day in the moment's time zone");
        equal(await titles({ search: "walk rain" }), [], "two words that no moment has both");
        equal([await titles({ favourite: true }), await titles({ mood: "joy" })],
            [["Sun"], ["Sun", "Snow"]], "filters");
        equal(await titles({ from: "2021-01-01", to: "2023-02-28" }), ["Sun", "Rain"], "between two days");
        equal((await companion.moments.onThisDay("2024-02-29")).map(({ title }) => title), ["Snow"], "on a leap day");
        equal((await companion.moments.onThisDay("2025-02-28")).map(({ title }) => title), ["Sun", "Snow"],
            "on 28 February of a year without a leap day");
        const statistics = await companion.moments.statistics({ together: "2020-01-01" });
        equal([statistics.moments, statistics.favourites, statistics.places, statistics.days], [4, 1, 1, 4], "counts");
        equal(statistics.months.map(({ month, moments }) => [month, moments]),
            [["2020-02", 1], ["2021-03", 1], ["2023-02", 1], ["2023-03", 1]], "months");
        equal([statistics.moods, statistics.years.map(({ year, index }) => [year, index])],
            [[{ mood: "joy", moments: 2 }, { mood: "calm", moments: 1 }], [[2023, 0], [2021, 2], [2020, 3]]],
            "moods, years");
        expect(statistics.daysTogether > 2000, "days together");
        const [fog] = await list(companion, { search: "fog" });
        await companion.moments.setFavourite(fog, true);
        equal(await titles({ favourite: true }), ["Fog", "Sun"], "favourites");
        const [snow] = await list(companion, { search: "snow" });
        await companion.moments.save(snow, { title: "Ice", words: snow.words, date: snow.date });
        const [ice] = await list(companion, { search: "ice" });
        equal([ice.mood, ice.place, ice.offset, ice.id], ["joy", { name: "Zürich" }, 0, snow.id],
            "properties that were not changed");
        await companion.moments.save(ice, { ...ice, place: null });
        equal((await companion.moments.read(ice.id)).place, undefined, "the place after setting it to null");
        equal(await refusal(() => companion.moments.save(null, { title: "", words: "", date: 253402300800 })),
            "malformed", "the year 10,000");
        companion.close();
    },
};
