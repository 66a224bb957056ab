// When and where a picture was taken, by a JPEG's first segments (Exif 2.32, CIPA DC-008; TIFF 6.0). Pictures are
// untrusted: every offset is checked before it is followed, nothing is followed twice, and invalid values are refused
// or left out.

/** The only error that reading throws: the segment is not valid Exif. Its message is one sentence. */
export class ExifError extends Error {
    /** @param {string} message */
    constructor(message) {
        super(message);
        this.name = "ExifError";
    }
}

/**
 * `local`: "2024-05-17T18:30:05", local time there. `offset`: minutes ahead of UTC, or null. `orientation`: 1 to 8.
 * Degrees; north and east are positive.
 * @typedef {{ local: string | null, offset: number | null, latitude: number | null, longitude: number | null,
 *   orientation: number }} Exif
 */

/** Bytes of the file that are searched for segments. */
export const exifPrefix = 256 << 10;

const maximumEntries = 512;
const sizes = [0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8];
const type = { byte: 1, text: 2, short: 3, long: 4, rational: 5 };
const tag = {
    orientation: 0x0112, exif: 0x8769, gps: 0x8825, original: 0x9003, digitized: 0x9004, offsetOriginal: 0x9011,
    offsetDigitized: 0x9012, latitudeRef: 1, latitude: 2, longitudeRef: 3, longitude: 4,
};

/** A TIFF structure; values outside of it are refused. */
class Tiff {
    #view;
    /** @type {boolean} */
    #isLittle;

    /** @param {Uint8Array} bytes */
    constructor(bytes) {
        this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        this.#isLittle = false;
        const order = this.u16(0);
        if (order !== 0x4949 && order !== 0x4d4d) throw new ExifError("The photo’s Exif has no byte order.");
        this.#isLittle = order === 0x4949;
        if (this.u16(2) !== 42) throw new ExifError("The photo’s Exif is not TIFF.");
    }

    /** @param {number} offset @param {number} count */
    #check(offset, count) {
        if (offset < 0 || offset + count > this.#view.byteLength) {
            throw new ExifError("The photo’s Exif ends too early.");
        }
    }

    /** @param {number} offset @returns {number} */
    u16(offset) {
        this.#check(offset, 2);
        return this.#view.getUint16(offset, this.#isLittle);
    }

    /** @param {number} offset */
    u32(offset) {
        this.#check(offset, 4);
        return this.#view.getUint32(offset, this.#isLittle);
    }

    /**
     * The positions of a directory's values by tag, the first of each.
     * @param {number} start
     * @returns {Map<number, { type: number, count: number, at: number }>}
     */
    directory(start) {
        const count = this.u16(start);
        if (count > maximumEntries) throw new ExifError("The photo’s Exif has too many entries.");
        this.#check(start + 2, count * 12);
        const entries = new Map();
        for (let index = 0; index < count; index += 1) {
            const at = start + 2 + index * 12;
            const entry = { type: this.u16(at + 2), count: this.u32(at + 4), at: at + 8 };
            const length = (sizes[entry.type] ?? 0) * entry.count;
            if (length === 0) continue;
            if (length > 4) entry.at = this.u32(at + 8);
            // A value outside counts as absent; the others may be valid.
            if (entry.at + length > this.#view.byteLength || entries.has(this.u16(at))) continue;
            entries.set(this.u16(at), entry);
        }
        return entries;
    }

    /** @param {{ type: number, count: number, at: number } | undefined} entry */
    number(entry) {
        if (entry?.type === type.short && entry.count === 1) return this.u16(entry.at);
        if (entry?.type === type.long && entry.count === 1) return this.u32(entry.at);
        return null;
    }

    /**
     * ASCII up to its end; at most 64 characters.
     * @param {{ type: number, count: number, at: number } | undefined} entry
     */
    text(entry) {
        if (entry?.type !== type.text || entry.count > 64) return "";
        let text = "";
        for (let index = 0; index < entry.count; index += 1) {
            const code = this.#view.getUint8(entry.at + index);
            if (code === 0) break;
            text += String.fromCharCode(code);
        }
        return text;
    }

    /**
     * Degrees, minutes and seconds.
     * @param {{ type: number, count: number, at: number } | undefined} entry
     */
    degrees(entry) {
        if (entry?.type !== type.rational || entry.count !== 3) return null;
        let sum = 0;
        for (const [index, part] of [1, 60, 3600].entries()) {
            const [above, below] = [this.u32(entry.at + index * 8), this.u32(entry.at + index * 8 + 4)];
            if (below === 0) return null;
            sum += above / below / part;
        }
        return sum;
    }
}

/**
 * The TIFF of the first Exif segment, or null.
 * @param {Uint8Array} bytes the beginning of a JPEG
 */
function segment(bytes) {
    if (bytes.length < 4 || bytes[0] !== 0xff || bytes[1] !== 0xd8) return null;
    for (let offset = 2; offset + 4 <= bytes.length;) {
        if (bytes[offset] !== 0xff) return null;
        const marker = bytes[offset + 1];
        // Padding between segments.
        if (marker === 0xff) {
            offset += 1;
            continue;
        }
        // The picture itself begins, or ends.
        if (marker === 0xda || marker === 0xd9 || marker < 0xc0) return null;
        const length = bytes[offset + 2] * 256 + bytes[offset + 3];
        if (length < 2) throw new ExifError("The photo’s segments are damaged.");
        const content = bytes.subarray(offset + 4, offset + 2 + length);
        if (marker === 0xe1 && content.length >= 6 && String.fromCharCode(...content.subarray(0, 6)) === "Exif\0\0") {
            if (offset + 2 + length > bytes.length) throw new ExifError("The photo’s Exif is truncated.");
            return content.subarray(6);
        }
        offset += 2 + length;
    }
    return null;
}

/**
 * "2024:05:17 18:30:05" as ISO; null for an invalid date.
 * @param {string} text
 */
function localTime(text) {
    const found = /^(\d{4})[:-](\d\d)[:-](\d\d)[ T](\d\d):(\d\d):(\d\d)/.exec(text);
    if (!found) return null;
    const [year, month, day, hour, minute, second] = found.slice(1).map(Number);
    const date = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
    const iso = Number.isFinite(date.getTime()) ? date.toISOString().slice(0, 19) : "";
    return year >= 1800 && iso === `${found[1]}-${found[2]}-${found[3]}T${found[4]}:${found[5]}:${found[6]}`
        ? iso
        : null;
}

/**
 * "+02:00" as minutes.
 * @param {string} text
 */
function zone(text) {
    const found = /^([+-])(\d\d):(\d\d)$/.exec(text.trim());
    if (!found) return null;
    const minutes = Number(found[2]) * 60 + Number(found[3]);
    return minutes <= 1080 && Number(found[3]) < 60 ? (found[1] === "-" ? -minutes : minutes) : null;
}

/** @param {Tiff} tiff @param {ReturnType<Tiff["directory"]>} entries */
function place(tiff, entries) {
    const north = tiff.text(entries.get(tag.latitudeRef)).toUpperCase();
    const east = tiff.text(entries.get(tag.longitudeRef)).toUpperCase();
    const [latitude, longitude] = [tiff.degrees(entries.get(tag.latitude)), tiff.degrees(entries.get(tag.longitude))];
    const isOne = latitude !== null && longitude !== null && latitude <= 90 && longitude <= 180
        && (north === "N" || north === "S") && (east === "E" || east === "W")
        // Cameras write zeros for what is unknown.
        && (latitude !== 0 || longitude !== 0);
    if (!isOne) return { latitude: null, longitude: null };
    return { latitude: north === "S" ? -latitude : latitude, longitude: east === "W" ? -longitude : longitude };
}

/**
 * Null if the file is not a JPEG or has no such data. Throws ExifError, and nothing else.
 * @param {Uint8Array} bytes the first `exifPrefix` bytes of a file
 * @returns {Exif | null}
 */
export function readExif(bytes) {
    const found = segment(bytes);
    if (!found) return null;
    const tiff = new Tiff(found);
    const root = tiff.directory(tiff.u32(4));
    const none = /** @type {ReturnType<Tiff["directory"]>} */ (new Map());
    /** @param {number} pointer */
    const below = (pointer) => {
        const start = tiff.number(root.get(pointer));
        return start === null ? none : tiff.directory(start);
    };
    const exif = below(tag.exif);
    const original = localTime(tiff.text(exif.get(tag.original)));
    const local = original ?? localTime(tiff.text(exif.get(tag.digitized)));
    const offset = local === null
        ? null
        : zone(tiff.text(exif.get(original ? tag.offsetOriginal : tag.offsetDigitized)));
    const orientation = tiff.number(root.get(tag.orientation)) ?? 1;
    return {
        local, offset, ...place(tiff, below(tag.gps)),
        orientation: orientation >= 1 && orientation <= 8 ? orientation : 1,
    };
}

/**
 * Seconds since 1970 and the zone; without one in the picture, this device's at that time.
 * @param {Exif} exif
 * @returns {{ date: number, offset: number } | null}
 */
export function takenAt({ local, offset }) {
    if (!local) return null;
    const asUTC = Date.parse(`${local}Z`) / 1000;
    const minutes = offset ?? -new Date(local).getTimezoneOffset();
    return { date: asUTC - minutes * 60, offset: Math.round(minutes) };
}
