// The content of the records of moments and photos. docs/formats.md, "Moments and photos".
import { base64, ByteReader, concat, fields, hex, isID, textOf, u32, unbase64, unhex, utf8 } from "../crypto/bytes.js";
import { FormatError } from "../crypto/errors.js";
import { hkdf } from "../crypto/primitives.js";
import { streamHeaderLength } from "../crypto/stream.js";

/**
 * A photo, or a recording: `kind` is "video" or "voice", absent for a photo; width and height are the poster's then.
 * `duration`: of a recording, in seconds.
 * @typedef {{ id: string, width: number, height: number, hash: string, description?: string, kind?: string,
 *   duration?: number }} MomentPhoto
 */
/** @typedef {{ name?: string, latitude?: number, longitude?: number }} Place */
/**
 * `date`, `created`, `modified`, `removed`: seconds since 1970. `offset`: minutes ahead of UTC.
 * @typedef {{ title: string, words: string, date: number, offset: number, mood: string, place?: Place,
 *   photos: MomentPhoto[], favourite: boolean, created: number, modified: number, removed?: number }} MomentContent
 */
/**
 * One size of a picture: a stream in a blob.
 * @typedef {{ type: string, size: number, key: Uint8Array, blob: string }} PhotoSize
 */
/**
 * @typedef {{ width: number, height: number, taken?: number, original: PhotoSize, medium?: PhotoSize,
 *   thumbnail: Uint8Array }} PhotoContent
 */
/**
 * The JSON of a photo, followed by the thumbnail; keys are base64.
 * @typedef {{ type: string, size: number, key: string, blob: string }} PhotoBodySize
 * @typedef {{ width: number, height: number, taken?: number, original: PhotoBodySize, medium?: PhotoBodySize }}
 *   PhotoBody
 */

export const moods = Object.freeze(["love", "joy", "calm", "proud", "excited", "grateful", "funny", "sad"]);
export const pictureTypes = Object.freeze(
    ["image/jpeg", "image/png", "image/webp", "image/heic", "image/avif", "image/gif"]);
/** Of videos and voice notes, which are stored as they were chosen or recorded. */
export const recordingTypes = Object.freeze(["video/mp4", "video/quicktime", "video/webm", "audio/mp4", "audio/webm",
    "audio/mpeg", "audio/ogg", "audio/wav"]);
export const maximumPhotos = 200;
export const maximumThumbnail = 16_384;
export const thumbnailSide = 320;
export const mediumSide = 2_048;
/** Of a chosen file, in bytes. */
export const maximumOriginal = 50 * 1024 * 1024;
/** Of a stored original, in bytes: what is drawn again of a chosen file may be larger than the file. */
const maximumOriginalSize = 2 ** 28;
/** The largest size that is opened in memory as a whole, in bytes. */
export const maximumWhole = maximumOriginalSize;
/** Of a chosen video or voice note, in bytes, unless the hub has another limit. */
export const maximumRecording = 500 * 1024 * 1024;
/** Of a stored one, which is never opened as a whole. */
export const maximumRecordingSize = 2 ** 32;
/** In seconds. */
const maximumDuration = 359_999;
/** Of a medium size, and of an original that is shown in its place. */
export const maximumMediumSize = 2 ** 24;
export const chunkLogarithm = 20;
/** How long a moment stays in the trash, in seconds. */
export const trashSeconds = 30 * 86_400;

const maximumSide = 1 << 17;

/** @param {unknown} value */
const isText = (value) => typeof value === "string";
/** From 0001-01-02 to 9999-12-31: a year of four digits in every zone. */
const times = { least: -62_135_510_400, most: 253_402_214_400 };
/** @param {unknown} value seconds since 1970 */
export const isTime = (value) => typeof value === "number" && value >= times.least && value <= times.most;
/** @param {any} value @param {number} least @param {number} most */
const isWhole = (value, least, most) => Number.isSafeInteger(value) && value >= least && value <= most;
/** @param {unknown} value */
const isHash = (value) => typeof value === "string" && /^[0-9a-f]{40}$/.test(value);
/** @param {any} value @param {number} most */
const isAngle = (value, most) => typeof value === "number" && Math.abs(value) <= most;

/** @param {unknown} value seconds */
export const isDuration = (value) => typeof value === "number" && value > 0 && value <= maximumDuration;
/** @param {string} type */
export const isRecording = (type) => recordingTypes.includes(type);

/**
 * What a moment states of a photo, without what is known on this device alone.
 * @param {MomentPhoto} photo
 * @returns {MomentPhoto}
 */
export const momentPhoto = ({ id, width, height, hash, description, kind, duration }) => ({
    id, width, height, hash, ...(description ? { description } : {}), ...(kind ? { kind } : {}),
    ...(duration ? { duration } : {}),
});

/** @param {any} place */
function isPlace(place) {
    const { name, latitude, longitude } = place ?? {};
    if (typeof place !== "object" || place === null || !(name === undefined || isText(name))) return false;
    return latitude === undefined && longitude === undefined
        ? name !== undefined
        : isAngle(latitude, 90) && isAngle(longitude, 180);
}

/** @param {any} value @returns {value is MomentContent} */
function isMoment(value) {
    const { title, words, date, offset, mood, place, photos, favourite, created, modified, removed } = value ?? {};
    return [title, words, mood].every(isText) && [date, created, modified].every(isTime) && isWhole(offset, -1080, 1080)
        && (place === undefined || isPlace(place)) && typeof favourite === "boolean"
        && (removed === undefined || isTime(removed))
        && Array.isArray(photos) && photos.length <= maximumPhotos
        && new Set(photos.map((photo) => photo?.id)).size === photos.length
        && photos.every((photo) => isID(photo?.id) && isWhole(photo.width, 1, maximumSide)
            && isWhole(photo.height, 1, maximumSide)
            && isHash(photo.hash) && [photo.description, photo.kind].every((text) => text === undefined || isText(text))
            && (photo.duration === undefined || isDuration(photo.duration)));
}

/** @param {Uint8Array} bytes */
function json(bytes) {
    try {
        return JSON.parse(textOf(bytes));
    } catch {
        return null;
    }
}

/**
 * Null if it is invalid. Unknown fields are lost with the next change.
 * @param {Uint8Array} body
 * @returns {MomentContent | null}
 */
export function readMoment(body) {
    const value = json(body);
    return isMoment(value) ? value : null;
}

/**
 * Throws FormatError `malformed` for content that readers refuse.
 * @param {MomentContent} content
 */
export function momentBody(content) {
    if (!isMoment(content)) {
        throw new FormatError("malformed", "A moment has a title, words, a date and at most 200 photos, each once.");
    }
    return utf8(JSON.stringify(content));
}

/**
 * Whether readers accept these sizes of a picture: a size is opened in memory as a whole.
 * @param {number} original in bytes
 * @param {number} [medium] if there is one
 */
export const areReadableSizes = (original, medium) => (medium ?? 1) <= maximumMediumSize
    && original <= (medium === undefined ? maximumMediumSize : maximumOriginalSize);

/** @param {PhotoBodySize | undefined} size @returns {PhotoSize | null} */
function photoSize(size) {
    if (!size || !isText(size.type) || !isWhole(size.size, 1, maximumRecordingSize)
        || !isID(size.blob) || !isText(size.key)) {
        return null;
    }
    const key = unbase64(size.key);
    return key.length === 32 ? { type: size.type, size: size.size, key, blob: size.blob } : null;
}

/**
 * The poster of a recording is a picture that is shown in its place, so it is never absent.
 * @param {PhotoSize} original
 * @param {PhotoSize} [medium]
 */
function areReadable(original, medium) {
    if (medium && !pictureTypes.includes(medium.type)) return false;
    return isRecording(original.type)
        ? medium !== undefined && medium.size <= maximumMediumSize
        : pictureTypes.includes(original.type) && areReadableSizes(original.size, medium?.size);
}

/**
 * Null if it is invalid, or if the record does not name its blobs.
 * @param {Uint8Array} body
 * @param {string[]} blobs of the record
 * @returns {PhotoContent | null}
 */
export function readPhoto(body, blobs) {
    try {
        const reader = new ByteReader(body, "photo");
        /** @type {PhotoBody} */
        const { width, height, taken, original, medium } = json(reader.bytes(reader.number(4))) ?? {};
        const thumbnail = reader.rest();
        const sizes = [original, ...(medium === undefined ? [] : [medium])].map(photoSize);
        const isRight = isWhole(width, 1, maximumSide)
            && isWhole(height, 1, maximumSide) && (taken === undefined || isTime(taken))
            && thumbnail.length >= 1 && thumbnail.length <= maximumThumbnail
            && sizes.length === blobs.length && sizes.every((size, index) => size?.blob === blobs[index]);
        if (!isRight || !sizes[0] || sizes[1] === null || !areReadable(sizes[0], sizes[1])) return null;
        return {
            width, height, ...(taken === undefined ? {} : { taken }), original: sizes[0],
            ...(sizes[1] ? { medium: sizes[1] } : {}), thumbnail,
        };
    } catch (error) {
        if (error instanceof FormatError) return null;
        throw error;
    }
}

/** @param {PhotoContent} content */
export function photoBody({ thumbnail, original, medium, ...facts }) {
    /** @param {PhotoSize} size @returns {PhotoBodySize} */
    const plain = ({ type, size, key, blob }) => ({ type, size, key: base64(key), blob });
    /** @type {PhotoBody} */
    const body = { ...facts, original: plain(original), ...(medium ? { medium: plain(medium) } : {}) };
    const value = utf8(JSON.stringify(body));
    return concat(u32(value.length), value, thumbnail);
}

/**
 * The length of a size's blob.
 * @param {number} size in bytes
 */
export const sealedLength = (size) => streamHeaderLength
    + size + 16 * Math.max(1, Math.ceil(size / 2 ** chunkLogarithm));

/**
 * Identifies a file, to find duplicates.
 * @param {{ key: Uint8Array, epoch: number, vault: string }} entry of the ring
 * @param {Uint8Array} digest SHA-256 of the chosen file
 */
export async function photoHash({ key, epoch, vault }, digest) {
    const bytes = await hkdf(key, new Uint8Array(), fields("applocker/1/photo-hash", unhex(vault)));
    const hmac = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
    bytes.fill(0);
    return hex(concat(u32(epoch), new Uint8Array(await crypto.subtle.sign("HMAC", hmac, digest)).slice(0, 16)));
}

/**
 * The local day and time of a moment, read with the UTC getters.
 * @param {{ date: number, offset: number }} moment
 */
export const localOf = ({ date, offset }) => new Date((date + offset * 60) * 1000);

/**
 * The local day, "2024-05-17".
 * @param {{ date: number, offset: number }} moment
 */
export const dayOf = (moment) => localOf(moment).toISOString().slice(0, 10);
