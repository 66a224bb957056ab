// How much of the browser's storage is used, for people.

/**
 * The used storage in steps of 5 %, and no number of bytes: exact ones would reveal content besides the visible one.
 * The quota isn't shown, because a browser may add the usage to it.
 * @param {{ usage: number, quota: number }} room in bytes; 0 if the browser doesn't report it
 */
export function storageShare({ usage, quota }) {
    if (usage === 0 || quota === 0) return "Unknown";
    const percent = Math.min(100, Math.ceil((usage / quota) * 20) * 5);
    return percent <= 5 ? "Less than 5 %" : `At most ${percent} %`;
}
