// A file to where the person wants it.
import { element } from "../views/element.js";

/**
 * By the share sheet where the device is one that has no downloads, else as a download. False where the person did not want it.
 * To be called from a tap: browsers share at no other time.
 * @param {File} file
 * @returns {Promise<boolean>}
 */
export async function give(file) {
    // An app on an iPhone's Home Screen has no downloads.
    if (matchMedia("(pointer: coarse)").matches && navigator.canShare?.({ files: [file] })) {
        return navigator.share({ files: [file] }).then(() => true, () => false);
    }
    const url = URL.createObjectURL(file);
    element("a", { href: url, download: file.name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
    return true;
}
