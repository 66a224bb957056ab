// Shares or downloads files.
import { element } from "./element.js";

/**
 * Whether the share sheet takes them. An app on an iPhone's Home Screen has no downloads; a desktop has no need of it.
 * @param {ShareData} data
 */
export const isShareable = (data) =>
    matchMedia("(pointer: coarse)").matches && navigator.canShare?.(data) === true;

/**
 * Opens the share sheet. False if the person cancelled. Call it in the handler of a tap: browsers refuse to share at
 * any other time.
 * @param {ShareData} data
 * @returns {Promise<boolean>}
 */
export const share = (data) => navigator.share(data).then(() => true, () => false);

/** @param {File} file */
export function download(file) {
    const url = URL.createObjectURL(file);
    element("a", { href: url, download: file.name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/**
 * Opens the share sheet on a touch screen, else downloads. As `share`.
 * @param {File} file
 * @returns {Promise<boolean>}
 */
export async function shareFile(file) {
    if (isShareable({ files: [file] })) return share({ files: [file] });
    download(file);
    return true;
}
