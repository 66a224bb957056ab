// QR codes: their size by the length of the text, and the patterns that readers look for. Tests/Browser reads one with
// another program.
import { qrCode } from "/formats/qr-code.js";
import { equal, expect } from "./harness.js";

/** Whether a finder pattern is at this corner. */
const hasFinder = (code, row, column) => Array.from({ length: 49 }, (_, index) => {
    const [y, x] = [Math.floor(index / 7), index % 7];
    const away = Math.max(Math.abs(y - 3), Math.abs(x - 3));
    return code[row + y][column + x] === (away !== 2);
}).every(Boolean);

export const tests = {
    aCodeIsAsLargeAsItsTextNeeds() {
        // The most bytes of versions 1, 5, 6, 10, 15 and 20 at level M (ISO/IEC 18004, table 7).
        for (const [most, version] of [[14, 1], [84, 5], [106, 6], [213, 10], [412, 15], [666, 20]]) {
            equal(qrCode("x".repeat(most)).length, version * 4 + 17, `${most} bytes`);
            if (version < 20) equal(qrCode("x".repeat(most + 1)).length, version * 4 + 21, `${most + 1} bytes`);
        }
        let refused = false;
        try {
            qrCode("x".repeat(667));
        } catch (error) {
            refused = error instanceof RangeError;
        }
        expect(refused, "a text that fits into no code");
    },

    aCodeHasThePatternsThatReadersLookFor() {
        const code = qrCode("https://hub.example/#pair=AAAA");
        const far = code.length - 7;
        expect(hasFinder(code, 0, 0) && hasFinder(code, 0, far) && hasFinder(code, far, 0), "three finders");
        expect(code[6].slice(8, far - 1).every((dark, index) => dark === (index % 2 === 0)), "the timing");
        expect(code[far - 1][8] === true, "the dark module");
    },
};
