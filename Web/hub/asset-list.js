// The list of the app's files that the hub serves beside them. It shows that all files are complete and of one
// version. A malicious hub can create a matching list, so people compare its hash.
import { hex, utf8 } from "../crypto/bytes.js";
import { sha256 } from "../crypto/primitives.js";

/**
 * `version`: SHA-256 of the output of `sha256sum` for the files in order of their names. `files`: SHA-256 by name.
 * @typedef {{ release: string, version: string, files: Record<string, string> }} AssetList
 */

export const listName = "assets.json";

/** @param {unknown} text */
const isHash = (text) => typeof text === "string" && /^[0-9a-f]{64}$/.test(text);

/**
 * Null for an invalid list, or one of another version than it names.
 * @param {any} value
 * @returns {Promise<AssetList | null>}
 */
export async function readList(value) {
    const { release, version, files } = value ?? {};
    if (typeof release !== "string" || !isHash(version) || files === null || typeof files !== "object") return null;
    const names = Object.keys(files).sort();
    if (!names.includes("index.html")
        || !names.every((name) => /^[\w.-]+(\/[\w.-]+)*$/.test(name) && isHash(files[name]))) return null;
    const lines = names.map((name) => `${files[name]}  ${name}\n`).join("");
    return hex(await sha256(utf8(lines))) === version ? { release, version, files } : null;
}

/**
 * The list of the files in use, from the worker. With `latest`, what the hub has now.
 * @param {{ latest?: boolean }} options
 * @returns {Promise<AssetList | null>} null where it can't be had
 */
export async function fetchList({ latest = false } = {}) {
    try {
        const answer = await fetch(latest ? `/${listName}?latest` : `/${listName}`,
            { cache: "no-store", credentials: "omit" });
        return answer.ok ? await readList(await answer.json()) : null;
    } catch {
        return null;
    }
}
