/** The pairing link that opened the page, once: its secret is removed from the address. */
export function consumePairingLink() {
    if (!location.hash.startsWith("#pair=")) return null;
    const link = location.href;
    history.replaceState(null, "", "/");
    return link;
}
