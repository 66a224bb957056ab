// An invitation to a shared vault that opened this page. It is kept until the person can answer it; its secret is
// removed from the address at once, and it expires after five minutes.

const mark = "#vault=";
/** @type {string | null} */
let link = null;

/** Whether there is a new one. */
export function readInvitation() {
    if (!location.hash.startsWith(mark)) return false;
    link = location.href;
    history.replaceState(null, "", "/");
    return true;
}

export const invitation = () => link;

export function forgetInvitation() {
    link = null;
}
