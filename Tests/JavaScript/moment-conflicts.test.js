// What a removal of photos and remarks does if the moment that had them was changed on another device meanwhile.
import { systemTime } from "/hub/time.js";
import { momentBody } from "/formats/moment-format.js";
import { equal, eventually } from "./harness.js";
import { pairedCompanion } from "./fake-household.js";
import { createPicture, MomentHub } from "./fake-moments.js";

let shift = 0;
const quick = {
    ...systemTime, now: () => systemTime.now() + shift,
    sleep: (milliseconds, signal) => systemTime.sleep(Math.min(milliseconds, 20), signal),
};
const pin = "735102";

const sent = (companion) => eventually(async () => (await companion.device.store.waiting()).length === 0, "all sent");
const titles = async (companion) => (await companion.moments.list()).moments.map(({ title }) => title).sort();

/** A phone with a moment of a photo and a comment, all at the hub. */
async function paired() {
    const hub = await MomentHub.make();
    const { companion } = await pairedCompanion(hub, { pin, time: quick });
    const photo = await companion.momentPhotos.seal(new Blob([await createPicture(200, 150, 1)]));
    const moment = await companion.moments.save(null,
        { title: "Lake", words: "", date: 1_715_961_600, offset: 120, photos: [photo] });
    await (await companion.moments.remarks()).comment(moment, "cold");
    await sent(companion);
    return { hub, companion, photo, moment: await companion.moments.read(moment.id) };
}

/** Another device's change of the newest revision, sealed with the phone's own keys. */
async function changedElsewhere(hub, companion, { id, vault }, change) {
    const { revision } = hub.newest("moments", id);
    const { title, words, date, offset, mood, photos, favourite, created } = await companion.moments.read(id);
    const content = { title, words, date, offset, mood, photos, favourite, created, modified: 2, ...change };
    const name = { vault, collection: "moments", id, revision: revision + 1 };
    return companion.device.keys.sealBody(name, momentBody(content), revision);
}

async function reconnect(hub, companion) {
    hub.requestsLeft = Infinity;
    companion.wake();
    await sent(companion);
}

const remarks = async (companion, moment) =>
    (await (await companion.moments.remarks()).index()).all(moment).map(({ text }) => text);

export const tests = {
    async photosAndRemarksStayIfTheRemovalOfTheirMomentIsDropped() {
        const { hub, companion, photo, moment } = await paired();
        await companion.moments.remove(moment);
        await sent(companion);
        const restored = await changedElsewhere(hub, companion, moment, { title: "restored" });
        hub.requestsLeft = 0;
        shift = 31 * 86_400_000;
        companion.lock();
        await companion.unlockWithPIN(pin);
        await companion.moments.list();
        await eventually(async () => (await companion.device.store.waiting())
            .some(({ record }) => record.collection === "remarks"), "its photo and its comment are removed");
        hub.store(restored);
        await reconnect(hub, companion);
        shift = 0;
        equal(await titles(companion), ["restored"], "titles");
        equal([hub.kept("photos").map(({ id }) => id), hub.kept("remarks").length], [[photo.id], 1],
            "photos and remarks at the hub");
        equal((await companion.momentPhotos.original(photo.id)).type, "image/jpeg", "the photo opens");
        equal(await remarks(companion, moment), ["cold"], "remarks on the phone");
        companion.close();
    },

    async aRemovedPhotoStaysIfTheOtherVersionHasIt() {
        const { hub, companion, photo, moment } = await paired();
        const theirs = await changedElsewhere(hub, companion, moment, { title: "theirs" });
        hub.requestsLeft = 0;
        await companion.moments.save(moment, { ...moment, title: "mine", photos: [] });
        hub.store(theirs);
        await reconnect(hub, companion);
        equal(await titles(companion), ["mine (conflict, phone)", "theirs"], "titles");
        equal(hub.kept("photos").map(({ id }) => id), [photo.id], "photos at the hub");
        equal((await companion.momentPhotos.original(photo.id)).type, "image/jpeg", "the photo opens");
        companion.close();
    },

    async photosAndRemarksAreRemovedAfterTheirMoment() {
        const { hub, companion, moment } = await paired();
        const refused = { error: { code: "quota_exceeded", message: "Full." } };
        hub.overrides["POST /v1/records"] = async (url, body) => {
            const { records } = JSON.parse(body);
            const others = records.filter(({ collection }) => collection !== "moments");
            const { outcomes } = await hub.defaultResponse("POST /v1/records", url, { records: others });
            return { outcomes: records.map((record) => (others.includes(record) ? outcomes.shift() : refused)) };
        };
        await companion.moments.erase(moment);
        await companion.notes.save(null, { title: "sent afterwards", body: "" });
        await eventually(() => hub.kept("notes").length === 1, "other changes are sent");
        const kept = () => ["moments", "photos", "remarks"].map((collection) => hub.kept(collection).length);
        equal(kept(), [1, 1, 1], "at the hub while it refuses the moment's removal");
        hub.overrides = {};
        companion.wake();
        await sent(companion);
        equal(kept(), [0, 0, 0], "at the hub afterwards");
        companion.close();
    },
};
