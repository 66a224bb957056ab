// Prints the times of thousands of moments and of a photo of twelve megapixels.
import { randomID, utf8 } from "/crypto/bytes.js";
import { sealEnvelope } from "/crypto/envelope.js";
import { signRecord } from "/crypto/signature.js";
import { maximumThumbnail, mediumSide, thumbnailSide } from "/formats/moment-format.js";
import { ingestRecords } from "/sync/ingest.js";
import { recordKey } from "/formats/record-key.js";
import { eventually, equal, expect } from "./harness.js";
import { pairedCompanion } from "./fake-household.js";
import { createPicture, MomentHub, numbers } from "./fake-moments.js";

const pin = "735102";
const words =
    "lake snow morning train harbour letter garden bread window river mountain laughing rain kitchen stars".split(" ");

const timed = async (what, body) => {
    const start = performance.now();
    const value = await body();
    const milliseconds = Math.round(performance.now() - start);
    console.log(`${what}: ${milliseconds} ms`);
    return { value, milliseconds };
};

/** Decodes a picture; returns its width and height. */
const sizeOf = async (bytes) => {
    const { width, height } = await createImageBitmap(new Blob([bytes]));
    return [width, height];
};

export const tests = {
    /** 5,000 with `APPLOCKER_LONG=1` before pytest. */
    async thousandsOfMomentsAreListedAndSearchedWithTheStoredIndex({ isLong = false }) {
        const count = isLong ? 5_000 : 1_000;
        const hub = await MomentHub.make();
        const { companion } = await pairedCompanion(hub, { pin });
        const next = numbers(7);
        const rows = [];
        const cursor = await companion.device.store.fact("cursor", 0);
        for (let index = 0; index < count; index += 1) {
            const name = { vault: hub.vault, collection: "moments", id: randomID(), revision: 1 };
            const text = Array.from({ length: 40 }, () => words[Math.floor(next() * words.length)]).join(" ");
            const photos = Array.from({ length: index % 3 },
                () => ({ id: randomID(), width: 4032, height: 3024, hash: `00000001${randomID()}` }));
            const content = {
                title: `Moment ${index}`, words: text, date: 1_300_000_000 + Math.floor(next() * 4e8), offset: 60,
                mood: ["", "joy", "calm"][index % 3],
                photos, favourite: index % 9 === 0, created: 1, modified: 1,
                ...(index % 2 ? { place: { name: "Zürich", latitude: 47.3, longitude: 8.5 } } : {}),
            };
            const sealed = await sealEnvelope(utf8(JSON.stringify(content)), name, hub.vaultKey, 1);
            const record = await signRecord(hub.computer.key, name, { epoch: 1, author: hub.computer.id, sealed });
            rows.push({ key: recordKey("moments", name.id), collection: "moments", sequence: cursor
                + 1 + index, record, at: 0 });
        }
        await companion.device.store.write({ records: rows, facts: { cursor: cursor + count } });
        hub.records.push(...rows.map(({ record, sequence }) => ({ ...record, sequence })));
        const again = async () => {
            companion.lock();
            await companion.unlockWithPIN(pin);
        };
        await again();
        const first = await timed(`${count} moments, first time`, () => companion.moments.list());
        equal(first.value.moments.length, count, "moments");
        await again();
        const second = await timed(`${count} moments, from the stored index`, () => companion.moments.list());
        equal(second.value.moments.length, count, "moments");
        equal(second.value.moments.map(({ signature }) => signature),
            first.value.moments.map(({ signature }) => signature), "signatures with the stored index");
        const listed = await timed("list again", () => companion.moments.list());
        await timed("first search", () => companion.moments.list({ search: "harbour zürich" }));
        const search = await timed("search", () => companion.moments.list({ search: "harbour stars" }));
        await timed("statistics", () => companion.moments.statistics());
        const [moment] = listed.value.moments;
        await timed("favourite", () => companion.moments.setFavourite(moment, true));
        const after = await timed("list after a change", () => companion.moments.list());
        expect(after.value.moments[0].favourite && search.value.moments.length > 0,
            "the change is listed, and the search finds moments");
        await again();
        equal((await companion.moments.read(moment.id)).favourite, true, "the favourite after unlocking again");
        // A hub with a new, lower sequence hides no change of a record in the index.
        const [other] = (await companion.moments.list({ search: "moment 77" })).moments;
        const name = { vault: hub.vault, collection: "moments", id: other.id, revision: 2 };
        const { id, vault, revision, base, signature, isWaiting, problem, ...content } = other;
        const sealed = await sealEnvelope(utf8(JSON.stringify({ ...content, title: "changed" })), name,
            hub.vaultKey, 1);
        const record = await signRecord(hub.computer.key, name, { epoch: 1, author: hub.computer.id, sealed });
        companion.lock();
        await ingestRecords(companion.device, [{ ...record, sequence: 3 }]);
        await companion.unlockWithPIN(pin);
        equal((await companion.moments.read(other.id)).title, "changed",
            "the title of a record that arrived while locked");
        companion.close();
    },

    async aPhotoOfTwelveMegapixelsIsSealed() {
        const hub = await MomentHub.make();
        const { companion } = await pairedCompanion(hub, { pin });
        const picture = await createPicture(4032, 3024, 20, "image/jpeg", true);
        console.log(`picture of ${(picture.length / 1e6).toFixed(1)} MB`);
        let longest = 0;
        let last = performance.now();
        const ticking = setInterval(() => {
            longest = Math.max(longest, performance.now() - last);
            last = performance.now();
        }, 5);
        const kept = await timed("12 MP, with the camera's original", () =>
            companion.momentPhotos.seal(new Blob([picture]), { keepsOriginal: true }));
        const plain = await timed("12 MP, pixels only", () => companion.momentPhotos.seal(new Blob([picture])));
        clearInterval(ticking);
        console.log(`longest pause of the page: ${Math.round(longest)} ms`);
        const photos = [kept.value, plain.value];
        await companion.moments.save(null, { title: "", words: "", date: 0, photos });
        await eventually(async () => (await companion.device.store.waiting()).length === 0, "sent");
        const thumbnail = await timed("thumbnail", () => companion.momentPhotos.thumbnail(photos[0].id));
        const medium = await timed("medium", () => companion.momentPhotos.medium(photos[0].id));
        const original = await timed("original", () => companion.momentPhotos.original(photos[0].id));
        console.log(`thumbnail ${thumbnail.value.length} bytes, medium ${medium.value.bytes.length} bytes`);
        const [width, height] = await sizeOf(thumbnail.value);
        expect(thumbnail.value.length <= maximumThumbnail && width <= thumbnailSide
            && height === Math.round(width * 3 / 4), `the thumbnail is small and whole: ${width} × ${height}`);
        equal(await sizeOf(medium.value.bytes), [mediumSide, mediumSide * 3 / 4], "size of the medium picture");
        expect(original.value.bytes.every((byte, index) => byte === picture[index]), "the original is the camera's");
        equal(original.value.bytes.length, picture.length, "bytes of the original");
        const pixels = (await companion.momentPhotos.original(photos[1].id)).bytes;
        equal(await sizeOf(pixels), [4032, 3024], "size of the picture without the camera's original");
        companion.close();
    },
};
