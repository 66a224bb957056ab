// Files that a person chose, read one by one.

/**
 * `remove` deletes the file, where the browser can.
 * @typedef {{ name: string, file: () => Promise<File>, remove: (() => Promise<void>) | null }} Source
 */

/** Maximum depth, also of folders that contain each other. */
const deepest = 32;

/** @param {Iterable<File>} files @returns {Source[]} */
export const sourcesOf = (files) => [...files].map((file) => ({
    name: file.webkitRelativePath || file.name, file: async () => file, remove: null,
}));

/**
 * All files of a folder and its subfolders, except hidden ones.
 * @param {FileSystemDirectoryHandle} folder
 * @param {{ signal: AbortSignal, found?: (count: number) => void }} options
 * @returns {Promise<Source[]>}
 */
export async function sourcesIn(folder, { signal, found = () => {} }) {
    /** @type {Source[]} */
    const sources = [];
    /** @param {FileSystemDirectoryHandle} parent @param {string} path @param {number} depth */
    const walk = async (parent, path, depth) => {
        for await (const one of parent.values()) {
            if (signal.aborted) return;
            if (one.name.startsWith(".")) continue;
            if (one.kind === "directory" && depth < deepest) {
                await walk(/** @type {FileSystemDirectoryHandle} */ (one), `${path}${one.name}/`, depth + 1);
            }
            if (one.kind !== "file") continue;
            sources.push({
                name: path + one.name, file: () => /** @type {FileSystemFileHandle} */ (one).getFile(),
                remove: () => parent.removeEntry(one.name),
            });
            found(sources.length);
        }
    };
    await walk(folder, "", 0);
    return sources;
}
