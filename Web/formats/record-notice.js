// What a push of a shared vault says: a record without its content, which may be too long for a push. The signature
// proves its author all the same. docs/formats.md, "Notices of a shared vault".
import { base64, unbase64 } from "../crypto/bytes.js";
import { contentDigest, sealedBytes } from "../crypto/signature.js";
import { RecordRefusal, signerOf } from "./record-check.js";

/**
 * `digest`: SHA-256 of the content, base64.
 * @typedef {Pick<HubRecord, "collection" | "id" | "vault" | "revision" | "epoch" | "author" | "blobs" | "signature">
 *   & { digest: string }} RecordNotice
 */

/** The collections whose new records are announced. */
export const noticeCollections = Object.freeze(/** @type {const} */ (["moments", "remarks"]));

/**
 * @param {HubRecord} record with content
 * @returns {Promise<RecordNotice>}
 */
export async function noticeOfRecord(record) {
    const { collection, id, vault, revision, epoch, author, blobs, signature } = record;
    const digest = base64(await contentDigest(sealedBytes(record)));
    return { collection, id, vault, revision, epoch, author, blobs, signature, digest };
}

/**
 * The member that wrote the record. Throws RecordRefusal, also for a record without content.
 * @param {import("../crypto/roster.js").Roster} roster of the shared vault
 * @param {RecordNotice} notice of the right shape
 */
export const authorOfNotice = (roster, notice) => signerOf(roster, notice, async () => {
    const digest = unbase64(notice.digest);
    if (digest.length !== 32) throw new RecordRefusal("malformed");
    return digest;
});
