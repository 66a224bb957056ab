// The type of a picture by its first bytes; its name and the browser's type are ignored.

const signatures = /** @type {[string, number, string][]} */ ([
    ["image/jpeg", 0, "\xff\xd8\xff"], ["image/png", 0, "\x89PNG\r\n\x1a\n"], ["image/webp", 8, "WEBP"],
    ["image/gif", 0, "GIF8"],
]);
const brands = /** @type {Record<string, string>} */ ({
    heic: "image/heic", heix: "image/heic", heim: "image/heic", heis: "image/heic", mif1: "image/heic",
    msf1: "image/heic",
    avif: "image/avif", avis: "image/avif",
});

/**
 * The media type, or null if it is not supported.
 * @param {Uint8Array} bytes
 */
export function typeOf(bytes) {
    const start = String.fromCharCode(...bytes.subarray(0, 16));
    if (start.slice(4, 8) === "ftyp") return brands[start.slice(8, 12)] ?? null;
    return signatures.find(([, at, text]) => start.slice(at, at + text.length) === text)?.[0] ?? null;
}
