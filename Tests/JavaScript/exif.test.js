// Time and position of a picture, read from untrusted files.
import { ExifError, exifPrefix, readExif, takenAt } from "/formats/exif.js";
import { concat, u16, u32, utf8 } from "/crypto/bytes.js";
import { equal, expect } from "./harness.js";
import { createTiff, numbers, withExif } from "./fake-moments.js";

const camera = {
    date: "2024:05:17 18:30:05", offset: "-03:30", latitude: ["S", [[33, 1], [51, 1], [3546, 100]]],
    longitude: ["E", [[151, 1], [12, 1], [40, 1]]], orientation: 8, description: "a camera",
};
const empty = Uint8Array.of(0xff, 0xd8, 0xff, 0xda, 0, 2);

/** Whether reading the file is refused; other errors are rethrown. */
function refused(bytes) {
    try {
        readExif(bytes);
        return false;
    } catch (error) {
        if (error instanceof ExifError && error.message.endsWith(".")) return true;
        throw error;
    }
}

/** A TIFF of one directory with these entries: tag, type, count, value or offset. */
const directory = (...entries) => concat(
    utf8("MM"), u16(42), u32(8), u16(entries.length),
    ...entries.map(([tag, type, count, value]) => concat(u16(tag), u16(type), u32(count), u32(value))), u32(0));

export const tests = {
    bothByteOrdersAreRead() {
        for (const isLittle of [false, true]) {
            const found = readExif(withExif(empty, createTiff(camera, isLittle)));
            equal([found.local, found.offset, found.orientation], ["2024-05-17T18:30:05", -210, 8],
                "local time, offset and orientation");
            expect(Math.abs(found.latitude + 33.85985) < 1e-6 && Math.abs(found.longitude - 151.21111) < 1e-5, "where");
            equal(takenAt(found), { date: Date.parse("2024-05-17T22:00:05Z") / 1000, offset: -210 },
                "the time in seconds");
        }
    },

    missingValuesAreNull() {
        equal(readExif(empty), null, "no Exif");
        equal([readExif(new Uint8Array()), readExif(utf8("GIF89a"))], [null, null], "files that are not JPEG");
        const nothing = { local: null, offset: null, latitude: null, longitude: null, orientation: 1 };
        equal(readExif(withExif(empty, createTiff({}))), nothing, "an empty directory");
        for (const date of ["0000:00:00 00:00:00", "2024:02:30 10:00:00",
            "2024:13:01 10:00:00", "    :  :     :  :  ", "yesterday", "2024:05:17 24:00:01"]) {
            equal(readExif(withExif(empty, createTiff({ date }))).local, null, date);
        }
        const unzoned = readExif(withExif(empty, createTiff({ date: camera.date })));
        equal([unzoned.local, unzoned.offset], ["2024-05-17T18:30:05", null], "a time without a zone");
        equal(takenAt(unzoned).date, new Date(2024, 4, 17, 18, 30, 5).getTime() / 1000,
            "the time in this device's zone");
        equal(readExif(withExif(empty, createTiff({ date: camera.date, offset: "+99:00" }))).offset, null,
            "an invalid time zone");
        for (const rest of [
            { latitude: ["N", [[91, 1], [0, 1], [0, 1]]] }, { latitude: ["N", [[1, 0], [0, 1], [0, 1]]] },
            { latitude: ["X", camera.latitude[1]] },
            { latitude: undefined }, {
                latitude: ["N", [[0, 1], [0, 1], [0, 1]]], longitude: ["E", [[0, 1], [0, 1], [0, 1]]],
            },
            { longitude: ["E", [[181, 1], [0, 1], [0, 1]]] },
        ]) {
            const found = readExif(withExif(empty, createTiff({ ...camera, ...rest })));
            equal([found.latitude, found.longitude], [null, null], JSON.stringify(rest));
        }
    },

    offsetsOutsideTheFileAreNotFollowed() {
        const of = (tiff) => withExif(empty, tiff);
        expect(refused(of(utf8("XX"))), "an invalid byte order");
        expect(refused(of(concat(utf8("MM"), u16(43), u32(8)))), "an invalid TIFF header");
        expect(refused(of(concat(utf8("MM"), u16(42), u32(0xffffffff)))), "a directory outside the file");
        expect(refused(of(concat(utf8("MM"), u16(42), u32(8), u16(65_535)))), "too many entries");
        expect(refused(of(directory([0x8769, 4, 1, 0xfffffff0]))), "Exif outside");
        expect(!refused(of(directory([0x8769, 4, 1, 8]))), "a directory that refers to itself");
        expect(!refused(of(directory([0x9003, 2, 0xffffffff, 8]))), "a value beyond the file");
        expect(!refused(of(directory([0x0112, 5, 0x20000000, 8], [0x0112, 3, 1, 6 << 16]))), "a length that overflows");
        equal(readExif(of(directory([0x0112, 3, 1, 9 << 16]))).orientation, 1, "no orientation");
        expect(refused(concat([0xff, 0xd8, 0xff, 0xe1, 0, 1])), "a segment shorter than its length");
        expect(refused(withExif(empty, createTiff(camera)).slice(0, 60)), "a truncated file");
    },

    changedFilesAreReadOrRefused() {
        const next = numbers(2024);
        const originals = [false, true].map((isLittle) => withExif(empty, createTiff(camera, isLittle)));
        const counts = { read: 0, refused: 0 };
        const interesting = [0, 1, 2, 4, 0x7f, 0x80, 0xff];
        for (let round = 0; round < 60_000; round += 1) {
            let bytes = originals[round % 2].slice();
            for (let change = Math.floor(next() * 6); change >= 0; change -= 1) {
                const at = Math.floor(next() * bytes.length);
                if (next() < 0.4) bytes[at] = interesting[Math.floor(next() * interesting.length)];
                else bytes[at] ^= 1 << Math.floor(next() * 8);
            }
            if (next() < 0.1) bytes = bytes.slice(0, Math.floor(next() * bytes.length));
            if (next() < 0.05) bytes = concat(bytes.slice(0, 30), bytes);
            if (refused(bytes)) counts.refused += 1;
            else {
                const found = readExif(bytes);
                const isSane = found === null || ((found.local === null || !Number.isNaN(Date.parse(`${found.local}Z`)))
                    && Math.abs(found.latitude ?? 0) <= 90 && Math.abs(found.longitude ?? 0) <= 180
                    && found.orientation >= 1 && found.orientation <= 8 && Math.abs(found.offset ?? 0) <= 1080);
                expect(isSane, `round ${round}: ${JSON.stringify(found)}`);
                counts.read += 1;
            }
        }
        for (let round = 0; round < 20_000; round += 1) {
            const tiff = Uint8Array.from({ length: Math.floor(next() * 80) }, () => next() * 256);
            refused(withExif(empty, concat(utf8("II"), [42, 0, 8, 0, 0, 0], tiff)));
        }
        expect(counts.read > 10_000 && counts.refused > 5_000, JSON.stringify(counts));
    },
};
