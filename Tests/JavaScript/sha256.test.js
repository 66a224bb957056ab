// The digest of content that is larger than memory is WebCrypto's.
import { SHA256 } from "/crypto/sha256.js";
import { hex, utf8 } from "/crypto/bytes.js";
import { sha256 } from "/crypto/primitives.js";
import { equal } from "./harness.js";

export const tests = {
    async digestsAreThoseOfTheStandard() {
        // FIPS 180-4, examples.
        equal(hex(new SHA256().update(utf8("abc")).digest()),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "abc");
        equal(hex(new SHA256().digest()),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "nothing");
    },

    async piecesOfEveryLengthHaveTheDigestOfTheWhole() {
        const bytes = Uint8Array.from({ length: 1_000 }, (_, index) => (index * index * 7 + (index >> 3)) & 255);
        for (let length = 0; length < 300; length += 1) {
            const part = bytes.subarray(0, length);
            equal(hex(new SHA256().update(part).digest()), hex(await sha256(part)), `${length} bytes`);
        }
        for (const step of [1, 3, 63, 64, 65, 127, 200, 999]) {
            const digest = new SHA256();
            for (let at = 0; at < bytes.length; at += step) digest.update(bytes.subarray(at, at + step));
            equal(hex(digest.digest()), hex(await sha256(bytes)), `steps of ${step}`);
        }
    },

    async moreThanHalfAGigabyteIsCountedInBitsBeyond32() {
        // The length in bits has more than 32 of them.
        const [piece, digest] = [new Uint8Array(1 << 20).fill(0xa5), new SHA256()];
        for (let index = 0; index < 513; index += 1) digest.update(piece);
        equal(hex(digest.digest()), "d8af8e202582b2a522073e91d1bef77c22ed345c0a01577f976880339a5d2074", "513 MiB");
    },
};
