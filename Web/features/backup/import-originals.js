// Deletes the originals of imported photos, each only after its photo was read back, opened and compared.
import { equalInConstantTime } from "../../crypto/bytes.js";
import { FormatError } from "../../crypto/errors.js";
import { sha256 } from "../../crypto/primitives.js";
import { HubError, HubUnreachable } from "../../hub/errors.js";
import { CompanionError } from "../../household/errors.js";
import { typeOf } from "../../formats/image-type.js";
import { isAnimated } from "../../formats/picture-bytes.js";

/** @typedef {import("./moment-import.js").Kept} Kept */
/** @typedef {{ removed: number, left: { name: string, sentence: string }[] }} Removal */

/** After so long without progress the hub counts as unreachable, in milliseconds. */
const patience = 60_000;
const pause = 300;

/** Why an original is kept. */
class Stays extends Error {}

/**
 * A photo is safe only at the hub: a browser may evict its storage.
 * @param {Companion} companion
 * @param {string} id
 * @param {AbortSignal} signal
 */
async function arrived({ momentPhotos, syncLoop, device }, id, signal) {
    const end = device.time.now() + patience;
    while (!signal.aborted) {
        const { isWaiting, problem } = await momentPhotos.status(id);
        if (problem) throw new Stays("The photo could not be uploaded to the hub.");
        if (!isWaiting) return;
        const isOnItsWay = ["live", "other", "connecting"].includes(syncLoop.connection);
        if (!isOnItsWay || device.time.now() > end) {
            throw new Stays("The photo is not at the hub yet; run the import again later.");
        }
        await device.time.sleep(pause, signal);
    }
}

/**
 * Compares the kept original byte for byte or, where only the pixels were kept, checks that a picture of the same size
 * opens. An animation has no such copy.
 * @param {Companion} companion
 * @param {Kept} kept
 * @param {{ keepsOriginal: boolean, signal: AbortSignal }} options
 */
async function compare(companion, { source, photo, digest }, { keepsOriginal, signal }) {
    const content = new Uint8Array(await (await source.file()).arrayBuffer());
    if (!equalInConstantTime(await sha256(content), digest)) {
        throw new Stays("The file was changed meanwhile.");
    }
    const { type, bytes } = await companion.momentPhotos.original(photo.id, { signal });
    if (equalInConstantTime(await sha256(bytes), digest)) return;
    if (isAnimated(content, typeOf(content) ?? "")) throw new Stays("It is animated; Everline has its first picture.");
    if (keepsOriginal) throw new Stays("It is in Everline without its camera’s metadata.");
    const image = await createImageBitmap(new Blob([bytes], { type })).catch(() => null);
    const isSame = image?.width === photo.width && image.height === photo.height;
    image?.close();
    if (!isSame) throw new Stays("The photo in Everline can’t be opened.");
}

/**
 * Throws CompanionError `locked`; after any other error the file is kept.
 * @param {Companion} companion
 * @param {Kept[]} kept
 * @param {{ keepsOriginal: boolean, signal: AbortSignal, progress?: (done: number, all: number) => void }} options
 * @returns {Promise<Removal>}
 */
export async function removeOriginals(companion, kept, { keepsOriginal, signal, progress = () => {} }) {
    /** @type {Removal} */
    const removal = { removed: 0, left: [] };
    for (const [index, one] of kept.entries()) {
        if (signal.aborted) break;
        try {
            if (!one.source.remove) throw new Stays("The browser can’t remove this file.");
            await arrived(companion, one.photo.id, signal);
            await compare(companion, one, { keepsOriginal, signal });
            if (signal.aborted) break;
            await one.source.remove();
            removal.removed += 1;
        } catch (error) {
            const sentence = staySentence(error);
            if (sentence === null) throw error;
            removal.left.push({ name: one.source.name, sentence });
        }
        progress(index + 1, kept.length);
    }
    return removal;
}

/** @param {unknown} error */
function staySentence(error) {
    if (error instanceof Stays || error instanceof HubError
        || error instanceof HubUnreachable || error instanceof FormatError) return error.message;
    if (error instanceof CompanionError) return error.code === "locked" ? null : error.message;
    return error instanceof DOMException ? "The browser has no permission to remove this file." : null;
}
