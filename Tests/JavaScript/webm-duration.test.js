// A recorded WebM gets its duration; whatever else a file is, it stays as it is.
import { concat, equalInConstantTime as same, utf8 } from "/crypto/bytes.js";
import { withDuration } from "/formats/webm-duration.js";
import { equal, expect } from "./harness.js";

const ids = { file: [0x1a, 0x45, 0xdf, 0xa3], segment: [0x18, 0x53, 0x80, 0x67], seek: [0x11, 0x4d, 0x9b, 0x74],
    info: [0x15, 0x49, 0xa9, 0x66], tracks: [0x16, 0x54, 0xae, 0x6b], cluster: [0x1f, 0x43, 0xb6, 0x75],
    scale: [0x2a, 0xd7, 0xb1], duration: [0x44, 0x89], app: [0x4d, 0x80], void: [0xec] };
const unknown = [0x01, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
const sizeOf = (length) => [0x40 | (length >> 8), length & 255];
const sizeOf8 = (length) => [0x01, 0, 0, 0, 0, 0, length >> 8, length & 255];

/** @param {number[]} id @param {Uint8Array | number[]} content */
const element = (id, content, size = sizeOf(content.length)) => concat(id, size, content);
const millisecond = element(ids.scale, [0x0f, 0x42, 0x40]);
const app = element(ids.app, utf8("recorder"));
const rest = concat(element(ids.tracks, new Uint8Array(40).fill(7)),
    element(ids.cluster, new Uint8Array(3000).fill(9), unknown));

/** A file as a browser records it, with these parts. */
const file = ({ info = element(ids.info, concat(millisecond, app)), before = [], segment = unknown } = {}) =>
    concat(element(ids.file, utf8("\x42\x82\x84webm")), element(ids.segment, concat(before, info, rest), segment));

/** @param {Uint8Array} bytes @param {number} [seconds] */
const changed = async (bytes, seconds = 2.5) =>
    new Uint8Array(await (await withDuration(new Blob([bytes]), seconds)).arrayBuffer());

/** The element at this place, read in another way than the module reads it. */
function at(bytes, place) {
    const lengthOf = (byte) => 8 - Math.floor(Math.log2(byte));
    const idLength = lengthOf(bytes[place]);
    const sizeLength = lengthOf(bytes[place + idLength]);
    const from = place + idLength + sizeLength;
    const digits = Array.from(bytes.slice(place + idLength, from), (byte) => byte.toString(2).padStart(8, "0"));
    const size = Number(BigInt(`0b${digits.join("").slice(sizeLength)}`));
    return { id: Array.from(bytes.slice(place, place + idLength)), from, to: from + size };
}

/** The duration in a valid file, in units of its scale; null without one. */
function durationIn(bytes) {
    const segment = at(bytes, at(bytes, 0).to);
    for (let place = segment.from; place < bytes.length;) {
        const one = at(bytes, place);
        if (`${one.id}` === `${ids.info}`) {
            for (let inner = one.from; inner < one.to;) {
                const { id, from, to } = at(bytes, inner);
                expect(to <= one.to, "an element ends in its parent");
                if (`${id}` === `${ids.duration}`) return new DataView(bytes.buffer, from).getFloat64(0);
                inner = to;
            }
        }
        if (`${one.id}` === `${ids.cluster}`) return null;
        place = one.to;
    }
    return null;
}

export const tests = {
    async aRecordingGetsItsDurationAndNothingElseChanges() {
        const bytes = file();
        const result = await changed(bytes);
        equal(durationIn(result), 2500, "in milliseconds");
        expect(same(result.slice(-rest.length), rest), "tracks and sound");
        expect(same(await changed(result), result), "a second time");
        const scaled = file({ info: element(ids.info, concat(app, element(ids.scale, [0x03, 0xe8]))) });
        equal(durationIn(await changed(scaled)), 2_500_000, "in microseconds");
        equal(durationIn(await changed(file({ info: element(ids.info, app) }))), 2500, "the usual scale");
        const long = file({ info: element(ids.info, concat(millisecond, app), sizeOf8(millisecond.length + app.length)),
            before: element(ids.void, new Uint8Array()) });
        equal(durationIn(await changed(long)), 2500, "a size of 8 bytes, after an empty element");
        equal(durationIn(await changed(file({ info: element(ids.info, []) }))), 2500, "empty information");
    },

    async otherFilesStayAsTheyAre() {
        const duration = element(ids.duration, new Uint8Array(8));
        const info = element(ids.info, concat(millisecond, app));
        const others = {
            "with a duration": file({ info: element(ids.info, concat(millisecond, duration)) }),
            "complete": file({ segment: sizeOf8(info.length + rest.length) }),
            "with an index": file({ before: element(ids.seek, new Uint8Array(20)) }),
            "a scale of zero": file({ info: element(ids.info, element(ids.scale, [0])) }),
            "information of unknown size": file({ info: element(ids.info, concat(millisecond, app), unknown) }),
            "an element beyond its parent": file({ info: element(ids.info, concat(millisecond, ids.app, sizeOf(90))) }),
            "late information": file({ before: element(ids.void, new Uint8Array(2000)) }),
            "another file": utf8("OggS, and so on"), "nothing": new Uint8Array(),
        };
        for (const [what, bytes] of Object.entries(others)) expect(same(await changed(bytes), bytes), what);
    },

    async aFileCutOrDamagedAnywhereStaysOrIsValid() {
        const bytes = file({ before: element(ids.void, new Uint8Array(9)) });
        for (let length = 0; length < 150; length += 1) {
            const part = bytes.slice(0, length);
            const result = await changed(part);
            expect(same(result, part) || durationIn(result) === 2500, `the first ${length} bytes`);
        }
        let count = 0;
        const head = bytes.length - rest.length;
        for (let place = 0; place < head; place += 1) {
            for (const value of [0, 1, 0x7f, 0x80, 0xff, bytes[place] ^ 1]) {
                const damaged = bytes.slice();
                damaged[place] = value;
                const result = await changed(damaged);
                expect(result.length >= bytes.length && result.length <= bytes.length + 26, `${value} at ${place}`);
                expect(same(result.slice(-rest.length), rest), `${value} at ${place}: the end`);
                count += Number(!same(result, damaged));
            }
        }
        expect(count > 20, "some have a duration nevertheless");
    },
};
