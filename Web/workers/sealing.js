// Decodes a chosen photo in a worker, resizes it and seals it. Only the thumbnail and the metadata leave it unsealed.
// The worker stores nothing and ends after one photo.
import { ExifError, exifPrefix, readExif, takenAt } from "../formats/exif.js";
import { areReadableSizes, chunkLogarithm, maximumMediumSize, maximumOriginal, maximumThumbnail, mediumSide,
    thumbnailSide } from "../formats/moment-format.js";
import { typeOf } from "../formats/image-type.js";
import { isAnimated, isTruncated } from "../formats/picture-bytes.js";
import { randomBytes, randomID } from "../crypto/bytes.js";
import { sha256 } from "../crypto/primitives.js";
import { sealContent } from "../crypto/stream.js";

/**
 * `keepsOriginal`: the file with its metadata, such as place and camera; otherwise only its pixels.
 * @typedef {{ file: Blob, name: Uint8Array, keepsOriginal: boolean }} SealingJob
 */
/**
 * @typedef {{ type: string, size: number, key: Uint8Array, blob: string, sealed: Uint8Array, hash: Uint8Array }}
 *   SealedSize
 */
/**
 * @typedef {{ width: number, height: number, original: SealedSize, medium: SealedSize | null, thumbnail: Uint8Array,
 *   isAnimated: boolean, digest: Uint8Array, taken: { date: number, offset: number } | null,
 *   position: { latitude: number, longitude: number } | null }} SealedPicture
 */
/**
 * Why a picture is refused. `heic`: this browser can't decode it. `tooDetailed`: drawn again it is too large.
 * @typedef {"tooLarge" | "tooDetailed" | "notPicture" | "truncated" | "heic" | "notDecoded"} RefusalCode
 */
/**
 * @typedef {{ step: "reading" | "drawing" | "sealing" } | { picture: SealedPicture } |
 *   { refused: RefusalCode | "failed" }} SealingMessage
 */

const scope = /** @type {{ postMessage(message: unknown, transferred: Transferable[]): void, onmessage: unknown }} */ (
    /** @type {unknown} */ (self));
/** @param {SealingMessage} message @param {Transferable[]} [transferred] */
const post = (message, transferred = []) => scope.postMessage(message, transferred);

/** Why a picture is refused. */
class Refusal extends Error {
    /** @param {RefusalCode} code */
    constructor(code) {
        super(code);
        this.code = code;
    }
}

/** @param {Blob} blob @param {number} [end] */
const bytesOf = async (blob, end = blob.size) => new Uint8Array(await blob.slice(0, end).arrayBuffer());

/**
 * The whole picture, limited in size.
 * @param {ImageBitmap | OffscreenCanvas} image
 * @param {number} side the longer one's length, at most
 * @param {boolean} isOpaque whether it is white where it was transparent: JPEG has no transparency
 */
function drawn(image, side, isOpaque = true) {
    const scale = Math.min(1, side / Math.max(image.width, image.height));
    const canvas = new OffscreenCanvas(Math.max(1, Math.round(image.width * scale)),
        Math.max(1, Math.round(image.height * scale)));
    // Its pixels are read for encoding: a canvas in the graphics processor would be slower.
    const context = canvas.getContext("2d", { willReadFrequently: true });
    if (!context) throw new Refusal("notDecoded");
    if (isOpaque) {
        context.fillStyle = "#fff";
        context.fillRect(0, 0, canvas.width, canvas.height);
    }
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    return canvas;
}

/**
 * Frees its memory now.
 * @param {OffscreenCanvas} canvas
 */
const free = (canvas) => { canvas.width = 0; };

/** @param {OffscreenCanvas} canvas @param {string} type @param {number} quality */
async function encoded(canvas, type, quality) {
    const blob = await canvas.convertToBlob({ type, quality });
    if (blob.type !== type || blob.size === 0) throw new Refusal("notDecoded");
    return blob;
}

/** @param {ImageBitmap} image @param {string} type @param {number} quality */
async function drawnAgain(image, type, quality) {
    const canvas = drawn(image, Infinity, type === "image/jpeg");
    const bytes = await bytesOf(await encoded(canvas, type, quality));
    free(canvas);
    return bytes;
}

/** @param {OffscreenCanvas} image */
async function thumbnailOf(image) {
    for (let side = thumbnailSide; side >= 40; side = Math.floor(side * 0.8)) {
        const canvas = drawn(image, side);
        for (const quality of [0.8, 0.65, 0.5]) {
            const blob = await encoded(canvas, "image/jpeg", quality);
            if (blob.size <= maximumThumbnail) return bytesOf(blob);
        }
    }
    throw new Refusal("notDecoded");
}

/** @param {Uint8Array} content @param {string} type @param {Uint8Array} name @returns {Promise<SealedSize>} */
async function sealed(content, type, name) {
    const key = randomBytes(32);
    const bytes = await sealContent(content, name, key, chunkLogarithm);
    return { type, size: content.length, key, blob: randomID(), sealed: bytes, hash: await sha256(bytes) };
}

/** @param {Uint8Array} start */
function metadataOf(start) {
    try {
        const exif = readExif(start);
        const position = exif && exif.latitude !== null && exif.longitude !== null
            ? { latitude: exif.latitude, longitude: exif.longitude } : null;
        return { taken: exif && takenAt(exif), position };
    } catch (error) {
        if (!(error instanceof ExifError)) throw error;
        return { taken: null, position: null };
    }
}

/** @param {SealingJob} job */
async function seal({ file, name, keepsOriginal }) {
    post({ step: "reading" });
    if (file.size > maximumOriginal) throw new Refusal("tooLarge");
    const content = await bytesOf(file);
    const type = typeOf(content);
    if (!type) throw new Refusal("notPicture");
    const digest = await sha256(content);
    const metadata = metadataOf(content.subarray(0, exifPrefix));
    post({ step: "drawing" });
    // Upright, as its Exif requires: the default.
    const image = await createImageBitmap(new Blob([content], { type })).catch(() => {
        throw new Refusal(isTruncated(content, type) ? "truncated" : type === "image/heic" ? "heic" : "notDecoded");
    });
    const { width, height } = image;
    const longer = Math.max(width, height);
    // PNG is lossless, also for transparent pixels.
    const kept = type === "image/png" ? "image/png" : "image/jpeg";
    const original = keepsOriginal
        ? { bytes: content, type } : { bytes: await drawnAgain(image, kept, 0.92), type: kept };
    // The thumbnail is drawn from the medium size: each drawing of all pixels takes as long as decoding them.
    const canvas = drawn(image, mediumSide);
    image.close();
    const isEnough = original.type === "image/jpeg" && longer <= mediumSide
        && original.bytes.length <= maximumMediumSize;
    const medium = isEnough ? null : await bytesOf(await encoded(canvas, "image/jpeg", 0.85));
    if (!areReadableSizes(original.bytes.length, medium?.length)) throw new Refusal("tooDetailed");
    const thumbnail = await thumbnailOf(canvas);
    free(canvas);
    post({ step: "sealing" });
    const sizes = [
        await sealed(original.bytes, original.type, name), medium && (await sealed(medium, "image/jpeg", name)),
    ];
    const [one, other] = /** @type {[SealedSize, SealedSize | null]} */ (sizes);
    const picture = {
        width, height, original: one, medium: other, thumbnail, isAnimated: isAnimated(content, type), digest,
        ...metadata,
    };
    post({ picture }, [one.sealed.buffer, ...(other ? [other.sealed.buffer] : [])]);
}

scope.onmessage = (/** @type {MessageEvent<SealingJob>} */ event) => {
    seal(event.data).catch((error) => post({ refused: error instanceof Refusal ? error.code : "failed" }));
};
