// Who may write a remark. Its id begins with a tag of its author, so that this is checked before the remark is opened,
// also for a removal. docs/formats.md, "Remarks".
import { fields, hex, unhex } from "../crypto/bytes.js";
import { sha256 } from "../crypto/primitives.js";

const tagLength = 8;

/**
 * The first half of the id.
 * @param {string} vault
 * @param {string} author a member of a shared vault; in a household's own vault the household
 */
export const remarkTag = async (vault, author) =>
    hex((await sha256(fields("applocker/1/remark-author", unhex(vault), unhex(author)))).slice(0, tagLength));

/**
 * Only its author writes a member's remark; those of a household are of all its devices.
 * @param {{ vault: string, id: string }} name
 * @param {string} author
 * @param {string} household
 */
export async function mayWriteRemark({ vault, id }, author, household) {
    const tag = id.slice(0, 2 * tagLength);
    return tag === (await remarkTag(vault, author)) || tag === (await remarkTag(vault, household));
}
