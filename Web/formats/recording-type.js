// The type of a video or a voice note by its first bytes; its name and the browser's type are ignored.

/** How many bytes of a file are enough. */
export const recordingStart = 64;

/**
 * The container's type as if it had a picture, or null if it is not supported.
 * @param {Uint8Array} bytes the first ones
 */
export function recordingType(bytes) {
    const start = String.fromCharCode(...bytes.subarray(0, recordingStart));
    if (start.slice(4, 8) === "ftyp") {
        const brand = start.slice(8, 12);
        if (brand === "qt  ") return "video/quicktime";
        // Of pictures and of protected films.
        return /^(heic|heix|heim|heis|hev[cmsx]|mif1|msf1|avif|avis|M4VP)$/.test(brand) ? null : "video/mp4";
    }
    // QuickTime without "ftyp", as old cameras write it.
    if (/^(moov|wide|mdat)$/.test(start.slice(4, 8))) return "video/quicktime";
    if (start.startsWith("\x1a\x45\xdf\xa3")) return start.includes("\x42\x82\x84webm") ? "video/webm" : null;
    if (start.startsWith("OggS")) return "audio/ogg";
    if (start.startsWith("RIFF") && start.slice(8, 12) === "WAVE") return "audio/wav";
    if (start.startsWith("ID3")) return "audio/mpeg";
    // MPEG audio, layer 3.
    return bytes[0] === 0xff && (bytes[1] & 0xe6) === 0xe2 ? "audio/mpeg" : null;
}

/**
 * The type of a file whose sound alone can be played.
 * @param {string} type of `recordingType`
 */
export const withoutPicture = (type) => (type === "video/webm" ? "audio/webm"
    : type.startsWith("video/") ? "audio/mp4" : type);
