/** The pairing link that opened the page, once: the secret in it leaves the address at once. */
export function consumePairingLink() {
    if (!location.hash.startsWith("#pair=")) return null;
    const link = location.href;
    history.replaceState(null, "", "/");
    return link;
}
