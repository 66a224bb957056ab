// Destinations of a plain export: a folder that the person chose, or one file to save.
import { ZipWriter } from "./zip.js";

/**
 * `write`: a path with "/", the pieces of its content, and its modification time, "2024-05-17T18:30:05". If the pieces
 * throw, nothing of the file stays. `abandon` removes what was written.
 * @typedef {{ write(path: string, pieces: import("./zip.js").Pieces, local: string): Promise<void>,
 *   end(): Promise<void>, abandon(): Promise<void> }} ExportTarget
 */

const folderName = "Everline";

/** @param {FileSystemDirectoryHandle} folder @param {string} name */
async function has(folder, name) {
    const found = (/** @type {unknown} */ error) => {
        // An item of another kind has the name.
        if (error instanceof DOMException && error.name === "TypeMismatchError") return true;
        if (error instanceof DOMException && error.name === "NotFoundError") return false;
        throw error;
    };
    return folder.getDirectoryHandle(name).then(() => true, found);
}

/** A new folder in the chosen one: nothing is overwritten. @implements {ExportTarget} */
export class FolderTarget {
    /** @param {FileSystemDirectoryHandle} parent @param {FileSystemDirectoryHandle} folder */
    constructor(parent, folder) {
        this.parent = parent;
        this.folder = folder;
        this.name = folder.name;
    }

    /** @param {FileSystemDirectoryHandle} parent that may be written to */
    static async in(parent) {
        for (let number = 1; ; number += 1) {
            const name = number === 1 ? folderName : `${folderName} ${number}`;
            if (!(await has(parent, name))) {
                return new FolderTarget(parent, await parent.getDirectoryHandle(name, { create: true }));
            }
            if (number > 999) throw new DOMException("There are too many exports.", "InvalidModificationError");
        }
    }

    /** @param {string} path @param {import("./zip.js").Pieces} pieces */
    async write(path, pieces) {
        const parts = path.split("/");
        const name = /** @type {string} */ (parts.pop());
        let folder = this.folder;
        for (const part of parts) folder = await folder.getDirectoryHandle(part, { create: true });
        const stream = await (await folder.getFileHandle(name, { create: true })).createWritable();
        try {
            for await (const piece of pieces) await stream.write(piece);
        } catch (error) {
            await stream.abort().catch(() => {});
            await folder.removeEntry(name).catch(() => {});
            throw error;
        }
        await stream.close();
    }

    async end() {}

    async abandon() {
        await this.parent.removeEntry(this.name, { recursive: true });
    }
}

/** One ZIP, in memory until it is saved. @implements {ExportTarget} */
export class ZipTarget {
    /** @type {Blob[]} */
    #parts = [];
    #writer;

    constructor() {
        // The browser can keep blobs outside this page's memory.
        this.#writer = new ZipWriter((part) => void this.#parts.push(new Blob([part])));
    }

    /** @param {string} path @param {import("./zip.js").Pieces} pieces @param {string} local */
    write(path, pieces, local) {
        return this.#writer.add(`${folderName}/${path}`, pieces, local);
    }

    end() {
        return this.#writer.end();
    }

    async abandon() {
        this.#parts = [];
    }

    /** @param {string} name */
    file(name) {
        return new File(this.#parts, name, { type: "application/zip" });
    }
}
