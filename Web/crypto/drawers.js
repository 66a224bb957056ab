// Three drawers of one size, used or not: each holds what one root key opens. docs/formats.md, "Drawers".
import { ByteReader, concat, fields, randomBytes, textOf, u32, utf8, wipe } from "./bytes.js";
import { FormatError } from "./errors.js";
import { committedKey, gcmOpen, gcmSeal, tagLength } from "./primitives.js";
import { KeyRing } from "./ring.js";

/**
 * `kept`: small values by name, as JSON.
 * @typedef {{ ring: KeyRing, kept: Record<string, any> }} DrawerContent
 */

export const drawerCount = 3;
/** In bytes; larger sizes double. */
export const leastDrawer = 1 << 16;
const mostDrawer = 1 << 26;
const headLength = 64;
const bound = fields("applocker/1/drawer");

/**
 * Random bytes; browsers return at most 65,536 at a time.
 * @param {number} count
 */
export function filler(count) {
    const bytes = new Uint8Array(count);
    for (let start = 0; start < count; start += 65_536) crypto.getRandomValues(bytes.subarray(start, start + 65_536));
    return bytes;
}

/** Empty drawers, which look like used ones. */
export const freshDrawers = () => Array.from({ length: drawerCount }, () => filler(leastDrawer));

/** @param {DrawerContent} content */
function bytesOf({ ring, kept }) {
    const entries = ring.plaintext;
    const bytes = concat(u32(entries.length), entries, utf8(JSON.stringify(kept)));
    wipe(entries);
    return bytes;
}

/** @param {Uint8Array} bytes wiped @returns {DrawerContent} */
function contentOf(bytes) {
    const reader = new ByteReader(bytes, "drawer");
    const content = { ring: KeyRing.read(reader.bytes(reader.number(4))), kept: JSON.parse(textOf(reader.rest())) };
    wipe(bytes);
    return content;
}

/**
 * The drawers with this content in one of them. All have one size: if that one grows, so do the others, by random
 * bytes. Throws FormatError `tooLarge`.
 * @param {Uint8Array[]} drawers
 * @param {number} index
 * @param {DrawerContent} content
 * @param {Uint8Array} rootKey
 */
export async function putInto(drawers, index, content, rootKey) {
    const bytes = bytesOf(content);
    const overhead = headLength + 4 + tagLength;
    let size = drawers[0].length;
    while (size - overhead < bytes.length) size *= 2;
    if (size > mostDrawer) throw new FormatError("tooLarge", "This is too large to be stored beside the keys.");
    const padded = concat(u32(bytes.length), bytes, new Uint8Array(size - overhead - bytes.length));
    wipe(bytes);
    const salt = randomBytes(32);
    const committed = await committedKey(rootKey, salt, bound);
    const sealed = concat(salt, committed.commitment, await gcmSeal(committed.key, padded, bound));
    wipe(padded);
    return drawers.map((drawer, other) => (other === index ? sealed : concat(drawer, filler(size - drawer.length))));
}

/**
 * What this root key opens and in which drawer, or null. Tries each drawer in every size that it may have been filled
 * in. Throws FormatError `malformed`.
 * @param {Uint8Array[]} drawers
 * @param {Uint8Array} rootKey
 */
export async function openDrawers(drawers, rootKey) {
    /** @type {{ index: number, bytes: Uint8Array } | null} */
    let found = null;
    for (const [index, drawer] of drawers.entries()) {
        const committed = await committedKey(rootKey, drawer.slice(0, 32), bound);
        const isCommitted = committed.matches(drawer.slice(32, headLength));
        for (let size = leastDrawer; size <= drawer.length; size *= 2) {
            const padded = await gcmOpen(committed.key, drawer.subarray(headLength, size), bound);
            if (padded && isCommitted && !found) {
                const length = new DataView(padded.buffer).getUint32(0);
                if (length > padded.length - 4) throw new FormatError("malformed", "A drawer of keys is damaged.");
                found = { index, bytes: padded.slice(4, 4 + length) };
            }
            wipe(padded);
        }
    }
    return found && { index: found.index, content: contentOf(found.bytes) };
}
