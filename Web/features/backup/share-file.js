// Shares, downloads and chooses files.
import { element } from "../../ui/element.js";
import { fileInput } from "../../ui/parts.js";

/**
 * Uses the share sheet where there are no downloads, else downloads. False if the person cancelled. Call it from a tap:
 * browsers share at no other time.
 * @param {File} file
 * @returns {Promise<boolean>}
 */
export async function shareFile(file) {
    // An app on an iPhone's Home Screen has no downloads.
    if (matchMedia("(pointer: coarse)").matches && navigator.canShare?.({ files: [file] })) {
        return navigator.share({ files: [file] }).then(() => true, () => false);
    }
    const url = URL.createObjectURL(file);
    element("a", { href: url, download: file.name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    return true;
}

/**
 * A hidden input to choose a backup with: a button calls its `click`.
 * @param {(file: File) => void} chosen
 */
export const backupInput = (chosen) =>
    fileInput({ accept: ".aplockerbackup,application/octet-stream" }, ([file]) => chosen(file));
