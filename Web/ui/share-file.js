// Shares or downloads a file.
import { element } from "./element.js";

/**
 * Opens the share sheet on a touch screen, else downloads. False if the person cancelled. Call it in the handler of a
 * tap: browsers refuse to share at any other time.
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
