// What a picture's bytes show without decoding it: whether it moves, and whether its end is missing. Pictures are
// untrusted: every length is checked against the file, and each step goes forward.

/** @param {Uint8Array} bytes @param {number} at */
const u16 = (bytes, at) => bytes[at] * 256 + bytes[at + 1];
/** @param {Uint8Array} bytes @param {number} at */
const u32 = (bytes, at) => u16(bytes, at) * 65_536 + u16(bytes, at + 2);
/** @param {Uint8Array} bytes @param {number} at */
const u32Little = (bytes, at) => bytes[at] + bytes[at + 1] * 256 + bytes[at + 2] * 65_536 + bytes[at + 3] * 2 ** 24;
/** @param {Uint8Array} bytes @param {number} at */
const four = (bytes, at) => String.fromCharCode(...bytes.subarray(at, at + 4));

/**
 * The chunks of a PNG (its specification, section 5.3), as name and position of the content.
 * @param {Uint8Array} bytes
 */
function* chunksOfPNG(bytes) {
    for (let at = 8; at + 12 <= bytes.length; at += 12 + u32(bytes, at)) {
        yield { name: four(bytes, at + 4), content: at + 8 };
    }
}

/**
 * Whether a GIF (89a) has a second picture.
 * @param {Uint8Array} bytes
 */
function isAnimatedGIF(bytes) {
    /** @param {number} flags @returns {number} bytes of a table of colours */
    const table = (flags) => (flags & 0x80 ? 3 * 2 ** ((flags & 7) + 1) : 0);
    /** @param {number} at @returns {number} behind a list of blocks */
    const behindBlocks = (at) => {
        while (bytes[at]) at += bytes[at] + 1;
        return at + 1;
    };
    let pictures = 0;
    for (let at = 13 + table(bytes[10]); at < bytes.length;) {
        if (bytes[at] === 0x21) at = behindBlocks(at + 2);
        else if (bytes[at] === 0x2c) {
            pictures += 1;
            if (pictures > 1) return true;
            at = behindBlocks(at + 11 + table(bytes[at + 9]));
        } else return false;
    }
    return false;
}

/**
 * Whether a browser would show it moving.
 * @param {Uint8Array} bytes
 * @param {string} type as `typeOf` returned it
 */
export function isAnimated(bytes, type) {
    if (type === "image/gif") return isAnimatedGIF(bytes);
    // The flag of the extended header; APNG's control chunk with two frames or more; AVIF's brand of sequences.
    if (type === "image/webp") return four(bytes, 12) === "VP8X" && (bytes[20] & 2) !== 0;
    if (type === "image/avif") return four(bytes, 8) === "avis";
    if (type !== "image/png") return false;
    for (const { name, content } of chunksOfPNG(bytes)) {
        if (name === "acTL") return u32(bytes, content) > 1;
        if (name === "IDAT") return false;
    }
    return false;
}

/**
 * Whether a JPEG has the marker of its end (ITU-T T.81, B.1). Entropy-coded bytes are followed by 0 or a restart
 * marker, so the first other marker is a segment's.
 * @param {Uint8Array} bytes
 */
function isWholeJPEG(bytes) {
    for (let at = 2; at + 1 < bytes.length;) {
        const marker = bytes[at + 1];
        const isData = bytes[at] !== 0xff || marker === 0 || (marker >= 0xd0 && marker <= 0xd7);
        if (isData || marker === 0xff) at += 1;
        else if (marker === 0xd9) return true;
        else at += 2 + Math.max(2, u16(bytes, at + 2) || 2);
    }
    return false;
}

/**
 * Whether the file ends before its picture does, as a copy that was interrupted.
 * @param {Uint8Array} bytes
 * @param {string} type as `typeOf` returned it
 */
export function isTruncated(bytes, type) {
    if (type === "image/jpeg") return !isWholeJPEG(bytes);
    if (type === "image/png") return ![...chunksOfPNG(bytes)].some(({ name }) => name === "IEND");
    if (type === "image/webp") return u32Little(bytes, 4) + 8 > bytes.length;
    return false;
}
