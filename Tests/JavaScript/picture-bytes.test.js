// What the bytes of untrusted pictures show without decoding them.
import { concat, u16, u32, utf8 } from "/crypto/bytes.js";
import { isAnimated, isTruncated } from "/formats/picture-bytes.js";
import { equal, expect } from "./harness.js";

const chunk = (name, content) => concat(u32(content.length), utf8(name), content, u32(0));
const png = (...chunks) => concat([0x89], utf8("PNG\r\n\x1a\n"), ...chunks);
const header = chunk("IHDR", new Uint8Array(13));
const [data, end] = [chunk("IDAT", new Uint8Array(5)), chunk("IEND", new Uint8Array())];
/** A picture of a GIF of two colours, one pixel. */
const frame = concat([0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0], [2, 2, 0x44, 1, 0]);
const delay = Uint8Array.of(0x21, 0xf9, 4, 0, 10, 0, 0, 0);
const gif = (...parts) => concat(utf8("GIF89a"), [1, 0, 1, 0, 0x80, 0, 0], new Uint8Array(6), ...parts);
const webp = (flags, length = 10) => concat(utf8("RIFF"), [12 + length, 0, 0, 0], utf8("WEBPVP8X"), [10, 0, 0, 0],
    [flags], new Uint8Array(9));
const segment = (marker, content) => concat([0xff, marker], u16(content.length + 2), content);
/** Of entropy-coded data: a stuffed byte, a restart marker, and another scan. */
const jpeg = concat([0xff, 0xd8], segment(0xe1, Uint8Array.of(0xff, 0xd9, 0xff, 0xd9)), segment(0xda, utf8("scan")),
    [1, 0xff, 0, 2, 0xff, 0xd0, 3], segment(0xda, utf8("scan")), [4, 5]);

export const tests = {
    anAnimatedPictureIsRecognizedInEachFormat() {
        expect(isAnimated(gif(delay, frame, delay, frame, [0x3b]), "image/gif"), "a GIF of two pictures");
        expect(isAnimated(webp(2), "image/webp"), "WebP");
        expect(isAnimated(png(header, chunk("acTL", concat(u32(2), u32(0))), data, end), "image/png"), "APNG");
        expect(isAnimated(concat(u32(24), utf8("ftypavis"), u32(0)), "image/avif"), "AVIF");
    },

    aStillPictureIsNotAnimated() {
        expect(!isAnimated(gif(delay, frame, [0x3b]), "image/gif"), "a GIF of one picture");
        expect(!isAnimated(webp(0x10), "image/webp"), "WebP with transparency");
        expect(!isAnimated(png(header, chunk("acTL", concat(u32(1), u32(0))), data, end), "image/png"), "one frame");
        expect(!isAnimated(png(header, data, chunk("acTL", concat(u32(2), u32(0))), end), "image/png"), "too late");
        expect(!isAnimated(concat(u32(24), utf8("ftypavif"), u32(0)), "image/avif"), "AVIF");
        expect(!isAnimated(jpeg, "image/jpeg"), "JPEG");
    },

    aFileThatEndsInsideItsPictureIsTruncated() {
        const whole = concat(jpeg, [0xff, 0xd9]);
        expect(!isTruncated(whole, "image/jpeg"), "a whole JPEG");
        expect(!isTruncated(concat(whole, utf8("PK appended")), "image/jpeg"), "with a file behind it");
        for (let length = 4; length < whole.length; length += 1) {
            expect(isTruncated(whole.subarray(0, length), "image/jpeg"), `a JPEG of ${length} bytes`);
        }
        expect(!isTruncated(png(header, data, end), "image/png"), "a whole PNG");
        expect(isTruncated(png(header, data, end).subarray(0, -6), "image/png"), "a PNG without its end");
        expect(!isTruncated(webp(0), "image/webp") && isTruncated(webp(0, 11), "image/webp"), "WebP");
    },

    anyBytesAreReadWithoutAnErrorAndWithoutAnEndlessLoop() {
        let state = 7;
        const random = () => (state = (state * 48_271) % 0x7fffffff);
        for (let round = 0; round < 2_000; round += 1) {
            const bytes = Uint8Array.from({ length: random() % 90 }, () => random() & 255);
            for (const start of [gif(), png(), webp(2), jpeg]) {
                for (const type of ["image/gif", "image/png", "image/webp", "image/jpeg", "image/avif"]) {
                    const file = concat(start, bytes);
                    equal(typeof isAnimated(file, type), "boolean", type);
                    equal(typeof isTruncated(file, type), "boolean", type);
                }
            }
        }
    },
};
