// The digest of content that is larger than memory is WebCrypto's.
import { padding, SHA256 } from "/crypto/sha256.js";
import { hex, utf8 } from "/crypto/bytes.js";
import { sha256 } from "/crypto/primitives.js";
import { equal } from "./harness.js";

const digest = (bytes) => hex(new SHA256().update(bytes).digest());

export const tests = {
    async digestsAreThoseOfTheStandard() {
        // FIPS 180-4, examples of one block, of two, and of a million bytes.
        equal(digest(utf8("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", "abc");
        equal(digest(utf8("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1", "448 bits");
        equal(digest(new Uint8Array(1_000_000).fill(0x61)),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0", "a million");
        equal(digest(new Uint8Array()), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "nothing");
    },

    async piecesOfEveryLengthHaveTheDigestOfTheWhole() {
        const bytes = Uint8Array.from({ length: 1_000 }, (_, index) => (index * index * 7 + (index >> 3)) & 255);
        for (let length = 0; length < 300; length += 1) {
            const part = bytes.subarray(0, length);
            equal(digest(part), hex(await sha256(part)), `${length} bytes`);
        }
        for (const step of [1, 3, 63, 64, 65, 127, 200, 999]) {
            const steps = new SHA256();
            for (let at = 0; at < bytes.length; at += step) steps.update(bytes.subarray(at, at + step));
            equal(hex(steps.digest()), hex(await sha256(bytes)), `steps of ${step}`);
        }
    },

    async moreThanHalfAGigabyteIsCountedInBitsBeyond32() {
        equal(hex(padding(55)), "8000000000000001b8", "the rest of a block");
        equal(padding(56).length, 72, "no room for the length in the block");
        equal(hex(padding(2 ** 29 + 55)), "8000000001000001b8", "33 bits");
        equal(hex(padding(2 ** 32 + 62).slice(-8)), "00000008000001f0", "the largest recording has 36 bits");
    },
};
