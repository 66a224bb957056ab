// What is sealed in pieces opens as what is sealed as a whole.
import { concat, equalInConstantTime as same, hex } from "/crypto/bytes.js";
import { sha256 } from "/crypto/primitives.js";
import { sealInPieces } from "/crypto/sealed-pieces.js";
import { openContent, streamHeaderLength, streamName } from "/crypto/stream.js";
import { equal, expect, refusal } from "./harness.js";

const name = streamName({ purpose: "test" });
const chunk = 2 ** 16;
const sealedChunk = chunk + 16;

/** @param {number} size */
const contentOf = (size) => Uint8Array.from({ length: size }, (_, index) => (index * 31 + (index >> 8)) & 255);

/** @param {Uint8Array} content @param {number} length of a piece */
async function sealed(content, length) {
    const [pieces, parts] = [/** @type {Uint8Array[]} */ ([]), /** @type {Uint8Array[]} */ ([])];
    const blob = await sealInPieces(content.length, async (start, end) => {
        parts.push(content.slice(start, end));
        return /** @type {Uint8Array} */ (parts.at(-1));
    }, name, 16, {
        length, put: async (id, index, piece) => {
            equal(index, pieces.length, "the number of the piece");
            // A worker passes its pieces on: they can't be read afterwards.
            pieces.push(piece.slice());
            piece.fill(0xee);
        },
    });
    return { blob, pieces, parts };
}

export const tests = {
    async contentOfEverySizeOpensAsAWhole() {
        const sizes = [1, chunk - 1, chunk, chunk + 1, 2 * chunk, 2 * chunk + 1, 3 * chunk - 17];
        const lengths = [4096, chunk, sealedChunk, streamHeaderLength + sealedChunk, 100_003, 2 ** 20];
        for (const size of sizes) {
            const content = contentOf(size);
            for (const length of lengths) {
                const what = `${size} bytes in pieces of ${length}`;
                const { blob, pieces, parts } = await sealed(content, length);
                const whole = concat(...pieces);
                equal([blob.size, blob.sealedSize], [size, whole.length], what);
                expect(pieces.slice(0, -1).every((piece) => piece.length === length), what);
                const last = pieces[pieces.length - 1].length;
                expect(last > 0 && last <= length, `the last piece of ${what}`);
                expect(same(await openContent(whole, name, blob.key), content), `${what} open`);
                equal([hex(blob.digest), hex(blob.hash)], [hex(await sha256(content)), hex(await sha256(whole))], what);
                expect(parts.every((part) => part.every((byte) => byte === 0)), `${what} are wiped`);
            }
        }
    },

    async eachContentHasAKeyAndABlobOfItsOwn() {
        const content = contentOf(100);
        const [one, other] = [(await sealed(content, 4096)).blob, (await sealed(content, 4096)).blob];
        expect(hex(one.key) !== hex(other.key) && one.blob !== other.blob, "fresh");
    },

    async aFileThatEndsTooEarlyIsRefused() {
        const content = contentOf(chunk + 10);
        const read = async (start, end) => content.slice(start, end);
        const code = await refusal(() =>
            sealInPieces(content.length + 1, read, name, 16, { length: 4096, put: async () => {} }));
        equal(code, "malformed", "one byte less than announced");
    },
};
