// An invitation to a shared vault that opened this page. It is kept until the person can answer it, and expires after
// five minutes.

/** @type {{ link: string, joins: boolean, done: () => void } | null} */
let kept = null;

/**
 * @param {string} link
 * @param {boolean} joins the person chose to join already
 * @param {() => void} done called when it was answered
 */
export function keepInvitation(link, joins, done) {
    kept = { link, joins, done };
}

export const invitation = () => kept?.link ?? null;

/** Whether to ask for admission at once: the first time that this is called. */
export function joinsAtOnce() {
    const joins = kept?.joins ?? false;
    if (kept) kept.joins = false;
    return joins;
}

export function forgetInvitation() {
    kept?.done();
    kept = null;
}
