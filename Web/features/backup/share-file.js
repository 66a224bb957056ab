// Files that leave the app, and those that come back: shared, downloaded, chosen.
import { element } from "../../ui/element.js";

/**
 * By the share sheet where the device is one that has no downloads, else as a download. False where the person did not
 * want it. To be called from a tap: browsers share at no other time.
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
 * A hidden field to choose a backup with: a button calls its `click`.
 * @param {(file: File) => void} chosen
 */
export function backupInput(chosen) {
    const input = element("input", {
        type: "file", accept: ".aplockerbackup,application/octet-stream", class: "visually-hidden", tabindex: "-1",
        "aria-hidden": "true",
        onchange: () => {
            const [file] = input.files ?? [];
            input.value = "";
            if (file) chosen(file);
        },
    });
    return input;
}
