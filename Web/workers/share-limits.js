// What another app may share with AppLocker at once.

/**
 * `others`: files that are no photos; `left`: photos beyond the limits. Neither are in `photos`.
 * @typedef {{ title: string, text: string, photos: File[], others: number, left: number }} SharedContent
 */

/** The action of `share_target` in app.webmanifest. */
export const shareAddress = "/share";

/** Sizes in bytes; texts in characters. */
export const shareLimits = Object.freeze(
    { photos: 20, photo: 50_000_000, all: 200_000_000, title: 200, text: 10_000 });
