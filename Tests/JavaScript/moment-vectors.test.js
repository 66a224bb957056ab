// The companion reads or refuses Vectors/moments.json, which an independent implementation of docs/formats.md wrote.
import { style } from "/features/backup/moment-pages.js";
import { photoBody, momentBody, photoHash, readMoment, readPhoto, sealedLength } from "/formats/moment-format.js";
import { dateBody, readDate } from "/formats/special-date.js";
import { base64, hex, textOf, unhex } from "/crypto/bytes.js";
import { openEnvelope } from "/crypto/envelope.js";
import { sha256 } from "/crypto/primitives.js";
import { ContentStream, openContent, sealContentWith, streamName } from "/crypto/stream.js";
import { equal, vectors } from "./harness.js";

const open = (vector) => openEnvelope(unhex(vector.envelope), vector.record, unhex(vector.vaultKey));
/** Sorts properties by name, so that their order does not matter. */
const ordered = (value) => JSON.stringify(value, (_, one) =>
    (one && typeof one === "object" && !Array.isArray(one) ? Object.fromEntries(Object.entries(one).sort()) : one));

export const tests = {
    async momentsAreReadOrRefused() {
        const { opens, refused } = (await vectors("moments")).moments;
        equal([opens.length, refused.length], [5, 21], "complete");
        for (const vector of opens) {
            const content = readMoment(await open(vector));
            equal(ordered(content), ordered(vector.content), vector.name);
            equal(ordered(JSON.parse(textOf(momentBody(content)))), ordered(vector.content), `${vector.name}, written`);
        }
        for (const vector of refused) equal(readMoment(await open(vector)), null, vector.name);
    },

    async specialDatesAreReadOrRefused() {
        const { opens, refused } = (await vectors("moments")).dates;
        equal([opens.length, refused.length], [3, 12], "complete");
        for (const vector of opens) {
            const content = readDate(await open(vector));
            equal(ordered(content), ordered(vector.content), vector.name);
            equal(ordered(JSON.parse(textOf(dateBody(content)))), ordered(vector.content), `${vector.name}, written`);
        }
        for (const vector of refused) equal(readDate(await open(vector)), null, vector.name);
    },

    async photosAreReadOrRefused() {
        const { opens, refused } = (await vectors("moments")).photos;
        equal([opens.length, refused.length], [12, 26], "complete");
        for (const vector of opens) {
            const body = await open(vector);
            const { thumbnail, ...facts } = readPhoto(body, vector.blobs);
            const plain = JSON.parse(JSON.stringify(facts, (name, one) => (name === "key" ? base64(one) : one)));
            equal(ordered(plain), ordered(vector.content), vector.name);
            equal(hex(thumbnail), vector.thumbnail, "thumbnail");
            equal(readPhoto(photoBody({ ...facts, thumbnail }), vector.blobs) !== null, true,
                `${vector.name}, written`);
            for (const [which, { seed, header, sealedSize, sealedSHA256 }] of Object.entries(vector.streams)) {
                const { size, key } = facts[which];
                const content = Uint8Array.from({ length: size },
                    (_, index) => seed + index + Math.floor(index / 256) * 31);
                const stream = await ContentStream.opening(unhex(header), streamName(vector.record), key);
                const sealed = await sealContentWith(stream, content);
                equal([sealed.length, sealedLength(size), hex(await sha256(sealed))],
                    [sealedSize, sealedSize, sealedSHA256], which);
                equal(hex(await sha256(await openContent(sealed, streamName(vector.record), key))),
                    hex(await sha256(content)), "opened");
            }
        }
        for (const vector of refused) equal(readPhoto(await open(vector), vector.blobs), null, vector.name);
    },

    async exportedPagesHaveTheCommandLinesStyleSheet() {
        equal(style, `\n${await (await fetch("/Vectors/moment-pages.css")).text()}`, "style sheet");
    },

    async hashesAreThoseOfTheVectors() {
        const { hashes } = await vectors("moments");
        equal(hashes.length, 4, "complete");
        for (const { name, vaultKey, epoch, vault, fileSHA256, hash } of hashes) {
            equal(await photoHash({ key: unhex(vaultKey), epoch, vault }, unhex(fileSHA256)), hash, name);
        }
    },
};
