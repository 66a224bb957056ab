// ZIP files of unsealed exports. Python's zipfile reads one in test_moments_export.py.
import { concat, utf8 } from "/crypto/bytes.js";
import { crc32, zipLength, zipLimits, ZipWriter } from "/features/backup/zip.js";
import { equal, expect } from "./harness.js";

async function written(files) {
    const parts = [];
    const writer = new ZipWriter((part) => void parts.push(new Blob([part]).arrayBuffer()));
    for (const [name, bytes, local = "2024-05-17T18:30:05"] of files) {
        // In two pieces.
        await writer.add(name, [bytes.subarray(0, 1), bytes.subarray(1)], local);
    }
    await writer.end();
    return concat(...(await Promise.all(parts)).map((part) => new Uint8Array(part)));
}

const number = (bytes, at, count) => [...bytes.subarray(at, at + count)]
    .reduceRight((sum, byte) => sum * 256 + byte, 0);

export const tests = {
    theChecksumIsCRC32() {
        equal(crc32(utf8("123456789")), 0xcbf4_3926, "ISO 3309");
        equal(crc32(utf8("6789"), crc32(utf8("12345"))), 0xcbf4_3926, "in two parts");
        equal(crc32(new Uint8Array()), 0, "of nothing");
    },

    async theFileHasTheAnnouncedLength() {
        const files = [["a/1.txt", utf8("one")], ["a/höhe ❤.txt", utf8("two")], ["empty", new Uint8Array()]];
        const zip = await written(files);
        equal(zip.length, zipLength(files.map(([name, bytes]) => ({ name, size: bytes.length }))), "length");
        equal([number(zip, zip.length - 12, 2), number(zip, zip.length - 22, 4)], [3, 0x0605_4b50], "three files");
        equal(number(zip, 14, 4), crc32(utf8("one")), "the checksum of the first");
        // 18:30:04, because the format counts in steps of two seconds; 17 May 2024.
        equal([number(zip, 10, 2), number(zip, 12, 2)],
            [(18 << 11) | (30 << 5) | 2, (44 << 9) | (5 << 5) | 17], "time and date");
    },

    async timesOutsideTheFormatBecomeTheNearest() {
        const zip = await written([["old", utf8("x"), "1931-02-03T04:05:06"]]);
        equal([number(zip, 10, 2), number(zip, 12, 2)], [0, 33], "1 January 1980");
        const late = await written([["new", utf8("x"), "9999-12-31T23:59:59"]]);
        equal(number(late, 12, 2) >> 9, 127, "2107");
    },

    async longFilesAreReadInPieces() {
        const long = new Uint8Array((3 << 20) + 17).map((_, index) => index * 7);
        const zip = await written([["long", long]]);
        equal(number(zip, 14, 4), crc32(long), "checksum");
    },

    async filesThatDoNotFitAreRefusedBeforeWriting() {
        let written = 0;
        const writer = new ZipWriter((bytes) => void (written += bytes.length));
        // The longest file of the format; its bytes are never read.
        const large = { length: zipLimits.bytes };
        const refused = await writer.add("large", [/** @type {any} */ (large)], "2024-01-01T00:00:00")
            .then(() => null, (error) => error);
        expect(refused instanceof RangeError, "refused");
        equal(written, 0, "written bytes");
    },
};
